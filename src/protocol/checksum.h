// The checksums of v5's segments.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

namespace sibyl::protocol {

// Of a segment's header: the `count` lowest bytes of `bytes`, lowest first. REQUIRES: count <= 8.
uint32_t crc24(uint64_t bytes, size_t count);

// Of a segment's payload: the usual CRC-32 of FA 2D 55 CA and the payload.
uint32_t crc32(base::BytesView payload);

}  // namespace sibyl::protocol
