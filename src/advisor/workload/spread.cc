#include "advisor/workload/spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "advisor/workload/synthetic.h"
#include "types/elements.h"
#include "types/keys/key.h"
#include "types/keys/murmur3.h"

namespace sibyl::advisor {
namespace {

constexpr size_t max_keys = 20'000;
constexpr size_t exact_ranks = 2'000;  // the most frequent keys are evaluated one by one

base::Bytes big_endian(uint64_t value, size_t bytes) {
  base::Bytes out;
  for (size_t i = bytes; i-- > 0;) out.push_back(static_cast<char>(value >> (8 * i)));
  return out;
}

base::Bytes nth_value(const types::Type& type, uint64_t i) {
  using types::Kind;
  switch (type.kind()) {
    case Kind::boolean:
      return big_endian(i & 1, 1);
    case Kind::uuid:
    case Kind::timeuuid:
      return big_endian(mix(i), 8) + big_endian(mix(i + 1), 8);
    case Kind::text:
    case Kind::ascii:
      return base::Bytes(fmt::format("key-{}", i));
    case Kind::timestamp:
      return big_endian(1'700'000'000'000ull + i * 3'600'000, 8);
    case Kind::date:
      return big_endian((1ull << 31) + 20'000 + i, 4);
    default:
      break;
  }
  const int64_t size = type.fixed_size();
  return big_endian(i, size > 0 && size <= 8 ? static_cast<size_t>(size) : 8);
}

struct VirtualNode {
  int64_t token;
  size_t node;
};

std::vector<VirtualNode> make_ring(size_t nodes, size_t vnodes) {
  std::mt19937_64 random(nodes * 1000 + vnodes);
  std::vector<VirtualNode> ring;
  std::vector<size_t> order(nodes);
  std::iota(order.begin(), order.end(), size_t{0});
  const size_t count = nodes * vnodes;
  const long double step = 18446744073709551616.0L / static_cast<long double>(count);
  for (size_t round = 0; round < vnodes; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (size_t i = 0; i < nodes; ++i) {
      const auto at = static_cast<uint64_t>(step * static_cast<long double>(ring.size()));
      ring.push_back({static_cast<int64_t>(at - (1ull << 63)), order[i]});
    }
  }
  return ring;
}

std::vector<size_t> replicas_of(const std::vector<VirtualNode>& ring, int64_t token, size_t replicas) {
  auto at = std::lower_bound(ring.begin(), ring.end(), token,
                             [](const VirtualNode& node, int64_t wanted) { return node.token < wanted; });
  std::vector<size_t> found;
  for (size_t walked = 0; walked < ring.size() && found.size() < replicas; ++walked, ++at) {
    if (at == ring.end()) at = ring.begin();
    if (std::find(found.begin(), found.end(), at->node) == found.end()) found.push_back(at->node);
  }
  return found;
}

// Converts loads to shares. Returns the largest load divided by the mean.
double normalise(std::vector<double>& loads) {
  const double total = std::accumulate(loads.begin(), loads.end(), 0.0);
  if (total <= 0) return 1;
  const double largest = *std::max_element(loads.begin(), loads.end());
  for (double& load : loads) load /= total;
  return largest * static_cast<double>(loads.size()) / total;
}

// The partition key number `i`, with its period columns set to `period`.
base::Bytes key_of_period(const schema::Table& table, const std::vector<bool>& is_period, uint64_t i,
                          uint64_t period) {
  std::vector<base::Bytes> values;
  for (size_t column = 0; column < table.partition_key_count; ++column)
    values.push_back(nth_value(*table.partition_key(column).type,
                               column < is_period.size() && is_period[column] ? period : i));
  std::vector<base::BytesView> views(values.begin(), values.end());
  return types::serialise_partition_key(views);
}

// Calls `visit` for the most frequent keys one by one, and for a sample of the others. The arguments are the
// key's rank, the number of keys that it stands for, and the number of periods to evaluate.
template <typename Visit>
void for_each_key(const SpreadInput& input, const Visit& visit) {
  const double count = std::max(1.0, input.partitions);
  const auto keys = static_cast<size_t>(std::min<double>(count, max_keys));
  const size_t exact = keys < max_keys ? keys : exact_ranks;
  const double stride =
      keys == exact ? 1 : (count - static_cast<double>(exact)) / static_cast<double>(keys - exact);
  const auto periods = static_cast<uint64_t>(
      std::clamp(std::ceil(input.periods), 1.0, static_cast<double>(std::max<size_t>(1, max_keys / keys))));
  for (size_t i = 0; i < keys; ++i) {
    const bool tail = i >= exact;
    const double rank = tail ? static_cast<double>(exact) + (static_cast<double>(i - exact) + 0.5) * stride
                             : static_cast<double>(i) + 1;
    visit(rank, tail ? stride : 1, periods);
  }
}

}  // namespace

double zipf_sum(double count, double exponent) {
  constexpr double exact = 1000;
  double sum = 0;
  for (double i = 1; i <= std::min(count, exact); ++i) sum += std::pow(i, -exponent);
  if (count <= exact) return sum;
  const double from = exact + 0.5, to = count + 0.5;
  if (std::abs(exponent - 1) < 1e-9) return sum + std::log(to / from);
  return sum + (std::pow(to, 1 - exponent) - std::pow(from, 1 - exponent)) / (1 - exponent);
}

double zipf_exponent(double count, double share) {
  constexpr double steepest = 30;
  double from = 0, to = steepest;
  for (int i = 0; i < 50; ++i) {
    const double middle = (from + to) / 2;
    (1 / zipf_sum(count, middle) < share ? from : to) = middle;
  }
  return from;
}

double zipf_of_quantiles(double total, double count, const Quantiles& quantiles) {
  constexpr double steepest = 5, step = 0.01;
  const double at_p50 = std::max(1.0, count * 0.5), at_p99 = std::max(1.0, count * 0.01);
  double exponent = 0;
  const auto ratio = [&](double fewer, double more, double rank, double earlier) {
    if (fewer > 0 && more > fewer && rank > earlier)
      exponent = std::max(exponent, std::log(more / fewer) / std::log(rank / earlier));
  };
  if (quantiles.p50 && quantiles.p99) ratio(*quantiles.p50, *quantiles.p99, at_p50, at_p99);
  if (quantiles.p50 && quantiles.max) ratio(*quantiles.p50, *quantiles.max, at_p50, 1);
  if (quantiles.p99 && quantiles.max) ratio(*quantiles.p99, *quantiles.max, at_p99, 1);
  if (exponent > 0) return std::min(exponent, steepest);
  if (quantiles.max) return zipf_exponent(count, std::min(1.0, *quantiles.max / total));
  // The first exponent that reaches the quantile: a steeper distribution has more at low ranks and less at
  // high ranks.
  for (double s = 0; s <= steepest; s += step) {
    const double sum = zipf_sum(count, s);
    if (quantiles.p99 && total * std::pow(at_p99, -s) / sum >= *quantiles.p99) return s;
    if (!quantiles.p99 && total * std::pow(at_p50, -s) / sum <= *quantiles.p50) return s;
  }
  return 0;
}

double total_of_quantiles(double count, const Quantiles& quantiles) {
  struct Point {
    double rank = 1, amount = 0;
  };
  std::vector<Point> points;
  const auto add = [&](double rank, const std::optional<double>& amount) {
    if (amount && (points.empty() || rank > points.back().rank)) points.push_back({rank, *amount});
  };
  add(1, quantiles.max);
  add(std::max(1.0, count * 0.01), quantiles.p99);
  add(std::max(1.0, count * 0.5), quantiles.p50);
  if (points.size() < 2) return count * quantiles.p50.value_or(0);
  double total = 0, counted = 0;
  for (size_t i = 1; i < points.size(); ++i) {
    const Point &from = points[i - 1], &to = points[i];
    const double exponent = std::max(0.0, std::log(from.amount / to.amount) / std::log(to.rank / from.rank));
    // Keys below the last point continue the power law of the last part.
    const double until = i + 1 == points.size() ? std::max(1.0, count) : to.rank;
    const double ranks = zipf_sum(until, exponent) - (counted > 0 ? zipf_sum(counted, exponent) : 0);
    total += from.amount * std::pow(from.rank, exponent) * ranks;
    counted = until;
  }
  return total;
}

Spread spread_over_nodes(const schema::Table& table, const SpreadInput& input) {
  const size_t nodes = std::max<size_t>(1, input.nodes), replicas = std::min(nodes, input.replicas);
  const std::vector<VirtualNode> ring = make_ring(nodes, std::max<size_t>(1, input.vnodes));
  Spread spread;
  spread.nodes = nodes;
  spread.byte_shares.assign(nodes, 0);
  spread.request_shares.assign(nodes, 0);
  const bool unknown = input.reads + input.writes <= 0;
  const double reads = unknown ? 1 : input.reads, writes = input.writes;
  const double read_sum = zipf_sum(std::max(1.0, input.partitions), input.read_skew);
  const double write_sum = zipf_sum(std::max(1.0, input.partitions), input.write_skew);
  const double others = zipf_sum(std::max(1.0, input.partitions), input.byte_skew) - 1;
  const double first = input.top_share > 0 && input.top_share < 1 && others > 0
                           ? input.top_share / (1 - input.top_share) * others
                           : 1;
  for_each_key(input, [&](double rank, double weight, uint64_t periods) {
    const double bytes =
        weight * (rank <= 1 ? first : std::pow(rank, -input.byte_skew)) / static_cast<double>(periods);
    const double requests =
        weight * (writes * std::pow(rank, -input.write_skew) / write_sum +
                  reads * std::pow(rank, -input.read_skew) / read_sum / static_cast<double>(replicas));
    for (uint64_t period = 0; period < periods; ++period) {
      const int64_t token =
          types::murmur3_token(key_of_period(table, input.is_period, static_cast<uint64_t>(rank), period));
      for (const size_t node : replicas_of(ring, token, replicas)) {
        spread.byte_shares[node] += bytes;
        if (period + 1 == periods) spread.request_shares[node] += requests;
      }
    }
  });
  spread.bytes = normalise(spread.byte_shares);
  spread.requests = normalise(spread.request_shares);
  return spread;
}

}  // namespace sibyl::advisor
