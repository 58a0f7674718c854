#include "protocol/segment.h"

#include <fmt/format.h>
#include <lz4.h>

#include <algorithm>

#include "base/check.h"
#include "protocol/checksum.h"

namespace sibyl::protocol {
namespace {

constexpr size_t crc24_size = 3;
constexpr size_t trailer_size = 4;
constexpr uint64_t length_mask = largest_payload;
// Below this size lz4 saves too little to be worth the time.
constexpr size_t min_compressed_segment = 128;

// Header sizes. Without compression: a 17-bit length and the flag. With compression: two lengths and the
// flag.
struct Layout {
  size_t header_bytes;
  unsigned flag_bit;
};
Layout layout_of(Compression compression) {
  return compression == Compression::none ? Layout{3, 17} : Layout{5, 34};
}

uint64_t read_little_endian(BytesView bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[i - 1]);
  return value;
}

void append_little_endian(Bytes& out, uint64_t value, size_t count) {
  for (; count > 0; --count, value >>= 8) out.push_back(static_cast<char>(value));
}

SegmentStep corrupt(SegmentStep step, std::string_view where, uint32_t read, uint32_t computed) {
  step.kind = SegmentStep::Kind::corrupt;
  step.error = protocol_error(
      fmt::format("Segment is invalid, unrecoverable CRC mismatch detected in frame {}. Read {}, Computed {}",
                  where, static_cast<int32_t>(read), static_cast<int32_t>(computed)));
  return step;
}

size_t frame_size(BytesView frames) {
  SIBYL_CHECK(frames.size() >= header_size);
  return header_size + base::read_big_endian<uint32_t>(frames.substr(5));
}

}  // namespace

SegmentStep next_segment(BytesView bytes, Compression compression) {
  const Layout layout = layout_of(compression);
  const size_t header_end = layout.header_bytes + crc24_size;
  SegmentStep step;
  step.size = header_end;
  if (bytes.size() < header_end) return step;
  const uint64_t header = read_little_endian(bytes.substr(0, layout.header_bytes));
  const auto read = static_cast<uint32_t>(read_little_endian(bytes.substr(layout.header_bytes, crc24_size)));
  const uint32_t computed = crc24(header, layout.header_bytes);
  if (read != computed) return corrupt(step, "header", read, computed);

  const size_t length = header & length_mask;
  step.is_self_contained = (header >> layout.flag_bit & 1) != 0;
  if (compression != Compression::none) step.plain_size = header >> 17 & length_mask;
  step.size = header_end + length + trailer_size;
  if (bytes.size() < step.size) return step;
  step.payload = bytes.substr(header_end, length);
  const auto trailer = static_cast<uint32_t>(read_little_endian(bytes.substr(header_end + length, 4)));
  const uint32_t payload_crc = crc32(step.payload);
  if (trailer != payload_crc) return corrupt(step, "body", trailer, payload_crc);
  step.kind = SegmentStep::Kind::segment;
  return step;
}

base::Status open_payload(const SegmentStep& step, char* out) {
  const int size = LZ4_decompress_safe(step.payload.data(), out, static_cast<int>(step.payload.size()),
                                       static_cast<int>(step.plain_size));
  if (size >= 0 && static_cast<size_t>(size) == step.plain_size) return {};
  return base::fail(protocol_error("Invalid segment, its payload does not appear to be LZ4 compressed"));
}

void append_segment(Bytes& out, BytesView payload, bool is_self_contained, Compression compression) {
  const Layout layout = layout_of(compression);
  const size_t start = out.size();
  const size_t payload_start = start + layout.header_bytes + crc24_size;
  size_t size = payload.size();
  size_t plain_size = 0;
  if (compression != Compression::none && size >= min_compressed_segment) {
    // The buffer is smaller than the payload, so lz4 fails if the result would not be smaller.
    out.resize(payload_start + size);
    const int compressed = LZ4_compress_default(payload.data(), out.data() + payload_start,
                                                static_cast<int>(size), static_cast<int>(size - 1));
    if (compressed > 0) {
      plain_size = size;
      size = static_cast<size_t>(compressed);
    }
  }
  out.resize(payload_start + (plain_size > 0 ? size : 0));
  if (plain_size == 0) out.append(payload);

  uint64_t header = size | uint64_t{is_self_contained} << layout.flag_bit;
  if (compression != Compression::none) header |= uint64_t{plain_size} << 17;
  const uint64_t checked = header | uint64_t{crc24(header, layout.header_bytes)} << (8 * layout.header_bytes);
  for (size_t i = 0; i < layout.header_bytes + crc24_size; ++i)
    out[start + i] = static_cast<char>(checked >> (8 * i));
  append_little_endian(out, crc32(BytesView(out).substr(payload_start)), trailer_size);
}

void append_segments(Bytes& out, BytesView frames, Compression compression) {
  while (!frames.empty()) {
    size_t size = 0;
    while (size < frames.size()) {
      const size_t next = frame_size(frames.substr(size));
      if (size + next > largest_payload) break;
      size += next;
    }
    if (size > 0) {
      append_segment(out, frames.substr(0, size), true, compression);
      frames.remove_prefix(size);
      continue;
    }
    BytesView large = frames.substr(0, frame_size(frames));
    frames.remove_prefix(large.size());
    while (!large.empty()) {
      const BytesView part = large.substr(0, largest_payload);
      append_segment(out, part, false, compression);
      large.remove_prefix(part.size());
    }
  }
}

LargeFrame::Progress LargeFrame::add(BytesView payload, Direction expected, size_t body_limit) {
  if (skipped_ > 0) {
    skipped_ -= std::min(skipped_, payload.size());
    return Progress::more;
  }
  bytes_.append(payload);
  step_ = next_frame(bytes_, expected, body_limit);
  switch (step_.kind) {
    case FrameStep::Kind::incomplete:
      return Progress::more;
    case FrameStep::Kind::fatal:
      return Progress::fatal;
    case FrameStep::Kind::refused:
      skipped_ = step_.size - std::min(step_.size, bytes_.size());
      Bytes().swap(bytes_);
      return Progress::refused;
    case FrameStep::Kind::frame:
      break;
  }
  if (step_.size == bytes_.size()) return Progress::complete;
  step_.error = protocol_error(
      fmt::format("Message of {} bytes in segments that hold {} bytes", step_.size, bytes_.size()));
  return Progress::fatal;
}

Bytes LargeFrame::take() {
  step_ = {};
  return std::exchange(bytes_, {});
}

}  // namespace sibyl::protocol
