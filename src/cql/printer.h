// Prints a syntax tree as CQL that parses back to the same tree.
#pragma once

#include <string>
#include <string_view>

#include "cql/ast.h"

namespace sibyl::cql {

std::string print(const Statement& statement);
std::string print(const Expression& expression);
std::string print(const RawType& type);
// Prints relations joined by AND, without WHERE.
std::string print(const std::vector<Relation>& where);

// A name in CQL: in double quotes if it is a reserved word or not lower case.
std::string print_name(std::string_view name);
// A text in single quotes.
std::string print_string(std::string_view text);

// The operator's CQL text: "=", "IN", "CONTAINS KEY", ...
const char* to_string(Operator op);

}  // namespace sibyl::cql
