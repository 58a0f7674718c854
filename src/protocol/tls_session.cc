#include "protocol/tls_session.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cerrno>
#include <cstring>

namespace sibyl::protocol {

namespace {

// OpenSSL's error queue is per thread. It is cleared so that an error of another session is not mistaken for
// ours.
void forget_errors() {
  ERR_clear_error();
  errno = 0;
}

}  // namespace

TlsSession::TlsSession(ssl_st* ssl, const char* peer) : ssl_(ssl), peer_(peer) {}

TlsSession::~TlsSession() {
  SSL_free(ssl_);
}

TlsSession::Outcome TlsSession::outcome_of(int result) {
  const int system_error = errno;
  const auto left = [this] { return std::string(peer_) + " closed the connection"; };
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ:
      return Outcome::wants_read;
    case SSL_ERROR_WANT_WRITE:
      return Outcome::wants_write;
    case SSL_ERROR_ZERO_RETURN:
      error_ = left();
      return Outcome::closed;
    case SSL_ERROR_SYSCALL:
      has_failed_ = true;
      error_ = system_error != 0 ? std::strerror(system_error) : left();
      return Outcome::failed;
    default: {
      has_failed_ = true;
      const unsigned long last = ERR_peek_last_error();
      const char* reason = ERR_reason_error_string(last);
      error_ = reason != nullptr ? reason : "unknown reason";
      const long verified = SSL_get_verify_result(ssl_);
      if (ERR_GET_REASON(last) == SSL_R_CERTIFICATE_VERIFY_FAILED && verified != X509_V_OK)
        error_ += std::string(": ") + X509_verify_cert_error_string(verified);
      return Outcome::failed;
    }
  }
}

TlsSession::Outcome TlsSession::handshake() {
  if (ssl_ == nullptr) {
    error_ = "out of memory";
    return Outcome::failed;
  }
  forget_errors();
  const int result = SSL_do_handshake(ssl_);
  return result == 1 ? Outcome::done : outcome_of(result);
}

TlsSession::Outcome TlsSession::read(char* to, size_t size, size_t& got) {
  forget_errors();
  const int result = SSL_read_ex(ssl_, to, size, &got);
  return result == 1 ? Outcome::done : outcome_of(result);
}

TlsSession::Outcome TlsSession::write(const char* from, size_t size, size_t& sent) {
  forget_errors();
  const int result = SSL_write_ex(ssl_, from, size, &sent);
  return result == 1 ? Outcome::done : outcome_of(result);
}

bool TlsSession::has_pending() const {
  return SSL_pending(ssl_) > 0;
}

uint64_t TlsSession::bytes_read() const {
  return BIO_number_read(SSL_get_rbio(ssl_));
}

void TlsSession::shut_down() {
  ERR_clear_error();
  if (ssl_ != nullptr && !has_failed_ && SSL_is_init_finished(ssl_)) SSL_shutdown(ssl_);
}

}  // namespace sibyl::protocol
