#include "protocol/frame.h"

#include <fmt/format.h>

#include "base/check.h"
#include "protocol/error_message.h"

namespace sibyl::protocol {
namespace {

constexpr uint8_t response_bit = 0x80;
// Below this size lz4 and snappy rarely save a packet, and are not worth the time.
constexpr size_t min_compressed_body = 512;

struct OpcodeEntry {
  std::string_view name;  // empty: no such opcode
  Direction direction = Direction::request;
};

OpcodeEntry describe(uint8_t opcode) {
  static constexpr OpcodeEntry entries[] = {
      {"ERROR", Direction::response},
      {"STARTUP", Direction::request},
      {"READY", Direction::response},
      {"AUTHENTICATE", Direction::response},
      {"", Direction::request},
      {"OPTIONS", Direction::request},
      {"SUPPORTED", Direction::response},
      {"QUERY", Direction::request},
      {"RESULT", Direction::response},
      {"PREPARE", Direction::request},
      {"EXECUTE", Direction::request},
      {"REGISTER", Direction::request},
      {"EVENT", Direction::response},
      {"BATCH", Direction::request},
      {"AUTH_CHALLENGE", Direction::response},
      {"AUTH_RESPONSE", Direction::request},
      {"AUTH_SUCCESS", Direction::response},
  };
  return opcode < std::size(entries) ? entries[opcode] : OpcodeEntry{};
}

std::string_view direction_name(Direction direction) {
  return direction == Direction::request ? "REQUEST" : "RESPONSE";
}

// The header of v1 and v2 is shorter, with a one-byte stream. The response uses the same header.
FrameStep refuse_version(BytesView bytes, uint8_t version) {
  const bool short_header = version < static_cast<uint8_t>(Version::v3);
  FrameStep step;
  step.size = short_header ? 3 : 4;
  if (bytes.size() < step.size) return step;
  step.kind = FrameStep::Kind::fatal;
  step.answer_version = version == 1 || version == 2 ? version : static_cast<uint8_t>(newest_version);
  step.header.stream = short_header ? static_cast<int8_t>(bytes[2])
                                    : static_cast<int16_t>(base::read_big_endian<uint16_t>(bytes.substr(2)));
  step.error = unsupported_version(version);
  return step;
}

std::optional<base::Error> check_opcode(uint8_t opcode, Direction got, Direction expected) {
  constexpr uint8_t credentials = 4;  // only in version 1
  const OpcodeEntry entry = describe(opcode);
  if (opcode == credentials) return protocol_error("Unsupported message");
  if (entry.name.empty())
    return protocol_error(fmt::format("Unknown opcode {}", static_cast<int8_t>(opcode)));
  if (entry.direction != got)
    return protocol_error(fmt::format("Wrong protocol direction (expected {}, got {}) for opcode {} ({})",
                                      direction_name(entry.direction), direction_name(got), opcode,
                                      entry.name));
  if (got != expected)
    return protocol_error(fmt::format("Unexpected {} message {}, expecting {}", direction_name(got),
                                      entry.name, direction_name(expected)));
  return std::nullopt;
}

}  // namespace

std::string_view opcode_name(Opcode opcode) {
  return describe(static_cast<uint8_t>(opcode)).name;
}

FrameStep next_frame(BytesView bytes, Direction expected, size_t body_limit) {
  FrameStep step;
  step.size = header_size;
  if (bytes.empty()) return step;
  const auto first = static_cast<uint8_t>(bytes[0]);
  const uint8_t version = first & ~response_bit;
  if (!is_supported(version)) return refuse_version(bytes, version);
  if (bytes.size() < header_size) return step;

  step.answer_version = version;
  step.header.version = static_cast<Version>(version);
  step.header.flags = static_cast<uint8_t>(bytes[1]);
  step.header.stream = static_cast<int16_t>(base::read_big_endian<uint16_t>(bytes.substr(2)));
  const auto opcode = static_cast<uint8_t>(bytes[4]);
  step.header.opcode = static_cast<Opcode>(opcode);
  const size_t length = base::read_big_endian<uint32_t>(bytes.substr(5));
  step.size = header_size + length;

  if (length > body_limit) {
    step.error = base::Error(base::ErrorCode::invalid,
                             fmt::format("Request is too big: length {} exceeds maximum allowed length {}.",
                                         step.size, body_limit + header_size));
    step.kind = length >= largest_body ? FrameStep::Kind::fatal : FrameStep::Kind::refused;
    return step;
  }
  const Direction got = (first & response_bit) != 0 ? Direction::response : Direction::request;
  step.error = check_opcode(opcode, got, expected);
  if (step.error) {
    step.kind = FrameStep::Kind::refused;
    return step;
  }
  if (bytes.size() < step.size) return step;
  step.kind = FrameStep::Kind::frame;
  step.body = bytes.substr(header_size, length);
  return step;
}

FrameWriter::FrameWriter(Bytes& out, Direction direction, const Header& header)
    : out_(out), start_(out.size()) {
  const uint8_t version = static_cast<uint8_t>(header.version);
  const auto stream = static_cast<uint16_t>(header.stream);
  const char bytes[header_size] = {
      static_cast<char>(direction == Direction::response ? version | response_bit : version),
      static_cast<char>(header.flags),
      static_cast<char>(stream >> 8),
      static_cast<char>(stream),
      static_cast<char>(header.opcode),
  };
  out.append(bytes, sizeof bytes);
}

void FrameWriter::finish(Compression compression) {
  const size_t body_start = start_ + header_size;
  if (compression != Compression::none && out_.size() - body_start >= min_compressed_body) {
    Bytes compressed;
    compress(compression, BytesView(out_).substr(body_start), compressed);
    if (compressed.size() < out_.size() - body_start) {
      out_.replace(body_start, Bytes::npos, compressed);
      out_[start_ + 1] = static_cast<char>(out_[start_ + 1] | flag::compression);
    }
  }
  const size_t length = out_.size() - body_start;
  SIBYL_CHECK(length <= UINT32_MAX);
  store_int(out_.data() + start_ + 5, static_cast<uint32_t>(length));
}

base::Status take_envelope(const Header& header, Direction direction, BytesView& body, Envelope& envelope) {
  constexpr uint8_t present = flag::tracing | flag::warning | flag::custom_payload;
  if ((header.flags & present) == 0) return {};
  WireReader reader(body);
  if (direction == Direction::response) {
    if ((header.flags & flag::tracing) != 0) envelope.tracing_id = reader.raw(16);
    if ((header.flags & flag::warning) != 0) envelope.warnings = reader.string_list();
  }
  if ((header.flags & flag::custom_payload) != 0) {
    if (!has_warnings_and_payload(header.version))
      reader.fail("Received frame with CUSTOM_PAYLOAD flag for native protocol version < 4");
    envelope.custom_payload = reader.bytes_map();
  }
  SIBYL_TRY(reader.status());
  body = reader.rest();
  return {};
}

void append_refusal(Bytes& out, uint8_t version, int16_t stream, const base::Error& error) {
  const ErrorMessage message = to_message(error);
  if (version >= static_cast<uint8_t>(Version::v3)) {
    const auto known = static_cast<Version>(version);
    FrameWriter frame(out, Direction::response, {known, 0, stream, Opcode::error});
    append_error(out, known, message);
    frame.finish();
    return;
  }
  append_byte(out, version | response_bit);
  append_byte(out, 0);
  append_byte(out, static_cast<uint8_t>(stream));
  append_byte(out, static_cast<uint8_t>(Opcode::error));
  Bytes body;
  append_error(body, Version::v3, message);
  append_bytes(out, body);
}

}  // namespace sibyl::protocol
