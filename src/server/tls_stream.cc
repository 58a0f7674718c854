#include "server/tls_stream.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace sibyl::server {

namespace {

std::string subject_of(X509* certificate) {
  BIO* bio = BIO_new(BIO_s_mem());
  X509_NAME_print_ex(bio, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio, &text);
  std::string subject(text, static_cast<size_t>(std::max(size, 0L)));
  BIO_free(bio);
  return subject;
}

bool is_spiffe(std::string_view uri) {
  return uri.starts_with("spiffe://") &&
         std::all_of(uri.begin(), uri.end(), [](unsigned char c) { return c > ' ' && c < 0x7f; });
}

std::string spiffe_of(X509* certificate) {
  auto* names =
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  std::string found;
  for (int i = 0; found.empty() && i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names, i);
    if (name->type != GEN_URI) continue;
    const ASN1_STRING* uri = name->d.uniformResourceIdentifier;
    const std::string_view text(reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)),
                                static_cast<size_t>(ASN1_STRING_length(uri)));
    if (is_spiffe(text)) found = text;
  }
  GENERAL_NAMES_free(names);
  return found;
}

}  // namespace

TlsStream::TlsStream(std::shared_ptr<const TlsContext> context, int socket)
    : context_(std::move(context)), ssl_(SSL_new(context_->get())) {
  if (ssl_ == nullptr) return;
  SSL_set_fd(ssl_, socket);
  SSL_set_accept_state(ssl_);
}

TlsStream::~TlsStream() {
  SSL_free(ssl_);
}

TlsStream::Outcome TlsStream::outcome_of(int result) {
  const int system_error = errno;
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ:
      return Outcome::wants_read;
    case SSL_ERROR_WANT_WRITE:
      return Outcome::wants_write;
    case SSL_ERROR_ZERO_RETURN:
      return Outcome::closed;
    case SSL_ERROR_SYSCALL:
      error_ = system_error != 0 ? std::strerror(system_error) : "the client left";
      return Outcome::failed;
    default: {
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

// The error queue belongs to the thread: what an earlier connection left there would be taken for ours.
TlsStream::Outcome TlsStream::handshake() {
  if (ssl_ == nullptr) {
    error_ = "out of memory";
    return Outcome::failed;
  }
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

uint64_t TlsStream::bytes_read() const {
  return BIO_number_read(SSL_get_rbio(ssl_));
}

void TlsStream::shut_down() {
  ERR_clear_error();
  if (ssl_ != nullptr && error_.empty() && SSL_is_init_finished(ssl_)) SSL_shutdown(ssl_);
}

std::string TlsStream::protocol() const {
  return SSL_get_version(ssl_);
}

std::string TlsStream::cipher_suite() const {
  const char* name = SSL_CIPHER_standard_name(SSL_get_current_cipher(ssl_));
  return name != nullptr ? name : "";
}

PeerCertificate TlsStream::peer() const {
  PeerCertificate peer;
  X509* certificate = SSL_get0_peer_certificate(ssl_);
  if (certificate == nullptr || SSL_get_verify_result(ssl_) != X509_V_OK) return peer;
  peer.subject = subject_of(certificate);
  peer.identity = spiffe_of(certificate);
  if (peer.identity.empty()) peer.identity = peer.subject;
  return peer;
}

}  // namespace sibyl::server
