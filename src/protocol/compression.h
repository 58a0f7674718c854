// Bodies compressed with lz4 (its length before it, big-endian) or snappy, as v3 and v4 carry them. What v5
// compresses is in segment.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "protocol/version.h"

namespace sibyl::protocol {

enum class Compression : uint8_t { none, lz4, snappy };

// The name in STARTUP and SUPPORTED, any case; an error for others, and for snappy in v5.
base::Result<Compression> compression_by_name(std::string_view name, Version version);

// Appends the compressed form of `body`. REQUIRES: compression is not none.
void compress(Compression compression, base::BytesView body, base::Bytes& out);
// Fails, without allocating for it, when the body claims to be longer than `limit`.
base::Result<base::Bytes> decompress(Compression compression, base::BytesView body, size_t limit);

}  // namespace sibyl::protocol
