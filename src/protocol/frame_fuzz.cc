// Splits the input into frames, in both directions, and decodes every message, including compressed ones. A
// message that decodes is encoded again, and must decode to the same bytes. The input is also parsed as
// segments. Since a fuzzer rarely finds a valid checksum, it is also used as the contents of segments with
// correct checksums.
#include <cstdint>
#include <cstdlib>

#include "protocol/checksum.h"
#include "protocol/error_message.h"
#include "protocol/frame.h"
#include "protocol/request.h"
#include "protocol/response.h"
#include "protocol/segment.h"

using namespace sibyl::protocol;
namespace base = sibyl::base;

namespace {

constexpr size_t body_limit = 1u << 20;

void require(bool condition) {
  if (!condition) std::abort();
}

template <typename Message, typename Decode, typename Append>
void round_trip(BytesView body, Version version, Decode decode, Append append) {
  Message message;
  if (!decode(body, version, message)) return;
  Bytes once, twice;
  append(once, version, message);
  Message again;
  require(decode(once, version, again).has_value());
  append(twice, version, again);
  require(once == twice);
}

void decode_request(Opcode opcode, BytesView body, Version version) {
  switch (opcode) {
    case Opcode::startup: {
      Startup startup;
      (void)decode_startup(body, startup);
      break;
    }
    case Opcode::query:
      round_trip<Query>(body, version, decode_query, append_query);
      break;
    case Opcode::prepare:
      round_trip<Prepare>(body, version, decode_prepare, append_prepare);
      break;
    case Opcode::execute:
      round_trip<Execute>(body, version, decode_execute, append_execute);
      break;
    case Opcode::batch:
      round_trip<Batch>(body, version, decode_batch, append_batch);
      break;
    case Opcode::register_:
      (void)decode_register(body);
      break;
    case Opcode::auth_response:
      (void)decode_auth_response(body);
      break;
    default:
      break;
  }
}

void decode_response(Opcode opcode, BytesView body, Version version) {
  switch (opcode) {
    case Opcode::error:
      if (const auto message = decode_error(body, version)) {
        Bytes out;
        append_error(out, version, *message);
        require(decode_error(out, version).has_value());
      }
      break;
    case Opcode::supported:
      (void)decode_supported(body);
      break;
    case Opcode::authenticate:
      (void)decode_authenticate(body);
      break;
    case Opcode::auth_challenge:
    case Opcode::auth_success:
      (void)decode_auth_token(body);
      break;
    case Opcode::result:
      (void)decode_result(body, version);
      break;
    case Opcode::event:
      if (const auto event = decode_event(body, version)) {
        Bytes out;
        append_event(out, version, *event);
        require(decode_event(out, version).has_value());
      }
      break;
    default:
      break;
  }
}

void decode_body(const Header& header, Direction direction, BytesView body) {
  Envelope envelope;
  if (!take_envelope(header, direction, body, envelope)) return;
  for (const Version version : {header.version, Version::v5}) {
    if (direction == Direction::request) {
      decode_request(header.opcode, body, version);
    } else {
      decode_response(header.opcode, body, version);
    }
  }
}

void walk(BytesView bytes, Direction direction) {
  while (true) {
    const FrameStep step = next_frame(bytes, direction, body_limit);
    if (step.kind == FrameStep::Kind::incomplete) {
      require(step.size > bytes.size());
      return;
    }
    if (step.kind == FrameStep::Kind::fatal) {
      Bytes out;
      append_refusal(out, step.answer_version, step.header.stream, *step.error);
      return;
    }
    if (step.size > bytes.size()) return;
    if (step.kind == FrameStep::Kind::frame) {
      decode_body(step.header, direction, step.body);
      if ((step.header.flags & flag::compression) != 0)
        for (const auto compression : {Compression::lz4, Compression::snappy})
          if (const auto plain = decompress(compression, step.body, body_limit))
            decode_body(step.header, direction, *plain);
    }
    bytes.remove_prefix(step.size);
  }
}

// Returns a segment with correct checksums around any payload. With lz4 the payload claims `plain_size`
// bytes.
Bytes sealed(BytesView payload, bool is_self_contained, Compression compression, uint64_t plain_size) {
  const size_t header_bytes = compression == Compression::none ? 3 : 5;
  uint64_t header = payload.size();
  if (compression == Compression::none) {
    header |= uint64_t{is_self_contained} << 17;
  } else {
    header |= plain_size << 17 | uint64_t{is_self_contained} << 34;
  }
  header |= uint64_t{crc24(header, header_bytes)} << (8 * header_bytes);
  Bytes out;
  for (size_t i = 0; i < header_bytes + 3; ++i) out.push_back(static_cast<char>(header >> (8 * i)));
  out.append(payload);
  for (size_t i = 0; i < 4; ++i) out.push_back(static_cast<char>(crc32(payload) >> (8 * i)));
  return out;
}

void walk_segments(BytesView bytes, Compression compression, Direction direction) {
  LargeFrame large;
  while (true) {
    const SegmentStep step = next_segment(bytes, compression);
    if (step.kind == SegmentStep::Kind::incomplete) {
      require(step.size > bytes.size());
      return;
    }
    if (step.kind == SegmentStep::Kind::corrupt) return;
    Bytes plain(step.plain_size, '\0');
    if (step.plain_size > 0 && !open_payload(step, plain.data())) return;
    const BytesView payload = step.plain_size > 0 ? BytesView(plain) : step.payload;
    if (step.is_self_contained) {
      walk(payload, direction);
    } else {
      const auto progress = large.add(payload, direction, body_limit);
      if (progress == LargeFrame::Progress::fatal) return;
      if (progress == LargeFrame::Progress::complete) walk(large.take(), direction);
    }
    bytes.remove_prefix(step.size);
  }
}

// Parses two segments of one frame, or one segment with many frames. The first byte says where to split.
void walk_sealed(BytesView bytes, Direction direction) {
  if (bytes.empty() || bytes.size() > largest_payload) return;
  const size_t cut = static_cast<uint8_t>(bytes[0]) % bytes.size();
  for (const auto compression : {Compression::none, Compression::lz4}) {
    walk_segments(sealed(bytes, true, compression, 0), compression, direction);
    walk_segments(sealed(bytes.substr(0, cut), false, compression, 0) +
                      sealed(bytes.substr(cut), false, compression, 0),
                  compression, direction);
  }
  walk_segments(sealed(bytes.substr(1), true, Compression::lz4, 1 + cut * 64), Compression::lz4, direction);
}

// Complete frames survive a round trip through segments.
void wrap_and_unwrap(BytesView bytes) {
  size_t whole = 0;
  while (true) {
    const FrameStep step = next_frame(bytes.substr(whole), Direction::request, body_limit);
    if (step.kind != FrameStep::Kind::frame) break;
    whole += step.size;
  }
  for (const auto compression : {Compression::none, Compression::lz4}) {
    Bytes out, back;
    append_segments(out, bytes.substr(0, whole), compression);
    for (BytesView rest = out; !rest.empty();) {
      const SegmentStep step = next_segment(rest, compression);
      require(step.kind == SegmentStep::Kind::segment);
      Bytes plain(step.plain_size, '\0');
      if (step.plain_size > 0) require(open_payload(step, plain.data()).has_value());
      back.append(step.plain_size > 0 ? BytesView(plain) : step.payload);
      rest.remove_prefix(step.size);
    }
    require(back == bytes.substr(0, whole));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const BytesView bytes(reinterpret_cast<const char*>(data), size);
  for (const auto direction : {Direction::request, Direction::response}) {
    walk(bytes, direction);
    walk_segments(bytes, Compression::none, direction);
    walk_segments(bytes, Compression::lz4, direction);
    walk_sealed(bytes, direction);
  }
  wrap_and_unwrap(bytes);
  return 0;
}
