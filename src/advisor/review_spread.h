// How a table's partitions fall on the nodes of a ring: true Murmur3 tokens of synthetic keys, virtual nodes,
// replicas. Deterministic.
#pragma once

#include <cstddef>
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
  double partitions = 1;
  double byte_skew = 0;     // exponent of a Zipf distribution of partition sizes
  double request_skew = 0;  // and of requests
  double reads = 0, writes = 0;
  size_t nodes = 3, replicas = 3, vnodes = 16;
};

// Tokens of virtual nodes lie at even distances and are dealt out to the nodes at random, as a cluster that
// allocates tokens has them; rows go to the replicas that follow on the ring. A write asks every replica, a
// read one of them.
Spread spread_over_nodes(const schema::Table& table, const SpreadInput& input);

// The serialised partition key of the i-th synthetic partition.
base::Bytes synthetic_key(const schema::Table& table, uint64_t i);

// Sum of i^-exponent for i = 1..count; exact for the first terms, then by the integral.
double zipf_sum(double count, double exponent);

// The exponent with which the first of `count` keys has this share of the whole; 0 for a share that an even
// spread gives.
double zipf_exponent(double count, double share);

}  // namespace sibyl::advisor
