#include <utility>

#include "cql/statement_parser.h"

namespace sibyl::cql {

Describe Parser::describe() {
  Describe result;
  advance();
  result.name.position = position();
  if (!describe_all(result) && !describe_keyspaces(result) && !describe_one(result))
    describe_anything(result);
  if (accept(TokenKind::kw_with)) {
    expect(TokenKind::kw_internals);
    result.with_internals = true;
  }
  return result;
}

// Accepts a word for all objects of a kind, unless a dot shows that it is a keyspace's name.
bool Parser::describe_all(Describe& result) {
  switch (kind()) {
    case TokenKind::kw_cluster:
      result.kind = Describe::Kind::cluster;
      break;
    case TokenKind::kw_keyspaces:
      result.kind = Describe::Kind::keyspaces;
      break;
    case TokenKind::kw_tables:
      result.kind = Describe::Kind::tables;
      break;
    case TokenKind::kw_types:
      result.kind = Describe::Kind::types;
      break;
    case TokenKind::kw_functions:
      result.kind = Describe::Kind::functions;
      break;
    case TokenKind::kw_aggregates:
      result.kind = Describe::Kind::aggregates;
      break;
    default:
      return false;
  }
  if (is_ahead(1, TokenKind::dot)) return false;
  advance();
  return true;
}

// Parses [FULL] SCHEMA and [ONLY] KEYSPACE [name].
bool Parser::describe_keyspaces(Describe& result) {
  result.full = accept(TokenKind::kw_full);
  if (result.full && !is(TokenKind::kw_schema)) mismatched("K_SCHEMA");
  if (accept(TokenKind::kw_schema)) {
    result.kind = Describe::Kind::schema;
    return true;
  }
  result.only = is(TokenKind::kw_only) && is_ahead(1, TokenKind::kw_keyspace);
  if (result.only) advance();
  if (!accept(TokenKind::kw_keyspace)) return false;
  result.kind = Describe::Kind::keyspace;
  if (is_name(kind()) || is(TokenKind::question_mark)) result.name.keyspace = keyspace_name();
  return true;
}

// Accepts a word for one object. TYPE, FUNCTION and AGGREGATE may also be names; then no name follows.
bool Parser::describe_one(Describe& result) {
  switch (kind()) {
    case TokenKind::kw_columnfamily:
      advance();
      result.kind = Describe::Kind::table;
      result.name = table_name();
      return true;
    case TokenKind::kw_index:
      advance();
      result.kind = Describe::Kind::index;
      result.name = table_name();
      return true;
    case TokenKind::kw_materialized:
      advance();
      expect(TokenKind::kw_view);
      result.kind = Describe::Kind::view;
      result.name = table_name();
      return true;
    case TokenKind::kw_type:
      if (!is_name(ahead(1).kind)) return false;
      advance();
      result.kind = Describe::Kind::type;
      result.name = user_type_name();
      return true;
    case TokenKind::kw_function:
    case TokenKind::kw_aggregate:
      if (!is_function_name(ahead(1).kind) && !is_name(ahead(1).kind)) return false;
      result.kind = is(TokenKind::kw_function) ? Describe::Kind::function : Describe::Kind::aggregate;
      advance();
      result.name = function_name();
      return true;
    default:
      return false;
  }
}

void Parser::describe_anything(Describe& result) {
  result.kind = Describe::Kind::anything;
  const Token first = token_;
  result.name.name = name();
  if (accept(TokenKind::dot)) {
    result.name.keyspace = std::move(result.name.name);
    result.name.name = name();
  } else if (!is(TokenKind::end) && !is(TokenKind::semicolon) && !is(TokenKind::kw_with)) {
    no_viable_alternative(token_, first);
  }
}

}  // namespace sibyl::cql
