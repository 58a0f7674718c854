// CRC-32C (Castagnoli). Uses the processor's instruction where available.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"

namespace sibyl::storage::rocksdb {

// Continues `crc`. The initial value is 0.
uint32_t crc32c(uint32_t crc, base::BytesView bytes) noexcept;

// Computes checksums of arbitrary ranges of the same bytes. After one pass over all bytes, each range costs
// as much as a short one, regardless of its length.
class Crc32cOfRuns {
 public:
  // Borrows the bytes, which must not change during the object's lifetime.
  explicit Crc32cOfRuns(base::BytesView bytes);
  // Returns crc32c(crc, bytes.substr(begin, size)). REQUIRES: the range is within the bytes.
  uint32_t run(uint32_t crc, uint64_t begin, uint64_t size) const;

 private:
  uint32_t up_to(uint64_t end) const;

  base::BytesView bytes_;
  std::vector<uint32_t> marks_;  // checksums of the bytes before each step
};

}  // namespace sibyl::storage::rocksdb
