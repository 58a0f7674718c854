// Cuts any bytes into frames, both ways, and decodes every message found, compressed ones too. What decodes
// is encoded again and must decode to the same bytes.
#include <cstdint>
#include <cstdlib>

#include "protocol/error_message.h"
#include "protocol/frame.h"
#include "protocol/request.h"
#include "protocol/response.h"

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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const BytesView bytes(reinterpret_cast<const char*>(data), size);
  walk(bytes, Direction::request);
  walk(bytes, Direction::response);
  return 0;
}
