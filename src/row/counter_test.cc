#include "row/counter.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "row/merge.h"

namespace sibyl::row {
namespace {

RC_GTEST_PROP(Counter, RoundTrip, (int64_t clock, int64_t value)) {
  CounterValue decoded;
  RC_ASSERT(decode_counter(encode_counter({clock, value}), decoded));
  RC_ASSERT(decoded.clock == clock);
  RC_ASSERT(decoded.value == value);
}

TEST(Counter, RefusesOtherBytes) {
  CounterValue decoded;
  for (const base::BytesView bytes : {"", "\x02", "\x02\x02\x02", "\x82"})
    EXPECT_FALSE(decode_counter(bytes, decoded)) << base::to_hex(bytes);
  // The number is not in its shortest form.
  EXPECT_FALSE(decode_counter(base::BytesView("\x82\x00\x02", 3), decoded));
}

TEST(Counter, IncrementsFromNothing) {
  const CounterUpdate update = increment(nullptr, -3, 100);
  EXPECT_EQ(update.timestamp, 100);
  EXPECT_EQ(update.counter.clock, 1);
  EXPECT_EQ(update.counter.value, -3);
}

// Each increment wins over the previous one, even if the clock stands still or goes backwards.
TEST(Counter, EveryIncrementWins) {
  base::Bytes bytes = encode_counter({7, 40});
  Cell cell;
  cell.kind = CellKind::counter;
  cell.timestamp = 1000;
  cell.value = bytes;
  for (const int64_t now : {1000, 900, 5000}) {
    const CounterUpdate update = increment(&cell, 1, now);
    Cell next = cell;
    next.timestamp = update.timestamp;
    const base::Bytes next_bytes = encode_counter(update.counter);
    next.value = next_bytes;
    EXPECT_EQ(&reconcile(cell, next), &next);
    EXPECT_EQ(&reconcile(next, cell), &next);
    EXPECT_EQ(update.counter.value, 41);
    EXPECT_EQ(update.counter.clock, 8);
  }
}

TEST(Counter, WrapsAround) {
  const base::Bytes bytes = encode_counter({1, std::numeric_limits<int64_t>::max()});
  Cell cell;
  cell.kind = CellKind::counter;
  cell.timestamp = std::numeric_limits<int64_t>::max();
  cell.value = bytes;
  const CounterUpdate update = increment(&cell, 1, 5);
  EXPECT_EQ(update.counter.value, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(update.counter.clock, 2);
}

}  // namespace
}  // namespace sibyl::row
