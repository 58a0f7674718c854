#include "client/tls.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <csignal>

namespace sibyl::client {

namespace {

base::Error refused(const std::string& what) {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return base::Error(base::ErrorCode::config,
                     fmt::format("TLS: {}: {}", what, reason != nullptr ? reason : "unknown reason"));
}

bool is_address(const std::string& host) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET, host.c_str(), bytes) == 1 || inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

base::Status use_files(SSL_CTX* context, const TlsOptions& options) {
  if (options.verify) {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    if (options.ca_file.empty()) {
      SSL_CTX_set_default_verify_paths(context);
    } else if (SSL_CTX_load_verify_locations(context, options.ca_file.c_str(), nullptr) != 1) {
      return base::fail(refused("cannot use " + options.ca_file));
    }
  }
  if (options.certificate_file.empty()) return {};
  const std::string& key = options.key_file.empty() ? options.certificate_file : options.key_file;
  if (SSL_CTX_use_certificate_chain_file(context, options.certificate_file.c_str()) != 1)
    return base::fail(refused("cannot use " + options.certificate_file));
  if (SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1)
    return base::fail(refused("cannot use " + key));
  return {};
}

// Sets the name or address that the server's certificate must have.
void expect_name(SSL* ssl, const std::string& name, bool verify) {
  if (is_address(name)) {
    if (verify) X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str());
  } else {
    SSL_set_tlsext_host_name(ssl, name.c_str());
    if (verify) SSL_set1_host(ssl, name.c_str());
  }
}

struct FreeContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};

}  // namespace

base::Result<std::unique_ptr<protocol::TlsSession>> start_tls(const TlsOptions& options,
                                                              const std::string& host, int socket) {
  // OpenSSL writes to sockets without MSG_NOSIGNAL, so a lost peer would raise SIGPIPE.
  std::signal(SIGPIPE, SIG_IGN);
  ERR_clear_error();
  const std::unique_ptr<SSL_CTX, FreeContext> context(SSL_CTX_new(TLS_client_method()));
  if (!context) return base::fail(refused("cannot start"));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_options(context.get(), SSL_OP_IGNORE_UNEXPECTED_EOF);
  SIBYL_TRY(use_files(context.get(), options));
  SSL* ssl = SSL_new(context.get());  // holds a reference to the context
  if (ssl == nullptr) return base::fail(refused("cannot start"));
  auto session = std::make_unique<protocol::TlsSession>(ssl, "the server");
  SSL_set_fd(ssl, socket);
  SSL_set_connect_state(ssl);
  expect_name(ssl, options.server_name.empty() ? host : options.server_name, options.verify);
  return session;
}

}  // namespace sibyl::client
