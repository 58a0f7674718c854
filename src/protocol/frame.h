// Frames: the header of every message, and splitting a byte stream into frames.
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

// The name in Cassandra's messages, such as "STARTUP".
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
// The specification's bound. A frame that claims this or more is invalid, and the connection must be closed.
inline constexpr size_t largest_body = 256u << 20;

// The result of parsing the front of a receive buffer.
struct FrameStep {
  enum class Kind : uint8_t {
    incomplete,  // at least `size` bytes are needed
    frame,       // header and body (borrowed), `size` bytes together
    refused,     // answer `error` on header.stream, skip `size` bytes (some may be still to come), continue
    fatal,       // answer `error` on header.stream with a header of version `answer_version`, then close
  };
  Kind kind = Kind::incomplete;
  uint8_t answer_version = 0;
  Header header;
  BytesView body;
  size_t size = 0;
  std::optional<base::Error> error;
};

// Parses the front of `bytes`, and consumes nothing. `expected` is the direction in which the other side
// sends.
FrameStep next_frame(BytesView bytes, Direction expected, size_t body_limit);

// Writes one frame at the end of `out`. Construct it, append the body to `out`, then call finish(). Nothing
// else may be appended in between.
class FrameWriter {
 public:
  // `direction` is the direction of the written message.
  FrameWriter(Bytes& out, Direction direction, const Header& header);
  // Sets the length. Compresses the body if it is large enough to benefit.
  void finish(Compression compression = Compression::none);

 private:
  Bytes& out_;
  size_t start_;
};

// The optional fields that precede the message in a body: [<tracing_id>][<warnings>][<custom_payload>].
struct Envelope {
  BytesView tracing_id;  // 16 bytes in responses, or empty
  std::vector<std::string> warnings;
  BytesMap custom_payload;
};
// Decodes the envelope and removes it from the front of `body`. Requests have neither tracing id nor
// warnings.
base::Status take_envelope(const Header& header, Direction direction, BytesView& body, Envelope& envelope);

// Appends a complete error frame with the header of any version. Before v3 the header has 8 bytes, with a
// one-byte stream.
void append_refusal(Bytes& out, uint8_t version, int16_t stream, const base::Error& error);

}  // namespace sibyl::protocol
