// The contents of Data.db, decompressed chunk by chunk. Every chunk's checksum is checked.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "sstable/files.h"

namespace sibyl::sstable {

enum class Compressor { none, lz4, snappy, deflate, zstd };

// CompressionInfo.db.
struct CompressionInfo {
  Compressor compressor = Compressor::none;
  uint32_t chunk_length = 0;
  uint32_t max_compressed_length = 0;  // chunks of at least this size are stored as they are
  uint64_t data_length = 0;
  std::vector<uint64_t> offsets;
};
base::Result<CompressionInfo> parse_compression_info(base::BytesView bytes, const std::string& file);

// Decompresses one chunk, without its checksum, to exactly `length` bytes. The error's message is only the
// reason.
base::Status decompress(Compressor compressor, base::BytesView chunk, size_t length, base::Bytes& out);

// A file of known size that is read at offsets.
class RandomAccess {
 public:
  virtual ~RandomAccess() = default;
  virtual uint64_t size() const = 0;
  // Appends `size` bytes at `offset`. REQUIRES: they are within the file.
  virtual base::Status read(uint64_t offset, uint64_t size, base::Bytes& out) const = 0;
};
base::Result<std::unique_ptr<RandomAccess>> open_random_access(const std::string& path);

class Chunks {
 public:
  // Without CompressionInfo.db (empty `info`), CRC.db lists the chunks. Without CRC.db, chunks have 64 KiB
  // and no checksums.
  static base::Result<Chunks> make(std::unique_ptr<RandomAccess> data, const std::string& file,
                                   base::BytesView info, base::BytesView checksums, const Files& files);
  static base::Result<Chunks> open(const Files& files);

  uint64_t data_length() const { return info_.data_length; }
  size_t count() const { return count_; }
  uint32_t chunk_length() const { return info_.chunk_length; }
  // Appends the i-th chunk.
  base::Status read(size_t chunk, base::Bytes& out) const;
  const std::string& file() const { return file_; }

 private:
  base::Status read_compressed(size_t chunk, base::Bytes& out) const;

  std::unique_ptr<RandomAccess> data_;
  std::string file_;
  CompressionInfo info_;
  bool is_compressed_ = false;
  size_t count_ = 0;
  std::vector<uint32_t> checksums_;  // checksums of chunks that are not compressed
};

}  // namespace sibyl::sstable
