// Counter cells: an absolute value with a clock, so that merging stays idempotent.
//
// An increment reads the cell under the partition's lock and writes value + delta with clock + 1 and a later
// timestamp (increment() gives all three). The later timestamp wins as for every cell, so that deletions
// shadow counters by the same associative law; of equal timestamps the higher clock, then the larger value.
#pragma once

#include "base/bytes.h"
#include "row/fragment.h"

namespace sibyl::row {

struct CounterValue {
  int64_t clock = 0;
  int64_t value = 0;
};
base::Bytes encode_counter(const CounterValue& counter);
// False on anything that encode_counter() could not have written.
bool decode_counter(base::BytesView bytes, CounterValue& counter) noexcept;

struct CounterUpdate {
  int64_t timestamp = 0;
  CounterValue counter;
};
// What an increment writes over `current`, the cell that a reader sees (null: none). The timestamp is `now`,
// or more when the clock went backwards; the value wraps around, as Cassandra's does.
CounterUpdate increment(const Cell* current, int64_t delta, int64_t now_micros) noexcept;

}  // namespace sibyl::row
