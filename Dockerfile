# docker build -t sibyl . && docker run -p 9042:9042 -v sibyl:/var/lib/sibyl sibyl
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
      g++ cmake ninja-build ccache mold pkg-config git ca-certificates dpkg-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
# `./dev package` installs the libraries that the build needs.
RUN ./dev package

FROM debian:12-slim
COPY --from=build /src/build/package/*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/sibyl_*.deb \
    && rm -rf /var/lib/apt/lists/* /tmp/sibyl_*.deb
USER sibyl
VOLUME /var/lib/sibyl
EXPOSE 9042
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["sibyl", "status", "--host", "127.0.0.1:9500"]
STOPSIGNAL SIGTERM
# Within a container the container's own network decides who can connect.
ENTRYPOINT ["sibyl", "serve", "--config", "/etc/sibyl/sibyl.yaml", "--set", "rpc_address=0.0.0.0", \
            "--set", "metrics_address=127.0.0.1:9500"]
