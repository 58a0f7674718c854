// Messages between two servers, as bytes.
//
//   4 bytes  size of the rest, big-endian
//   1 byte   kind
//   8 bytes  number of the call, big-endian; 0 during the handshake
//   …        body
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "cluster/peers.h"

namespace sibyl::cluster {

struct PeerFrame {
  enum class Kind : uint8_t {
    hello = 1,      // caller → receiver: Hello
    challenge = 2,  // receiver → caller: Challenge
    proof = 3,      // caller → receiver: the MAC of the caller
    welcome = 4,    // receiver → caller: empty; calls may follow
    refusal = 5,    // receiver → caller: why the connection is refused, as text; it is closed
    call = 6,       // caller → receiver: CallHeader, then the message
    answer = 7,     // receiver → caller: AnswerStatus, then the answer or a text
  };
  Kind kind = Kind::hello;
  uint64_t call = 0;
  base::BytesView body;  // borrowed
};

inline constexpr size_t peer_frame_header = 13;
// The limit of a frame's size until the other side has proved its identity.
inline constexpr size_t max_handshake_frame = 4096;

void append_frame(base::Bytes& out, const PeerFrame& frame);

// The result of parsing the front of a buffer.
struct PeerFrameStep {
  enum class Outcome : uint8_t { frame, incomplete, invalid };
  Outcome outcome = Outcome::incomplete;
  size_t size = 0;  // for a frame, its bytes; for an incomplete one, the minimum number of bytes needed
  PeerFrame frame;
};
// Frames above `max_size` are invalid.
PeerFrameStep next_peer_frame(base::BytesView bytes, size_t max_size);

struct CallHeader {
  Method method = Method::ping;
  uint32_t timeout_ms = 0;
};
inline constexpr size_t call_header_size = 5;
void append_call_header(base::Bytes& out, const CallHeader& header);
// Removes the header from `body`.
std::optional<CallHeader> take_call_header(base::BytesView& body);

enum class AnswerStatus : uint8_t {
  answered = 0,
  refused = 1,  // not executed
  failed = 2,   // perhaps executed
};
std::optional<AnswerStatus> take_answer_status(base::BytesView& body);

}  // namespace sibyl::cluster
