// How a change of a row affects one index.
#pragma once

#include <span>

#include "base/result.h"
#include "execute/row_change.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::execute {

// Adds the operations for the index: put() for whole records, erase() for removed ones. To build from
// existing data, pass an empty `before`. `runs`: of the store.
base::Status write_index_change(const schema::Index& index, const RowChange& change,
                                std::span<const storage::EntryRun> runs, storage::WriteSet& writes);

}  // namespace sibyl::execute
