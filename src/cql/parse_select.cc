// SELECT, and the WHERE clause that all data statements share.
#include <utility>

#include "cql/statement_parser.h"

namespace sibyl::cql {

Select Parser::select() {
  Select result;
  expect(TokenKind::kw_select);
  if (at_modifier_keyword(TokenKind::kw_json)) {
    advance();
    result.json = true;
  }
  select_clause(result);
  expect(TokenKind::kw_from);
  result.table = table_name();
  if (accept(TokenKind::kw_where)) result.where = where_clause();
  if (is(TokenKind::kw_group)) {
    advance();
    expect(TokenKind::kw_by);
    do result.group_by.push_back(selector_expression());
    while (accept(TokenKind::comma));
  }
  if (accept(TokenKind::kw_order)) {
    expect(TokenKind::kw_by);
    do result.order_by.push_back(ordering());
    while (accept(TokenKind::comma));
  }
  if (accept(TokenKind::kw_per)) {
    expect(TokenKind::kw_partition);
    expect(TokenKind::kw_limit);
    result.per_partition_limit = integer_or_marker();
  }
  if (accept(TokenKind::kw_limit)) result.limit = integer_or_marker();
  if (accept(TokenKind::kw_allow)) {
    expect(TokenKind::kw_filtering);
    result.allow_filtering = true;
  }
  return result;
}

// JSON and DISTINCT may also be columns. They are keywords if something to select follows.
bool Parser::at_modifier_keyword(TokenKind keyword) {
  if (!is(keyword)) return false;
  switch (ahead(1).kind) {
    case TokenKind::kw_from:
    case TokenKind::comma:
    case TokenKind::dot:
    case TokenKind::plus:
    case TokenKind::slash:
    case TokenKind::percent:
    case TokenKind::semicolon:
    case TokenKind::end:
      return false;
    case TokenKind::kw_as:
      return !is_name(ahead(2).kind);
    default:
      return true;
  }
}

void Parser::select_clause(Select& result) {
  if (at_modifier_keyword(TokenKind::kw_distinct)) {
    const Token distinct = token_;
    advance();
    result.distinct = true;
    if (at_modifier_keyword(TokenKind::kw_json) || at_modifier_keyword(TokenKind::kw_distinct))
      no_viable_alternative(token_, distinct);
  }
  result.selectors = selectors();
}

std::vector<Selector> Parser::selectors() {
  std::vector<Selector> result;
  if (accept(TokenKind::star)) return result;
  do {
    Selector selector;
    selector.expression = selector_expression();
    if (accept(TokenKind::kw_as)) selector.alias = name();
    result.push_back(std::move(selector));
  } while (accept(TokenKind::comma));
  return result;
}

Ordering Parser::ordering() {
  Ordering result;
  result.position = position();
  result.column = column_name();
  if (is(TokenKind::kw_ann)) {
    advance();
    expect(TokenKind::kw_of);
    result.ann_of = term();
  }
  if (accept(TokenKind::kw_desc)) {
    result.descending = true;
  } else {
    accept(TokenKind::kw_asc);
  }
  return result;
}

// --- WHERE

std::vector<Relation> Parser::where_clause() {
  std::vector<Relation> result;
  do result.push_back(relation());
  while (accept(TokenKind::kw_and_));
  return result;
}

// `expr(`, only in lower case and without a space.
bool Parser::at_custom_index_expression() {
  return is(TokenKind::identifier) && lexer_.raw(token_) == "expr" &&
         is_ahead(1, TokenKind::left_parenthesis) && ahead(1).offset == token_.offset + token_.length;
}

Relation Parser::relation() {
  Relation result;
  result.position = position();
  if (at_custom_index_expression()) {
    custom_index_relation(result);
  } else if (is(TokenKind::kw_token)) {
    token_relation(result);
  } else if (is(TokenKind::left_parenthesis)) {
    return relation_in_parentheses();
  } else {
    column_relation(result);
  }
  return result;
}

// True for tokens that may follow the column of a relation.
static bool begins_relation(TokenKind kind) {
  switch (kind) {
    case TokenKind::equal:
    case TokenKind::not_equal:
    case TokenKind::less:
    case TokenKind::less_or_equal:
    case TokenKind::greater:
    case TokenKind::greater_or_equal:
    case TokenKind::left_bracket:
    case TokenKind::kw_between:
    case TokenKind::kw_contains:
    case TokenKind::kw_in:
    case TokenKind::kw_is:
    case TokenKind::kw_like:
    case TokenKind::kw_not_:
      return true;
    default:
      return false;
  }
}

// `(a, b) > (1, 2)` or `(a = 1)`.
Relation Parser::relation_in_parentheses() {
  const bool column = is_name(ahead(1).kind) || is_ahead(1, TokenKind::empty_quoted_name);
  if (column && (is_ahead(2, TokenKind::comma) || is_ahead(2, TokenKind::right_parenthesis))) {
    Relation result;
    result.position = position();
    tuple_relation(result);
    return result;
  }
  if (column && !begins_relation(ahead(2).kind)) no_viable_alternative(ahead(2), token_);
  const bool inner = column || is_ahead(1, TokenKind::left_parenthesis) || is_ahead(1, TokenKind::kw_token);
  if (!inner) no_viable_alternative(ahead(1), token_);
  const Nesting nesting(*this);
  advance();
  Relation result = relation();
  expect(TokenKind::right_parenthesis);
  return result;
}

std::optional<Operator> Parser::accept_comparison() {
  Operator op;
  switch (kind()) {
    case TokenKind::equal:
      op = Operator::equal;
      break;
    case TokenKind::not_equal:
      op = Operator::not_equal;
      break;
    case TokenKind::less:
      op = Operator::less;
      break;
    case TokenKind::less_or_equal:
      op = Operator::less_or_equal;
      break;
    case TokenKind::greater:
      op = Operator::greater;
      break;
    case TokenKind::greater_or_equal:
      op = Operator::greater_or_equal;
      break;
    default:
      return std::nullopt;
  }
  advance();
  return op;
}

template <typename Target>
void Parser::in_values(Target& result) {
  if (is(TokenKind::question_mark) || is(TokenKind::colon)) {
    result.value = marker();
    return;
  }
  expect(TokenKind::left_parenthesis);
  result.values = optional_expressions_until(Context::term, TokenKind::right_parenthesis);
  result.has_value_list = true;
}
template void Parser::in_values(Relation& result);
template void Parser::in_values(Condition& result);

void Parser::between_terms(Relation& result) {
  result.op = Operator::between;
  result.values.push_back(term());
  expect(TokenKind::kw_and_);
  result.values.push_back(term());
  result.has_value_list = true;
}

void Parser::column_relation(Relation& result) {
  const Token first = token_;
  result.columns.push_back(column_name());
  if (accept(TokenKind::left_bracket)) {
    result.target = Relation::Target::element;
    result.element_key = term();
    expect(TokenKind::right_bracket);
    const std::optional<Operator> op = accept_comparison();
    if (!op) no_viable_alternative();
    result.op = *op;
    result.value = term();
    return;
  }
  if (const std::optional<Operator> op = accept_comparison()) {
    result.op = *op;
    result.value = term();
    return;
  }
  const bool negated =
      is(TokenKind::kw_not_) && (is_ahead(1, TokenKind::kw_in) || is_ahead(1, TokenKind::kw_contains));
  if (negated) advance();
  switch (kind()) {
    case TokenKind::kw_in: {
      const TokenKind next = ahead(1).kind;
      if (next != TokenKind::left_parenthesis && next != TokenKind::question_mark &&
          next != TokenKind::colon) {
        no_viable_alternative(ahead(1), first);
      }
      advance();
      result.op = negated ? Operator::not_in : Operator::in;
      in_values(result);
      return;
    }
    case TokenKind::kw_contains:
      advance();
      if (accept(TokenKind::kw_key)) {
        result.op = negated ? Operator::not_contains_key : Operator::contains_key;
      } else {
        result.op = negated ? Operator::not_contains : Operator::contains;
      }
      result.value = term();
      return;
    case TokenKind::kw_like:
      advance();
      result.op = Operator::like;
      result.value = term();
      return;
    case TokenKind::kw_between:
      advance();
      return between_terms(result);
    case TokenKind::kw_is:
      advance();
      expect(TokenKind::kw_not_);
      expect(TokenKind::kw_null);
      result.op = Operator::is_not_null;
      return;
    default:
      no_viable_alternative(token_, first);
  }
}

void Parser::token_relation(Relation& result) {
  advance();
  result.target = Relation::Target::token;
  result.columns = columns_in_parentheses();
  if (is(TokenKind::kw_between)) {
    advance();
    return between_terms(result);
  }
  const std::optional<Operator> op = accept_comparison();
  if (!op) no_viable_alternative();
  result.op = *op;
  result.value = term();
}

std::vector<std::string> Parser::columns_in_parentheses() {
  std::vector<std::string> result;
  expect(TokenKind::left_parenthesis);
  do result.push_back(column_name());
  while (accept(TokenKind::comma));
  expect(TokenKind::right_parenthesis);
  return result;
}

void Parser::tuple_relation(Relation& result) {
  result.target = Relation::Target::columns;
  result.columns = columns_in_parentheses();
  const Token comparison = token_;
  if (const std::optional<Operator> op = accept_comparison()) {
    result.op = *op;
    if (!at_tuple_or_marker()) no_viable_alternative(token_, comparison);
    result.value = tuple_or_marker();
    return;
  }
  if (is(TokenKind::kw_between)) {
    advance();
    result.op = Operator::between;
    result.values.push_back(tuple_or_marker());
    expect(TokenKind::kw_and_);
    result.values.push_back(tuple_or_marker());
    result.has_value_list = true;
    return;
  }
  const bool negated = accept(TokenKind::kw_not_);
  if (!is(TokenKind::kw_in)) no_viable_alternative();
  advance();
  result.op = negated ? Operator::not_in : Operator::in;
  tuple_in_values(result);
}

bool Parser::at_tuple_or_marker() const {
  return is(TokenKind::left_parenthesis) || is(TokenKind::question_mark) || is(TokenKind::colon);
}

ExpressionPtr Parser::tuple_or_marker() {
  if (!is(TokenKind::left_parenthesis)) return marker();
  const base::Position at = position();
  advance();
  return make(at, TupleLiteral{expressions_until(Context::term, TokenKind::right_parenthesis)});
}

// IN ?, IN (), IN ((1, 2), (3, 4)), IN (?, ?)
void Parser::tuple_in_values(Relation& result) {
  if (is(TokenKind::question_mark) || is(TokenKind::colon)) {
    result.value = marker();
    return;
  }
  if (!is(TokenKind::left_parenthesis)) no_viable_alternative();
  const Token open = token_;
  advance();
  result.has_value_list = true;
  if (accept(TokenKind::right_parenthesis)) return;
  const bool tuples = is(TokenKind::left_parenthesis);
  if (!at_tuple_or_marker()) no_viable_alternative(token_, open);
  do {
    if (tuples && !is(TokenKind::left_parenthesis)) mismatched("'('");
    result.values.push_back(tuple_or_marker());
  } while (accept(TokenKind::comma));
  expect(TokenKind::right_parenthesis);
}

void Parser::custom_index_relation(Relation& result) {
  advance();
  expect(TokenKind::left_parenthesis);
  result.target = Relation::Target::custom;
  result.custom_index.position = position();
  result.custom_index.name = name_or_refuse_marker("index");
  expect(TokenKind::comma);
  result.value = term();
  expect(TokenKind::right_parenthesis);
}

}  // namespace sibyl::cql
