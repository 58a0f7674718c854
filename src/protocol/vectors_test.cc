// Decodes and re-encodes messages that were recorded from Cassandra and its clients
// (tests/data/protocol.txt).
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/source_path.h"
#include "protocol/error_message.h"
#include "protocol/frame.h"
#include "protocol/request.h"
#include "protocol/response.h"

namespace sibyl::protocol {
namespace {

struct Exchange {
  std::string name;
  Bytes request, answer;
};

Bytes from_hex(const std::string& text) {
  Bytes bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return bytes;
}

std::vector<Exchange> recorded() {
  std::ifstream file(base::source_path("tests/data/protocol.txt"));
  std::vector<Exchange> exchanges;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string name, version, request, answer;
    std::getline(fields, name, '|');
    std::getline(fields, version, '|');
    std::getline(fields, request, '|');
    std::getline(fields, answer, '|');
    exchanges.push_back({name, from_hex(request), from_hex(answer)});
  }
  return exchanges;
}

// Decodes and re-encodes the body of a request. Returns an empty string if it does not decode.
Bytes again(Opcode opcode, BytesView body, Version version) {
  Bytes out;
  switch (opcode) {
    case Opcode::startup: {
      Startup message;
      if (decode_startup(body, message)) append_startup(out, message.options);
      break;
    }
    case Opcode::query: {
      Query message;
      if (decode_query(body, version, message)) append_query(out, version, message);
      break;
    }
    case Opcode::prepare: {
      Prepare message;
      if (decode_prepare(body, version, message)) append_prepare(out, version, message);
      break;
    }
    case Opcode::execute: {
      Execute message;
      if (decode_execute(body, version, message)) append_execute(out, version, message);
      break;
    }
    case Opcode::batch: {
      Batch message;
      if (decode_batch(body, version, message)) append_batch(out, version, message);
      break;
    }
    case Opcode::register_:
      if (const auto names = decode_register(body)) append_register(out, *names);
      break;
    default:
      break;
  }
  return out;
}

TEST(Vectors, RequestsRoundTrip) {
  std::map<Opcode, int> seen;
  for (const Exchange& exchange : recorded()) {
    if (exchange.name == "events" || exchange.name == "frames" || exchange.name.starts_with("version "))
      continue;
    const FrameStep step = next_frame(exchange.request, Direction::request, default_body_limit);
    ASSERT_EQ(step.kind, FrameStep::Kind::frame);
    BytesView body = step.body;
    Envelope envelope;
    // Version 3 has no custom payloads. It also has no unset values: they are null in version 3.
    if (step.header.version == Version::v3 && exchange.name == "envelopes") continue;
    ASSERT_TRUE(take_envelope(step.header, Direction::request, body, envelope));
    if (step.header.version == Version::v3 && body.ends_with("\xff\xff\xff\xfe")) continue;
    const Bytes found = again(step.header.opcode, body, step.header.version);
    if (found.size() != body.size()) continue;  // an empty list of values, or a refused one
    EXPECT_EQ(base::to_hex(found), base::to_hex(body));
    ++seen[step.header.opcode];
  }
  for (const Opcode opcode :
       {Opcode::startup, Opcode::query, Opcode::prepare, Opcode::execute, Opcode::batch, Opcode::register_})
    EXPECT_GT(seen[opcode], 2) << opcode_name(opcode);
}

TEST(Vectors, AnswersDecode) {
  std::map<Opcode, int> seen;
  std::set<base::ErrorCode> errors;
  for (const Exchange& exchange : recorded()) {
    if (exchange.answer.empty() || exchange.name.starts_with("version ")) continue;
    const FrameStep step = next_frame(exchange.answer, Direction::response, default_body_limit);
    ASSERT_EQ(step.kind, FrameStep::Kind::frame);
    ASSERT_EQ(step.size, exchange.answer.size());
    BytesView body = step.body;
    Envelope envelope;
    ASSERT_TRUE(take_envelope(step.header, Direction::response, body, envelope));
    const Version version = step.header.version;
    ++seen[step.header.opcode];
    if (step.header.opcode == Opcode::error) {
      const auto message = decode_error(body, version);
      ASSERT_TRUE(message) << message.error().message();
      errors.insert(message->code);
      Bytes out;
      append_error(out, version, *message);
      EXPECT_EQ(base::to_hex(out), base::to_hex(body));
    } else if (step.header.opcode == Opcode::result) {
      const auto message = decode_result(body, version);
      EXPECT_TRUE(message) << message.error().message();
    } else if (step.header.opcode == Opcode::event) {
      const auto message = decode_event(body, version);
      ASSERT_TRUE(message) << message.error().message();
      Bytes out;
      append_event(out, version, *message);
      EXPECT_EQ(base::to_hex(out), base::to_hex(body));
    } else if (step.header.opcode == Opcode::supported) {
      EXPECT_TRUE(decode_supported(body));
    }
  }
  for (const Opcode opcode :
       {Opcode::error, Opcode::ready, Opcode::supported, Opcode::result, Opcode::event, Opcode::auth_success})
    EXPECT_GT(seen[opcode], 0) << opcode_name(opcode);
  using base::ErrorCode;
  for (const ErrorCode code :
       {ErrorCode::protocol, ErrorCode::unavailable, ErrorCode::syntax, ErrorCode::invalid, ErrorCode::config,
        ErrorCode::already_exists, ErrorCode::unprepared})
    EXPECT_TRUE(errors.contains(code)) << static_cast<int>(code);
}

}  // namespace
}  // namespace sibyl::protocol
