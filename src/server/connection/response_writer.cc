#include "server/connection/response_writer.h"

#include <utility>

#include "protocol/segment.h"

namespace sibyl::server {

void ResponseWriter::truncate(Mark mark) {
  if (has_segments_) {
    frames_.resize(mark.size);
  } else {
    // If the output has been moved to full_ since the mark, everything in out_ was appended after the mark.
    out_.resize(full_.size() == mark.chunks ? mark.size : 0);
  }
}

void ResponseWriter::consume(size_t size) {
  consumed_ += size;
  if (full_.empty() || consumed_ < full_.front().size()) return;
  full_bytes_ -= consumed_;
  consumed_ = 0;
  full_.pop_front();
}

void ResponseWriter::release() {
  consumed_ = 0;
  if (!out_.empty()) buffers_.give(std::exchange(out_, {}));
}

void ResponseWriter::wrap_frames() {
  if (out_.size() >= chunk_bytes) set_aside();
  if (out_.empty()) out_ = buffers_.take();
  if (frames_.size() >= chunk_bytes) out_.reserve(out_.size() + frames_.size() + frames_.size() / 64);
  protocol::append_segments(out_, frames_, segment_compression_);
  buffers_.give(std::exchange(frames_, {}));
}

void ResponseWriter::set_aside() {
  full_bytes_ += out_.size();
  full_.push_back(std::exchange(out_, {}));
}

}  // namespace sibyl::server
