// Functions, aggregates and triggers.
#include <utility>

#include "cql/statement_parser.h"

namespace sibyl::cql {

CreateFunction Parser::create_function(bool or_replace) {
  CreateFunction result;
  result.or_replace = or_replace;
  advance();
  result.if_not_exists = accept_if_not_exists();
  result.function = function_name();
  expect(TokenKind::left_parenthesis);
  if (is_name(kind())) {
    do {
      std::string argument = name();
      result.arguments.emplace_back(std::move(argument), type());
    } while (accept(TokenKind::comma));
  }
  expect(TokenKind::right_parenthesis);
  if (accept(TokenKind::kw_called)) {
    result.called_on_null_input = true;
  } else if (accept(TokenKind::kw_returns)) {
    expect(TokenKind::kw_null);
  } else {
    no_viable_alternative();
  }
  expect(TokenKind::kw_on);
  expect(TokenKind::kw_null);
  expect(TokenKind::kw_input);
  expect(TokenKind::kw_returns);
  result.return_type = type();
  expect(TokenKind::kw_language);
  result.language = folded(expect(TokenKind::identifier));
  expect(TokenKind::kw_as);
  result.body = expect_string();
  return result;
}

CreateAggregate Parser::create_aggregate(bool or_replace) {
  CreateAggregate result;
  result.or_replace = or_replace;
  advance();
  result.if_not_exists = accept_if_not_exists();
  result.aggregate = function_name();
  result.argument_types = type_list_in_parentheses();
  expect(TokenKind::kw_sfunc);
  result.state_function = plain_function_name();
  expect(TokenKind::kw_stype);
  result.state_type = type();
  if (accept(TokenKind::kw_finalfunc)) result.final_function = plain_function_name();
  if (accept(TokenKind::kw_initcond)) result.initial_condition = term();
  return result;
}

DropFunction Parser::drop_function() {
  DropFunction result;
  advance();
  result.if_exists = accept_if_exists();
  result.function = function_name();
  if (is(TokenKind::left_parenthesis)) result.argument_types = type_list_in_parentheses();
  return result;
}

DropAggregate Parser::drop_aggregate() {
  DropAggregate result;
  advance();
  result.if_exists = accept_if_exists();
  result.aggregate = function_name();
  if (is(TokenKind::left_parenthesis)) result.argument_types = type_list_in_parentheses();
  return result;
}

CreateTrigger Parser::create_trigger() {
  CreateTrigger result;
  advance();
  result.if_not_exists = accept_if_not_exists();
  result.name = name();
  expect(TokenKind::kw_on);
  result.table = table_name();
  expect(TokenKind::kw_using_);
  result.class_name = expect_string();
  return result;
}

DropTrigger Parser::drop_trigger() {
  DropTrigger result;
  advance();
  result.if_exists = accept_if_exists();
  result.name = name();
  expect(TokenKind::kw_on);
  result.table = table_name();
  return result;
}

}  // namespace sibyl::cql
