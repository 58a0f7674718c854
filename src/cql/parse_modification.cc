// INSERT, UPDATE, DELETE and BATCH.
#include <utility>

#include "cql/statement_parser.h"

namespace sibyl::cql {

Insert Parser::insert() {
  Insert result;
  expect(TokenKind::kw_insert);
  expect(TokenKind::kw_into);
  result.table = table_name();
  if (accept(TokenKind::kw_json)) {
    insert_json(result);
  } else {
    insert_values(result);
  }
  result.if_not_exists = accept_if_not_exists();
  using_clause(result.attributes);
  return result;
}

void Parser::insert_values(Insert& result) {
  if (!is(TokenKind::left_parenthesis)) no_viable_alternative();
  result.columns = columns_in_parentheses();
  expect(TokenKind::kw_values);
  expect(TokenKind::left_parenthesis);
  result.values = expressions_until(Context::term, TokenKind::right_parenthesis);
}

void Parser::insert_json(Insert& result) {
  result.json = is(TokenKind::string) ? literal() : marker();
  if (!accept(TokenKind::kw_default_)) return;
  if (accept(TokenKind::kw_unset)) {
    result.default_unset = true;
  } else if (!accept(TokenKind::kw_null)) {
    no_viable_alternative();
  }
}

void Parser::using_clause(Attributes& result) {
  if (!accept(TokenKind::kw_using_)) return;
  do {
    if (accept(TokenKind::kw_timestamp)) {
      result.timestamp = integer_or_marker();
    } else if (accept(TokenKind::kw_ttl)) {
      result.time_to_live = integer_or_marker();
    } else {
      no_viable_alternative();
    }
  } while (accept(TokenKind::kw_and_));
}

Update Parser::update() {
  Update result;
  expect(TokenKind::kw_update);
  result.table = table_name();
  using_clause(result.attributes);
  expect(TokenKind::kw_set);
  AssignedColumns assigned;
  do {
    result.assignments.push_back(assignment());
    check_assignment(result.assignments.back(), assigned);
  } while (accept(TokenKind::comma));
  expect(TokenKind::kw_where);
  result.where = where_clause();
  if_clause(result.if_exists, result.conditions);
  return result;
}

// A column may be set as a whole once, or several of its parts may be changed.
void Parser::check_assignment(const Assignment& last, AssignedColumns& assigned) {
  const bool sets_all =
      last.kind == Assignment::Kind::set && last.element_key == nullptr && last.field.empty();
  const auto [found, is_first] = assigned.try_emplace(last.column);
  Assigned& column = found->second;
  const bool is_field_again = !last.field.empty() && !column.fields.insert(last.field).second;
  if (!is_first && (column.is_set || sets_all || is_field_again))
    reject("Multiple incompatible setting of column " + last.column);
  column.is_set = column.is_set || sets_all;
}

Assignment Parser::assignment() {
  Assignment result;
  result.position = position();
  result.column = column_name();
  switch (kind()) {
    case TokenKind::equal:
      advance();
      assigned_value(result);
      return result;
    case TokenKind::plus_equal:
      advance();
      result.kind = Assignment::Kind::add;
      result.value = term();
      return result;
    case TokenKind::minus_equal:
      advance();
      result.kind = Assignment::Kind::subtract;
      result.value = term();
      return result;
    case TokenKind::left_bracket:
      advance();
      result.element_key = term();
      expect(TokenKind::right_bracket);
      break;
    case TokenKind::dot:
      advance();
      result.field = name();
      break;
    default:
      no_viable_alternative();
  }
  expect(TokenKind::equal);
  result.value = term();
  return result;
}

// c = x, c = c + x, c = c - x, c = c -1 (a number with its sign), c = x + c
void Parser::assigned_value(Assignment& result) {
  const bool column = is_name(kind()) || is(TokenKind::empty_quoted_name);
  const TokenKind next = column ? ahead(1).kind : TokenKind::end;
  if (next == TokenKind::plus || next == TokenKind::minus || next == TokenKind::integer) {
    const bool same = column_name() == result.column;
    const bool minus = is(TokenKind::minus);
    if (is(TokenKind::integer)) {
      const bool negative = lexer_.raw(token_).front() == '-';
      if (!same) {
        reject(std::string("Only expressions of the form X = X ") + (negative ? '-' : '+') +
               " <value> are supported.");
      }
      result.kind = Assignment::Kind::add;
      result.value = literal();
      return;
    }
    if (!same) {
      reject(std::string("Only expressions of the form X = X ") + (minus ? '-' : '+') +
             "<value> are supported.");
    }
    advance();
    result.kind = minus ? Assignment::Kind::subtract : Assignment::Kind::add;
    result.value = term();
    return;
  }
  stop_before_column_ = true;
  result.value = term();
  stop_before_column_ = false;
  if (!accept(TokenKind::plus)) return;
  if (column_name() != result.column) {
    reject("Only expressions of the form X = <value> + X are supported.");
  }
  result.kind = Assignment::Kind::prepend;
}

Delete Parser::delete_() {
  Delete result;
  expect(TokenKind::kw_delete_);
  if (is_name(kind()) || is(TokenKind::empty_quoted_name)) {
    do result.targets.push_back(delete_target());
    while (accept(TokenKind::comma));
  }
  expect(TokenKind::kw_from);
  result.table = table_name();
  if (accept(TokenKind::kw_using_)) {
    expect(TokenKind::kw_timestamp);
    result.attributes.timestamp = integer_or_marker();
  }
  expect(TokenKind::kw_where);
  result.where = where_clause();
  if_clause(result.if_exists, result.conditions);
  return result;
}

DeleteTarget Parser::delete_target() {
  DeleteTarget result;
  result.position = position();
  const Token first = token_;
  result.column = column_name();
  switch (kind()) {
    case TokenKind::left_bracket:
      advance();
      result.element_key = term();
      expect(TokenKind::right_bracket);
      return result;
    case TokenKind::dot:
      advance();
      result.field = name();
      return result;
    case TokenKind::comma:
    case TokenKind::kw_from:
      return result;
    default:
      no_viable_alternative(token_, first);
  }
}

void Parser::if_clause(bool& if_exists, std::vector<Condition>& conditions) {
  if (!accept(TokenKind::kw_if_)) return;
  // EXISTS may also be a column.
  if (is(TokenKind::kw_exists)) {
    switch (ahead(1).kind) {
      case TokenKind::end:
      case TokenKind::semicolon:
      case TokenKind::kw_apply:
      case TokenKind::kw_insert:
      case TokenKind::kw_update:
      case TokenKind::kw_delete_:
        advance();
        if_exists = true;
        return;
      default:
        break;
    }
  }
  do conditions.push_back(condition());
  while (accept(TokenKind::kw_and_));
}

Condition Parser::condition() {
  Condition result;
  const Token first = token_;
  result.position = position();
  result.column = column_name();
  bool whole = true;
  if (accept(TokenKind::left_bracket)) {
    result.element_key = term();
    expect(TokenKind::right_bracket);
    whole = false;
  } else if (accept(TokenKind::dot)) {
    result.field = name();
    whole = false;
  }
  if (const std::optional<Operator> op = accept_comparison()) {
    result.op = *op;
    result.value = term();
  } else if (is(TokenKind::kw_in)) {
    advance();
    result.op = Operator::in;
    if (!is(TokenKind::question_mark) && !is(TokenKind::colon) && !is(TokenKind::left_parenthesis)) {
      no_viable_alternative();
    }
    in_values(result);
  } else if (whole && is(TokenKind::kw_contains)) {
    advance();
    result.op = accept(TokenKind::kw_key) ? Operator::contains_key : Operator::contains;
    result.value = term();
  } else {
    // Cassandra's parser is still choosing between IF EXISTS and a column of that name.
    no_viable_alternative(token_, whole && first.kind == TokenKind::kw_exists ? first : token_);
  }
  return result;
}

Batch Parser::batch() {
  Batch result;
  expect(TokenKind::kw_begin);
  if (accept(TokenKind::kw_unlogged)) {
    result.kind = Batch::Kind::unlogged;
  } else if (accept(TokenKind::kw_counter)) {
    result.kind = Batch::Kind::counter;
  }
  expect(TokenKind::kw_batch);
  using_clause(result.attributes);
  while (true) {
    switch (kind()) {
      case TokenKind::kw_insert:
        result.statements.emplace_back(insert());
        break;
      case TokenKind::kw_update:
        result.statements.emplace_back(update());
        break;
      case TokenKind::kw_delete_:
        result.statements.emplace_back(delete_());
        break;
      default:
        expect(TokenKind::kw_apply);
        expect(TokenKind::kw_batch);
        return result;
    }
    accept(TokenKind::semicolon);
  }
}

}  // namespace sibyl::cql
