// CRC-32C (Castagnoli), by the processor's own instruction where it has one.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace sibyl::storage::rocksdb {

// Continues `crc`, which starts at 0.
uint32_t crc32c(uint32_t crc, base::BytesView bytes) noexcept;

}  // namespace sibyl::storage::rocksdb
