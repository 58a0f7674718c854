// The arithmetic of buckets: how many partitions the newest k rows lie in, and how many buckets a partition
// that is too large or too hot needs. Exact, nothing is simulated.
#pragma once

#include <optional>

namespace sibyl::advisor {

// Rows arrive at random (Poisson) with `rate` per second; partitions hold `width` seconds each, and a reader
// that wants the newest `wanted` rows goes back bucket by bucket until it has them.
struct TimeBucket {
  double rate = 0, width = 1, wanted = 1;

  // Partitions read on average: 1 + wanted / (rate * width).
  double expected() const;
  // The chance that more than `buckets` have to be read.
  double chance_above(double buckets) const;
  // The least number of buckets that suffices with chance `quantile`.
  double quantile(double quantile) const;
};

// Periods of `width` that a stretch of `span` seconds touches at most, wherever it begins.
double most_periods(double span, double width);

// The width for the newest-`wanted` need in whole units (days, or hours when rows come fast): the least that
// holds `wanted` rows on average, bounded by what `largest` bytes may hold of the busiest key.
struct BucketWidth {
  double seconds = 0;
  bool bounded_by_size = false;
};
BucketWidth choose_width(double rate, double wanted, double busiest_rate, double row_bytes, double largest);

// The smallest number of buckets with bytes / m <= largest_bytes and rate / m <= largest_rate.
double least_modulo(double bytes, double largest_bytes, double rate, double largest_rate);

// P(X >= count) of a Poisson variable.
double poisson_at_least(double mean, double count);

}  // namespace sibyl::advisor
