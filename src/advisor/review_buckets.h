// The arithmetic of buckets: how many partitions the newest k rows lie in, and how many buckets a partition
// that is too large or too hot needs. Exact, nothing is simulated.
#pragma once

#include <vector>

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

// Widths to choose among, narrowest first, in units that people think in. The first is the least number of
// whole days that `need` seconds fit into; then 7, 14, 30, 90 or 365 days, at most three of them; none is
// wider than `most`. Buckets shorter than a day only where `most` is: then the widest alone. `to_the_widest`:
// the widest that `most` allows is the last.
std::vector<double> bucket_widths(double need, double most, bool to_the_widest);

// Rows of the fullest of `partitions` alike ones that rows fall into by chance, `mean` on average.
double fullest(double mean, double partitions);

// The part of a partition in the fullest of the `modulo` that a hash of something with so many different
// values spreads it over; there are `partitions` such partitions.
double largest_share(double values, double modulo, double partitions);

// The smallest number of buckets with bytes / m <= largest_bytes and rate / m <= largest_rate.
double least_modulo(double bytes, double largest_bytes, double rate, double largest_rate);

// P(X >= count) of a Poisson variable.
double poisson_at_least(double mean, double count);

}  // namespace sibyl::advisor
