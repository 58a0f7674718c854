#include "protocol/segment.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/test_bytes.h"
#include "protocol/checksum.h"

namespace sibyl::protocol {
namespace {

using base::hex;

Bytes frame_of(BytesView body, Opcode opcode = Opcode::query) {
  Bytes out;
  FrameWriter frame(out, Direction::request, {Version::v5, 0, 1, opcode});
  out += body;
  frame.finish();
  return out;
}

Bytes payload_of(const SegmentStep& step) {
  if (step.plain_size == 0) return Bytes(step.payload);
  Bytes plain(step.plain_size, '\0');
  const auto status = open_payload(step, plain.data());
  EXPECT_TRUE(status);
  return status ? plain : Bytes();
}

// Returns the frames of the segments, in order. Fails the test if bytes are left over.
std::vector<Bytes> frames_in(BytesView bytes, Compression compression) {
  std::vector<Bytes> frames;
  LargeFrame large;
  while (!bytes.empty()) {
    const SegmentStep step = next_segment(bytes, compression);
    EXPECT_EQ(step.kind, SegmentStep::Kind::segment);
    if (step.kind != SegmentStep::Kind::segment) break;
    Bytes payload = payload_of(step);
    bytes.remove_prefix(step.size);
    if (!step.is_self_contained) {
      const auto progress = large.add(payload, Direction::request, largest_body);
      if (progress == LargeFrame::Progress::more) continue;
      EXPECT_EQ(progress, LargeFrame::Progress::complete);
      payload = large.take();
    }
    BytesView rest = payload;
    while (!rest.empty()) {
      const FrameStep frame = next_frame(rest, Direction::request, largest_body);
      EXPECT_EQ(frame.kind, FrameStep::Kind::frame);
      if (frame.kind != FrameStep::Kind::frame) return frames;
      frames.emplace_back(rest.substr(0, frame.size));
      rest.remove_prefix(frame.size);
    }
  }
  return frames;
}

// The vectors were written by the Python driver 3.25.
TEST(Segment, MatchesRecordedBytes) {
  Bytes out;
  append_segments(out, frame_of("", Opcode::options), Compression::none);
  EXPECT_EQ(base::to_hex(out), "090002a4c8c1050000010500000000b5557486");
  out.clear();
  append_segments(out, frame_of("", Opcode::options), Compression::lz4);
  EXPECT_EQ(base::to_hex(out), "0900000004c2b895050000010500000000b5557486");
  out.clear();
  append_segments(out, frame_of(Bytes(256, 'a')), Compression::none);
  EXPECT_EQ(base::to_hex(out.substr(0, 6)), "090102fb6e63");
  EXPECT_EQ(base::to_hex(out.substr(out.size() - 4)), "2f3c4aa3");
}

TEST(Segment, DecodesRecordedCompressedBytes) {
  const Bytes recorded = hex("1400120204788abaaf050000010700000100610100e7506161616161704685a2");
  const SegmentStep step = next_segment(recorded, Compression::lz4);
  ASSERT_EQ(step.kind, SegmentStep::Kind::segment);
  EXPECT_TRUE(step.is_self_contained);
  EXPECT_EQ(step.plain_size, 265u);
  EXPECT_EQ(payload_of(step), frame_of(Bytes(256, 'a')));
}

TEST(Segment, LargeFramesUseSeveralSegments) {
  const Bytes frame = frame_of(Bytes(140'000, 'b'));
  Bytes out;
  append_segments(out, frame, Compression::none);
  ASSERT_EQ(out.size(), 140'029u);
  EXPECT_EQ(base::to_hex(out.substr(0, 6)), "ffff013891fe");
  EXPECT_EQ(base::to_hex(out.substr(131'077, 10)), "4e97e1ffea22009e3bf8");
  EXPECT_EQ(base::to_hex(out.substr(out.size() - 4)), "6c514747");
  EXPECT_EQ(frames_in(out, Compression::none), std::vector<Bytes>{frame});
}

TEST(Segment, EmptySegmentsHoldNothing) {
  const Bytes empty = hex("0000026a36c4d37e7744");
  const SegmentStep step = next_segment(empty, Compression::none);
  ASSERT_EQ(step.kind, SegmentStep::Kind::segment);
  EXPECT_TRUE(step.payload.empty());
}

TEST(Segment, SmallFramesShareASegment) {
  const Bytes one = frame_of("one"), two = frame_of(Bytes(70'000, '2')), three = frame_of(Bytes(70'000, '3'));
  for (const auto compression : {Compression::none, Compression::lz4}) {
    Bytes out;
    append_segments(out, one + two + three, compression);
    const SegmentStep first = next_segment(out, compression);
    ASSERT_EQ(first.kind, SegmentStep::Kind::segment);
    EXPECT_EQ(payload_of(first), one + two);
    EXPECT_EQ(frames_in(out, compression), (std::vector<Bytes>{one, two, three}));
  }
}

TEST(Segment, EveryPrefixIsIncomplete) {
  for (const auto compression : {Compression::none, Compression::lz4}) {
    Bytes out;
    append_segments(out, frame_of(Bytes(200, 'x')), compression);
    for (size_t size = 0; size < out.size(); ++size) {
      const SegmentStep step = next_segment(BytesView(out).substr(0, size), compression);
      ASSERT_EQ(step.kind, SegmentStep::Kind::incomplete) << size;
      ASSERT_GT(step.size, size);
    }
  }
}

TEST(Segment, EveryFlippedBitIsFound) {
  for (const auto compression : {Compression::none, Compression::lz4}) {
    Bytes whole;
    append_segments(whole, frame_of(Bytes(150, 'x')), compression);
    for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      Bytes bytes = whole;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
      const SegmentStep step = next_segment(bytes, compression);
      ASSERT_EQ(step.kind, SegmentStep::Kind::corrupt) << bit;
      EXPECT_EQ(step.error->code(), base::ErrorCode::protocol);
    }
  }
}

TEST(Segment, CorruptionIsLocated) {
  Bytes bytes = hex("090002a4c8c1050000010500000000b5557487");
  EXPECT_EQ(next_segment(bytes, Compression::none).error->message(),
            "Segment is invalid, unrecoverable CRC mismatch detected in frame body. Read -2022419019, "
            "Computed -2039196235");
  bytes[0] = '\x08';
  EXPECT_EQ(next_segment(bytes, Compression::none).error->message().substr(0, 72),
            "Segment is invalid, unrecoverable CRC mismatch detected in frame header.");
}

TEST(Segment, InvalidLz4IsRefused) {
  // The checksums are correct, but the claimed length is not.
  Bytes recorded = hex("1400120204788abaaf050000010700000100610100e7506161616161704685a2");
  const uint64_t header = 0x14 | uint64_t{266} << 17 | uint64_t{1} << 34;
  const uint64_t checked = header | uint64_t{crc24(header, 5)} << 40;
  for (size_t i = 0; i < 8; ++i) recorded[i] = static_cast<char>(checked >> (8 * i));
  const SegmentStep step = next_segment(recorded, Compression::lz4);
  ASSERT_EQ(step.kind, SegmentStep::Kind::segment);
  Bytes plain(step.plain_size, '\0');
  EXPECT_FALSE(open_payload(step, plain.data()));
}

TEST(Segment, AnyFramesRoundTrip) {
  EXPECT_TRUE(rc::check([](const std::vector<uint16_t>& sizes, bool compressed, char fill) {
    const auto compression = compressed ? Compression::lz4 : Compression::none;
    std::vector<Bytes> frames;
    Bytes together, out;
    for (const uint16_t size : sizes) {
      frames.push_back(frame_of(Bytes(size_t{size} * 5 % 300'000, fill)));
      together += frames.back();
    }
    append_segments(out, together, compression);
    RC_ASSERT(frames_in(out, compression) == frames);
  }));
}

TEST(LargeFrame, RefusedFramesAreSkipped) {
  LargeFrame large;
  const Bytes frame = frame_of(Bytes(1000, 'x'));
  EXPECT_EQ(large.add(BytesView(frame).substr(0, 300), Direction::request, 500),
            LargeFrame::Progress::refused);
  EXPECT_EQ(large.step().header.stream, 1);
  EXPECT_EQ(large.step().error->code(), base::ErrorCode::invalid);
  EXPECT_EQ(large.add(BytesView(frame).substr(300, 500), Direction::request, 500),
            LargeFrame::Progress::more);
  EXPECT_EQ(large.add(BytesView(frame).substr(800), Direction::request, 500), LargeFrame::Progress::more);
  const Bytes next = frame_of(Bytes(400, 'y'));
  EXPECT_EQ(large.add(BytesView(next).substr(0, 4), Direction::request, 500), LargeFrame::Progress::more);
  EXPECT_EQ(large.add(BytesView(next).substr(4), Direction::request, 500), LargeFrame::Progress::complete);
  EXPECT_EQ(large.take(), next);
}

TEST(LargeFrame, MoreBytesThanTheHeaderSaysIsFatal) {
  LargeFrame large;
  EXPECT_EQ(large.add(frame_of("body") + "x", Direction::request, 500), LargeFrame::Progress::fatal);
  EXPECT_EQ(large.step().error->message(), "Message of 13 bytes in segments that hold 14 bytes");
}

TEST(LargeFrame, UnknownVersionsAreFatal) {
  LargeFrame large;
  EXPECT_EQ(large.add(hex("420000090500000000"), Direction::request, 500), LargeFrame::Progress::fatal);
}

}  // namespace
}  // namespace sibyl::protocol
