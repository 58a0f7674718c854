#include <charconv>

#include "cql/printer.h"
#include "cql/statement_parser.h"
#include "cql/syntax_error.h"

namespace sibyl::cql {

RawType Parser::type() {
  const Nesting nesting(*this);
  switch (kind()) {
    case TokenKind::kw_list:
    case TokenKind::kw_map:
    case TokenKind::kw_tuple:
    case TokenKind::kw_vector:
      if (is_ahead(1, TokenKind::less)) return parameterised_type();
      break;
    case TokenKind::kw_set:
      return parameterised_type();
    case TokenKind::kw_frozen:
      if (is_ahead(1, TokenKind::less)) return frozen_type();
      break;
    default:
      break;
  }
  RawType result;
  result.position = position();
  if (is(TokenKind::string)) {
    result.custom = true;
    result.name = expect_string();
    return result;
  }
  const Token first = token_;
  const bool keyword = is_unreserved_keyword(kind()) && !is_ahead(1, TokenKind::dot);
  if (keyword && is_native_type(kind())) {
    result = native_type();
    check_after_type(first);
    return result;
  }
  if (keyword && !is_type_name(kind())) {
    advance();
    mismatched("'.'");
  }
  QualifiedName name = user_type_name();
  if (keyword) check_after_type(first);
  result.keyspace = std::move(name.keyspace);
  result.name = std::move(name.name);
  return result;
}

bool Parser::at_type() const {
  return is_name(kind()) || is(TokenKind::string) || is(TokenKind::kw_set);
}

// Fails at a token that no rule of the grammar permits after a type. The error shows the type's keyword.
void Parser::check_after_type(const Token& name) {
  switch (kind()) {
    case TokenKind::end:
    case TokenKind::semicolon:
    case TokenKind::comma:
    case TokenKind::greater:
    case TokenKind::right_parenthesis:
    case TokenKind::kw_finalfunc:
    case TokenKind::kw_initcond:
    case TokenKind::kw_language:
    case TokenKind::kw_masked:
    case TokenKind::kw_primary:
    case TokenKind::kw_static_:
      note_lookahead();
      return;
    default:
      no_viable_alternative(token_, name);
  }
}

RawType Parser::native_type() {
  if (!is_native_type(kind())) no_viable_alternative();
  RawType result;
  result.position = position();
  result.name = folded(token_);
  advance();
  return result;
}

RawType Parser::parameterised_type() {
  RawType result;
  result.position = position();
  result.name = folded(token_);
  const TokenKind family = kind();
  advance();
  expect(TokenKind::less);
  result.parameters.push_back(type());
  if (family == TokenKind::kw_map) {
    expect(TokenKind::comma);
    result.parameters.push_back(type());
  } else if (family == TokenKind::kw_vector) {
    expect(TokenKind::comma);
    result.dimension = vector_dimension();
  } else if (family == TokenKind::kw_tuple) {
    while (accept(TokenKind::comma)) result.parameters.push_back(type());
  }
  expect(TokenKind::greater);
  return result;
}

uint32_t Parser::vector_dimension() {
  const Token token = expect(TokenKind::integer);
  const std::string_view digits = lexer_.raw(token);
  int32_t value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem != std::errc() || end != digits.data() + digits.size()) {
    reject("Failed parsing statement: [" + std::string(lexer_.text()) +
           "] reason: NumberFormatException For input string: \"" + std::string(digits) + "\"");
  }
  if (value <= 0) {
    throw SyntaxFailure{
        base::Error(base::ErrorCode::invalid,
                    "vectors may only have positive dimensions; given " + std::to_string(value))
            .at(token.position())};
  }
  return static_cast<uint32_t>(value);
}

RawType Parser::frozen_type() {
  const base::Position at = position();
  advance();
  expect(TokenKind::less);
  const bool native = is_native_type(kind()) && !is_ahead(1, TokenKind::dot);
  RawType result = type();
  // It is not known here whether the class of a custom type may be frozen.
  if (native) {
    reject("frozen<> is only allowed on collections, tuples, and user-defined types (got " + print(result) +
           ")");
  }
  result.frozen = true;
  result.position = at;
  expect(TokenKind::greater);
  return result;
}

std::vector<RawType> Parser::type_list_in_parentheses() {
  std::vector<RawType> result;
  expect(TokenKind::left_parenthesis);
  if (at_type()) {
    do result.push_back(type());
    while (accept(TokenKind::comma));
  }
  expect(TokenKind::right_parenthesis);
  return result;
}

}  // namespace sibyl::cql
