// What statements have in common that differ in their values alone.
#pragma once

#include <string>
#include <string_view>

#include "cql/ast.h"

namespace sibyl::cql {

// The statement with `?` for every constant: literals, bind markers, collections of such and lists after IN,
// however many are in them. Tables without a keyspace are in this one. Each kind of statement of a batch
// stands there once, and in alphabetical order. CQL again, for statements that read or write data.
std::string print_shape(const Statement& statement, std::string_view keyspace);

// Whether its value does not depend on a row or on functions.
bool is_constant(const Expression& expression);

}  // namespace sibyl::cql
