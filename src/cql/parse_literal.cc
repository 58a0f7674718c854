// Written values: constants, markers, collections, tuples and user types, with or without a type hint.
#include <charconv>
#include <utility>

#include "cql/statement_parser.h"

namespace sibyl::cql {
namespace {

// True for numbers that Cassandra's parser cannot accept: as a double they would be infinite.
bool is_beyond_double(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc::result_out_of_range) return false;
  // from_chars also reports numbers that are too small as out of range.
  const size_t exponent = text.find_first_of("eE");
  return exponent == std::string_view::npos ? !text.starts_with("0.") : text[exponent + 1] != '-';
}

}  // namespace

bool Parser::at_literal() const {
  return is(TokenKind::string) || is_bare_constant(kind());
}

ExpressionPtr Parser::literal() {
  const base::Position at = position();
  Literal result{Literal::Kind::string, ""};
  switch (kind()) {
    case TokenKind::string:
      result.text = text_of(token_);
      break;
    case TokenKind::integer:
      result = {Literal::Kind::integer, text_of(token_)};
      break;
    case TokenKind::floating: {
      result = {Literal::Kind::floating, text_of(token_)};
      const char first = result.text[result.text.size() - 1];
      if (first == 'n' || first == 'N') result.text = "NaN";
      if (first == 'y' || first == 'Y') result.text = "-Infinity";
      if (is_beyond_double(result.text)) {
        reject("Failed parsing statement: [" + std::string(lexer_.text()) +
               "] reason: NumberFormatException Character I is neither a decimal digit number, decimal "
               "point, nor \"e\" notation exponential mark.");
      }
      break;
    }
    case TokenKind::boolean:
      result = {Literal::Kind::boolean, folded(token_)};
      break;
    case TokenKind::duration:
      result = {Literal::Kind::duration, text_of(token_)};
      break;
    case TokenKind::uuid:
      result = {Literal::Kind::uuid, text_of(token_)};
      break;
    case TokenKind::blob:
      result = {Literal::Kind::blob, text_of(token_)};
      break;
    case TokenKind::kw_positive_nan:
      result = {Literal::Kind::floating, "NaN"};
      break;
    case TokenKind::kw_positive_infinity:
      result = {Literal::Kind::floating, "Infinity"};
      break;
    default:
      no_viable_alternative();
  }
  advance();
  return make(at, std::move(result));
}

ExpressionPtr Parser::marker() {
  const base::Position at = position();
  BindMarker result;
  if (accept(TokenKind::colon)) {
    result.name = name();
  } else if (!accept(TokenKind::question_mark)) {
    no_viable_alternative();
  }
  result.index = markers_++;
  return make(at, std::move(result));
}

ExpressionPtr Parser::integer_or_marker() {
  return is(TokenKind::integer) ? literal() : marker();
}

ExpressionPtr Parser::list(Context context) {
  const base::Position at = position();
  advance();
  return make(at, ListLiteral{optional_expressions_until(context, TokenKind::right_bracket)});
}

ExpressionPtr Parser::braces(Context context) {
  const base::Position at = position();
  const Token open = token_;
  advance();
  if (accept(TokenKind::right_brace)) return make(at, SetLiteral{});
  check_inside(context, open);
  if (is_name(kind()) && is_ahead(1, TokenKind::colon)) return user_type_or_map(context, at);

  ExpressionPtr first = sum(context);
  if (!is(TokenKind::colon)) {
    SetLiteral result;
    result.elements.push_back(std::move(first));
    while (accept(TokenKind::comma)) result.elements.push_back(sum(context));
    expect(TokenKind::right_brace);
    return make(at, std::move(result));
  }
  advance();
  MapLiteral result;
  result.entries.emplace_back(std::move(first), sum(context));
  while (accept(TokenKind::comma)) {
    ExpressionPtr key = sum(context);
    expect(TokenKind::colon);
    result.entries.emplace_back(std::move(key), sum(context));
  }
  expect(TokenKind::right_brace);
  return make(at, std::move(result));
}

