// Counter cells: an absolute value with a clock, so that merging stays idempotent.
//
// An increment reads the cell under the partition's lock. It then writes value + delta with clock + 1 and a
// later timestamp; increment() computes all three. As for every cell, the later timestamp wins, so deletions
// shadow counters by the same merge law. On equal timestamps the higher clock wins, then the larger value.
#pragma once

#include "base/bytes.h"
#include "row/fragment.h"

namespace sibyl::row {

struct CounterValue {
  int64_t clock = 0;
  int64_t value = 0;
};
base::Bytes encode_counter(const CounterValue& counter);
// Returns false for anything that encode_counter() could not have written.
bool decode_counter(base::BytesView bytes, CounterValue& counter) noexcept;

struct CounterUpdate {
  int64_t timestamp = 0;
  CounterValue counter;
};
// Returns the cell that an increment writes over `current`, the cell that a reader sees (null if there is
// none). The timestamp is `now_micros`, or later if the clock went backwards. The value wraps around on
// overflow, as in Cassandra.
CounterUpdate increment(const Cell* current, int64_t delta, int64_t now_micros) noexcept;

}  // namespace sibyl::row
