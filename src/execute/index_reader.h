// Reading through indexes: the rows that entries lead to, in the order of the table.
#pragma once

#include <span>

#include "execute/reader.h"

namespace sibyl::execute {

struct IndexLookup {
  const schema::Index* index = nullptr;
  // A term (no end), or the terms from begin up to before end; an end of no bytes is beyond all.
  plan::Interval terms;
};

// The plan's rows that have an entry in each of the lookups, and perhaps other rows of their partitions:
// whoever asks checks each row. Several lookups must be of single terms, of indexes that lead to rows. Rows
// come as open_reader() would give them, from one moment of the store, and a position of either can be
// continued by the other. nullptr when a range of terms leads to more rows than can be sorted in memory: then
// a scan is the way. REQUIRES: plan and lookups outlive the reader; the plan is not reversed.
base::Result<std::unique_ptr<Reader>> open_index_reader(const storage::Store& store, const ReadPlan& plan,
                                                        std::span<const IndexLookup> lookups);

}  // namespace sibyl::execute
