// Authenticated encryption of short messages that clients keep for the server.
//
// XAES-256-GCM as C2SP specifies it: AES-256-GCM under a key that is derived for each message from the first
// half of a random 24-byte nonce. Nonces are drawn at random, so they need no state that would have to
// survive a restart or be shared by servers that have one key, and the number of messages is practically
// unlimited.
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

  // Nonce, encrypted message, tag. `bound_to` is authenticated and not part of the result: open() needs the
  // same.
  base::Result<base::Bytes> seal(base::BytesView message, base::BytesView bound_to) const;
  // The same with a given nonce, which must never be given twice.
  base::Result<base::Bytes> seal_with_nonce(base::BytesView message, base::BytesView bound_to,
                                            base::BytesView nonce) const;
  // nullopt: not sealed with this key for `bound_to`, or changed since.
  std::optional<base::Bytes> open(base::BytesView sealed, base::BytesView bound_to) const;

 private:
  using Block = std::array<unsigned char, 16>;
  using MessageKey = std::array<unsigned char, key_size>;
  // False: the library failed.
  bool derive(base::BytesView nonce, MessageKey& key) const;

  std::array<unsigned char, key_size> key_{};
  Block subkey_{};  // CMAC's K1 of key_
};

}  // namespace sibyl::engine
