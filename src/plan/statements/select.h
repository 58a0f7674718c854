// SELECT, bound: what it reads, in which order, and how the result is computed. Immutable; columns borrow
// from `table`.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plan/restrictions/restrictions.h"
#include "plan/statements/nearest.h"
#include "plan/statements/selection.h"

namespace sibyl::plan {

struct Select {
  schema::TablePtr table;
  Selection selection;
  RestrictionsPtr where;
  bool distinct = false;
  bool reversed = false;               // in reverse clustering order
  TermPtr limit, per_partition_limit;  // nullptr: none

  // ORDER BY over several partitions: rows are collected and sorted by these inputs. If empty, the reader's
  // order is kept.
  struct SortKey {
    int input = 0;
    types::TypePtr type;
    bool descending = false;
  };
  std::vector<SortKey> sort;

  // ORDER BY v ANN OF x, or nullptr.
  std::unique_ptr<const Nearest> nearest;

  // GROUP BY the partition key and this many clustering columns, the last one possibly through a function.
  struct Grouping {
    size_t clustering_columns = 0;
    TermPtr last;  // over the inputs; nullptr: the column itself
  };
  std::unique_ptr<const Grouping> group_by;

  // True if all rows become one, or one per group. Without aggregates a group's first row is returned.
  bool aggregates() const { return group_by != nullptr || !selection.aggregates.empty(); }
  // Sources of the inputs, so that a row is read in one pass: key columns by position, others by column id.
  struct InputSource {
    uint32_t at = 0;
    int input = 0;
  };
  std::vector<InputSource> partition_inputs, clustering_inputs, static_inputs,
      regular_inputs;  // each of these is sorted by `at`
  // Masked columns used in relations, ANN orders, or write times of collections and their elements. Such
  // queries could reveal their values, so the statement needs a permission for them.
  std::vector<const schema::Column*> restricted_masks;
  // The input of each filtered column, in the order of where->filtered_columns().
  std::vector<int> filter_inputs;
};

base::Status prepare_select(const cql::Select& select, Binder& binder, Prepared& prepared);

}  // namespace sibyl::plan
