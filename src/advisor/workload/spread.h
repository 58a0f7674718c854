// Distributes a table's partitions over the nodes of a ring, using Murmur3 tokens of synthetic keys, virtual
// nodes and replicas. Deterministic.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "schema/schema.h"

namespace sibyl::advisor {

// The load of the fullest node relative to the mean, and each node's share of the total.
struct Spread {
  size_t nodes = 0;
  double bytes = 1, requests = 1;  // max / mean
  std::vector<double> byte_shares, request_shares;
};

struct SpreadInput {
  // Number of partitions. With periods: number of keys, each of which has one partition per period.
  double partitions = 1;
  double periods = 1;                    // number of periods kept; requests go to the current one
  double byte_skew = 0;                  // Zipf exponent of the partition sizes
  double read_skew = 0, write_skew = 0;  // Zipf exponents of the requests
  // If not 0: the first key's share of the bytes; the others follow `byte_skew`.
  double top_share = 0;
  double reads = 0, writes = 0;
  size_t nodes = 3, replicas = 3, vnodes = 16;
  std::vector<bool> is_period;  // for each partition key column, whether it is a period; empty: none is
};

// The tokens of virtual nodes are equidistant and are assigned to nodes at random, as in a cluster that
// allocates tokens. Rows go to the next `replicas` nodes on the ring. A write goes to every replica, a read
// to one.
Spread spread_over_nodes(const schema::Table& table, const SpreadInput& input);

// Sum of i^-exponent for i = 1..count. The first terms are exact; the rest is approximated by an integral.
double zipf_sum(double count, double exponent);

// The exponent at which the first of `count` keys has this share of the total. Returns 0 if a uniform
// distribution gives at least that share.
double zipf_exponent(double count, double share);

// The amount of three keys: of the median key, of the key at the 99th percentile, and of the largest key.
struct Quantiles {
  std::optional<double> p50, p99, max;

  bool any() const { return p50 || p99 || max; }
};

// The smallest exponent for which the largest of `count` keys has the amount that the quantiles imply. Uses
// the ratio of two quantiles, or one quantile and the total.
double zipf_of_quantiles(double total, double count, const Quantiles& quantiles);

// The total of `count` keys with these quantiles. Assumes a power law between each two quantiles, so that a
// few very large keys do not make the others larger. REQUIRES: p50.
double total_of_quantiles(double count, const Quantiles& quantiles);

}  // namespace sibyl::advisor
