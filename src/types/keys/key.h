// Order-preserving key bytes.
//
// encode_key() maps a value to bytes whose order equals compare()'s order of values. No encoding is a prefix
// of another, so components can be concatenated. Descending components are the bitwise complement. Encodings
// are part of the storage format: docs/storage-format.md.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "types/type.h"
#include "types/value.h"

namespace sibyl::types {

// REQUIRES: `value` is a valid value of `type` (empty allowed).
void encode_key(const Type& type, BytesView value, bool descending, Bytes& out);

// True if decode_key(encode_key(value)) may differ from `value` for some value of the type (decimal,
// non-minimal varints, NaNs with payload, tuples with trailing nulls...). If it does differ, the record also
// stores the original.
bool key_is_lossy(const Type& type);

// Raw bytes as one self-delimiting component that sorts in unsigned byte order. Used for partition keys.
void encode_raw_key(BytesView value, Bytes& out);

// The serialised partition key: the bytes of a single component, or Cassandra's composite of several (for
// each: 16-bit length, bytes, a zero byte).
Bytes serialise_partition_key(const std::vector<BytesView>& components);
base::Result<std::vector<Bytes>> split_partition_key(BytesView serialised, size_t components);

}  // namespace sibyl::types
