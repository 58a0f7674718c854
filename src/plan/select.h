// SELECT, bound: what it reads, in which order, and what becomes of it. Immutable; columns borrow from
// `table`.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plan/nearest.h"
#include "plan/restrictions.h"
#include "plan/selection.h"

namespace sibyl::plan {

struct Select {
  schema::TablePtr table;
  Selection selection;
  RestrictionsPtr where;
  bool distinct = false;
  bool reversed = false;               // against the clustering order
  TermPtr limit, per_partition_limit;  // nullptr: none

  // ORDER BY over several partitions: rows are gathered and sorted by these inputs. Empty: the reader's
  // order.
  struct SortKey {
    int input = 0;
    types::TypePtr type;
    bool descending = false;
  };
  std::vector<SortKey> sort;

  // ORDER BY v ANN OF x; nullptr: not so ordered.
  std::unique_ptr<const Nearest> nearest;

  // GROUP BY the partition key and this many clustering columns, the last one perhaps through a function.
  struct Grouping {
    size_t clustering_columns = 0;
    TermPtr last;  // over the inputs; nullptr: the column itself
  };
  std::unique_ptr<const Grouping> group_by;

  // Rows become one, or one a group. Without aggregates a group gives its first row.
  bool aggregates() const { return group_by != nullptr || !selection.aggregates.empty(); }
  // Where the inputs come from, so that a row is walked once: key columns by position, others by column id.
  struct InputSource {
    uint32_t at = 0;
    int input = 0;
  };
  std::vector<InputSource> partition_inputs, clustering_inputs, static_inputs,
      regular_inputs;  // each sorted by `at`
  // Masked columns that relations, ANN orders, or write times of collections and their elements ask about. A
  // role that may ask for a value can find it out, so this needs a permission.
  std::vector<const schema::Column*> restricted_masks;
  // The input of each filtered column, in the order of where->filtered_columns().
  std::vector<int> filter_inputs;
};

base::Status prepare_select(const cql::Select& select, Binder& binder, Prepared& prepared);

}  // namespace sibyl::plan
