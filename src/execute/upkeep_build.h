// Existing rows given to a new index or view, in steps that each fit into one write set. For the engine's
// builder.
#pragma once

#include <optional>
#include <vector>

#include "execute/upkeep.h"

namespace sibyl::execute {

// One of the two.
struct BuildTarget {
  const schema::Index* index = nullptr;
  schema::TablePtr view;
};

// Some partitions whole, or a piece of one.
struct BuildStep {
  static constexpr size_t max_records = 512;
  static constexpr size_t max_bytes = 4u << 20;  // of them, but for the last one
  std::vector<Bytes> partitions;                 // their prefixes, in order; none: the table is done
  Bytes from;                                    // clusterings of the only partition; else everything
  std::optional<Bytes> to;
  Bytes next;  // where the next step begins; empty: this was the last one
};

// What comes at `position` (BuildStep::next; empty: the beginning). Looks without locks: what is written
// meanwhile is looked after by whoever writes it.
base::Result<BuildStep> next_build_step(const schema::Table& table, const storage::Store& store,
                                        BytesView position);

// Rows that cannot be in the target.
struct LeftOut {
  uint64_t rows = 0;
  Bytes partition_key;  // of the first, serialised
};

// Adds what the target has for the rows of the step. Rows whose keys in a view would be too long are left
// out. REQUIRES: its partitions are locked.
base::Result<LeftOut> add_existing(const schema::Table& table, const BuildTarget& target,
                                   const storage::Store& store, const BuildStep& step,
                                   storage::WriteSet& writes);

}  // namespace sibyl::execute
