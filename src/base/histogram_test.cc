#include "base/histogram.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace sibyl::base {
namespace {

template <typename Buckets>
void expect_complete(uint64_t end) {
  for (size_t i = 0; i + 1 < Buckets::count; ++i) {
    const uint64_t largest = Buckets::largest(i);
    EXPECT_EQ(Buckets::of(largest), i);
    EXPECT_EQ(Buckets::of(largest + 1), i + 1);
  }
  EXPECT_EQ(Buckets::largest(Buckets::count - 1), end - 1);
  EXPECT_EQ(Buckets::of(end), Buckets::count - 1);
  EXPECT_EQ(Buckets::of(UINT64_MAX), Buckets::count - 1);
}

TEST(Histogram, buckets_cover_every_value_once_and_in_order) {
  expect_complete<HistogramBuckets>(uint64_t{1} << 35);
  expect_complete<LogLinearBuckets<7, 44>>(uint64_t{1} << 44);
}

TEST(Histogram, percentiles_are_at_most_a_quarter_too_large) {
  EXPECT_TRUE(rc::check([](const std::vector<uint32_t>& values, uint8_t hundredths) {
    Histogram histogram;
    std::vector<uint32_t> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    for (const uint32_t value : values) histogram.record(value);
    const HistogramSnapshot snapshot = histogram.snapshot();
    RC_ASSERT(snapshot.count == values.size());
    if (values.empty()) return;
    RC_ASSERT(snapshot.max == sorted.back());
    const double share = static_cast<double>(hundredths % 101) / 100;
    const auto wanted = static_cast<size_t>(share * static_cast<double>(values.size()) + 0.5);
    const uint64_t exact = sorted[wanted == 0 ? 0 : wanted - 1];
    const uint64_t found = snapshot.percentile(share);
    RC_ASSERT(found >= exact);
    RC_ASSERT(found <= exact + exact / 4 + 1);
  }));
}

TEST(Histogram, snapshots_add_up) {
  Histogram left, right;
  for (uint64_t value : {1, 10, 100}) left.record(value);
  for (uint64_t value : {5, 5000}) right.record(value);
  HistogramSnapshot sum = left.snapshot();
  sum.add(right.snapshot());
  EXPECT_EQ(sum.count, 5u);
  EXPECT_EQ(sum.sum, 5116u);
  EXPECT_EQ(sum.max, 5000u);
  EXPECT_EQ(sum.count_up_to(7), 2u);
  EXPECT_EQ(HistogramSnapshot{}.percentile(0.99), 0u);
}

}  // namespace
}  // namespace sibyl::base
