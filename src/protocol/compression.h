// Compression of message bodies in protocol v3 and v4: lz4 (preceded by the big-endian length) or snappy. For
// v5, which compresses segments, see segment.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "protocol/version.h"

namespace sibyl::protocol {

enum class Compression : uint8_t { none, lz4, snappy };

// Finds an algorithm by its name in STARTUP, in any case. Fails for unknown names, and for snappy in v5.
base::Result<Compression> compression_by_name(std::string_view name, Version version);

// Appends the compressed form of `body`. REQUIRES: compression is not none.
void compress(Compression compression, base::BytesView body, base::Bytes& out);
// Fails, without allocating, if the body claims to be longer than `limit`.
base::Result<base::Bytes> decompress(Compression compression, base::BytesView body, size_t limit);

}  // namespace sibyl::protocol
