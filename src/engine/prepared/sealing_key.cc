#include "engine/prepared/sealing_key.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <memory>

#include "base/check.h"

namespace sibyl::engine {
namespace {

using base::Bytes;
using base::BytesView;

struct FreeContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

// Cached, because fetching a cipher by name takes longer than encrypting with it.
const EVP_CIPHER* fetch(const char* name) {
  EVP_CIPHER* cipher = EVP_CIPHER_fetch(nullptr, name, nullptr);
  SIBYL_CHECK(cipher != nullptr);
  return cipher;
}
const EVP_CIPHER* block_cipher() {
  static const EVP_CIPHER* const cipher = fetch("AES-256-ECB");
  return cipher;
}
const EVP_CIPHER* message_cipher() {
  static const EVP_CIPHER* const cipher = fetch("AES-256-GCM");
  return cipher;
}

EVP_CIPHER_CTX* thread_context() {
  thread_local const Context context(EVP_CIPHER_CTX_new());
  return context.get();
}

const unsigned char* data(BytesView bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* data(Bytes& bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}

std::unexpected<base::Error> library_failed() {
  return base::fail(base::ErrorCode::server, "Encryption failed");
}

}  // namespace

base::Result<SealingKey> SealingKey::make_random() {
  Bytes bytes(key_size, '\0');
  if (RAND_priv_bytes(data(bytes), key_size) != 1) return library_failed();
  return SealingKey(bytes);
}

SealingKey::SealingKey(BytesView bytes) {
  SIBYL_CHECK(bytes.size() == key_size);
  std::copy(bytes.begin(), bytes.end(), key_.begin());
  EVP_CIPHER_CTX* const context = thread_context();
  const Block zero{};
  int size = 0;
  SIBYL_CHECK(EVP_EncryptInit_ex2(context, block_cipher(), key_.data(), nullptr, nullptr) == 1 &&
              EVP_EncryptUpdate(context, subkey_.data(), &size, zero.data(), zero.size()) == 1);
  // Doubles the block in GF(2^128).
  const bool carries = (subkey_[0] & 0x80) != 0;
  for (size_t i = 0; i < subkey_.size(); ++i) {
    const unsigned next = i + 1 < subkey_.size() ? subkey_[i + 1] : 0u;
    subkey_[i] = static_cast<unsigned char>(subkey_[i] << 1 | next >> 7);
  }
  if (carries) subkey_.back() ^= 0x87;
}

Bytes SealingKey::bytes() const {
  return Bytes(reinterpret_cast<const char*>(key_.data()), key_.size());
}

bool SealingKey::derive(BytesView nonce, MessageKey& key) const {
  EVP_CIPHER_CTX* const context = thread_context();
  if (EVP_EncryptInit_ex2(context, block_cipher(), key_.data(), nullptr, nullptr) != 1) return false;
  std::array<unsigned char, key_size> blocks{};
  constexpr size_t block = 16, prefix = 4;
  for (size_t half = 0; half < 2; ++half) {
    unsigned char* const to = blocks.data() + half * block;
    to[1] = static_cast<unsigned char>(half + 1);
    to[2] = 'X';
    std::copy_n(data(nonce), block - prefix, to + prefix);
    for (size_t i = 0; i < block; ++i) to[i] ^= subkey_[i];
  }
  int size = 0;
  return EVP_EncryptUpdate(context, key.data(), &size, blocks.data(), blocks.size()) == 1;
}

base::Result<Bytes> SealingKey::seal(BytesView message, BytesView bound_to) const {
  Bytes nonce(nonce_size, '\0');
  if (RAND_bytes(data(nonce), nonce_size) != 1) return library_failed();
  return seal_with_nonce(message, bound_to, nonce);
}

base::Result<Bytes> SealingKey::seal_with_nonce(BytesView message, BytesView bound_to,
                                                BytesView nonce) const {
  SIBYL_CHECK(nonce.size() == nonce_size);
  MessageKey key;
  if (!derive(nonce, key)) return library_failed();
  EVP_CIPHER_CTX* const context = thread_context();
  Bytes sealed(nonce);
  sealed.resize(nonce_size + message.size() + tag_size);
  unsigned char* const body = data(sealed) + nonce_size;
  int size = 0;
  const bool done =
      EVP_EncryptInit_ex2(context, message_cipher(), key.data(), data(nonce) + nonce_size / 2, nullptr) ==
          1 &&
      EVP_EncryptUpdate(context, nullptr, &size, data(bound_to), static_cast<int>(bound_to.size())) == 1 &&
      EVP_EncryptUpdate(context, body, &size, data(message), static_cast<int>(message.size())) == 1 &&
      EVP_EncryptFinal_ex(context, body + size, &size) == 1 &&
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, tag_size, body + message.size()) == 1;
  if (!done) return library_failed();
  return sealed;
}

std::optional<Bytes> SealingKey::open(BytesView sealed, BytesView bound_to) const {
  if (sealed.size() < nonce_size + tag_size) return std::nullopt;
  const BytesView nonce = sealed.substr(0, nonce_size);
  const BytesView body = sealed.substr(nonce_size, sealed.size() - nonce_size - tag_size);
  Bytes tag(sealed.substr(sealed.size() - tag_size));
  MessageKey key;
  if (!derive(nonce, key)) return std::nullopt;
  EVP_CIPHER_CTX* const context = thread_context();
  Bytes message(body.size() + 1, '\0');  // the library needs a non-null destination even for an empty message
  int size = 0, rest = 0;
  const bool done =
      EVP_DecryptInit_ex2(context, message_cipher(), key.data(), data(nonce) + nonce_size / 2, nullptr) ==
          1 &&
      EVP_DecryptUpdate(context, nullptr, &size, data(bound_to), static_cast<int>(bound_to.size())) == 1 &&
      EVP_DecryptUpdate(context, data(message), &size, data(body), static_cast<int>(body.size())) == 1 &&
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, tag_size, data(tag)) == 1 &&
      EVP_DecryptFinal_ex(context, data(message) + size, &rest) == 1;
  if (!done) return std::nullopt;
  message.resize(body.size());
  return message;
}

}  // namespace sibyl::engine
