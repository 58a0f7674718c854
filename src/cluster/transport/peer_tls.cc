#include "cluster/transport/peer_tls.h"

#include <openssl/ssl.h>

#include <cstring>

#include "base/check.h"
#include "cluster/transport/handshake.h"

namespace sibyl::cluster {
namespace {

constexpr const char* identity = "sibyl-cluster";
constexpr const char* cipher_suite =
    "TLS_AES_128_GCM_SHA256";  // its hash is the one that callbacks for pre-shared keys expect

// The key belongs to the context, which frees it.
void free_key(void*, void* key, CRYPTO_EX_DATA*, int, long, void*) {
  delete static_cast<base::Bytes*>(key);
}
int key_index() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, free_key);
  return index;
}

unsigned int copy_key(SSL* ssl, unsigned char* key, unsigned int max_size) {
  const auto* own = static_cast<const base::Bytes*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), key_index()));
  if (own == nullptr || own->size() > max_size) return 0;
  std::memcpy(key, own->data(), own->size());
  return static_cast<unsigned int>(own->size());
}

unsigned int client_key(SSL* ssl, const char*, char* name, unsigned int max_name, unsigned char* key,
                        unsigned int max_key) {
  if (std::strlen(identity) >= max_name) return 0;
  std::strcpy(name, identity);
  return copy_key(ssl, key, max_key);
}

unsigned int server_key(SSL* ssl, const char* name, unsigned char* key, unsigned int max_key) {
  return std::strcmp(name, identity) == 0 ? copy_key(ssl, key, max_key) : 0;
}

}  // namespace

std::unique_ptr<boost::asio::ssl::context> make_peer_tls(base::BytesView secret) {
  auto context = std::make_unique<boost::asio::ssl::context>(boost::asio::ssl::context::tls);
  SSL_CTX* const ssl = context->native_handle();
  SIBYL_CHECK(SSL_CTX_set_min_proto_version(ssl, TLS1_3_VERSION) == 1);
  SIBYL_CHECK(SSL_CTX_set_ciphersuites(ssl, cipher_suite) == 1);
  SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(ssl, 0);
  SSL_CTX_set_psk_client_callback(ssl, client_key);
  SSL_CTX_set_psk_server_callback(ssl, server_key);
  SIBYL_CHECK(SSL_CTX_set_ex_data(
                  ssl, key_index(),
                  new base::Bytes(handshake_mac(secret, Role::caller, "key of TLS sessions", ""))) == 1);
  return context;
}

}  // namespace sibyl::cluster
