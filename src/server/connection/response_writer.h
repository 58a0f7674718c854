// The responses of one connection that are still to be sent. Used only on the reactor's thread.
//
//   append to buffer() ─▶ [frames_ ─ seal() ─▶] out_ ─▶ full_ ─▶ front(), consume()
//
// 1. Bytes are sent in the order in which they were appended.
// 2. A buffer that has reached chunk_bytes is not appended to, so that its bytes are not copied again. It
//    moves to full_.
// 3. Protocol v5 sends frames in segments. They are collected in frames_, so that all responses of a round
//    share segments.
//
// The writer has no limit of its own: the caller bounds unsent() (flow_control.h, result_backlog.h).
#pragma once

#include <cstddef>
#include <deque>

#include "base/bytes.h"
#include "protocol/compression.h"
#include "server/connection/buffer_pool.h"

namespace sibyl::server {

class ResponseWriter {
 public:
  static constexpr size_t chunk_bytes = 256u << 10;

  // Takes buffers from `buffers`, which must outlive this object.
  explicit ResponseWriter(BufferPool& buffers) : buffers_(buffers) {}
  ResponseWriter(const ResponseWriter&) = delete;
  ResponseWriter& operator=(const ResponseWriter&) = delete;

  // Sends the frames that are appended from now on in segments.
  void use_segments(protocol::Compression compression) {
    has_segments_ = true;
    segment_compression_ = compression;
  }
  bool has_segments() const { return has_segments_; }

  // The buffer to whose end the next frame is appended. Valid until the next call of another method.
  base::Bytes& buffer() {
    if (out_.size() >= chunk_bytes) set_aside();
    base::Bytes& open = has_segments_ ? frames_ : out_;
    if (open.empty()) open = buffers_.take();
    return open;
  }

  // A position in the output. truncate() removes everything appended since mark(). REQUIRES: nothing was
  // sealed or consumed in between.
  struct Mark {
    size_t chunks, size;
  };
  Mark mark() const { return {full_.size(), (has_segments_ ? frames_ : out_).size()}; }
  void truncate(Mark mark);

  // The bytes that were appended and not consumed.
  size_t unsent() const { return full_bytes_ + out_.size() - consumed_ + frames_.size(); }
  // Puts the collected frames into segments. front() returns only sealed bytes.
  void seal() {
    if (!frames_.empty()) wrap_frames();
  }
  // Puts the collected frames into segments once they have chunk_bytes. For a client that does not read at
  // the moment.
  void seal_full() {
    if (frames_.size() >= chunk_bytes) wrap_frames();
  }
  // The bytes to send next. Empty if everything that was sealed has been consumed.
  base::BytesView front() const {
    const base::Bytes& first = full_.empty() ? out_ : full_.front();
    return base::BytesView(first).substr(consumed_);
  }
  // Removes bytes from the front, after they were sent. REQUIRES: size <= front().size().
  void consume(size_t size);
  // Returns the memory to the pool. REQUIRES: unsent() == 0.
  void release();

 private:
  void wrap_frames();
  void set_aside();

  BufferPool& buffers_;
  bool has_segments_ = false;
  protocol::Compression segment_compression_ = protocol::Compression::none;
  base::Bytes frames_;  // frames that are not in segments yet
  std::deque<base::Bytes> full_;
  size_t full_bytes_ = 0;  // number of bytes in full_, including consumed ones
  base::Bytes out_;
  size_t consumed_ = 0;  // bytes of the first chunk that were consumed
};

}  // namespace sibyl::server
