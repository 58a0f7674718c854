// Segments: v5's outer frames, with checksums. Once STARTUP is answered everything travels in them, both
// ways.
//
// A self-contained segment holds whole frames (frame.h), one or many; a frame that is too long for one
// segment takes several, which hold nothing else. (The specification calls segments "frames" and frames
// "envelopes".)
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "protocol/compression.h"
#include "protocol/frame.h"

namespace sibyl::protocol {

inline constexpr size_t largest_payload = (1u << 17) - 1;

// What the front of a receive buffer holds.
struct SegmentStep {
  enum class Kind : uint8_t {
    incomplete,  // `size` bytes are needed to know more
    segment,     // payload (borrowed), `size` bytes in all
    corrupt,     // answer `error`, then close: nothing that follows can be trusted
  };
  Kind kind = Kind::incomplete;
  bool is_self_contained = false;
  BytesView payload;
  size_t plain_size = 0;  // of a compressed payload when it is decompressed; 0: it is plain
  size_t size = 0;
  std::optional<base::Error> error;
};

// Looks at the front of `bytes` and consumes nothing. `compression` is the connection's: none or lz4.
SegmentStep next_segment(BytesView bytes, Compression compression);

// Decompresses a payload into `out`. REQUIRES: step.plain_size > 0, and as much room.
base::Status open_payload(const SegmentStep& step, char* out);

// One segment around a payload. REQUIRES: payload.size() <= largest_payload; compression is none or lz4.
void append_segment(Bytes& out, BytesView payload, bool is_self_contained, Compression compression);
// Wraps whole frames, one after another, in as few segments as they fit in. `compression` is none or lz4.
void append_segments(Bytes& out, BytesView frames, Compression compression);

// Puts a frame together that takes several segments.
class LargeFrame {
 public:
  enum class Progress : uint8_t {
    more,      // the next segment goes on with it
    complete,  // take() it
    refused,   // answer step().error on its stream, go on: what still comes of it is skipped
    fatal,     // answer step().error, then close
  };
  // The payload of the next segment that is not self-contained.
  Progress add(BytesView payload, Direction expected, size_t body_limit);
  const FrameStep& step() const { return step_; }
  // Some of a frame is held, and more of it to come: step() says how much.
  bool is_begun() const { return !bytes_.empty(); }
  size_t held() const { return bytes_.size(); }
  // The whole frame.
  Bytes take();

 private:
  Bytes bytes_;
  FrameStep step_;
  size_t skipped_ = 0;  // bytes of a refused frame still to come
};

}  // namespace sibyl::protocol
