// The inputs that a SELECT reads from each row, and the columns that it computes from them.
//
// Inputs are read from the stored row: a column's value, or its write time or time to live. Outputs are the
// result's columns: an input unchanged, or a term over inputs and aggregates. Immutable once bound.
#pragma once

#include <string>
#include <vector>

#include "plan/prepared.h"
#include "plan/terms/functions.h"
#include "plan/terms/term.h"

namespace sibyl::plan {

struct Input {
  enum class Kind : uint8_t { value, write_time, max_write_time, time_to_live };
  // For a collection or user type: all of it, or a part.
  enum class Part : uint8_t { whole, element, slice, field };
  const schema::Column* column = nullptr;
  Kind kind = Kind::value;
  Part part = Part::whole;
  uint16_t field = 0;
  TermPtr from, to;  // elements use `from`; slices use both, of which either may be nullptr
};

struct Aggregate {
  FunctionPtr function;
  std::vector<TermPtr> arguments;
};

struct Output {
  int input = -1;  // the index of an input, or -1
  TermPtr term;    // the term, if `input` is -1
};

struct Selection {
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<Aggregate> aggregates;
  ResultMetadataPtr names;  // names and types of the outputs; with JSON the result's columns differ
  bool json = false;
  bool is_wildcard = false;
};

// `extra` columns (filters, orders, groups) become inputs without being outputs.
base::Result<Selection> bind_selection(Binder& binder, const schema::Table& table, const cql::Select& select,
                                       const std::vector<const schema::Column*>& extra);

// Returns the index of the input for a column's value, adding it if necessary.
int value_input(Selection& selection, const schema::Column& column);

// Fails if the expression names an unknown column or function. Cassandra reports these errors before those of
// the WHERE clause. bind_selection() reports all others.
base::Status check_names(Binder& binder, const schema::Table& table, const cql::Expression& expression);

// Binds one expression over the row's columns, for GROUP BY.
base::Result<TermPtr> bind_over_row(Binder& binder, const schema::Table& table,
                                    const cql::Expression& expression, Selection& selection);

}  // namespace sibyl::plan
