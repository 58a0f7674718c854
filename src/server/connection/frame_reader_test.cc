#include "server/connection/frame_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "protocol/wire.h"

namespace sibyl::server {
namespace {

using protocol::Compression;
using protocol::FrameStep;
using protocol::Opcode;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr size_t body_limit = 1000;

std::string frame(int16_t stream, std::string_view body, Opcode opcode = Opcode::query) {
  std::string out;
  protocol::FrameWriter writer(out, protocol::Direction::request, {protocol::Version::v4, 0, stream, opcode});
  out += body;
  writer.finish();
  return out;
}

std::string segments(std::string_view frames, Compression compression) {
  std::string out;
  protocol::append_segments(out, frames, compression);
  return out;
}

void receive(FrameReader& reader, std::string_view bytes) {
  while (!bytes.empty()) {
    reader.prepare();
    const size_t size = std::min(bytes.size(), reader.free_size());
    std::memcpy(reader.free_space(), bytes.data(), size);
    reader.commit(size);
    bytes.remove_prefix(size);
  }
}

// Handles everything that has been received. Returns a line for each frame: "STREAM BODY", "STREAM refused"
// or "STREAM fatal: ERROR".
std::vector<std::string> read_all(FrameReader& reader) {
  std::vector<std::string> frames;
  const auto describe = [](const FrameStep& step) {
    const std::string stream = std::to_string(step.header.stream);
    if (step.kind == FrameStep::Kind::frame) return stream + " " + std::string(step.body);
    if (step.kind == FrameStep::Kind::refused) return stream + " refused";
    return stream + " fatal: " + step.error->message();
  };
  while (true) {
    const FrameReader::Next next = reader.peek(body_limit);
    if (next == FrameReader::Next::incomplete) return frames;
    if (next == FrameReader::Next::segment) {
      if (reader.open_segment(body_limit)) continue;
      frames.push_back(describe(reader.frame()));
      if (reader.frame().kind == FrameStep::Kind::fatal) return frames;
      continue;
    }
    frames.push_back(describe(reader.frame()));
    if (reader.frame().kind == FrameStep::Kind::fatal) return frames;
    reader.pop();
  }
}

enum class Framing : uint8_t { plain, segments, compressed };

class FrameReaderTest : public testing::TestWithParam<Framing> {
 protected:
  FrameReaderTest() {
    if (GetParam() != Framing::plain) reader_.use_segments(compression());
  }
  static Compression compression() {
    return GetParam() == Framing::compressed ? Compression::lz4 : Compression::none;
  }
  static std::string wrap(const std::string& frames) {
    return GetParam() == Framing::plain ? frames : segments(frames, compression());
  }

