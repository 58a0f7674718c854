// Shapes: a statement without its values.
#pragma once

#include <string>
#include <string_view>

#include "cql/ast.h"

namespace sibyl::cql {

// Prints the statement with `?` for every constant: literals, bind markers, collections of these, and IN
// lists of any length. Tables without a keyspace get `keyspace`. A batch lists each of its shapes once, in
// alphabetical order. The result of a data statement is valid CQL.
std::string print_shape(const Statement& statement, std::string_view keyspace);

// True if the value depends neither on a row nor on a function.
bool is_constant(const Expression& expression);

}  // namespace sibyl::cql
