// Relations after binding, merged per column.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plan/terms/term.h"
#include "schema/schema.h"

namespace sibyl::plan {

// The value compared with one or several columns: a term per column, or one term (a marker) for the whole
// tuple.
struct RowTerm {
  std::vector<TermPtr> parts;
  TermPtr whole;
  std::string name;  // name of the whole tuple: `(c,d)`
};

struct Bound {
  RowTerm value;
  bool inclusive = false;
};

// The requirement of one or more relations on one column, or on several together.
struct Restriction {
  enum class Kind { equal, in, slice, contains, like };
  struct Contained {
    cql::Operator op = cql::Operator::contains;
    TermPtr key;  // for an entry (column[key] = value), the key
    TermPtr value;
  };

  Kind kind = Kind::equal;
  bool is_multi_column = false;
  std::vector<const schema::Column*> columns;
  RowTerm value;                     // equal, like
  std::vector<RowTerm> values;       // in
  TermPtr list;                      // for IN with one marker, the term for the whole list
  std::optional<Bound> start, end;   // slice
  std::vector<Contained> contained;  // contains

  const schema::Column& first() const { return *columns.front(); }
  const schema::Column& last() const { return *columns.back(); }
  bool is_slice() const { return kind == Kind::slice; }
  // True if it can only be checked row by row, whichever columns precede.
  bool is_filter() const { return kind == Kind::contains || kind == Kind::like; }
};
using RestrictionPtr = std::shared_ptr<const Restriction>;

// The requirement of relations on token(...).
struct TokenRestriction {
  TermPtr equal;
  struct Side {
    TermPtr value;
    bool inclusive = false;
  };
  std::optional<Side> start, end;
  bool exists() const { return equal != nullptr || start || end; }
};

// Each restriction once, in column order.
std::vector<RestrictionPtr> distinct(const std::vector<RestrictionPtr>& by_position);

}  // namespace sibyl::plan
