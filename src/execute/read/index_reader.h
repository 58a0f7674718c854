// Reads through indexes: returns the rows that entries refer to, in table order.
#pragma once

#include <span>

#include "execute/read/reader.h"
#include "plan/evaluation/intervals.h"

namespace sibyl::execute {

struct IndexLookup {
  const schema::Index* index = nullptr;
  // A single term (no end), or the terms in [begin, end). An empty end means no upper bound.
  plan::Interval terms;
};

// Returns a reader of the plan's rows that have an entry in each of the lookups. It may also return other
// rows of their partitions, so the caller must check each row. Several lookups must be of single terms, of
// indexes that refer to rows. Rows come in the same order as from open_reader(), as of one moment of the
// store; each reader can continue at a position of the other. Returns nullptr if a range of terms leads to
// more rows than can be sorted in memory: the caller must scan instead. REQUIRES: plan and lookups outlive
// the reader; the plan is not reversed.
base::Result<std::unique_ptr<Reader>> open_index_reader(const storage::Store& store, const ReadPlan& plan,
                                                        std::span<const IndexLookup> lookups);

}  // namespace sibyl::execute
