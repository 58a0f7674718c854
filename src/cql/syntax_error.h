// Syntax errors in Cassandra's wording: the header, and the snippet around the unexpected token.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cql/lexer.h"

namespace sibyl::cql {

// The parser's exception (statement_parser.h).
struct SyntaxFailure {
  base::Error error;
};

// The place of an error: `at` is the unexpected token, `shown` the one in [brackets], and `seen` the offset
// of the last token that the parser has read.
struct SyntaxErrorPlace {
  Token at;
  Token shown;
  uint32_t seen = 0;
};

// Shortens an error text to the size of a protocol string, in case it quotes a long literal.
std::string bounded(std::string message);
// "line 1:9 <what> (SELECT * [FORM]...)".
base::Error make_syntax_error(std::string_view text, const SyntaxErrorPlace& place, std::string_view what);
// Returns the token in quotes, with line ends escaped: 'FROM'.
std::string shown_token(std::string_view text, const Token& token);

}  // namespace sibyl::cql
