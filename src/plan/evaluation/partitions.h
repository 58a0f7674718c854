// The partitions that a request reads or writes.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/evaluation/clustering.h"
#include "plan/restrictions/restrictions.h"

namespace sibyl::plan {

// An inclusive range. empty() if nothing can match.
struct TokenRange {
  int64_t first = INT64_MIN;
  int64_t last = INT64_MAX;
  bool empty() const { return first > last; }
};

// Serialised partition keys in the order of their values, without duplicates. If no row can match
// (!reaches_rows()), an empty or too long key is not an error: the result is empty. Other errors are
// Cassandra's (null in a key, too long a key, ...). REQUIRES: where.partitions() == keys.
base::Result<std::vector<Bytes>> partition_keys(const Restrictions& where, const Bindings& bindings,
                                                Scratch& scratch);
base::Result<TokenRange> token_range(const Restrictions& where, const Bindings& bindings, Scratch& scratch);

}  // namespace sibyl::plan
