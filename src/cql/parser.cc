#include "cql/parser.h"

#include <algorithm>
#include <limits>

#include "base/ascii.h"
#include "cql/statement_parser.h"
#include "cql/syntax_error.h"

namespace sibyl::cql {

// --- Tokens

Parser::Parser(std::string_view text) : lexer_(text) {
  advance();
}

void Parser::advance() {
  if (++tokens_ > max_tokens) refuse_length();
  if (ahead_count_ > 0) {
    token_ = ahead_[0];
    std::copy(ahead_ + 1, ahead_ + ahead_count_, ahead_);
    --ahead_count_;
    return;
  }
  token_ = lexer_.next();
  if (token_.kind == TokenKind::error) refuse_character();
  seen_ = std::max(seen_, token_.offset);
}

const Token& Parser::ahead(size_t distance) {
  while (ahead_count_ < distance) {
    Token& slot = ahead_[ahead_count_];
    slot = lexer_.next();
    if (slot.kind == TokenKind::error) refuse_character();
    ++ahead_count_;
  }
  seen_ = std::max(seen_, ahead_[distance - 1].offset);
  return ahead_[distance - 1];
}

bool Parser::accept(TokenKind kind) {
  if (token_.kind != kind) return false;
  advance();
  return true;
}

Token Parser::expect(TokenKind kind) {
  if (token_.kind != kind) mismatched(token_name(kind));
  const Token token = token_;
  advance();
  return token;
}

std::string Parser::expect_string() {
  return text_of(expect(TokenKind::string));
}

std::string Parser::text_of(const Token& token) const {
  return token_text(lexer_.text(), token);
}

std::string Parser::folded(const Token& token) const {
  std::string result = text_of(token);
  if (token.kind == TokenKind::quoted_name || token.kind == TokenKind::empty_quoted_name) return result;
  for (char& c : result) c = base::ascii_lower(c);
  return result;
}

// --- Errors

void Parser::refuse_character() {
  const LexicalError problem = lexer_.error();
  const std::string line =
      std::to_string(problem.position.line) + ":" + std::to_string(problem.position.column);
  const base::Error error(base::ErrorCode::syntax, "line " + line + " " + problem.message);
  throw SyntaxFailure{error.at(problem.position).with_hint(hint_for(problem))};
}

void Parser::refuse(const Token& at, const Token& shown, std::string_view what) {
  uint32_t seen = std::max({seen_, at.offset, shown.offset});
  if (at.offset == lookahead_at_ && lookahead_at_ != 0) {
    Lexer behind = lexer_;
    seen = std::max(seen, ahead_count_ > 0 ? ahead_[0].offset : behind.next().offset);
  }
  base::Error error = make_syntax_error(lexer_.text(), {at, shown, seen}, what);
  std::string hint = hint_for(at, shown);
  throw SyntaxFailure{hint.empty() ? std::move(error) : error.with_hint(std::move(hint))};
}

void Parser::no_viable_alternative() {
  no_viable_alternative(token_, token_);
}

void Parser::no_viable_alternative(const Token& at, const Token& shown) {
  refuse(at, shown, "no viable alternative at input " + shown_token(lexer_.text(), at));
}

void Parser::mismatched(std::string_view expecting) {
  refuse(token_, token_,
         "mismatched input " + shown_token(lexer_.text(), token_) + " expecting " + std::string(expecting));
}

void Parser::reject(std::string message) {
  throw SyntaxFailure{base::Error(base::ErrorCode::syntax, bounded(std::move(message))).at(position())};
}

void Parser::check_nesting(uint32_t depth) {
  if (depth <= max_nesting) return;
  refuse(token_, token_,
         "statement is nested too deeply: more than " + std::to_string(max_nesting) + " levels");
}

void Parser::refuse_length() {
  tokens_ = 0;
  refuse(token_, token_, "statement is too long: more than " + std::to_string(max_tokens) + " tokens");
}

// --- Functions of parser.h

namespace {

// Refuses text that the lexer cannot read: not UTF-8, or too long for 32-bit offsets.
base::Status check_text(std::string_view text) {
  if (text.size() >= std::numeric_limits<uint32_t>::max()) {
    return base::fail(base::ErrorCode::syntax, "line 1:0 statement is too long");
  }
  const size_t bad = find_invalid_utf8(text);
  if (bad == std::string_view::npos) return {};
  const std::string_view before = text.substr(0, bad);
  const auto line = static_cast<uint32_t>(1 + std::count(before.begin(), before.end(), '\n'));
  const size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  uint32_t column = 0;
  for (const char c : before.substr(start)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 || byte >= 0xC0) column += byte >= 0xF0 ? 2 : 1;
  }
  base::Error error(base::ErrorCode::syntax, "line " + std::to_string(line) + ":" + std::to_string(column) +
                                                 " the statement is not valid UTF-8");
  return base::fail(error.at({line, column, static_cast<uint32_t>(bad)}));
}

}  // namespace

base::Result<std::unique_ptr<Statement>> parse_statement(std::string_view text) {
  SIBYL_TRY(check_text(text));
  try {
    return Parser(text).whole_statement();
  } catch (const SyntaxFailure& failure) {
    return base::fail(failure.error);
  }
}

base::Result<RawType> parse_type(std::string_view text) {
  SIBYL_TRY(check_text(text));
  try {
    return Parser(text).whole_type();
  } catch (const SyntaxFailure& failure) {
    return base::fail(failure.error);
  }
}

}  // namespace sibyl::cql
