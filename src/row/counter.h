// Counter cells: an absolute value with a clock, so that merging stays idempotent.
//
// An increment reads the cell under the partition's lock and writes value + delta with clock + 1; the higher clock
// wins, ties by the larger value. A deletion with a later timestamp removes the cell as any other.
#pragma once

#include "base/bytes.h"

namespace sibyl::row {

struct CounterValue {
  int64_t clock = 0;
  int64_t value = 0;
};
base::Bytes encode_counter(const CounterValue& counter);
bool decode_counter(base::BytesView bytes, CounterValue& counter) noexcept;

}  // namespace sibyl::row
