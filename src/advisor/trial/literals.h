// Literals in statements, which the synthetic data must contain. Internal to src/advisor/trial.
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

// Literals that the WHERE clause compares with scalar columns by = or IN.
std::vector<ColumnLiteral> literals_of(const cql::Statement& statement, const schema::Table& table);

}  // namespace sibyl::advisor
