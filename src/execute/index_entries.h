// Index entries: records of an index's storage id, one for each term of each row, sorted by term and then as
// the rows are.
//
//   index id · token of nothing · no partition key · kind 2 · term · the row's record key without table id
//
// So the rows that have one term are a run, in the order in which a scan of the table meets them, and a range
// of values is a run of runs. An entry's value is a fragment with a marker alone, which ends when the row's
// value does: compaction drops it then. Entries may be stale (expired); none is missing.
#pragma once

#include <map>

#include "base/result.h"
#include "plan/index_terms.h"
#include "row/fragment.h"
#include "schema/index.h"

namespace sibyl::execute {

using base::Bytes;
using base::BytesView;

// Everything before the term.
Bytes index_prefix(const schema::Index& index);

// The row's record key without table id: what entries end with.
Bytes row_suffix(BytesView serialised_partition_key, bool is_static, BytesView clustering);

// Whether the index leads to whole partitions: it is on a static column or a part of the partition key.
bool leads_to_partitions(const schema::Table& table, const schema::Index& index);

// The terms of one row, or of one static row, each with the marker of its entry.
using RowTerms = std::map<Bytes, row::Marker>;
base::Result<RowTerms> row_terms(const schema::Table& table, const schema::Index& index,
                                 BytesView serialised_partition_key, bool is_static, BytesView clustering,
                                 const row::Fragment& row);

}  // namespace sibyl::execute