// `{a: 1, b: 2}`. In a selector a later key may show that it is a map keyed by columns.
ExpressionPtr Parser::user_type_or_map(Context context, base::Position at) {
  UserTypeLiteral fields;
  MapLiteral map;
  do {
    const base::Position key_at = position();
    if (map.entries.empty() && is_name(kind()) &&
        (context == Context::term || is_ahead(1, TokenKind::colon))) {
      std::string field = name();
      expect(TokenKind::colon);
      fields.fields.emplace_back(std::move(field), sum(context));
      continue;
    }
    if (context == Context::term) no_viable_alternative();
    if (map.entries.empty()) {
      for (auto& [field, value] : fields.fields) {
        map.entries.emplace_back(make(key_at, ColumnReference{std::move(field)}), std::move(value));
      }
    }
    ExpressionPtr key = sum(context);
    expect(TokenKind::colon);
    map.entries.emplace_back(std::move(key), sum(context));
  } while (accept(TokenKind::comma));
  expect(TokenKind::right_brace);
  if (map.entries.empty()) return make(at, std::move(fields));
  return make(at, std::move(map));
}

ExpressionPtr Parser::parentheses(Context context) {
  const base::Position at = position();
  if (at_type_hint(context)) {
    advance();
    RawType hint = type();
    expect(TokenKind::right_parenthesis);
    return make(at, TypeHint{std::move(hint), primary(context)});
  }
  const Token open = token_;
  advance();
  check_inside(context, open);
  return make(at, TupleLiteral{expressions_until(context, TokenKind::right_parenthesis)});
}

// In terms, the message of an error right after `(` or `{` quotes that bracket, because Cassandra's parser
// decides there between a tuple and a type, or between a set and a map.
void Parser::check_inside(Context context, const Token& open) {
  if (at_expression()) return;
  if (context == Context::term) no_viable_alternative(token_, open);
  note_lookahead();
  no_viable_alternative();
}

// At `(`: true if the parentheses contain a type and an operand follows. Restores the position afterwards.
bool Parser::at_type_hint(Context context) {
  if (!is_name(ahead(1).kind) && !is_ahead(1, TokenKind::string) && !is_ahead(1, TokenKind::kw_set))
    return false;
  // Texts such as `(f(`, `(a,` and `(a +` cannot be types. Return early, without copying the state.
  switch (ahead(2).kind) {
    case TokenKind::dot:
    case TokenKind::less:
    case TokenKind::right_parenthesis:
      break;
    default:
      return false;
  }
  const Parser saved = *this;
  advance();
  uint32_t open = 0;
  bool fits = true;
  while (fits && (open > 0 || !is(TokenKind::right_parenthesis))) {
    switch (kind()) {
      case TokenKind::less:
        ++open;
        break;
      case TokenKind::greater:
        fits = open-- > 0;
        break;
      case TokenKind::comma:
      case TokenKind::integer:
        fits = open > 0;
        break;
      case TokenKind::dot:
      case TokenKind::string:
      case TokenKind::kw_set:
        break;
      default:
        fits = is_name(kind());
        break;
    }
    advance();
  }
  if (fits) {
    advance();
    fits = at_operand_of_hint(context);
  }
  const uint32_t seen = seen_;
  *this = saved;
  seen_ = seen;
  return fits;
}

bool Parser::at_operand_of_hint(Context context) {
  if (at_literal()) return true;
  switch (kind()) {
    case TokenKind::kw_null:
    case TokenKind::question_mark:
    case TokenKind::left_parenthesis:
    case TokenKind::left_bracket:
    case TokenKind::left_brace:
      return true;
    case TokenKind::colon:  // a marker's name, or `{('a'): 1}`
      return is_name(ahead(1).kind);
    case TokenKind::kw_token:
      return true;
    case TokenKind::kw_as:  // `(a) AS b`
      if (context == Context::selector) return !is_name(ahead(1).kind);
      break;
    case TokenKind::kw_per:  // GROUP BY (a) PER PARTITION LIMIT 1
      if (is_ahead(1, TokenKind::kw_partition)) return false;
      break;
    default:
      break;
  }
  if (!is_name(kind())) return false;
  return context == Context::selector || at_function_call() || is(TokenKind::kw_cast);
}

}  // namespace sibyl::cql
