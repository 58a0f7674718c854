// Index entries: records under the index's storage id, one for each term of each row, sorted by term and then
// by row.
//
//   index id · token of the run · no partition key · kind 2 · term · the row's record key without table id
//
// A store has one run of entries for each of its shards (storage::EntryRun), so that an entry is in a shard
// with its row. Within a run, the rows with one term follow each other in the order of a table scan. A range
// of values is a sequence of these. An entry's value is a fragment with only a marker, which expires together
// with the row's value, so that compaction drops it. Entries may be stale (expired), but none is missing.
#pragma once

#include <map>

#include "base/result.h"
#include "plan/indexes/index_terms.h"
#include "row/fragment.h"
#include "schema/index.h"
#include "storage/store.h"

namespace sibyl::execute {

using base::Bytes;
using base::BytesView;

// Returns everything before the term.
Bytes index_prefix(const schema::Index& index, const storage::EntryRun& run);

// The row's record key without table id, with which its entries end.
Bytes row_suffix(BytesView serialised_partition_key, bool is_static, BytesView clustering);
// The token of the row's partition. Bytes that are missing count as zero.
int64_t token_of_suffix(BytesView suffix);

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
