#include "sstable/chunks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <lz4.h>
#include <snappy-c.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <limits>

#include "base/file.h"
#include "sstable/cursor.h"

namespace sibyl::sstable {
namespace {

constexpr uint32_t max_chunk_length = 64 << 20;
constexpr uint32_t plain_chunk_length = 64 << 10;
constexpr uint32_t max_options = 1000;
constexpr size_t checksum_size = 4;

uint32_t checksum_of(base::BytesView bytes) {
  return static_cast<uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

std::string_view take_text(Cursor& cursor) {
  return cursor.take(cursor.big_endian<uint16_t>());
}

bool find_compressor(std::string_view name, Compressor& compressor) {
  if (const size_t dot = name.rfind('.'); dot != std::string_view::npos) name.remove_prefix(dot + 1);
  for (const auto& [known, kind] :
       {std::pair("LZ4Compressor", Compressor::lz4), std::pair("SnappyCompressor", Compressor::snappy),
        std::pair("DeflateCompressor", Compressor::deflate), std::pair("ZstdCompressor", Compressor::zstd),
        std::pair("NoopCompressor", Compressor::none)}) {
    if (name != known) continue;
    compressor = kind;
    return true;
  }
  return false;
}

base::Status inflate_chunk(base::BytesView chunk, size_t length, char* to) {
  z_stream stream{};
  if (::inflateInit(&stream) != Z_OK) return base::invalid("zlib cannot start");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(chunk.data()));
  stream.avail_in = static_cast<uInt>(chunk.size());
  stream.next_out = reinterpret_cast<Bytef*>(to);
  stream.avail_out = static_cast<uInt>(length);
  const int result = ::inflate(&stream, Z_FINISH);
  const size_t got = stream.total_out;
  ::inflateEnd(&stream);
  if (result == Z_STREAM_END && got == length) return {};
  return base::invalid("the chunk does not decompress with deflate");
}

base::Status decompress_lz4_chunk(base::BytesView chunk, size_t length, char* to) {
  if (chunk.size() < 4) return base::invalid("the chunk is too short");
  uint32_t claimed = 0;  // little-endian
  for (int i = 3; i >= 0; --i)
    claimed = claimed << 8 | static_cast<unsigned char>(chunk[static_cast<size_t>(i)]);
  if (claimed != length)
    return base::invalid(fmt::format("the chunk claims {} bytes, not {}", claimed, length));
  const int got = ::LZ4_decompress_safe(chunk.data() + 4, to, static_cast<int>(chunk.size() - 4),
                                        static_cast<int>(length));
  if (got == static_cast<int>(length)) return {};
  return base::invalid("the chunk does not decompress with lz4");
}

class DiskFile : public RandomAccess {
 public:
  DiskFile(base::File file, std::string path, uint64_t size)
      : file_(std::move(file)), path_(std::move(path)), size_(size) {}
  uint64_t size() const override { return size_; }
  base::Status read(uint64_t offset, uint64_t size, base::Bytes& out) const override {
    const size_t held = out.size();
    out.resize(held + size);
    for (uint64_t done = 0; done < size;) {
      const ssize_t got =
          ::pread(file_.number(), out.data() + held + done, size - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return base::fail(base::file_error("read", path_, errno));
      if (got == 0) return base::fail(damage(path_, offset + done, "the file ended while it was read"));
      done += static_cast<uint64_t>(got);
    }
    return {};
  }

 private:
  base::File file_;
  std::string path_;
  uint64_t size_;
};

// Returns the contents of a small file, or an empty text if the file does not exist.
base::Result<std::string> read_if_present(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::string();
  auto bytes = base::read_file(path);
  if (bytes) return bytes;
  return base::fail(bytes.error().code(), fmt::format("Cannot read {}: {}", path, bytes.error().message()));
}

}  // namespace

base::Result<CompressionInfo> parse_compression_info(base::BytesView bytes, const std::string& file) {
  Cursor cursor(bytes);
  CompressionInfo info;
  const std::string name(take_text(cursor));
  if (!cursor.ok()) return base::fail(damage(file, 0, "it is incomplete"));
  if (!find_compressor(name, info.compressor))
    return base::fail(base::ErrorCode::invalid, fmt::format("{}: unknown compressor {}", file, name));
  const auto options = cursor.big_endian<uint32_t>();
  if (options > max_options) return base::fail(damage(file, cursor.offset(), "too many options"));
  for (uint32_t i = 0; i < options * 2 && cursor.ok(); ++i) take_text(cursor);
  info.chunk_length = cursor.big_endian<uint32_t>();
  info.max_compressed_length = cursor.big_endian<uint32_t>();
  info.data_length = cursor.big_endian<uint64_t>();
  const auto count = cursor.big_endian<uint32_t>();
  if (!cursor.ok() || info.chunk_length == 0 || info.chunk_length > max_chunk_length)
    return base::fail(damage(file, cursor.offset(), "a wrong length of chunks"));
  if (cursor.rest().size() / 8 < count || info.data_length > uint64_t{count} * info.chunk_length ||
      info.data_length + info.chunk_length <= uint64_t{count} * info.chunk_length)
    return base::fail(damage(file, cursor.offset(), "a wrong number of chunks"));
  for (uint32_t i = 0; i < count; ++i) info.offsets.push_back(cursor.big_endian<uint64_t>());
  return info;
}

base::Status decompress(Compressor compressor, base::BytesView chunk, size_t length, base::Bytes& out) {
  const size_t held = out.size();
  out.resize(held + length);
  char* const to = out.data() + held;
  switch (compressor) {
    case Compressor::lz4:
      return decompress_lz4_chunk(chunk, length, to);
    case Compressor::snappy: {
      size_t claimed = 0, got = length;
      if (::snappy_uncompressed_length(chunk.data(), chunk.size(), &claimed) == SNAPPY_OK &&
          claimed == length && ::snappy_uncompress(chunk.data(), chunk.size(), to, &got) == SNAPPY_OK &&
          got == length)
        return {};
      return base::invalid("the chunk does not decompress with snappy");
    }
    case Compressor::deflate:
      return inflate_chunk(chunk, length, to);
    case Compressor::zstd:
      if (::ZSTD_decompress(to, length, chunk.data(), chunk.size()) == length) return {};
      return base::invalid("the chunk does not decompress with zstd");
    case Compressor::none:
      break;
  }
  if (chunk.size() != length) return base::invalid("the chunk has a wrong length");
  std::copy(chunk.begin(), chunk.end(), to);
  return {};
}

base::Result<std::unique_ptr<RandomAccess>> open_random_access(const std::string& path) {
  base::File file(path, O_RDONLY);
  struct stat status{};
  if (!file || ::fstat(file.number(), &status) != 0) return base::fail(base::file_error("open", path, errno));
  if (!S_ISREG(status.st_mode)) return base::fail(base::file_error("read", path, EINVAL));
  return std::make_unique<DiskFile>(std::move(file), path, static_cast<uint64_t>(status.st_size));
}

base::Result<Chunks> Chunks::make(std::unique_ptr<RandomAccess> data, const std::string& file,
                                  base::BytesView info, base::BytesView checksums, const Files& files) {
  Chunks chunks;
  chunks.data_ = std::move(data);
  chunks.file_ = file;
  chunks.is_compressed_ = !info.empty();
  if (chunks.is_compressed_) {
    SIBYL_ASSIGN(chunks.info_, parse_compression_info(info, files.path("CompressionInfo.db")));
    chunks.count_ = chunks.info_.offsets.size();
    return chunks;
  }
  chunks.info_.data_length = chunks.data_->size();
  chunks.info_.chunk_length = plain_chunk_length;
  Cursor cursor(checksums);
  if (!checksums.empty()) {
    chunks.info_.chunk_length = cursor.big_endian<uint32_t>();
    if (!cursor.ok() || chunks.info_.chunk_length == 0 || chunks.info_.chunk_length > max_chunk_length)
      return base::fail(damage(files.path("CRC.db"), 0, "a wrong length of chunks"));
  }
  chunks.count_ = (chunks.info_.data_length + chunks.info_.chunk_length - 1) / chunks.info_.chunk_length;
  if (!checksums.empty() && cursor.rest().size() / checksum_size < chunks.count_)
    return base::fail(damage(files.path("CRC.db"), checksums.size(), "checksums are missing"));
  for (size_t i = 0; i < chunks.count_ && !checksums.empty(); ++i)
    chunks.checksums_.push_back(cursor.big_endian<uint32_t>());
  return chunks;
}

base::Result<Chunks> Chunks::open(const Files& files) {
  const std::string path = files.path("Data.db");
  SIBYL_ASSIGN(auto data, open_random_access(path));
  SIBYL_ASSIGN(const std::string info, read_if_present(files.path("CompressionInfo.db")));
  SIBYL_ASSIGN(const std::string checksums, read_if_present(files.path("CRC.db")));
  return make(std::move(data), path, info, checksums, files);
}

base::Status Chunks::read(size_t chunk, base::Bytes& out) const {
  if (is_compressed_) return read_compressed(chunk, out);
  const uint64_t offset = uint64_t{chunk} * info_.chunk_length;
  const uint64_t size = std::min<uint64_t>(info_.chunk_length, info_.data_length - offset);
  const size_t held = out.size();
  SIBYL_TRY(data_->read(offset, size, out));
  if (!checksums_.empty() && checksum_of(base::BytesView(out).substr(held)) != checksums_[chunk])
    return base::fail(damage(file_, offset, "a wrong checksum"));
  return {};
}

base::Status Chunks::read_compressed(size_t chunk, base::Bytes& out) const {
  const uint64_t begin = info_.offsets[chunk];
  const uint64_t end = chunk + 1 < count_ ? info_.offsets[chunk + 1] : data_->size();
  if (end > data_->size() || begin > end || end - begin < checksum_size)
    return base::fail(
        damage(file_, std::min(begin, data_->size()), fmt::format("chunk {} is incomplete", chunk)));
  // No compressor expands by more than this.
  if (end - begin > uint64_t{info_.chunk_length} * 2 + 1024)
    return base::fail(damage(file_, begin, fmt::format("chunk {} is too long", chunk)));
  base::Bytes stored;
  SIBYL_TRY(data_->read(begin, end - begin, stored));
  const base::BytesView bytes = base::BytesView(stored).substr(0, stored.size() - checksum_size);
  if (checksum_of(bytes) != base::read_big_endian<uint32_t>(base::BytesView(stored).substr(bytes.size())))
    return base::fail(damage(file_, begin, fmt::format("a wrong checksum of chunk {}", chunk)));
  const uint64_t length =
      std::min<uint64_t>(info_.chunk_length, info_.data_length - uint64_t{chunk} * info_.chunk_length);
  const bool is_plain = bytes.size() >= info_.max_compressed_length;
  const base::Status done = decompress(is_plain ? Compressor::none : info_.compressor, bytes, length, out);
  return done ? done : base::fail(damage(file_, begin, done.error().message()));
}

}  // namespace sibyl::sstable
