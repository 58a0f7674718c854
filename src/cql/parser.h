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

// Splits a script into statements at each `;` outside of strings, comments, $$ bodies and BATCHes. `complete`
// is false for a last piece without its `;`, so that a shell can ask for more. Each piece has its text and
// its offset in the script.
struct ScriptPiece {
  std::string text;
  size_t offset = 0;
  bool complete = true;
};
std::vector<ScriptPiece> split_script(std::string_view script);

// All keywords, upper case and sorted, for completion. Reserved ones cannot be names without quotes.
const std::vector<std::string_view>& keywords();
bool is_reserved(std::string_view lower_case_word);

}  // namespace sibyl::cql
