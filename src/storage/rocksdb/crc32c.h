// CRC-32C (Castagnoli), by the processor's own instruction where it has one.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"

namespace sibyl::storage::rocksdb {

// Continues `crc`, which starts at 0.
uint32_t crc32c(uint32_t crc, base::BytesView bytes) noexcept;

// Checksums of any runs of the same bytes: after one pass over all of them each costs as much as a short run,
// whatever its length.
class Crc32cOfRuns {
 public:
  // Borrows the bytes, which must not change meanwhile.
  explicit Crc32cOfRuns(base::BytesView bytes);
  // crc32c(crc, bytes.substr(begin, size)). REQUIRES: the run is within the bytes.
  uint32_t run(uint32_t crc, uint64_t begin, uint64_t size) const;

 private:
  uint32_t up_to(uint64_t end) const;

  base::BytesView bytes_;
  std::vector<uint32_t> marks_;  // of the bytes before each step
};

}  // namespace sibyl::storage::rocksdb
