#include "row/counter.h"

#include <algorithm>
#include <limits>

#include "base/memory.h"
#include "row/varint.h"

namespace sibyl::row {

base::Bytes encode_counter(const CounterValue& counter) {
  base::Bytes out;
  base::append_signed_varint(out, counter.clock);
  base::append_signed_varint(out, counter.value);
  return out;
}

bool decode_counter(base::BytesView bytes, CounterValue& counter) noexcept {
  RawReader reader(bytes);
  return reader.signed_varint(counter.clock) && reader.signed_varint(counter.value) && reader.at_end();
}

CounterUpdate increment(const Cell* current, int64_t delta, int64_t now_micros) noexcept {
  const base::DeferredMemoryLimit deferred;
  CounterUpdate update{now_micros, {}};
  if (current != nullptr) {
    CounterValue before;
    if (decode_counter(current->value, before)) update.counter = before;
    if (current->timestamp != std::numeric_limits<int64_t>::max())
      update.timestamp = std::max(now_micros, current->timestamp + 1);
  }
  update.counter.clock =
      static_cast<int64_t>(static_cast<uint64_t>(update.counter.clock) + 1);  // wraps around, like the value
  update.counter.value =
      static_cast<int64_t>(static_cast<uint64_t>(update.counter.value) + static_cast<uint64_t>(delta));
  return update;
}

}  // namespace sibyl::row
