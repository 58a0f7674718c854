#include "client/tls.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cerrno>
#include <csignal>
#include <cstring>

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

}  // namespace

base::Result<std::unique_ptr<TlsStream>> TlsStream::create(const TlsOptions& options, const std::string& host,
                                                           int socket) {
  // OpenSSL writes to sockets without saying that a lost peer is no reason to die.
  std::signal(SIGPIPE, SIG_IGN);
  ERR_clear_error();
  std::unique_ptr<TlsStream> stream(new TlsStream);
  stream->context_ = SSL_CTX_new(TLS_client_method());
  if (stream->context_ == nullptr) return base::fail(refused("cannot start"));
  SSL_CTX_set_min_proto_version(stream->context_, TLS1_2_VERSION);
  SSL_CTX_set_mode(stream->context_, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_options(stream->context_, SSL_OP_IGNORE_UNEXPECTED_EOF);
  SIBYL_TRY(use_files(stream->context_, options));
  stream->ssl_ = SSL_new(stream->context_);
  if (stream->ssl_ == nullptr) return base::fail(refused("cannot start"));
  SSL_set_fd(stream->ssl_, socket);
  SSL_set_connect_state(stream->ssl_);
  const std::string& name = options.server_name.empty() ? host : options.server_name;
  if (is_address(name)) {
    if (options.verify) X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(stream->ssl_), name.c_str());
  } else {
    SSL_set_tlsext_host_name(stream->ssl_, name.c_str());
    if (options.verify) SSL_set1_host(stream->ssl_, name.c_str());
  }
  return stream;
}

TlsStream::~TlsStream() {
  SSL_free(ssl_);
  SSL_CTX_free(context_);
}

TlsStream::Outcome TlsStream::outcome_of(int result) {
  const int system_error = errno;
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ:
      return Outcome::wants_read;
    case SSL_ERROR_WANT_WRITE:
      return Outcome::wants_write;
    case SSL_ERROR_ZERO_RETURN:
      error_ = "the server closed the connection";
      return Outcome::closed;
    case SSL_ERROR_SYSCALL:
      error_ = system_error != 0 ? std::strerror(system_error) : "the server closed the connection";
      return Outcome::failed;
    default: {
      const unsigned long last = ERR_peek_last_error();
      const char* reason = ERR_reason_error_string(last);
      error_ = fmt::format("TLS: {}", reason != nullptr ? reason : "unknown reason");
      const long verified = SSL_get_verify_result(ssl_);
      if (ERR_GET_REASON(last) == SSL_R_CERTIFICATE_VERIFY_FAILED && verified != X509_V_OK)
        error_ += std::string(": ") + X509_verify_cert_error_string(verified);
      return Outcome::failed;
    }
  }
}

TlsStream::Outcome TlsStream::handshake() {
  ERR_clear_error();
  errno = 0;
  const int result = SSL_do_handshake(ssl_);
  return result == 1 ? Outcome::done : outcome_of(result);
}

TlsStream::Outcome TlsStream::read(char* to, size_t size, size_t& got) {
  ERR_clear_error();
  errno = 0;
  const int result = SSL_read_ex(ssl_, to, size, &got);
  return result == 1 ? Outcome::done : outcome_of(result);
}

TlsStream::Outcome TlsStream::write(const char* from, size_t size, size_t& sent) {
  ERR_clear_error();
  errno = 0;
  const int result = SSL_write_ex(ssl_, from, size, &sent);
  return result == 1 ? Outcome::done : outcome_of(result);
}

bool TlsStream::has_pending() const {
  return SSL_pending(ssl_) > 0;
}

void TlsStream::shut_down() {
  ERR_clear_error();
  if (error_.empty() && SSL_is_init_finished(ssl_)) SSL_shutdown(ssl_);
}

}  // namespace sibyl::client
