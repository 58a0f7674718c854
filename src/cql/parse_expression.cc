// Parses terms (values in statements) and selectors (what SELECT computes). Both have one grammar; selectors
// allow more.
#include <utility>

#include "cql/statement_parser.h"

namespace sibyl::cql {

ExpressionPtr Parser::make(base::Position at, decltype(Expression::node) node) const {
  return std::make_unique<Expression>(Expression{at, std::move(node)});
}

bool Parser::at_negative_number() const {
  if (!is(TokenKind::integer) && !is(TokenKind::floating)) return false;
  const std::string_view text = lexer_.raw(token_);
  return text.front() == '-' && text[1] >= '0' && text[1] <= '9';
}

// `a -1` is lexed as a name and a number. Between two operands the sign is an operator. Cassandra refuses it.
bool Parser::split_negative_number() {
  if (!at_negative_number()) return false;
  ++token_.offset;
  ++token_.column;
  --token_.length;
  return true;
}

ExpressionPtr Parser::sum(Context context) {
  ExpressionPtr left = product(context);
  for (uint32_t levels = 1;; ++levels) {
    ArithmeticOperator op;
    if (is(TokenKind::plus)) {
      if (stop_before_column_ && (is_name(ahead(1).kind) || is_ahead(1, TokenKind::empty_quoted_name)) &&
          !is_ahead(2, TokenKind::left_parenthesis) && !is_ahead(2, TokenKind::dot)) {
        return left;
      }
      advance();
      op = ArithmeticOperator::add;
    } else if (is(TokenKind::minus)) {
      advance();
      op = ArithmeticOperator::subtract;
    } else if (split_negative_number()) {
      op = ArithmeticOperator::subtract;
    } else {
      return left;
    }
    check_nesting(depth_ + levels);
    const base::Position at = left->position;
    ExpressionPtr right = product(context);
    left = make(at, Arithmetic{op, std::move(left), std::move(right)});
  }
}

ExpressionPtr Parser::product(Context context) {
  ExpressionPtr left = signed_operand(context);
  for (uint32_t levels = 1;; ++levels) {
    ArithmeticOperator op;
    switch (kind()) {
      case TokenKind::star:
        op = ArithmeticOperator::multiply;
        break;
      case TokenKind::slash:
        op = ArithmeticOperator::divide;
        break;
      case TokenKind::percent:
        op = ArithmeticOperator::modulo;
        break;
      default:
        if (context == Context::term) check_after_term();
        return left;
    }
    advance();
    check_nesting(depth_ + levels);
    const base::Position at = left->position;
    ExpressionPtr right = signed_operand(context);
    left = make(at, Arithmetic{op, std::move(left), std::move(right)});
  }
}

ExpressionPtr Parser::signed_operand(Context context) {
  if (!is(TokenKind::minus)) return operand(context);
  const Nesting nesting(*this);
  const base::Position at = position();
  advance();
  return make(at, Negation{context == Context::selector ? signed_operand(context) : operand(context)});
}

// Fails with "no viable alternative" at a token that no rule of the grammar permits after a term, even if a
// certain token was expected.
void Parser::check_after_term() {
  switch (kind()) {
    case TokenKind::end:
    case TokenKind::semicolon:
    case TokenKind::colon:
    case TokenKind::comma:
    case TokenKind::range:
    case TokenKind::right_parenthesis:
    case TokenKind::right_bracket:
    case TokenKind::right_brace:
    case TokenKind::plus:
    case TokenKind::minus:
    case TokenKind::kw_allow:
    case TokenKind::kw_and_:
    case TokenKind::kw_apply:
    case TokenKind::kw_asc:
    case TokenKind::kw_delete_:
    case TokenKind::kw_desc:
    case TokenKind::kw_group:
    case TokenKind::kw_if_:
    case TokenKind::kw_insert:
    case TokenKind::kw_limit:
    case TokenKind::kw_order:
    case TokenKind::kw_per:
    case TokenKind::kw_primary:
    case TokenKind::kw_update:
    case TokenKind::kw_where:
      note_lookahead();
      return;
    default:
      break;
  }
  if (!at_negative_number()) no_viable_alternative();
}

ExpressionPtr Parser::operand(Context context) {
  if (context == Context::term) return primary(context);
  const Token first = token_;
  ExpressionPtr result = with_modifiers(primary(context), first);
  if (std::holds_alternative<Literal>(result->node) || std::holds_alternative<ColumnReference>(result->node))
    note_lookahead();
  return result;
}

ExpressionPtr Parser::with_modifiers(ExpressionPtr of, const Token& first) {
  for (uint32_t levels = 1;; ++levels) {
    if (!is(TokenKind::dot) && !is(TokenKind::left_bracket)) return of;
    check_nesting(depth_ + levels);
    if (accept(TokenKind::dot)) {
      const base::Position at = of->position;
      if (!is_name(kind())) no_viable_alternative(token_, first);
      of = make(at, FieldSelection{std::move(of), name()});
      if (levels == 1) check_after_column(first);
    } else {
      of = sub_selection(std::move(of));
    }
  }
}

ExpressionPtr Parser::sub_selection(ExpressionPtr of) {
  const base::Position at = of->position;
  expect(TokenKind::left_bracket);
  ExpressionPtr from;
  if (!is(TokenKind::range)) from = term();
  if (from != nullptr && !is(TokenKind::range)) {
    expect(TokenKind::right_bracket);
    return make(at, ElementSelection{std::move(of), std::move(from)});
  }
  advance();
  ExpressionPtr to;
  if (from == nullptr || !is(TokenKind::right_bracket)) to = term();
  expect(TokenKind::right_bracket);
  return make(at, SliceSelection{std::move(of), std::move(from), std::move(to)});
}

ExpressionPtr Parser::primary(Context context) {
  const Nesting nesting(*this);
  if (at_literal()) return literal();
  switch (kind()) {
    case TokenKind::kw_null: {
      const base::Position at = position();
      advance();
      return make(at, Literal{Literal::Kind::null, "null"});
    }
    case TokenKind::question_mark:
    case TokenKind::colon:
      return marker();
    case TokenKind::left_bracket:
      return list(context);
    case TokenKind::left_brace:
      return braces(context);
    case TokenKind::left_parenthesis:
      return parentheses(context);
    case TokenKind::kw_cast:
      if (is_ahead(1, TokenKind::left_parenthesis)) return cast(context);
      return primary_name(context);
    case TokenKind::kw_ttl:
    case TokenKind::kw_writetime:
    case TokenKind::kw_maxwritetime:
      if (context == Context::selector && is_ahead(1, TokenKind::left_parenthesis)) return cell_property();
      return primary_name(context);
    default:
      return primary_name(context);
  }
}

std::vector<ExpressionPtr> Parser::expressions_until(Context context, TokenKind close) {
  std::vector<ExpressionPtr> result;
  do result.push_back(sum(context));
  while (accept(TokenKind::comma));
  expect(close);
  return result;
}

std::vector<ExpressionPtr> Parser::optional_expressions_until(Context context, TokenKind close) {
  if (at_expression()) return expressions_until(context, close);
  expect(close);
  return {};
}

bool Parser::at_expression() const {
  if (at_literal() || is_name(kind())) return true;
  switch (kind()) {
    case TokenKind::kw_null:
    case TokenKind::kw_token:
    case TokenKind::question_mark:
    case TokenKind::colon:
    case TokenKind::left_bracket:
    case TokenKind::left_brace:
    case TokenKind::left_parenthesis:
    case TokenKind::minus:
      return true;
    default:
      return false;
  }
}

ExpressionPtr Parser::cast(Context context) {
  const base::Position at = position();
  advance();
  expect(TokenKind::left_parenthesis);
  ExpressionPtr of = context == Context::selector ? selector_expression() : primary(context);
  expect(TokenKind::kw_as);
  RawType to = native_type();
  expect(TokenKind::right_parenthesis);
  return make(at, Cast{std::move(of), std::move(to)});
}

// writetime(c), ttl(c[1]), maxwritetime(c.field)
ExpressionPtr Parser::cell_property() {
  const base::Position at = position();
  FunctionCall result;
  result.function.name = folded(token_);
  result.function.position = at;
  advance();
  expect(TokenKind::left_parenthesis);
  const Token column = token_;
  ColumnReference reference{name()};
  result.arguments.push_back(with_modifiers(make(column.position(), std::move(reference)), column));
  if (is(TokenKind::semicolon) || at_expression()) no_viable_alternative();
  expect(TokenKind::right_parenthesis);
  return make(at, std::move(result));
}

bool Parser::at_function_call() {
  if (is_function_name(kind()) && is_ahead(1, TokenKind::left_parenthesis)) return true;
  return is_name(kind()) && is_ahead(1, TokenKind::dot) && is_function_name(ahead(2).kind) &&
         is_ahead(3, TokenKind::left_parenthesis);
}

ExpressionPtr Parser::primary_name(Context context) {
  if (at_function_call()) return function_call(context);
  if (context == Context::selector) {
    const base::Position at = position();
    const Token first = token_;
    ColumnReference column{name()};
    check_after_column(first);
    return make(at, std::move(column));
  }
  if (!is_name(kind()) && !is_function_name(kind())) no_viable_alternative();
  const Token first = token_;
  if (is_ahead(1, TokenKind::dot)) {
    advance();
    advance();
    if (is_function_name(kind())) advance();
  } else {
    advance();
  }
  expects_value_ = true;
  no_viable_alternative(token_, first);
}

ExpressionPtr Parser::function_call(Context context) {
  const base::Position at = position();
  FunctionCall result;
  const bool count = is(TokenKind::kw_count);
  const Token first = token_;
  result.function = function_name();
  expect(TokenKind::left_parenthesis);
  if (count && context == Context::selector && is(TokenKind::star)) {
    advance();
    result.star = true;
    expect(TokenKind::right_parenthesis);
  } else {
    const bool choice = count || context == Context::term;
    if (choice && !at_expression() && !is(TokenKind::right_parenthesis)) {
      no_viable_alternative(token_, first);
    }
    result.arguments = optional_expressions_until(context, TokenKind::right_parenthesis);
  }
  return make(at, std::move(result));
}

// Fails at a token that no rule of the grammar permits after a column in a selector. The error then shows the
// column.
void Parser::check_after_column(const Token& column) {
  switch (kind()) {
    case TokenKind::end:
    case TokenKind::semicolon:
    case TokenKind::comma:
    case TokenKind::dot:
    case TokenKind::colon:
    case TokenKind::left_bracket:
    case TokenKind::right_bracket:
    case TokenKind::right_brace:
    case TokenKind::right_parenthesis:
    case TokenKind::plus:
    case TokenKind::minus:
    case TokenKind::star:
    case TokenKind::slash:
    case TokenKind::percent:
    case TokenKind::kw_as:
    case TokenKind::kw_from:
    case TokenKind::kw_order:
    case TokenKind::kw_per:
    case TokenKind::kw_limit:
    case TokenKind::kw_allow:
      return;
    default:
      if (at_negative_number()) return;
      note_lookahead();
      no_viable_alternative(token_, column);
  }
}

}  // namespace sibyl::cql
