#include "advisor/review/buckets.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sibyl::advisor {
namespace {

constexpr double minute = 60, hour = 3600, day = 86'400;

// Rounds down to a usual number of days, or to a divisor of a day, but not below one second.
double round_down(double seconds) {
  const double days = std::floor(seconds / day);
  const double unit = days >= 730 ? 365 : days >= 60 ? 30 : days >= 28 ? 7 : 1;
  if (days >= 1) return std::floor(days / unit) * unit * day;
  constexpr std::array widths = {12 * hour,   8 * hour,   6 * hour,    4 * hour,    3 * hour,
                                 2 * hour,    hour,       30 * minute, 20 * minute, 15 * minute,
                                 10 * minute, 5 * minute, 2 * minute,  minute,      30.0,
                                 20.0,        15.0,       10.0,        5.0,         2.0};
  for (const double width : widths)
    if (width <= seconds) return width;
  return 1;
}

}  // namespace

double poisson_at_least(double mean, double count) {
  if (count <= 0) return 1;
  if (mean <= 0) return 0;
  // For large means, the normal distribution is accurate enough and does not underflow.
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

// The read happens at a random time within the current bucket, so the probability is a mean over the age of
// that bucket. The integral of P(Poisson(x) < k) over x has a closed form.
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

double max_periods(double span, double width) {
  return std::ceil(span / width - 1e-9) + 1;
}

std::vector<double> bucket_widths(double need, double most, bool to_the_widest) {
  constexpr size_t wider = 3;
  const double widest = round_down(most);
  if (widest < day) return {widest};
  std::vector<double> out = {std::min(widest, std::max(1.0, std::ceil(need / day - 1e-9)) * day)};
  for (const double days : {7.0, 14.0, 30.0, 90.0, 365.0}) {
    if (days * day > out[0] && days * day <= widest && out.size() <= wider) out.push_back(days * day);
  }
  if (to_the_widest && widest > out.back()) out.push_back(widest);
  return out;
}

double fullest(double mean, double partitions) {
  return partitions > 1 ? mean + std::sqrt(2 * mean * std::log(partitions)) : mean;
}

double largest_share(double values, double modulo, double partitions) {
  values = std::max(1.0, values);
  return std::clamp(fullest(values / modulo, partitions * modulo) / values, 1 / values, 1.0);
}

double least_modulo(double bytes, double largest_bytes, double rate, double largest_rate) {
  const double by_size = std::ceil(bytes / largest_bytes - 1e-9);
  const double by_rate = std::ceil(rate / largest_rate - 1e-9);
  return std::max({1.0, by_size, by_rate});
}

}  // namespace sibyl::advisor
