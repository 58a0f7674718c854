// Index entries: records under the index's storage id, one for each term of each row, sorted by term and then
// by row.
//
//   index id · token of nothing · no partition key · kind 2 · term · the row's record key without table id
//
// The rows with one term are a contiguous run, in the order of a table scan. A range of values is a sequence
// of such runs. An entry's value is a fragment with only a marker, which expires together with the row's
// value, so that compaction drops it. Entries may be stale (expired), but none is missing.
#pragma once

#include <map>

#include "base/result.h"
#include "plan/indexes/index_terms.h"
#include "row/fragment.h"
#include "schema/index.h"

namespace sibyl::execute {

using base::Bytes;
using base::BytesView;

// Everything before the term.
Bytes index_prefix(const schema::Index& index);

// The row's record key without table id, with which its entries end.
Bytes row_suffix(BytesView serialised_partition_key, bool is_static, BytesView clustering);

// Returns true if entries refer to whole partitions: the index is on a static column or on a part of the
// partition key.
bool leads_to_partitions(const schema::Table& table, const schema::Index& index);

// The terms of one row or static row, each with the marker of its entry.
using RowTerms = std::map<Bytes, row::Marker>;
base::Result<RowTerms> row_terms(const schema::Table& table, const schema::Index& index,
                                 BytesView serialised_partition_key, bool is_static, BytesView clustering,
                                 const row::Fragment& row);

// The element that a cell of a multi-cell column belongs to.
Bytes element_of(const types::Type& type, const row::Cell& cell);

}  // namespace sibyl::execute
