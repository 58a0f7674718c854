// UUIDs: creating them, reading their parts, and ordering them.
#pragma once

#include <cstdint>

#include "types/value.h"

namespace sibyl::types {

// Reversible rearrangements of the first eight bytes, so that comparing them as numbers gives CQL's order. A
// version 1 UUID stores its time as low, middle, high. These convert to high, middle, low and back.
inline constexpr uint64_t reorder_time_high(uint64_t high) {
  return (high << 48) | ((high << 16) & 0xffff'0000'0000u) | (high >> 32);
}
inline constexpr uint64_t restore_time_high(uint64_t ordered) {
  return (ordered << 32) | ((ordered >> 16) & 0xffff'0000u) | (ordered >> 48);
}

// The last eight bytes of a timeuuid are compared as signed bytes.
inline constexpr uint64_t signed_bytes_mask = 0x8080'8080'8080'8080u;

// A uuid is ordered by its version first. Then version 1 is ordered by time, and other versions by bytes.
inline constexpr uint64_t sortable_uuid_high(uint64_t high) {
  const uint64_t version = (high >> 12) & 0xf;
  if (version == 1) return reorder_time_high(high);
  return (version << 60) | ((high >> 4) & 0x0fff'ffff'ffff'f000u) | (high & 0xfff);
}
inline constexpr uint64_t restore_uuid_high(uint64_t sortable) {
  const uint64_t version = sortable >> 60;
  if (version == 1) return restore_time_high(sortable);
  return ((sortable << 4) & 0xffff'ffff'ffff'0000u) | (version << 12) | (sortable & 0xfff);
}

// --- UUIDs, 16 bytes.
Bytes random_uuid();                                // version 4
Bytes time_uuid(int64_t hundred_nanos_since_1582);  // version 1, with this process's node and clock sequence
Bytes next_time_uuid(int64_t now_micros);           // unique and increasing within the process
int64_t uuid_unix_millis(BytesView timeuuid);       // REQUIRES: version 1
int64_t uuid_unix_micros(BytesView timeuuid);
int uuid_version(BytesView uuid);
Bytes min_time_uuid(int64_t unix_millis);  // smallest and largest timeuuid of a millisecond, in
Bytes max_time_uuid(int64_t unix_millis);  // Cassandra's order

}  // namespace sibyl::types
