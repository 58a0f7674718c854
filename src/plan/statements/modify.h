// INSERT, UPDATE, DELETE and BATCH, bound: the rows that they name and the operations on each column.
//
// Immutable after preparation; column pointers borrow from `table`.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plan/restrictions/restrictions.h"
#include "plan/statements/conditions.h"
#include "plan/terms/term.h"

namespace sibyl::plan {

// USING TIMESTAMP x AND TTL y.
struct Attributes {
  TermPtr timestamp;     // nullptr: not written
  TermPtr time_to_live;  // nullptr: the table's default
};

// An operation on one column.
struct Operation {
  enum class Kind : uint8_t {
    set,               // c = x: writes one cell; for a multi-cell column, replaces all of its elements
    append,            // list: l = l + x
    prepend,           // list: l = x + l
    add_elements,      // set: s = s + x; map: m = m + x
    remove_values,     // list: l = l - x (reads first)
    remove_elements,   // set: s = s - x; map: m = m - keys
    set_index,         // l[i] = x (reads first)
    set_element,       // m[k] = x
    set_field,         // u.f = x
    remove,            // DELETE c
    remove_index,      // DELETE l[i] (reads first)
    remove_element,    // DELETE m[k], DELETE s[x]
    remove_field,      // DELETE u.f
    add_to_counter,    // n = n + x (reads first)
    subtract_counter,  // n = n - x (reads first)
    add_value,         // v = v + x of a number or text: conditional statements only (reads first)
  };
  Kind kind = Kind::set;
  const schema::Column* column = nullptr;
  TermPtr value;       // the value to set, add or remove
  TermPtr element;     // the index, key or set element
  uint16_t field = 0;  // the user type's field
  FunctionPtr sum;     // for add_value, the function that adds

  bool reads_first() const {
    return kind == Kind::remove_values || kind == Kind::set_index || kind == Kind::remove_index ||
           kind == Kind::add_to_counter || kind == Kind::subtract_counter || kind == Kind::add_value;
  }
  // True if the stored value decides whether it fails: a list is too short, or a sum overflows.
  bool may_fail_by_stored_value() const {
    return kind == Kind::set_index || kind == Kind::remove_index || kind == Kind::add_value;
  }
};

// INSERT INTO t JSON: the values of all columns come from one text.
struct JsonValues {
  TermPtr text;
  bool default_unset = false;  // columns that are not named keep their value instead of becoming null
};

struct Modification {
  enum class Kind : uint8_t { insert, update, delete_ };
  Kind kind = Kind::insert;
  schema::TablePtr table;
  Attributes attributes;

  // The rows. Either every key column has one term (the common case: partition_key and clustering are
  // complete, or clustering is empty if only the partition is named), or `where` or `json` selects them.
  std::vector<TermPtr> partition_key;
  std::vector<TermPtr> clustering;
  RestrictionsPtr where;
  std::unique_ptr<const JsonValues> json;

  // In column id order. A DELETE without any deletes whole rows, ranges or partitions.
  std::vector<Operation> static_operations;
  std::vector<Operation> row_operations;

  // true: names rows; false: names only the partition (static columns, partition deletion) or ranges of rows.
  bool names_rows = true;
  bool reads_first = false;  // an operation, an index or a view needs a read before the write
  bool is_counter = false;   // the statement is on a counter table

  std::unique_ptr<const Conditions> conditions;          // nullptr: none
  std::unique_ptr<const ConditionalResult> conditional;  // the columns of the result, if there are conditions
  // Set if there are conditions and masks. For each column, the term to show instead of the value; nullptr:
  // show the value. The term's input 0 is the value.
  std::vector<TermPtr> masks;
  // Masked columns whose values the outcome (applied or not, error or not) reveals. The statement needs a
  // permission for them. In the order of the table's columns.
  std::vector<const schema::Column*> revealed_masks;

  // True if the statement names rows or ranges of rows, not only the partition.
  bool updates_rows() const {
    if (table->clustering_count == 0 || json) return true;
    return where ? where->restricts_clustering() : !clustering.empty();
  }
  bool updates_statics() const { return !static_operations.empty() || (json && table->has_static()); }
  bool deletes_rows() const {
    return kind == Kind::delete_ && static_operations.empty() && row_operations.empty();
  }
};

struct Batch {
  cql::Batch::Kind kind = cql::Batch::Kind::logged;
  TermPtr timestamp;  // nullptr: not written
  std::vector<std::shared_ptr<const Modification>> statements;
  std::unique_ptr<const ConditionalResult> conditional;  // nullptr: no statement has conditions
};

// Bind a statement and fill in the plan, tables, partition key markers and result of `prepared`. The caller
// fills in the rest (text, schema, and the markers and warnings that the binder collected).
base::Status prepare_modification(const cql::Insert& insert, Binder& binder, Prepared& prepared);
base::Status prepare_modification(const cql::Update& update, Binder& binder, Prepared& prepared);
base::Status prepare_modification(const cql::Delete& statement, Binder& binder, Prepared& prepared);
base::Status prepare_batch(const cql::Batch& batch, Binder& binder, Prepared& prepared);

// The rules for statements in one batch. They apply to BATCH statements and to BATCH messages of the
// protocol.
bool has_conditions(const std::vector<std::shared_ptr<const Modification>>& statements);
base::Status check_batch(cql::Batch::Kind kind, bool has_timestamp,
                         const std::vector<std::shared_ptr<const Modification>>& statements);

}  // namespace sibyl::plan
