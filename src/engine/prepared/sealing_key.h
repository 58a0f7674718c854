// Authenticated encryption of short messages that clients keep for the server.
//
// Uses XAES-256-GCM as specified by C2SP: AES-256-GCM with a key that is derived for each message from the
// first half of a random 24-byte nonce. Random nonces need no state that must survive restarts or be shared
// between servers with the same key, and allow a practically unlimited number of messages.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"

namespace sibyl::engine {

// Immutable; thread-safe.
class SealingKey {
 public:
  static constexpr size_t key_size = 32, nonce_size = 24, tag_size = 16;

  static base::Result<SealingKey> make_random();
  // REQUIRES: key_size bytes.
  explicit SealingKey(base::BytesView bytes);

  base::Bytes bytes() const;

  // Returns nonce, encrypted message and tag. `bound_to` is authenticated but is not part of the result;
  // open() needs the same value.
  base::Result<base::Bytes> seal(base::BytesView message, base::BytesView bound_to) const;
  // Like seal(), with a given nonce. A nonce must never be used twice.
  base::Result<base::Bytes> seal_with_nonce(base::BytesView message, base::BytesView bound_to,
                                            base::BytesView nonce) const;
  // Returns nullopt if `sealed` was not made with this key and `bound_to`, or was modified.
  std::optional<base::Bytes> open(base::BytesView sealed, base::BytesView bound_to) const;

 private:
  using Block = std::array<unsigned char, 16>;
  using MessageKey = std::array<unsigned char, key_size>;
  // Returns false if the library failed.
  bool derive(base::BytesView nonce, MessageKey& key) const;

  std::array<unsigned char, key_size> key_{};
  Block subkey_{};  // CMAC's K1 of key_
};

}  // namespace sibyl::engine
