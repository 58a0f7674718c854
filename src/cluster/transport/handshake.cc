#include "cluster/transport/handshake.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "base/check.h"

namespace sibyl::cluster {

using base::Bytes;
using base::BytesView;

namespace {

constexpr BytesView magic = "sibyl-peer-1", any_version = "sibyl-peer-";
constexpr size_t max_version_text = 8;

const unsigned char* unsigned_bytes(BytesView bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

Bytes Hello::encode() const {
  Bytes out(magic);
  base::append_sized(out, caller.encode());
  base::append_sized(out, receiver.encode());
  out.append(nonce);
  return out;
}

std::optional<Hello> Hello::decode(BytesView bytes) {
  if (!bytes.starts_with(magic)) return std::nullopt;
  base::Reader reader(bytes.substr(magic.size()));
  BytesView caller, receiver, nonce;
  if (!reader.sized(caller) || !reader.sized(receiver) || !reader.take(nonce_size, nonce) || !reader.at_end())
    return std::nullopt;
  auto caller_id = MemberId::decode(caller);
  auto receiver_id = MemberId::decode(receiver);
  if (!caller_id || !receiver_id) return std::nullopt;
  return Hello{std::move(*caller_id), std::move(*receiver_id), Bytes(nonce)};
}

std::string foreign_protocol(BytesView hello) {
  if (!hello.starts_with(any_version)) return {};
  std::string version;
  for (const char c : hello.substr(any_version.size(), max_version_text)) {
    if (c < '0' || c > '9') break;
    version += c;
  }
  return version;
}

std::optional<Challenge> Challenge::decode(BytesView bytes) {
  if (bytes.size() != nonce_size + mac_size) return std::nullopt;
  return Challenge{Bytes(bytes.substr(0, nonce_size)), Bytes(bytes.substr(nonce_size))};
}

Bytes random_bytes(size_t size) {
  Bytes bytes(size, '\0');
  SIBYL_CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(size)) == 1);
  return bytes;
}

Bytes handshake_mac(BytesView secret, Role role, BytesView hello, BytesView nonce) {
  Bytes text;
  base::append_sized(text, role == Role::caller ? "caller" : "receiver");
  base::append_sized(text, hello);
  base::append_sized(text, nonce);
  Bytes mac(mac_size, '\0');
  unsigned int size = 0;
  SIBYL_CHECK(HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), unsigned_bytes(text),
                   text.size(), reinterpret_cast<unsigned char*>(mac.data()), &size) != nullptr);
  SIBYL_CHECK(size == mac_size);
  return mac;
}

bool is_same_mac(BytesView left, BytesView right) {
  return left.size() == right.size() && CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace sibyl::cluster
