// IF: the conditions of a conditional write, and the columns of its result.
//
// The rules and the error texts are Cassandra's. Immutable once bound; column pointers borrow from the
// statement's table.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plan/terms/term.h"

namespace sibyl::plan {

// One comparison: c = x, c[k] < x, c.f IN (x, y), c CONTAINS x.
struct Condition {
  enum class Part : uint8_t { whole, element, field };
  const schema::Column* column = nullptr;
  Part part = Part::whole;
  TermPtr element;                          // the list index or map key
  uint16_t field = 0;                       // index of a field of a user type
  cql::Operator op = cql::Operator::equal;  // =, !=, <, <=, >, >=, IN, CONTAINS, CONTAINS KEY
  types::TypePtr type;          // type of the values: the type of the part, or of an element (CONTAINS)
  std::vector<TermPtr> values;  // one value, or the values of IN (x, y)
  TermPtr list;                 // IN ?: the list of values
};

struct Conditions {
  enum class Kind : uint8_t { columns, exists, not_exists };
  Kind kind = Kind::columns;
  std::vector<Condition> regular, statics;  // regular and static columns, each in the order of the statement

  bool is_about_existence() const { return kind != Kind::columns; }
};

// The conditions of an UPDATE or DELETE.
base::Result<std::unique_ptr<const Conditions>> bind_conditions(const std::vector<cql::Condition>& conditions,
                                                                const schema::Table& table, Binder& binder);

// The columns of a conditional statement's or batch's result: `applied`, or `refused` with the current
// values.
struct ConditionalResult {
  ResultMetadataPtr applied;                   // [applied]
  ResultMetadataPtr refused;                   // [applied], then `columns`
  std::vector<const schema::Column*> columns;  // of the table
};

struct Modification;  // modify.h
// REQUIRES: one of the statements has conditions, and all are on one table.
ConditionalResult conditional_result(const std::vector<std::shared_ptr<const Modification>>& statements,
                                     bool is_batch);

}  // namespace sibyl::plan
