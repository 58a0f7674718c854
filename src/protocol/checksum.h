// Checksums of protocol v5 segments.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

namespace sibyl::protocol {

// Returns the CRC-24 of a segment's header. The header is the `count` lowest bytes of `bytes`, the lowest one
// first. REQUIRES: count <= 8.
uint32_t crc24(uint64_t bytes, size_t count);

// The CRC-32 of a segment's payload: the usual CRC-32 of FA 2D 55 CA followed by the payload.
uint32_t crc32(base::BytesView payload);

}  // namespace sibyl::protocol
