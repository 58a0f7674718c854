// Tokens: the hash of a partition key, and its form in record keys.
#pragma once

#include <cstdint>

#include "types/value.h"

namespace sibyl::types {

// Cassandra's Murmur3Partitioner token of a serialised partition key, including its signed-byte quirk. Never
// INT64_MIN.
int64_t murmur3_token(BytesView partition_key);
// A token's 8 bytes in a record key, biased so that they sort as signed numbers.
void encode_token(int64_t token, Bytes& out);
int64_t decode_token(BytesView eight_bytes);

}  // namespace sibyl::types
