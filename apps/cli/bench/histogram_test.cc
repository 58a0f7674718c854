#include "cli/bench/histogram.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

namespace sibyl::cli::bench {
namespace {

TEST(Histogram, SmallValuesAreExact) {
  Histogram histogram;
  for (uint64_t i = 1; i <= 100; ++i) histogram.add(i);
  EXPECT_EQ(histogram.quantile(0.5), 51u);
  EXPECT_EQ(histogram.quantile(0.99), 100u);
  EXPECT_EQ(histogram.quantile(1), 100u);
  EXPECT_EQ(Histogram().quantile(0.5), 0u);
}

TEST(Histogram, QuantilesAreWithinAPercent) {
  EXPECT_TRUE(rc::check([] {
    const auto values = *rc::gen::nonEmpty(
        rc::gen::container<std::vector<uint64_t>>(rc::gen::inRange<uint64_t>(0, uint64_t{1} << 43)));
    Histogram histogram, half;
    for (size_t i = 0; i < values.size(); ++i) (i % 2 == 0 ? histogram : half).add(values[i]);
    histogram.merge(half);
    auto sorted = values;
    std::sort(sorted.begin(), sorted.end());
    for (const double share : {0.0, 0.5, 0.9, 0.999}) {
      const uint64_t exact = sorted[static_cast<size_t>(share * static_cast<double>(sorted.size()))];
      const uint64_t found = histogram.quantile(share);
      RC_ASSERT(found >= exact);
      RC_ASSERT(static_cast<double>(found - exact) <= static_cast<double>(exact) * 0.01);
    }
  }));
}

}  // namespace
}  // namespace sibyl::cli::bench
