// Order-preserving key bytes.
//
// encode_key() maps a value to bytes such that comparing bytes orders as compare() orders values, and such
// that no encoding is a prefix of another (so components can be written one after another). Descending
// components are the bitwise complement. Encodings are part of the storage format: docs/storage-format.md.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "types/type.h"
#include "types/value.h"

namespace sibyl::types {

// REQUIRES: bytes are a valid value of type (empty allowed).
void encode_key(const Type& type, BytesView value, bool descending, Bytes& out);

// Takes one component from the front of `key` and returns the value's bytes: the original ones for every type
// whose encoding is lossless, else a canonical equal value (decimal 1.00 comes back as 1).
base::Result<Bytes> decode_key(const Type& type, bool descending, BytesView& key);

// Whether decode_key(encode_key(value)) may differ from value for some value of the type (decimal,
// non-minimal varints, NaNs with payload, tuples with trailing nulls...). When it does differ the record
// keeps the original.
bool key_is_lossy(const Type& type);

// Raw bytes as one self-delimiting component whose order is the bytes' unsigned order: used for partition
// keys.
void encode_raw_key(BytesView value, Bytes& out);
base::Result<Bytes> decode_raw_key(BytesView& key);

// Cassandra's Murmur3Partitioner token of a serialised partition key, its signed-byte quirk included; never
// INT64_MIN.
int64_t murmur3_token(BytesView partition_key);
// The 8 bytes of a token in a record key: biased so that bytes sort as signed numbers.
void encode_token(int64_t token, Bytes& out);
int64_t decode_token(BytesView eight_bytes);

// The serialised partition key: the single component's bytes, or Cassandra's composite of several
// (for each: 16-bit length, bytes, a zero byte).
Bytes serialise_partition_key(const std::vector<BytesView>& components);
base::Result<std::vector<Bytes>> split_partition_key(BytesView serialised, size_t components);

}  // namespace sibyl::types
