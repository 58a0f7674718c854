#include "server/connection/response_writer.h"

#include <gtest/gtest.h>

#include <string>

#include "protocol/frame.h"
#include "protocol/segment.h"

namespace sibyl::server {
namespace {

using protocol::Compression;

std::string frame(int16_t stream, size_t body_bytes) {
  std::string out;
  protocol::FrameWriter writer(out, protocol::Direction::response,
                               {protocol::Version::v5, 0, stream, protocol::Opcode::result});
  out.append(body_bytes, static_cast<char>('a' + stream));
  writer.finish();
  return out;
}

// Sends everything in pieces of `step` bytes.
std::string drain(ResponseWriter& writer, size_t step = SIZE_MAX) {
  std::string sent;
  writer.seal();
  while (writer.unsent() > 0) {
    const std::string_view bytes = writer.front().substr(0, step);
    EXPECT_FALSE(bytes.empty());
    if (bytes.empty()) break;
    sent += bytes;
    writer.consume(bytes.size());
  }
  writer.release();
  return sent;
}

std::string unwrap(std::string_view bytes) {
  std::string frames;
  while (!bytes.empty()) {
    const auto step = protocol::next_segment(bytes, Compression::none);
    EXPECT_EQ(step.kind, protocol::SegmentStep::Kind::segment);
    if (step.kind != protocol::SegmentStep::Kind::segment) break;
    frames += step.payload;
    bytes.remove_prefix(step.size);
  }
  return frames;
}

class ResponseWriterTest : public testing::TestWithParam<bool> {
 protected:
  ResponseWriterTest() {
    if (GetParam()) writer_.use_segments(Compression::none);
  }
  static std::string plain(const std::string& sent) { return GetParam() ? unwrap(sent) : sent; }

  BufferPool buffers_;
  ResponseWriter writer_{buffers_};
};

INSTANTIATE_TEST_SUITE_P(Framings, ResponseWriterTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "segments" : "plain"; });

TEST_P(ResponseWriterTest, SendsInOrder) {
  for (const size_t step : {size_t{1'000}, size_t{100'000}, SIZE_MAX}) {
    std::string expected;
    for (int16_t i = 0; i < 20; ++i) {
      const std::string one = frame(i, i % 5 == 4 ? 300'000 : 40'000);
      writer_.buffer() += one;
      expected += one;
      if (i % 7 == 6) writer_.seal_full();
    }
    EXPECT_GE(writer_.unsent(), expected.size());
    EXPECT_EQ(plain(drain(writer_, step)), expected) << step;
    EXPECT_EQ(writer_.unsent(), 0u);
  }
}

TEST_P(ResponseWriterTest, AppendsWhileABufferIsPartlySent) {
  const std::string first = frame(1, 200'000), second = frame(2, 200'000), third = frame(3, 10);
  writer_.buffer() += first;
  writer_.seal();
  std::string sent(writer_.front().substr(0, 1000));
  writer_.consume(1000);
  writer_.buffer() += second;
  writer_.seal();
  writer_.buffer() += third;
  sent += drain(writer_, 65'536);
  EXPECT_EQ(plain(sent), first + second + third);
}

TEST_P(ResponseWriterTest, TruncatesToAMark) {
  const std::string kept = frame(1, 10);
  writer_.buffer() += kept;
  const ResponseWriter::Mark mark = writer_.mark();
  writer_.buffer() += frame(2, 50).substr(0, 30);
  writer_.truncate(mark);
  EXPECT_EQ(plain(drain(writer_)), kept);
}

// The buffer is full at the mark, so what is appended next starts a new one.
TEST_P(ResponseWriterTest, TruncatesToAMarkInAFullBuffer) {
  const std::string large = frame(1, ResponseWriter::chunk_bytes), small = frame(2, 10);
  writer_.buffer() += large;
  writer_.seal();
  if (GetParam()) writer_.buffer() += small;
  const ResponseWriter::Mark mark = writer_.mark();
  writer_.buffer() += frame(3, 50).substr(0, 30);
  writer_.truncate(mark);
  EXPECT_EQ(plain(drain(writer_)), GetParam() ? large + small : large);
}

TEST(ResponseWriter, SegmentsBeginAfterTheFramesThatWereAppended) {
  BufferPool buffers;
  ResponseWriter writer(buffers);
  const std::string ready = frame(1, 3), later = frame(2, 30);
  writer.buffer() += ready;
  writer.use_segments(Compression::none);
  writer.buffer() += later;
  const std::string sent = drain(writer);
  EXPECT_EQ(sent.substr(0, ready.size()), ready);
  EXPECT_EQ(unwrap(std::string_view(sent).substr(ready.size())), later);
}

TEST(ResponseWriter, ResponsesOfARoundShareASegment) {
  BufferPool buffers;
  ResponseWriter writer(buffers);
  writer.use_segments(Compression::none);
  for (int16_t i = 0; i < 10; ++i) writer.buffer() += frame(i, 100);
  EXPECT_TRUE(writer.front().empty());
  writer.seal_full();
  EXPECT_TRUE(writer.front().empty());
  const std::string sent = drain(writer);
  EXPECT_EQ(protocol::next_segment(sent, Compression::none).size, sent.size());
}

TEST(ResponseWriter, AnIdleWriterHoldsNoMemory) {
  BufferPool buffers;
  ResponseWriter writer(buffers);
  writer.buffer() += frame(1, 1000);
  const char* const memory = writer.front().data();
  drain(writer);
  const base::Bytes spare = buffers.take();
  EXPECT_EQ(spare.data(), memory);
  EXPECT_TRUE(spare.empty());
}

TEST(BufferPool, KeepsNoLargeBuffers) {
  BufferPool buffers;
  buffers.give(std::string(1u << 20, 'x'));
  EXPECT_LT(buffers.take().capacity(), 1000u);
}

}  // namespace
}  // namespace sibyl::server
