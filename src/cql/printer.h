// Tree in, text out: valid CQL that parses back to the same tree.
#pragma once

#include <string>
#include <string_view>

#include "cql/ast.h"

namespace sibyl::cql {

std::string print(const Statement& statement);
std::string print(const Expression& expression);
std::string print(const RawType& type);
// Relations joined by AND, without WHERE.
std::string print(const std::vector<Relation>& where);

// A name as CQL takes it: in double quotes when it is not lower case, or a reserved word.
std::string print_name(std::string_view name);
// A text in single quotes.
std::string print_string(std::string_view text);

}  // namespace sibyl::cql
