// Adds existing rows to a new index or view, in steps that each fit into one write set. Used by the engine's
// builder.
#pragma once

#include <optional>
#include <vector>

#include "execute/index/maintenance.h"

namespace sibyl::execute {

// Either an index or a view.
struct BuildTarget {
  const schema::Index* index = nullptr;
  schema::TablePtr view;
};

// Some whole partitions, or a part of one.
struct BuildStep {
  static constexpr size_t max_records = 512;
  static constexpr size_t max_bytes = 4u << 20;  // the last record of a step may exceed it
  // Prefixes of the partitions, in order; empty: the table is done.
  std::vector<Bytes> partitions;
  Bytes from;  // the step has the rows from here to `to` if it has only one partition, otherwise all rows
  std::optional<Bytes> to;
  Bytes next;  // start of the next step; empty: this was the last one
};

// Returns the step at `position` (BuildStep::next; empty for the first step). Takes no locks: concurrent
// writes maintain the index or view themselves.
base::Result<BuildStep> next_build_step(const schema::Table& table, const storage::Store& store,
                                        BytesView position);
// Like next_build_step(), for a part of the table that ends before the key `end`. REQUIRES: the part consists
// of whole partitions.
base::Result<BuildStep> next_build_step(const storage::Store& store, BytesView position, BytesView end);

// Rows that cannot be in the target.
struct LeftOut {
  uint64_t rows = 0;
  Bytes partition_key;  // serialised partition key of the first such row
};

// Adds the target's entries for the rows of the step. Rows whose view key would be too long are left out and
// counted. REQUIRES: the step's partitions are locked.
base::Result<LeftOut> add_existing(const schema::Table& table, const BuildTarget& target,
                                   const storage::Store& store, const BuildStep& step,
                                   storage::WriteSet& writes);
// For a view whose rows are in other shards. Adds the view rows of the step's rows to `rows`. REQUIRES: the
// same as for add_existing().
base::Result<LeftOut> add_existing_view_rows(const schema::Table& table, const schema::TablePtr& view,
                                             const storage::Store& store, const BuildStep& step,
                                             std::vector<ViewRow>& rows);

}  // namespace sibyl::execute
