// Finds the frames in the bytes that a client sends, and owns the memory in which they arrive. Used only on
// the reactor's thread.
//
//   prepare(), commit() ─▶ received bytes ─ open_segment() ─▶ payload ─▶ peek(), frame(), pop()
//
// 1. Frames are parsed in place. A caller that keeps a frame must keep a reference to chunk().
// 2. The reader parses one frame at a time, and consumes it only when pop() is called. So the caller may stop
//    at any frame, and ask for it again later.
// 3. Memory grows with the bytes received, never with the length that a client claims. The caller bounds the
//    sum over all connections (incoming_reservation.h).
// 4. Protocol v5 sends frames in segments, with checksums. A frame that is split over several segments is
//    assembled before it is shown.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "protocol/compression.h"
#include "protocol/frame.h"
#include "protocol/segment.h"
#include "server/connection/receive_buffer.h"

namespace sibyl::server {

class FrameReader {
 public:
  enum class Next : uint8_t {
    incomplete,  // receive more bytes first
    segment,     // call open_segment()
    frame,       // frame() is complete, refused or fatal
  };
  // How many bytes of an incomplete message have been received, and its size. {0, 0}: no message has begun.
  struct Progress {
    size_t held = 0, size = 0;
  };

  // --- Receiving.

  // Makes room for more bytes. Write at most free_size() of them to free_space(), then call commit().
  void prepare() { received_.prepare(wanted_); }
  char* free_space() { return received_.free_space(); }
  size_t free_size() const { return received_.free_size(); }
  void commit(size_t size) {
    received_.commit(size);
    position_ += size;
  }
  // True if the memory for receiving is larger than its contents. shrink() releases the difference.
  bool has_spare() const { return received_.has_spare(); }
  void shrink() { received_.shrink(); }
  // Releases all memory for receiving, if it holds nothing.
  void release_if_empty() {
    if (received_.unread().empty()) received_.release();
  }

  // --- Frames.

  // From now on frames are in segments.
  void use_segments(protocol::Compression compression) {
    has_segments_ = true;
    segment_compression_ = compression;
  }
  // Parses the front without consuming it. `body_limit`: a frame with a larger body is refused.
  Next peek(size_t body_limit);
  // The result of peek(). Kind::refused and Kind::fatal have an error for the client; nothing that follows a
  // fatal frame can be parsed. Valid until the next call of a method that is not const.
  const protocol::FrameStep& frame() const { return frame_; }
  // The memory that frame() points into.
  const ChunkPtr& chunk() const { return payload_.empty() ? received_.chunk() : payload_chunk_; }
  // Consumes the frame. The rest of a refused one is skipped when it arrives. REQUIRES: peek() has returned
  // Next::frame, and the frame is not fatal.
  void pop();
  // Opens the segment at the front and consumes it. Afterwards peek() finds its frames. Returns false if
  // frame() has an error for the client instead: it is refused, or fatal. REQUIRES: peek() has returned
  // Next::segment.
  bool open_segment(size_t body_limit);
  // Skips everything that has been received.
  void discard_all();

  // --- Progress.

  // The progress of the incomplete frame or segment at the front, after Next::incomplete.
  Progress front() const { return {wanted_ == 0 ? 0 : received_.unread().size(), wanted_}; }
  // The progress of the incomplete frame in the segments that were opened so far.
  Progress split_frame() const {
    if (!split_.is_begun()) return {};
    return {split_.held() + received_.unread().size(), split_.step().size};
  }
  bool has_split_frame() const { return split_.is_begun(); }
  // True if a part of a message waits for the rest.
  bool has_begun() const { return !received_.unread().empty() || split_.is_begun(); }
  // Positions in the stream of bytes since the connection was opened: of the last received byte, of the first
  // unread byte, and of the beginning of the incomplete message.
  uint64_t received() const { return position_; }
  uint64_t unread_position() const { return position_ - received_.unread().size(); }
  uint64_t begun_position() const { return split_.is_begun() ? split_position_ : unread_position(); }
  size_t unread_size() const { return received_.unread().size(); }

 private:
  void skip();
  Next peek_frame(size_t body_limit);
  Next peek_segment();
  Next peek_payload(size_t body_limit);
  bool fail(int16_t stream, base::Error error);
  bool add_to_split(protocol::BytesView payload, size_t body_limit);

  ReceiveBuffer received_;
  uint64_t position_ = 0;
  size_t skip_ = 0;    // bytes of handled or refused frames that are still to be removed
  size_t wanted_ = 0;  // size of the incomplete frame or segment at the front
  protocol::FrameStep frame_;

  bool has_segments_ = false;
  protocol::Compression segment_compression_ = protocol::Compression::none;
  protocol::SegmentStep segment_;  // found by peek()
  // the rest of the segment that was opened last
  ChunkPtr payload_chunk_;
  protocol::BytesView payload_;
  protocol::LargeFrame split_;
  uint64_t split_position_ = 0;  // where split_ began
};

}  // namespace sibyl::server
