// Tree in, text out: valid CQL that parses back to the same tree.
#pragma once

#include <string>

#include "cql/ast.h"

namespace sibyl::cql {

std::string print(const Statement& statement);
std::string print(const Expression& expression);
std::string print(const RawType& type);

}  // namespace sibyl::cql
