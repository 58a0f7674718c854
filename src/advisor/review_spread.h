// How a table's partitions fall on the nodes of a ring: true Murmur3 tokens of synthetic keys, virtual nodes,
// replicas. Deterministic.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "schema/schema.h"

namespace sibyl::advisor {

// Largest over mean, and each node's share of the total.
struct Spread {
  size_t nodes = 0;
  double bytes = 1, requests = 1;  // max / mean
  std::vector<double> byte_shares, request_shares;
};

struct SpreadInput {
  double partitions = 1;                 // or keys, each of which has a partition for every period
  double periods = 1;                    // that are kept; requests are about the current one
  double byte_skew = 0;                  // exponent of a Zipf distribution of partition sizes
  double read_skew = 0, write_skew = 0;  // and of requests
  double reads = 0, writes = 0;
  size_t nodes = 3, replicas = 3, vnodes = 16;
  std::vector<bool> is_period;  // of the partition key's columns; empty: none is
};

// Tokens of virtual nodes lie at even distances and are dealt out to the nodes at random, as a cluster that
// allocates tokens has them; rows go to the replicas that follow on the ring. A write asks every replica, a
// read one of them.
Spread spread_over_nodes(const schema::Table& table, const SpreadInput& input);

// Sum of i^-exponent for i = 1..count; exact for the first terms, then by the integral.
double zipf_sum(double count, double exponent);

// The exponent with which the first of `count` keys has this share of the whole; 0 for a share that an even
// spread gives.
double zipf_exponent(double count, double share);

// How many of a whole fall on the middling of its keys, on the 99th of 100, on the commonest.
struct Quantiles {
  std::optional<double> p50, p99, max;

  bool any() const { return p50 || p99 || max; }
};

// The least exponent that gives the largest of `count` keys as much of `total` as any of them says: by the
// ratio of two of them, or by one and the total.
double zipf_of_quantiles(double total, double count, const Quantiles& quantiles);

}  // namespace sibyl::advisor
