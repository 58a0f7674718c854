// Frames: the header before every message, and cutting a stream of bytes into frames.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "protocol/compression.h"
#include "protocol/version.h"
#include "protocol/wire.h"

namespace sibyl::protocol {

enum class Opcode : uint8_t {
  error = 0x00,
  startup = 0x01,
  ready = 0x02,
  authenticate = 0x03,
  options = 0x05,
  supported = 0x06,
  query = 0x07,
  result = 0x08,
  prepare = 0x09,
  execute = 0x0A,
  register_ = 0x0B,
  event = 0x0C,
  batch = 0x0D,
  auth_challenge = 0x0E,
  auth_response = 0x0F,
  auth_success = 0x10,
};

// As Cassandra's messages spell it: "STARTUP".
std::string_view opcode_name(Opcode opcode);

enum class Direction : uint8_t { request, response };

namespace flag {
inline constexpr uint8_t compression = 0x01;
inline constexpr uint8_t tracing = 0x02;
inline constexpr uint8_t custom_payload = 0x04;
inline constexpr uint8_t warning = 0x08;
inline constexpr uint8_t use_beta = 0x10;
}  // namespace flag

struct Header {
  Version version = newest_version;
  uint8_t flags = 0;
  int16_t stream = 0;
  Opcode opcode = Opcode::error;
};

inline constexpr size_t header_size = 9;
inline constexpr size_t default_body_limit = 16u << 20;
// The specification's bound. A claim of this or more is no message: the connection cannot go on.
inline constexpr size_t largest_body = 256u << 20;

// What the front of a receive buffer holds.
struct FrameStep {
  enum class Kind : uint8_t {
    incomplete,  // `size` bytes are needed to know more
    frame,       // header and body (borrowed), `size` bytes in all
    refused,     // answer `error` on header.stream, skip `size` bytes (perhaps more than are here), go on
    fatal,       // answer `error` on header.stream with a header of version `answer_version`, then close
  };
  Kind kind = Kind::incomplete;
  uint8_t answer_version = 0;
  Header header;
  BytesView body;
  size_t size = 0;
  std::optional<base::Error> error;
};

// Looks at the front of `bytes` and consumes nothing. `expected` is what the other side sends.
FrameStep next_frame(BytesView bytes, Direction expected, size_t body_limit);

// Writes one frame at the end of `out`: construct, append the body to `out`, finish. Between the two only the
// body may be appended.
class FrameWriter {
 public:
  // `direction` is that of the message written.
  FrameWriter(Bytes& out, Direction direction, const Header& header);
  // Sets the length; compresses the body when it is large enough to gain from it.
  void finish(Compression compression = Compression::none);

 private:
  Bytes& out_;
  size_t start_;
};

// What precedes the message in a body: [<tracing_id>][<warnings>][<custom_payload>].
struct Envelope {
  BytesView tracing_id;  // 16 bytes in responses, or empty
  std::vector<std::string> warnings;
  BytesMap custom_payload;
};
// Takes the envelope off the front of `body`. Requests carry neither tracing id nor warnings.
base::Status take_envelope(const Header& header, Direction direction, BytesView& body, Envelope& envelope);

// A whole error frame under any version's header: 8 bytes with a one-byte stream before v3.
void append_refusal(Bytes& out, uint8_t version, int16_t stream, const base::Error& error);

}  // namespace sibyl::protocol
