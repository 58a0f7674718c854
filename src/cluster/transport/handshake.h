// The messages by which two servers prove to each other that they belong to the same cluster, before any
// call.
//
//   caller → receiver   Hello: the caller, the intended receiver, a nonce
//   receiver → caller   Challenge: a nonce, and MAC("receiver", transcript)
//   caller → receiver   MAC("caller", transcript)
//
// The transcript is Hello and the second nonce. The key of the MACs (HMAC-SHA256) is the secret in the state
// of the cluster. With TLS (peer_tls.h), the keys of the session come from the same secret. Without TLS, the
// bytes after the handshake are neither encrypted nor protected against changes on the way.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "cluster/state.h"

namespace sibyl::cluster {

inline constexpr size_t nonce_size = 32, mac_size = 32;

struct Hello {
  MemberId caller, receiver;
  base::Bytes nonce;

  base::Bytes encode() const;
  static std::optional<Hello> decode(base::BytesView bytes);
};

struct Challenge {
  base::Bytes nonce, mac;

  base::Bytes encode() const { return nonce + mac; }
  static std::optional<Challenge> decode(base::BytesView bytes);
};

// Returns the protocol version in a Hello that cannot be decoded; empty if the bytes are no Hello. So servers
// of other versions are refused with a clear message instead of a closed connection.
std::string foreign_protocol(base::BytesView hello);

// Random bytes: a nonce, or a new cluster's secret. Ends the program if the system has none.
base::Bytes random_bytes(size_t size);

enum class Role : uint8_t { caller, receiver };
base::Bytes handshake_mac(base::BytesView secret, Role role, base::BytesView hello, base::BytesView nonce);
// In constant time.
bool is_same_mac(base::BytesView left, base::BytesView right);

}  // namespace sibyl::cluster
