// Index maintenance: computes how a write set changes the indexes and views of its tables, and adds these
// operations to the same write set. Internal to src/execute and the engine's builder.
//
// The result depends only on what is stored, never on the time. All data that has not been deleted is
// compared, whether or not it has expired. Entries and view rows therefore do not depend on when a write
// arrived, on its timestamp, or on a clock that goes backwards. Readers skip expired entries.
#pragma once

#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "execute/row_change.h"
#include "execute/view_row.h"
#include "row/fragment.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::execute {

class Interrupt;  // environment.h

using base::Bytes;
using base::BytesView;

// The maximum size of the operations added to one write. They are built in memory and committed with it;
// deleting a partition of millions of rows needs an entry for each of them.
inline constexpr size_t max_index_maintenance_bytes = 256u << 20;

// Adds the operations for the indexes and views of `tables` that follow from the merges in `writes`. Records
// of other tables are ignored. Fails if more than `max_bytes` would be added. Polls `interrupt`, which may be
// nullptr. With `views`, affected view rows are added there instead, because they are in other shards.
// REQUIRES: the partitions are locked from before they were read until the commit.
base::Status add_index_maintenance(std::span<const schema::Table* const> tables, const storage::Store& store,
                                   storage::WriteSet& writes, const Interrupt* interrupt = nullptr,
                                   ViewRows* views = nullptr, size_t max_bytes = max_index_maintenance_bytes);

// Adds the erasure of all records of the table, its indexes and its views.
void erase_all(const schema::Table& table, storage::WriteSet& writes);

}  // namespace sibyl::execute
