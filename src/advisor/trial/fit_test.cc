// Tests of drawing sizes with given quantiles and a given mean.
#include "advisor/trial/fit.h"

#include <gtest/gtest.h>

#include <numeric>

namespace sibyl::advisor {
namespace {

double mean_size(const std::vector<double>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), 0.0) / static_cast<double>(sizes.size());
}

TEST(FitSizes, QuantilesAndMeanAreMet) {
  const std::vector<double> sizes = fit_sizes(10'000, {50, 20'000, 300, 2000}, 140);
  ASSERT_EQ(sizes.size(), 10'000u);
  EXPECT_TRUE(std::is_sorted(sizes.rbegin(), sizes.rend()));
  EXPECT_DOUBLE_EQ(sizes.front(), 20'000);
  EXPECT_NEAR(sizes[5000], 50, 1);
  EXPECT_NEAR(sizes[1000], 300, 6);
  EXPECT_NEAR(sizes[100], 2000, 200);
  EXPECT_NEAR(mean_size(sizes), 140, 3);
}

TEST(FitSizes, EvenPartitionsStayEven) {
  for (const double size : fit_sizes(100, {10, 10, 10, 10}, 10)) EXPECT_NEAR(size, 10, 9);
  EXPECT_DOUBLE_EQ(mean_size(fit_sizes(1, {10, 10, 10, 10}, 10)), 10);
}

// With a tenth of the partitions, the recorded maximum may exceed the total number of rows.
TEST(FitSizes, TheLargestIsAtMostHalf) {
  const std::vector<double> sizes = fit_sizes(10, {1, 1'000'000, 1, 1}, 100);
  EXPECT_DOUBLE_EQ(sizes.front(), 500);
  EXPECT_LE(sizes[1], 500);
}

}  // namespace
}  // namespace sibyl::advisor
