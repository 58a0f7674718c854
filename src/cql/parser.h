// Text in, tree out.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cql/ast.h"

namespace sibyl::cql {

// Parses exactly one statement; one `;` may follow it. Errors have code 0x2000, Cassandra's text where it has
// one
// ("line 1:7 no viable alternative at input ..."), a position, and often a hint. Never throws; nesting deeper
// than a fixed limit, more than 65,535 bind markers and more than half a million words are errors.
base::Result<std::unique_ptr<Statement>> parse_statement(std::string_view text);

// A type alone, as written in schema tables: `frozen<map<text, int>>`.
base::Result<RawType> parse_type(std::string_view text);

// Cuts a script into statements at `;` outside of strings, comments, $$ bodies and BATCHes. `complete` is
// false for a last piece without its `;`, so that a shell can ask for more. Each piece has its text and
// offset in the script.
struct ScriptPiece {
  std::string text;
  size_t offset = 0;
  bool complete = true;
};
std::vector<ScriptPiece> split_script(std::string_view script);

// All keywords, upper case, sorted: for completion. Reserved ones cannot be names without quotes.
const std::vector<std::string_view>& keywords();
bool is_reserved(std::string_view lower_case_word);

}  // namespace sibyl::cql
