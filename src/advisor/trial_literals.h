// Values that statements have written in them: synthetic data has to hold them. Internal to trials.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "cql/ast.h"
#include "schema/schema.h"

namespace sibyl::advisor {

struct ColumnLiteral {
  std::string column;
  base::Bytes value;
};

// Those of scalar columns that the statement's WHERE compares by = or IN.
std::vector<ColumnLiteral> literals_of(const cql::Statement& statement, const schema::Table& table);

}  // namespace sibyl::advisor
