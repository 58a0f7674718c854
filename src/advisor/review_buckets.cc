#include "advisor/review_buckets.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sibyl::advisor {
namespace {

constexpr double minute = 60, hour = 3600, day = 86'400;

// A width that people can think in: whole days, hours or minutes, never wider than `seconds`.
double round_down(double seconds) {
  for (const double unit : std::array{day, hour, minute}) {
    if (seconds >= unit) return std::floor(seconds / unit) * unit;
  }
  return std::max(1.0, std::floor(seconds));
}

double round_up(double seconds) {
  const double unit = seconds > day / 2 ? day : seconds > hour / 2 ? hour : minute;
  return std::max(unit, std::ceil(seconds / unit - 1e-9) * unit);
}

}  // namespace

double poisson_at_least(double mean, double count) {
  if (count <= 0) return 1;
  if (mean <= 0) return 0;
  // Far from the mean the normal distribution is as good and never underflows.
  if (mean > 600) return 0.5 * std::erfc((count - 0.5 - mean) / std::sqrt(2 * mean));
  double term = std::exp(-mean), below = 0;
  for (double i = 0; i < count; ++i) {
    below += term;
    term *= mean / (i + 1);
  }
  return std::clamp(1 - below, 0.0, 1.0);
}

double TimeBucket::expected() const {
  return 1 + wanted / (rate * width);
}

// The reader comes at a random moment of the current bucket, so the chance is a mean over the time that the
// current bucket has been open; the integral of P(Poisson(x) < k) over x has a closed form.
double TimeBucket::chance_above(double buckets) const {
  const double mean = rate * width;
  if (mean > 1e5 || wanted > 1000) return std::clamp(wanted / mean - (buckets - 1), 0.0, 1.0);
  double sum = 0;
  for (double j = 1; j <= wanted; ++j)
    sum += poisson_at_least(mean * buckets, j) - poisson_at_least(mean * (buckets - 1), j);
  return std::clamp(sum / mean, 0.0, 1.0);
}

double TimeBucket::quantile(double quantile) const {
  const auto suffices = [&](double buckets) { return chance_above(buckets) <= 1 - quantile; };
  double most = 1;
  while (most < 1e15 && !suffices(most)) most *= 2;
  double least = std::floor(most / 2) + 1;
  while (least < most) {
    const double middle = std::floor((least + most) / 2);
    if (suffices(middle))
      most = middle;
    else
      least = middle + 1;
  }
  return most;
}

double most_periods(double span, double width) {
  return std::ceil(span / width - 1e-9) + 1;
}

BucketWidth choose_width(double rate, double wanted, double busiest_rate, double row_bytes, double largest) {
  BucketWidth chosen;
  chosen.seconds = round_up(wanted / rate);
  const double most = largest / std::max(1e-12, busiest_rate * row_bytes);
  if (chosen.seconds > most) {
    chosen.seconds = round_down(most);
    chosen.bounded_by_size = true;
  }
  return chosen;
}

double least_modulo(double bytes, double largest_bytes, double rate, double largest_rate) {
  const double by_size = std::ceil(bytes / largest_bytes - 1e-9);
  const double by_rate = std::ceil(rate / largest_rate - 1e-9);
  return std::max({1.0, by_size, by_rate});
}

}  // namespace sibyl::advisor
