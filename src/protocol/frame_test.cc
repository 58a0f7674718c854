#include "protocol/frame.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/test_bytes.h"
#include "protocol/error_message.h"

namespace sibyl::protocol {
namespace {

using base::hex;

TEST(Frame, DecodesEveryPrefixAsIncomplete) {
  const Bytes bytes = hex("040200070500000003616263");
  for (size_t size = 0; size < bytes.size(); ++size) {
    const FrameStep step =
        next_frame(BytesView(bytes).substr(0, size), Direction::request, default_body_limit);
    ASSERT_EQ(step.kind, FrameStep::Kind::incomplete) << size;
    ASSERT_GT(step.size, size);
  }
  const FrameStep step = next_frame(bytes, Direction::request, default_body_limit);
  ASSERT_EQ(step.kind, FrameStep::Kind::frame);
  EXPECT_EQ(step.header.version, Version::v4);
  EXPECT_EQ(step.header.flags, flag::tracing);
  EXPECT_EQ(step.header.stream, 7);
  EXPECT_EQ(step.header.opcode, Opcode::options);
  EXPECT_EQ(step.body, "abc");
  EXPECT_EQ(step.size, bytes.size());
}

TEST(Frame, NegativeStreamsAreKept) {
  const FrameStep step = next_frame(hex("8400ffff0c00000000"), Direction::response, default_body_limit);
  ASSERT_EQ(step.kind, FrameStep::Kind::frame);
  EXPECT_EQ(step.header.stream, -1);
}

TEST(Frame, UnsupportedVersionsAreRefusedInASupportedOne) {
  for (const int version : {0, 6, 65, 66, 127}) {
    Bytes bytes = hex("000000090500000000");
    bytes[0] = static_cast<char>(version);
    const FrameStep step = next_frame(bytes, Direction::request, default_body_limit);
    ASSERT_EQ(step.kind, FrameStep::Kind::fatal);
    EXPECT_EQ(step.answer_version, 5);
    if (version >= 3) {
      EXPECT_EQ(step.header.stream, 9);
    }
    EXPECT_EQ(step.error->code(), base::ErrorCode::protocol);
    EXPECT_EQ(step.error->message(), "Invalid or unsupported protocol version (" + std::to_string(version) +
                                         "); supported versions are (3/v3, 4/v4, 5/v5)");
  }
}

TEST(Frame, VersionTwoIsAnsweredWithItsShortHeader) {
  const FrameStep step = next_frame(hex("0200090100000000"), Direction::request, default_body_limit);
  ASSERT_EQ(step.kind, FrameStep::Kind::fatal);
  EXPECT_EQ(step.answer_version, 2);
  EXPECT_EQ(step.header.stream, 9);
  Bytes out;
  append_refusal(out, step.answer_version, step.header.stream, *step.error);
  const std::string text =
      "Invalid or unsupported protocol version (2); supported versions are (3/v3, 4/v4, 5/v5)";
  Bytes expected = hex("82000900");
  append_int(expected, static_cast<int32_t>(6 + text.size()));
  append_int(expected, 0x0A);
  append_string(expected, text);
  EXPECT_EQ(base::to_hex(out), base::to_hex(expected));
}

TEST(Frame, RefusalOfSixtySixMatchesRecordedAnswer) {
  // Recorded from Cassandra 5.0, except for the list of versions.
  Bytes out;
  append_refusal(out, 5, 9, unsupported_version(66));
  const FrameStep step = next_frame(out, Direction::response, default_body_limit);
  ASSERT_EQ(step.kind, FrameStep::Kind::frame);
  EXPECT_EQ(base::to_hex(out.substr(0, 5)), "8500000900");
  const auto message = decode_error(step.body, Version::v5);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->code, base::ErrorCode::protocol);
}

TEST(Frame, UnknownOpcodesAndWrongDirectionsAreRefusedAndSkipped) {
  struct Case {
    std::string_view bytes, message;
  };
  for (const Case& c :
       {Case{"040000093300000000", "Unknown opcode 51"}, Case{"040000090400000000", "Unsupported message"},
        Case{"840000090700000000",
             "Wrong protocol direction (expected REQUEST, got RESPONSE) for opcode 7 (QUERY)"},
        Case{"040000090800000000",
             "Wrong protocol direction (expected RESPONSE, got REQUEST) for opcode 8 (RESULT)"},
        Case{"840000090800000000", "Unexpected RESPONSE message RESULT, expecting REQUEST"}}) {
    const FrameStep step = next_frame(hex(c.bytes), Direction::request, default_body_limit);
    ASSERT_EQ(step.kind, FrameStep::Kind::refused) << c.bytes;
    EXPECT_EQ(step.error->message(), c.message);
    EXPECT_EQ(step.header.stream, 9);
    EXPECT_EQ(step.size, 9u);
  }
}

TEST(Frame, TooLongBodiesAreRefusedFromTheHeaderAlone) {
  const FrameStep big = next_frame(hex("040000090701000001"), Direction::request, default_body_limit);
  ASSERT_EQ(big.kind, FrameStep::Kind::refused);
  EXPECT_EQ(big.error->code(), base::ErrorCode::invalid);
  EXPECT_EQ(big.error->message(),
            "Request is too big: length 16777226 exceeds maximum allowed length 16777225.");
  EXPECT_EQ(big.size, 16777226u);
  const FrameStep claim = next_frame(hex("040000090710000000"), Direction::request, default_body_limit);
  EXPECT_EQ(claim.kind, FrameStep::Kind::fatal);
  EXPECT_EQ(claim.header.stream, 9);
  const FrameStep negative = next_frame(hex("0400000907ffffffff"), Direction::request, default_body_limit);
  EXPECT_EQ(negative.kind, FrameStep::Kind::fatal);
}

TEST(Frame, WriterSetsTheLength) {
  Bytes out = "before";
  FrameWriter frame(out, Direction::response, {Version::v3, flag::warning, -2, Opcode::ready});
  out += "xyz";
  frame.finish();
  EXPECT_EQ(base::to_hex(out.substr(6)), "8308fffe020000000378797a");
}

TEST(Frame, CompressedBodiesRoundTrip) {
  for (const auto compression : {Compression::lz4, Compression::snappy}) {
    Bytes out;
    const Bytes body(5000, 'a');
    FrameWriter frame(out, Direction::request, {Version::v4, 0, 1, Opcode::query});
    out += body;
    frame.finish(compression);
    const FrameStep step = next_frame(out, Direction::request, default_body_limit);
    ASSERT_EQ(step.kind, FrameStep::Kind::frame);
    EXPECT_EQ(step.header.flags & flag::compression, flag::compression);
    EXPECT_LT(step.body.size(), body.size());
    const auto plain = decompress(compression, step.body, default_body_limit);
    ASSERT_TRUE(plain) << plain.error().message();
    EXPECT_EQ(*plain, body);
    EXPECT_FALSE(decompress(compression, step.body, body.size() - 1));
    EXPECT_FALSE(decompress(compression, step.body.substr(0, step.body.size() - 1), default_body_limit));
  }
}

TEST(Frame, SmallBodiesStayUncompressed) {
  Bytes out;
  FrameWriter frame(out, Direction::request, {Version::v4, 0, 1, Opcode::query});
  out += "short";
  frame.finish(Compression::lz4);
  EXPECT_EQ(next_frame(out, Direction::request, default_body_limit).header.flags, 0);
}

TEST(Compression, ClaimedLengthsAreNotTrusted) {
  // Six bytes claim 16 MiB.
  EXPECT_FALSE(decompress(Compression::lz4, hex("01000000abcd"), default_body_limit));
  EXPECT_FALSE(decompress(Compression::lz4, hex("ffffffff00"), default_body_limit));
  EXPECT_FALSE(decompress(Compression::lz4, "abc", default_body_limit));
  EXPECT_FALSE(decompress(Compression::snappy, hex("ffffffff0f00"), default_body_limit));
  EXPECT_FALSE(decompress(Compression::snappy, "", default_body_limit));
  EXPECT_FALSE(decompress(Compression::none, "abc", default_body_limit));
}

TEST(Compression, Names) {
  for (const Version version : {Version::v3, Version::v4, Version::v5})
    EXPECT_EQ(*compression_by_name("LZ4", version), Compression::lz4);
  EXPECT_EQ(*compression_by_name("snappy", Version::v4), Compression::snappy);
  EXPECT_EQ(compression_by_name("snappy", Version::v5).error().message(),
            "Snappy compression is not supported in protocol V5");
  EXPECT_EQ(compression_by_name("zstd", Version::v5).error().message(),
            "Unknown compression algorithm: zstd");
}

TEST(Compression, RoundTripsAnything) {
  EXPECT_TRUE(rc::check([](const std::string& body) {
    for (const auto compression : {Compression::lz4, Compression::snappy}) {
      Bytes out;
      compress(compression, body, out);
      const auto plain = decompress(compression, out, default_body_limit);
      RC_ASSERT(plain.has_value());
      RC_ASSERT(*plain == body);
    }
  }));
}

TEST(Envelope, BodyOrderIsTracingWarningsPayload) {
  Bytes body(16, '\x11');
  append_string_list(body, {"careful"});
  append_bytes_map(body, {{"key", Bytes("value")}, {"none", std::nullopt}});
  body += "message";
  BytesView rest = body;
  Envelope envelope;
  const Header header{Version::v4, flag::tracing | flag::warning | flag::custom_payload, 1, Opcode::result};
  ASSERT_TRUE(take_envelope(header, Direction::response, rest, envelope));
  EXPECT_EQ(rest, "message");
  EXPECT_EQ(envelope.tracing_id, Bytes(16, '\x11'));
  EXPECT_EQ(envelope.warnings, std::vector<std::string>{"careful"});
  ASSERT_EQ(envelope.custom_payload.size(), 2u);
  EXPECT_EQ(envelope.custom_payload[0].second, "value");
  EXPECT_FALSE(envelope.custom_payload[1].second);

  Bytes request;
  append_bytes_map(request, {{"key", Bytes("value")}});
  request += "message";
  rest = request;
  Envelope of_request;
  ASSERT_TRUE(take_envelope({Version::v4, flag::tracing | flag::custom_payload, 1, Opcode::query},
                            Direction::request, rest, of_request));
  EXPECT_EQ(rest, "message");
  rest = request;
  EXPECT_FALSE(take_envelope({Version::v3, flag::custom_payload, 1, Opcode::query}, Direction::request, rest,
                             of_request));
}

TEST(Wire, LongStringsAreCutBetweenCharacters) {
  std::string text(65534, 'a');
  text += "\xe2\x82\xac";
  Bytes out;
  append_string(out, text);
  EXPECT_EQ(out.size(), 2 + 65534u);
  WireReader reader(out);
  EXPECT_EQ(reader.string().size(), 65534u);
}

}  // namespace
}  // namespace sibyl::protocol
