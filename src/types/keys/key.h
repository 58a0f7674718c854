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

// Removes one component from the front of `key` and returns the value's bytes. They are the original bytes if
// the type's encoding is lossless, otherwise a canonical equal value (decimal 1.00 is returned as 1).
base::Result<Bytes> decode_key(const Type& type, bool descending, BytesView& key);

// True if decode_key(encode_key(value)) may differ from `value` for some value of the type (decimal,
// non-minimal varints, NaNs with payload, tuples with trailing nulls...). If it does differ, the record also
// stores the original.
bool key_is_lossy(const Type& type);

// Raw bytes as one self-delimiting component that sorts in unsigned byte order. Used for partition keys.
void encode_raw_key(BytesView value, Bytes& out);
base::Result<Bytes> decode_raw_key(BytesView& key);

// Cassandra's Murmur3Partitioner token of a serialised partition key, including its signed-byte quirk. Never
// INT64_MIN.
int64_t murmur3_token(BytesView partition_key);
// A token's 8 bytes in a record key, biased so that they sort as signed numbers.
void encode_token(int64_t token, Bytes& out);
int64_t decode_token(BytesView eight_bytes);

// The serialised partition key: the bytes of a single component, or Cassandra's composite of several (for
// each: 16-bit length, bytes, a zero byte).
Bytes serialise_partition_key(const std::vector<BytesView>& components);
base::Result<std::vector<Bytes>> split_partition_key(BytesView serialised, size_t components);

}  // namespace sibyl::types
