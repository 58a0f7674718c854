// The rows within partitions that a request reads or writes.
#pragma once

#include <vector>

#include "plan/evaluation/intervals.h"
#include "plan/restrictions/restrictions.h"

namespace sibyl::plan {

// Disjoint intervals in storage order. One unbounded interval if no clustering column is restricted.
base::Result<std::vector<Interval>> clustering_intervals(const Restrictions& where, const Bindings& bindings,
                                                         Scratch& scratch);

// True if the bounds of the clustering columns leave room for rows. Compares only the bounds. So it is true
// for c > 1 AND c < 2, although no value lies between these.
base::Result<bool> reaches_rows(const Restrictions& where, const Bindings& bindings, Scratch& scratch);

// One named row: its clustering bytes and, if those are lossy, the original bytes of the values.
struct NamedRow {
  Bytes clustering;
  Bytes original;  // original_clustering_of() the values; empty if the clustering bytes are lossless
};
// The named rows in storage order, without duplicates. REQUIRES: where.names_whole_row().
base::Result<std::vector<NamedRow>> named_rows(const Restrictions& where, const Bindings& bindings,
                                               Scratch& scratch);

}  // namespace sibyl::plan
