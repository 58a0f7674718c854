// Bucket arithmetic: how many partitions the newest k rows span, and how many buckets an oversized or
// overloaded partition needs. Computed in closed form, without simulation.
#pragma once

#include <vector>

namespace sibyl::advisor {

// A partition that is split into time buckets. Rows arrive at random (Poisson) at `rate` per second. Each
// bucket holds `width` seconds. A read of the newest `wanted` rows reads buckets backwards until it has
// enough rows.
struct TimeBucket {
  double rate = 0, width = 1, wanted = 1;

  // The mean number of partitions read: 1 + wanted / (rate * width).
  double expected() const;
  // The probability that more than `buckets` must be read.
  double chance_above(double buckets) const;
  // The smallest number of buckets that suffices with probability `quantile`.
  double quantile(double quantile) const;
};

// The maximum number of periods of `width` seconds that an interval of `span` seconds can touch.
double max_periods(double span, double width);

// Bucket widths to choose from, narrowest first, in units that are easy to read. The first is `need` rounded
// up to whole days. Up to three of 7, 14, 30, 90 and 365 days follow. None is wider than `most`. If `most` is
// shorter than a day, the result is a single width below a day. With `to_the_widest`, the last one is the
// widest that `most` allows.
std::vector<double> bucket_widths(double need, double most, bool to_the_widest);

// The expected number of rows in the fullest partition, if rows fall at random into `partitions` partitions
// with a mean of `mean` rows.
double fullest(double mean, double partitions);

// The largest share of a partition that falls into one of `modulo` hash buckets. The hashed columns have
// `values` distinct values; `partitions` partitions are split in this way.
double largest_share(double values, double modulo, double partitions);

// The smallest number of buckets m with bytes / m <= largest_bytes and rate / m <= largest_rate.
double least_modulo(double bytes, double largest_bytes, double rate, double largest_rate);

// P(X >= count) for a Poisson variable.
double poisson_at_least(double mean, double count);

}  // namespace sibyl::advisor
