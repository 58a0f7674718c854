// Names of keyspaces, tables, columns, functions, types and roles.
#include "cql/keyword.h"
#include "cql/statement_parser.h"

namespace sibyl::cql {

std::string Parser::name() {
  if (!is_name(kind())) no_viable_alternative();
  std::string result = folded(token_);
  advance();
  return result;
}

std::string Parser::column_name() {
  if (accept(TokenKind::empty_quoted_name)) return "";
  return name();
}

std::string Parser::name_or_refuse_marker(std::string_view of_what) {
  if (is(TokenKind::question_mark))
    reject("Bind variables cannot be used for " + std::string(of_what) + " names");
  return name();
}

std::string Parser::keyspace_name() {
  return name_or_refuse_marker("keyspace");
}

QualifiedName Parser::table_name() {
  QualifiedName result;
  result.position = position();
  const Token first = token_;
  if (!is_name(kind()) && !is(TokenKind::question_mark)) no_viable_alternative();
  result.name = name_or_refuse_marker(is_ahead(1, TokenKind::dot) ? "keyspace" : "table");
  if (!is(TokenKind::dot)) {
    if (!follows_table_name(kind())) no_viable_alternative(token_, first);
    note_lookahead();
    return result;
  }
  advance();
  result.keyspace = std::move(result.name);
  result.name = name_or_refuse_marker("table");
  return result;
}

QualifiedName Parser::index_name() {
  QualifiedName result;
  result.position = position();
  const Token first = token_;
  if (!is_name(kind()) && !is(TokenKind::question_mark)) no_viable_alternative();
  result.name = name_or_refuse_marker(is_ahead(1, TokenKind::dot) ? "keyspace" : "index");
  if (accept(TokenKind::dot)) {
    result.keyspace = std::move(result.name);
    result.name = name_or_refuse_marker("index");
  } else if (!is(TokenKind::end) && !is(TokenKind::semicolon)) {
    no_viable_alternative(token_, first);
  }
  return result;
}

std::string Parser::plain_function_name() {
  if (!is_function_name(kind())) no_viable_alternative();
  std::string result = folded(token_);
  advance();
  return result;
}

QualifiedName Parser::function_name() {
  QualifiedName result;
  result.position = position();
  const Token first = token_;
  if (!is_name(kind()) && !is_function_name(kind())) no_viable_alternative();
  if (is_ahead(1, TokenKind::dot)) {
    result.keyspace = keyspace_name();
    advance();
    result.name = plain_function_name();
    return result;
  }
  if (!is_function_name(kind()) && is_ahead(1, TokenKind::left_parenthesis)) {
    advance();  // allowed for a keyspace, not for a function
    expect(TokenKind::dot);
  }
  result.name = plain_function_name();
  const bool follows = is(TokenKind::left_parenthesis) || is(TokenKind::end) || is(TokenKind::semicolon) ||
                       is(TokenKind::kw_with);
  if (!follows) no_viable_alternative(token_, first);
  return result;
}

QualifiedName Parser::user_type_name() {
  QualifiedName result;
  result.position = position();
  if (is_name(kind()) && is_ahead(1, TokenKind::dot)) {
    result.keyspace = name();
    advance();
  }
  if (!is_type_name(kind())) {
    // A keyword that cannot name a type may still name the type's keyspace.
    if (!is_name(kind()) || !result.keyspace.empty()) no_viable_alternative();
    advance();
    mismatched("'.'");
  }
  if (is(TokenKind::identifier)) {
    const std::string text = text_of(token_);
    if (is_reserved_type_name(text)) reject("Invalid (reserved) user type name " + text);
  }
  result.name = folded(token_);
  advance();
  return result;
}

std::string Parser::role_name() {
  if (is(TokenKind::string)) return expect_string();
  return name_or_refuse_marker("role");
}

bool Parser::accept_if_exists() {
  if (!accept(TokenKind::kw_if_)) return false;
  expect(TokenKind::kw_exists);
  return true;
}

bool Parser::accept_if_not_exists() {
  if (!accept(TokenKind::kw_if_)) return false;
  expect(TokenKind::kw_not_);
  expect(TokenKind::kw_exists);
  return true;
}

}  // namespace sibyl::cql
