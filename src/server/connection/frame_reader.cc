#include "server/connection/frame_reader.h"

#include <fmt/format.h>

#include <utility>

#include "protocol/wire.h"

namespace sibyl::server {

using protocol::BytesView;
using protocol::Direction;
using protocol::FrameStep;
using protocol::SegmentStep;

FrameReader::Next FrameReader::peek(size_t body_limit) {
  wanted_ = 0;
  if (skip_ > 0) {
    skip();
    if (skip_ > 0) return Next::incomplete;
  }
  if (!payload_.empty()) return peek_payload(body_limit);
  if (received_.unread().empty()) return Next::incomplete;
  return has_segments_ ? peek_segment() : peek_frame(body_limit);
}

void FrameReader::skip() {
  const size_t skipped = std::min(skip_, received_.unread().size());
  received_.consume(skipped);
  skip_ -= skipped;
}

FrameReader::Next FrameReader::peek_frame(size_t body_limit) {
  frame_ = protocol::next_frame(received_.unread(), Direction::request, body_limit);
  if (frame_.kind != FrameStep::Kind::incomplete) return Next::frame;
  wanted_ = frame_.size;
  return Next::incomplete;
}

FrameReader::Next FrameReader::peek_segment() {
  segment_ = protocol::next_segment(received_.unread(), segment_compression_);
  if (segment_.kind == SegmentStep::Kind::segment) return Next::segment;
  if (segment_.kind == SegmentStep::Kind::corrupt) {
    fail(0, std::move(*segment_.error));
    return Next::frame;
  }
  wanted_ = segment_.size;
  return Next::incomplete;
}

FrameReader::Next FrameReader::peek_payload(size_t body_limit) {
  frame_ = protocol::next_frame(payload_, Direction::request, body_limit);
  if (frame_.kind == FrameStep::Kind::incomplete)
    fail(frame_.header.stream,
         protocol::protocol_error(fmt::format("Invalid segment, a message of {} bytes is cut off after {}",
                                              frame_.size, payload_.size())));
  return Next::frame;
}

void FrameReader::pop() {
  if (payload_.empty()) {
    skip_ = frame_.size;
    return skip();
  }
  payload_.remove_prefix(std::min(frame_.size, payload_.size()));
  if (payload_.empty()) payload_chunk_.reset();
}

bool FrameReader::open_segment(size_t body_limit) {
  ChunkPtr chunk = received_.chunk();
  BytesView payload = segment_.payload;
  if (segment_.plain_size > 0) {
    chunk = new Chunk(segment_.plain_size);
    if (const auto status = protocol::open_payload(segment_, chunk->data()); !status)
      return fail(0, status.error());
    payload = {chunk->data(), segment_.plain_size};
  }
  bool is_valid = true;
  if (segment_.is_self_contained) {
    payload_chunk_ = std::move(chunk);
    payload_ = payload;
  } else {
    is_valid = add_to_split(payload, body_limit);
  }
  received_.consume(segment_.size);
  return is_valid;
}

bool FrameReader::add_to_split(BytesView payload, size_t body_limit) {
  using Progress = protocol::LargeFrame::Progress;
  if (!split_.is_begun()) split_position_ = unread_position();
  const Progress progress = split_.add(payload, Direction::request, body_limit);
  if (progress == Progress::complete) {
    payload_chunk_ = new Chunk(split_.take());
    payload_ = {payload_chunk_->data(), payload_chunk_->capacity()};
  } else if (progress != Progress::more) {
    frame_ = split_.step();
    frame_.kind = progress == Progress::refused ? FrameStep::Kind::refused : FrameStep::Kind::fatal;
    return false;
  }
  return true;
}

void FrameReader::discard_all() {
  payload_ = {};
  skip_ = received_.unread().size();
  skip();
}

bool FrameReader::fail(int16_t stream, base::Error error) {
  frame_ = {};
  frame_.kind = FrameStep::Kind::fatal;
  frame_.header.stream = stream;
  frame_.error = std::move(error);
  return false;
}

}  // namespace sibyl::server
