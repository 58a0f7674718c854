#include "server/tls/tls_stream.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
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

ssl_st* accepting(ssl_ctx_st* context, int socket) {
  ssl_st* ssl = SSL_new(context);
  if (ssl == nullptr) return ssl;
  SSL_set_fd(ssl, socket);
  SSL_set_accept_state(ssl);
  return ssl;
}

}  // namespace

TlsStream::TlsStream(std::shared_ptr<const TlsContext> context, int socket)
    : TlsSession(accepting(context->get(), socket), "the client"), context_(std::move(context)) {}

std::string TlsStream::protocol() const {
  return SSL_get_version(ssl());
}

std::string TlsStream::cipher_suite() const {
  const char* name = SSL_CIPHER_standard_name(SSL_get_current_cipher(ssl()));
  return name != nullptr ? name : "";
}

PeerCertificate TlsStream::peer() const {
  PeerCertificate peer;
  X509* certificate = SSL_get0_peer_certificate(ssl());
  if (certificate == nullptr || SSL_get_verify_result(ssl()) != X509_V_OK) return peer;
  peer.subject = subject_of(certificate);
  peer.identity = spiffe_of(certificate);
  if (peer.identity.empty()) peer.identity = peer.subject;
  return peer;
}

}  // namespace sibyl::server