  FrameReader reader_;
};

INSTANTIATE_TEST_SUITE_P(Framings, FrameReaderTest,
                         testing::Values(Framing::plain, Framing::segments, Framing::compressed),
                         [](const auto& info) {
                           return std::string(info.param == Framing::plain      ? "plain"
                                              : info.param == Framing::segments ? "segments"
                                                                                : "compressed");
                         });

TEST_P(FrameReaderTest, FindsEveryFrameHoweverTheBytesArrive) {
  const std::string body(900, 'x');
  const std::string bytes = wrap(frame(1, "one") + frame(2, "") + frame(3, body)) + wrap(frame(4, "four"));
  for (const size_t step : {size_t{1}, size_t{7}, size_t{100}, bytes.size()}) {
    FrameReader reader;
    if (GetParam() != Framing::plain) reader.use_segments(compression());
    std::vector<std::string> frames;
    for (size_t at = 0; at < bytes.size(); at += step) {
      receive(reader, std::string_view(bytes).substr(at, step));
      const auto found = read_all(reader);
      frames.insert(frames.end(), found.begin(), found.end());
    }
    EXPECT_THAT(frames, ElementsAre("1 one", "2 ", "3 " + body, "4 four")) << step;
    EXPECT_FALSE(reader.has_begun());
    EXPECT_EQ(reader.received(), bytes.size());
    EXPECT_EQ(reader.unread_position(), bytes.size());
  }
}

TEST_P(FrameReaderTest, AFrameStaysAtTheFrontUntilItIsPopped) {
  receive(reader_, wrap(frame(1, "one") + frame(2, "two")));
  while (reader_.peek(body_limit) == FrameReader::Next::segment) reader_.open_segment(body_limit);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(reader_.peek(body_limit), FrameReader::Next::frame);
    EXPECT_EQ(reader_.frame().body, "one");
  }
  reader_.pop();
  ASSERT_EQ(reader_.peek(body_limit), FrameReader::Next::frame);
  EXPECT_EQ(reader_.frame().body, "two");
}

TEST_P(FrameReaderTest, AKeptFrameOutlivesLaterOnes) {
  receive(reader_, wrap(frame(1, "kept")));
  while (reader_.peek(body_limit) == FrameReader::Next::segment) reader_.open_segment(body_limit);
  ASSERT_EQ(reader_.peek(body_limit), FrameReader::Next::frame);
  const std::string_view body = reader_.frame().body;
  const ChunkPtr chunk = reader_.chunk();
  ASSERT_GE(body.data(), chunk->data());
  ASSERT_LE(body.data() + body.size(), chunk->data() + chunk->capacity());
  reader_.pop();
  for (int16_t i = 0; i < 100; ++i) {
    receive(reader_, wrap(frame(i, std::string(900, 'y'))));
    read_all(reader_);
  }
  EXPECT_EQ(body, "kept");
}

TEST_P(FrameReaderTest, RefusedFramesAreSkipped) {
  const std::string bytes =
      wrap(frame(1, std::string(5000, 'x'))) + wrap(frame(2, "", Opcode::ready)) + wrap(frame(3, "three"));
  receive(reader_, std::string_view(bytes).substr(0, 3000));
  std::vector<std::string> frames = read_all(reader_);
  receive(reader_, std::string_view(bytes).substr(std::min<size_t>(bytes.size(), 3000)));
  for (const std::string& one : read_all(reader_)) frames.push_back(one);
  EXPECT_THAT(frames, ElementsAre("1 refused", "2 refused", "3 three"));
}

TEST_P(FrameReaderTest, DiscardsWhatHasArrived) {
  const std::string bytes = wrap(frame(1, "one") + frame(2, "two"));
  receive(reader_, bytes + bytes.substr(0, bytes.size() - 1));
  if (reader_.peek(body_limit) == FrameReader::Next::segment) reader_.open_segment(body_limit);
  reader_.discard_all();
  EXPECT_FALSE(reader_.has_begun());
  EXPECT_THAT(read_all(reader_), IsEmpty());
}

TEST(FrameReader, StopsAtAFatalFrame) {
  FrameReader reader;
  std::string huge = frame(5, "");
  protocol::store_int(huge.data() + 5, 256u << 20);
  receive(reader, huge + frame(6, "six"));
  EXPECT_THAT(read_all(reader), ElementsAre(HasSubstr("5 fatal: Request is too big")));
}

struct Damage {
  const char* name;
  std::string bytes;
  std::string error;
};

TEST(FrameReader, StopsAtDamagedSegments) {
  const std::string good = segments(frame(1, "one"), Compression::none);
  std::string header = good, payload = good, cut = frame(1, "one") + frame(2, "two"), sealed;
  header[0] = static_cast<char>(header[0] ^ 1);
  payload[8] = static_cast<char>(payload[8] ^ 1);
  cut.pop_back();
  protocol::append_segment(sealed, cut, true, Compression::none);
  const std::vector<Damage> cases = {
      {"header", header, "unrecoverable CRC mismatch detected in frame header"},
      {"payload", payload, "unrecoverable CRC mismatch detected in frame body"},
      {"cut off", sealed, "2 fatal: Invalid segment, a message of 12 bytes is cut off after 11"},
  };
  for (const Damage& one : cases) {
    FrameReader reader;
    reader.use_segments(Compression::none);
    receive(reader, one.bytes + good);
    const std::vector<std::string> frames = read_all(reader);
    ASSERT_FALSE(frames.empty()) << one.name;
    EXPECT_THAT(frames.back(), HasSubstr(one.error)) << one.name;
    EXPECT_THAT(frames.back(), HasSubstr("fatal")) << one.name;
  }
}

TEST(FrameReader, AssemblesAFrameThatIsSplitOverSegments) {
  FrameReader reader;
  reader.use_segments(Compression::none);
  const std::string whole = frame(7, std::string(600, 'x'));
  std::string first, second;
  protocol::append_segment(first, std::string_view(whole).substr(0, 200), false, Compression::none);
  protocol::append_segment(second, std::string_view(whole).substr(200), false, Compression::none);
  receive(reader, segments(frame(1, "one"), Compression::none));
  EXPECT_THAT(read_all(reader), ElementsAre("1 one"));
  const uint64_t begun = reader.received();
  receive(reader, first);
  EXPECT_THAT(read_all(reader), IsEmpty());
  EXPECT_TRUE(reader.has_split_frame());
  EXPECT_EQ(reader.begun_position(), begun);
  receive(reader, second.substr(0, 50));
  EXPECT_THAT(read_all(reader), IsEmpty());
  EXPECT_EQ(reader.split_frame().held, 250u);
  EXPECT_EQ(reader.split_frame().size, whole.size());
  receive(reader, second.substr(50));
  EXPECT_THAT(read_all(reader), ElementsAre("7 " + std::string(600, 'x')));
  EXPECT_FALSE(reader.has_split_frame());
}

TEST(FrameReader, ReportsWhatIsMissing) {
  FrameReader reader;
  EXPECT_EQ(reader.peek(body_limit), FrameReader::Next::incomplete);
  EXPECT_EQ(reader.front().size, 0u);
  EXPECT_FALSE(reader.has_begun());
  const std::string bytes = frame(1, "0123456789");
  receive(reader, std::string_view(bytes).substr(0, 12));
  EXPECT_EQ(reader.peek(body_limit), FrameReader::Next::incomplete);
  EXPECT_EQ(reader.front().held, 12u);
  EXPECT_EQ(reader.front().size, bytes.size());
  EXPECT_TRUE(reader.has_begun());
  EXPECT_EQ(reader.begun_position(), 0u);
}

// Memory must follow the bytes received, not the length that the client claims.
TEST(FrameReader, AClaimedLengthAllocatesNothing) {
  FrameReader reader;
  const std::string bytes = frame(1, std::string(16u << 20, 'x'));
  receive(reader, std::string_view(bytes).substr(0, 100));
  EXPECT_EQ(reader.peek(16u << 20), FrameReader::Next::incomplete);
  reader.prepare();
  EXPECT_LT(reader.free_size(), 10'000u);
}

TEST(FrameReader, ReleasesItsMemory) {
  FrameReader reader;
  receive(reader, frame(1, "one"));
  EXPECT_TRUE(reader.has_spare());
  reader.release_if_empty();
  EXPECT_THAT(read_all(reader), ElementsAre("1 one"));
  reader.release_if_empty();
  EXPECT_FALSE(reader.has_spare());
  receive(reader, frame(2, "two").substr(0, 5));
  reader.shrink();
  EXPECT_FALSE(reader.has_spare());
  receive(reader, frame(2, "two").substr(5));
  EXPECT_THAT(read_all(reader), ElementsAre("2 two"));
}

}  // namespace
}  // namespace sibyl::server
