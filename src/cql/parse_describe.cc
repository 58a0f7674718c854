#include "cql/statement_parser.h"

namespace sibyl::cql {

Describe Parser::describe() {
  Describe result;
  advance();
  described_thing(result);
  if (accept(TokenKind::kw_with)) {
    expect(TokenKind::kw_internals);
    result.with_internals = true;
  }
  return result;
}

void Parser::described_thing(Describe& result) {
  using Kind = Describe::Kind;
  result.name.position = position();
  // A word that asks for all things of a kind, unless a dot shows that it is a keyspace's name.
  const auto all = [&](Kind kind) {
    if (is_ahead(1, TokenKind::dot)) return false;
    advance();
    result.kind = kind;
    return true;
  };
  // A word that asks for one thing, if its name follows.
  const auto one = [&](Kind kind) {
    const TokenKind next = ahead(1).kind;
    if (!is_name(next) && !(is_function_name(next) && (kind == Kind::function || kind == Kind::aggregate)))
      return false;
    advance();
    result.kind = kind;
    return true;
  };
  switch (kind()) {
    case TokenKind::kw_cluster:
      if (all(Kind::cluster)) return;
      break;
    case TokenKind::kw_full:
      advance();
      result.full = true;
      if (!is(TokenKind::kw_schema)) mismatched("K_SCHEMA");
      [[fallthrough]];
    case TokenKind::kw_schema:
      advance();
      result.kind = Kind::schema;
      return;
    case TokenKind::kw_keyspaces:
      if (all(Kind::keyspaces)) return;
      break;
    case TokenKind::kw_only:
      if (!is_ahead(1, TokenKind::kw_keyspace)) break;
      advance();
      result.only = true;
      [[fallthrough]];
    case TokenKind::kw_keyspace:
      advance();
      result.kind = Kind::keyspace;
      if (is_name(kind()) || is(TokenKind::question_mark)) result.name.keyspace = keyspace_name();
      return;
    case TokenKind::kw_tables:
      if (all(Kind::tables)) return;
      break;
    case TokenKind::kw_columnfamily:
      advance();
      result.kind = Kind::table;
      result.name = table_name();
      return;
    case TokenKind::kw_index:
      advance();
      result.kind = Kind::index;
      result.name = table_name();
      return;
    case TokenKind::kw_materialized:
      advance();
      expect(TokenKind::kw_view);
      result.kind = Kind::view;
      result.name = table_name();
      return;
    case TokenKind::kw_types:
      if (all(Kind::types)) return;
      break;
    case TokenKind::kw_type:
      if (!one(Kind::type)) break;
      result.name = user_type_name();
      return;
    case TokenKind::kw_functions:
      if (all(Kind::functions)) return;
      break;
    case TokenKind::kw_function:
      if (!one(Kind::function)) break;
      result.name = function_name();
      return;
    case TokenKind::kw_aggregates:
      if (all(Kind::aggregates)) return;
      break;
    case TokenKind::kw_aggregate:
      if (!one(Kind::aggregate)) break;
      result.name = function_name();
      return;
    default:
      break;
  }
  result.kind = Kind::anything;
  const Token first = token_;
  result.name.name = name();
  if (!accept(TokenKind::dot)) {
    if (!is(TokenKind::end) && !is(TokenKind::semicolon) && !is(TokenKind::kw_with))
      no_viable_alternative(token_, first);
    return;
  }
  result.name.keyspace = std::move(result.name.name);
  result.name.name = name();
}

}  // namespace sibyl::cql
