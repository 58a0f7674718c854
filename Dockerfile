# docker build -t sibyl . && docker run -p 9042:9042 -v sibyl:/var/lib/sibyl sibyl
# Settings: -e SIBYL_METRICS_ADDRESS=0.0.0.0:9500 -p 9500:9500, say, or --set NAME=VALUE behind the image's name.
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
# Within a container the container's own network decides who can connect. In the environment, so that flags and `-e` can
# say otherwise.
ENV SIBYL_CONFIG=/etc/sibyl/sibyl.yaml SIBYL_RPC_ADDRESS=0.0.0.0 SIBYL_METRICS_ADDRESS=127.0.0.1:9500
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD sibyl status --host "127.0.0.1:${SIBYL_METRICS_ADDRESS##*:}"
STOPSIGNAL SIGTERM
ENTRYPOINT ["sibyl", "serve"]
