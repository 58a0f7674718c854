// Segments: the outer frames of protocol v5, with checksums. After the response to STARTUP, all messages are
// sent in segments, in both directions.
//
// A self-contained segment holds one or more complete frames (frame.h). A frame that is too long for one
// segment is split over several, which hold nothing else. The specification calls segments "frames", and
// frames "envelopes".
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "protocol/compression.h"
#include "protocol/frame.h"

namespace sibyl::protocol {

inline constexpr size_t largest_payload = (1u << 17) - 1;

// The result of parsing the front of a receive buffer.
struct SegmentStep {
  enum class Kind : uint8_t {
    incomplete,  // at least `size` bytes are needed
    segment,     // payload (borrowed); the segment has `size` bytes
    corrupt,     // answer `error`, then close, because nothing that follows can be trusted
  };
  Kind kind = Kind::incomplete;
  bool is_self_contained = false;
  BytesView payload;
  size_t plain_size = 0;  // size of the payload after decompression; 0: not compressed
  size_t size = 0;
  std::optional<base::Error> error;
};

// Parses the front of `bytes`, and consumes nothing. `compression` is the connection's: none or lz4.
SegmentStep next_segment(BytesView bytes, Compression compression);

// Decompresses a payload into `out`. REQUIRES: step.plain_size > 0, and `out` has room for it.
base::Status open_payload(const SegmentStep& step, char* out);

// Appends one segment with the payload. REQUIRES: payload.size() <= largest_payload; compression is none or
// lz4.
void append_segment(Bytes& out, BytesView payload, bool is_self_contained, Compression compression);
// Appends complete frames in as few segments as possible. `compression` is none or lz4.
void append_segments(Bytes& out, BytesView frames, Compression compression);

// Assembles a frame that is split over several segments.
class LargeFrame {
 public:
  enum class Progress : uint8_t {
    more,      // the next segment continues the frame
    complete,  // take() returns the frame
    refused,   // answer step().error on the frame's stream, and continue; the rest is skipped
    fatal,     // answer step().error, then close
  };
  // Adds the payload of the next segment that is not self-contained.
  Progress add(BytesView payload, Direction expected, size_t body_limit);
  const FrameStep& step() const { return step_; }
  // True while a frame is incomplete. Its size is step().size.
  bool is_begun() const { return !bytes_.empty(); }
  size_t held() const { return bytes_.size(); }
  // Returns the complete frame.
  Bytes take();

 private:
  Bytes bytes_;
  FrameStep step_;
  size_t skipped_ = 0;  // bytes of a refused frame still to come
};

}  // namespace sibyl::protocol
