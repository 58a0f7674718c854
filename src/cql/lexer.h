// Splits CQL text into tokens without copying it.
//
// Tokens refer to the text by offset, so the text must outlive the lexer. A lexer is a small value: a parser
// copies it to look ahead and then returns to the copy. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cql/keyword.h"
#include "types/text.h"

namespace sibyl::cql {

struct Token {
  TokenKind kind = TokenKind::end;
  bool escaped = false;  // a quoted string or name with a doubled quote inside
  bool dollar = false;   // a string written $$...$$
  uint32_t offset = 0;   // in bytes
  uint32_t length = 0;   // in bytes, including quotes
  uint32_t line = 1;     // from 1
  uint32_t column = 0;   // from 0, in UTF-16 units as in Cassandra

  base::Position position() const { return {line, column, offset}; }
};

// The reason why the lexer stopped.
struct LexicalError {
  std::string message;  // "no viable alternative at character '@'"
  base::Position position;
};

class Lexer {
 public:
  // REQUIRES: `text` is valid UTF-8 and shorter than 4 GiB.
  explicit Lexer(std::string_view text) : text_(text) {}

  // Returns the next token that is neither white space nor a comment; at the end, always `end`. After `error`
  // the lexer continues behind the offending character.
  Token next();
  // Like next(), but also returns comments and white space (one token per run).
  Token next_raw();
  // The error of the last `error` token.
  LexicalError error() const;

  std::string_view text() const { return text_; }
  uint32_t offset() const { return offset_; }
  // A token's text, unchanged.
  std::string_view raw(const Token& token) const { return text_.substr(token.offset, token.length); }

 private:
  enum class Problem : uint8_t {
    none,
    character,
    string_end,
    name_end,
    dollar,
    dollar_end,
    comment_end,
    exponent,
    exponent_digits,
    hexadecimal,
    uuid_dash
  };

  char at(uint32_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }
  Token finish(Token token, TokenKind kind, uint32_t end);
  Token fail(Token token, Problem problem, uint32_t at);
  // Moves line and column over [offset_, end).
  void move_to(uint32_t end);

  Token word(Token token);
  Token number(Token token);
  Token minus(Token token);
  Token quoted(Token token, char quote);
  Token dollar_string(Token token);
  Token slash(Token token);
  Token line_comment(Token token);
  Token punctuation(Token token);
  bool can_only_be_uuid(uint32_t from) const;
  Token broken_uuid(Token token);
  bool fits_uuid(uint32_t from, uint32_t index) const;
  uint32_t match_uuid(uint32_t from) const;
  uint32_t match_duration(uint32_t from) const;
  uint32_t match_iso_duration(uint32_t from) const;
  uint32_t match_iso_alternative(uint32_t from) const;
  uint32_t skip_digits(uint32_t from) const;

  std::string_view text_;
  uint32_t offset_ = 0;
  uint32_t line_ = 1;
  uint32_t column_ = 0;
  Problem problem_ = Problem::none;
};

// A token's meaning: the content of a string or quoted name; the unchanged text of other tokens and of an
// empty quoted name.
std::string token_text(std::string_view text, const Token& token);

using types::find_invalid_utf8;  // lexers require valid UTF-8

}  // namespace sibyl::cql
