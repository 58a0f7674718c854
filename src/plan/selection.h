// What a SELECT reads of each row and what it makes of it.
//
// Inputs are what is taken from the stored row: a column's value, or its write time or time to live. Outputs
// are the result's columns: an input as it is, or a term over inputs and aggregates. Immutable once bound.
#pragma once

#include <string>
#include <vector>

#include "plan/functions.h"
#include "plan/prepared.h"
#include "plan/term.h"

namespace sibyl::plan {

struct Input {
  enum class Kind : uint8_t { value, write_time, max_write_time, time_to_live };
  // Of a collection or user type: all of it, or a part.
  enum class Part : uint8_t { whole, element, slice, field };
  const schema::Column* column = nullptr;
  Kind kind = Kind::value;
  Part part = Part::whole;
  uint16_t field = 0;
  TermPtr from, to;  // element: from; slice: both, either may be nullptr
};

struct Aggregate {
  FunctionPtr function;
  std::vector<TermPtr> arguments;
};

struct Output {
  int input = -1;  // the input it is, or -1
  TermPtr term;    // else
};

struct Selection {
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<Aggregate> aggregates;
  ResultMetadataPtr names;  // the outputs' names and types; with JSON these are not the result's
  bool json = false;
  bool is_wildcard = false;
};

// `extra` columns (filters, orders, groups) become inputs too, without being outputs.
base::Result<Selection> bind_selection(Binder& binder, const schema::Table& table, const cql::Select& select,
                                       const std::vector<const schema::Column*>& extra);

// The name of a selector's result column. The binder has bound it.
std::string result_name(const cql::Expression& expression, const schema::Table& table, const Binder& binder);
// A selector as messages spell it: the same, but for casts to the type that is there already.
std::string selector_text(const cql::Expression& expression, const schema::Table& table,
                          const Binder& binder);

// Adds an input for a column's value if there is none, and says which it is.
int value_input(Selection& selection, const schema::Column& column);

// Fails when the expression names a column or a function that is not there; what else may be wrong with it is
// left for bind_selection(). Cassandra tells such mistakes before those of the WHERE clause.
base::Status check_names(Binder& binder, const schema::Table& table, const cql::Expression& expression);

// Binds one expression over the row's columns, for GROUP BY.
base::Result<TermPtr> bind_over_row(Binder& binder, const schema::Table& table,
                                    const cql::Expression& expression, Selection& selection);

}  // namespace sibyl::plan
