#include "protocol/compression.h"

#include <fmt/format.h>
#include <lz4.h>
#include <snappy-c.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/check.h"
#include "protocol/wire.h"

namespace sibyl::protocol {

base::Result<Compression> compression_by_name(std::string_view name, Version version) {
  const std::string lower = base::ascii_lower(name);
  if (lower == "lz4") return Compression::lz4;
  if (lower == "snappy") {
    if (has_segments(version))
      return base::fail(protocol_error("Snappy compression is not supported in protocol V5"));
    return Compression::snappy;
  }
  return base::fail(protocol_error(fmt::format("Unknown compression algorithm: {}", lower)));
}

void compress(Compression compression, BytesView body, Bytes& out) {
  const size_t start = out.size();
  if (compression == Compression::lz4) {
    append_int(out, static_cast<int32_t>(body.size()));
    const int bound = LZ4_compressBound(static_cast<int>(body.size()));
    SIBYL_CHECK(bound > 0);
    out.resize(start + 4 + static_cast<size_t>(bound));
    const int size =
        LZ4_compress_default(body.data(), out.data() + start + 4, static_cast<int>(body.size()), bound);
    SIBYL_CHECK(size > 0);
    out.resize(start + 4 + static_cast<size_t>(size));
    return;
  }
  SIBYL_CHECK(compression == Compression::snappy);
  size_t size = snappy_max_compressed_length(body.size());
  out.resize(start + size);
  SIBYL_CHECK(snappy_compress(body.data(), body.size(), out.data() + start, &size) == SNAPPY_OK);
  out.resize(start + size);
}

namespace {

base::Status check_limit(size_t length, size_t limit) {
  if (length <= limit) return {};
  return base::fail(protocol_error(
      fmt::format("Decompressed body of {} bytes exceeds maximum allowed length {}", length, limit)));
}

base::Result<Bytes> decompress_lz4(BytesView body, size_t limit) {
  if (body.size() < 4)
    return base::fail(protocol_error("Provided frame does not appear to be LZ4 compressed"));
  const size_t length = base::read_big_endian<uint32_t>(body);
  SIBYL_TRY(check_limit(length, limit));
  body.remove_prefix(4);
  // An lz4 block expands at most 255 times. A larger claim is false, so nothing is allocated for it.
  if (length / 255 > body.size())
    return base::fail(protocol_error("Provided frame does not appear to be LZ4 compressed"));
  Bytes out(length, '\0');
  const int size =
      LZ4_decompress_safe(body.data(), out.data(), static_cast<int>(body.size()), static_cast<int>(length));
  if (size < 0 || static_cast<size_t>(size) != length)
    return base::fail(protocol_error("Provided frame does not appear to be LZ4 compressed"));
  return out;
}

base::Result<Bytes> decompress_snappy(BytesView body, size_t limit) {
  size_t length = 0;
  if (snappy_uncompressed_length(body.data(), body.size(), &length) != SNAPPY_OK)
    return base::fail(protocol_error("Provided frame does not appear to be Snappy compressed"));
  SIBYL_TRY(check_limit(length, limit));
  if (snappy_validate_compressed_buffer(body.data(), body.size()) != SNAPPY_OK)
    return base::fail(protocol_error("Provided frame does not appear to be Snappy compressed"));
  Bytes out(length, '\0');
  if (snappy_uncompress(body.data(), body.size(), out.data(), &length) != SNAPPY_OK)
    return base::fail(protocol_error("Provided frame does not appear to be Snappy compressed"));
  return out;
}

}  // namespace

base::Result<Bytes> decompress(Compression compression, BytesView body, size_t limit) {
  switch (compression) {
    case Compression::lz4:
      return decompress_lz4(body, limit);
    case Compression::snappy:
      return decompress_snappy(body, limit);
    case Compression::none:
      break;
  }
  return base::fail(protocol_error("Compressed frame on a connection without compression"));
}

}  // namespace sibyl::protocol
