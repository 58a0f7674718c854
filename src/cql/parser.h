// Parses CQL text into a syntax tree.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cql/ast.h"

namespace sibyl::cql {

// Parses exactly one statement; one `;` may follow it. Errors have code 0x2000, a position, often a hint, and
// Cassandra's text if it has one ("line 1:7 no viable alternative at input ..."). Never throws. Too deep
// nesting, more than 65,535 bind markers and more than half a million tokens are errors.
base::Result<std::unique_ptr<Statement>> parse_statement(std::string_view text);

// Parses a type alone, as written in schema tables: `frozen<map<text, int>>`.
base::Result<RawType> parse_type(std::string_view text);

}  // namespace sibyl::cql
