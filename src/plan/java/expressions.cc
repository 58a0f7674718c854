#include "plan/java/expressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "plan/java/conversions.h"
#include "plan/java/methods.h"
#include "plan/java/operators.h"

namespace sibyl::plan::java {
namespace {

constexpr int max_depth = 100;
constexpr int max_operations = 500;

// Binary operators, the loosest first.
constexpr std::array<std::array<std::string_view, 4>, 10> levels = {{{{"||"}},
                                                                     {{"&&"}},
                                                                     {{"|"}},
                                                                     {{"^"}},
                                                                     {{"&"}},
                                                                     {{"==", "!="}},
                                                                     {{"<", ">", "<=", ">="}},
                                                                     {{"<<", ">>", ">>>"}},
                                                                     {{"+", "-"}},
                                                                     {{"*", "/", "%"}}}};

constexpr std::array<std::pair<std::string_view, JavaKind>, 17> type_names = {
    {{"boolean", JavaKind::boolean},
     {"byte", JavaKind::byte_},
     {"short", JavaKind::short_},
     {"char", JavaKind::char_},
     {"int", JavaKind::int_},
     {"long", JavaKind::long_},
     {"float", JavaKind::float_},
     {"double", JavaKind::double_},
     {"Boolean", JavaKind::boxed_boolean},
     {"Byte", JavaKind::boxed_byte},
     {"Short", JavaKind::boxed_short},
     {"Character", JavaKind::boxed_char},
     {"Integer", JavaKind::boxed_int},
     {"Long", JavaKind::boxed_long},
     {"Float", JavaKind::boxed_float},
     {"Double", JavaKind::boxed_double},
     {"String", JavaKind::string}}};

// The value of an integer as written. Hexadecimal ones may set the sign bit. `is_negated`: a minus precedes it.
base::Result<Node> integer_of(const Token& token, bool is_negated) {
  std::string_view digits = token.text;
  const bool is_long = digits.ends_with('l') || digits.ends_with('L');
  if (is_long) digits.remove_suffix(1);
  const bool is_hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (is_hex) digits.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, is_hex ? 16 : 10);
  const uint64_t sign_bit = is_long ? uint64_t{1} << 63 : uint64_t{1} << 31;
  const uint64_t limit = is_hex ? sign_bit - 1 + sign_bit : sign_bit - (is_negated ? 0 : 1);
  if (error != std::errc() || end != digits.data() + digits.size() || value > limit)
    return refused(token.line, fmt::format("The literal {} of type {} is out of range ", token.text,
                                           is_long ? "long" : "int"));
  if (is_negated) value = 0 - value;
  const int64_t number =
      is_long ? static_cast<int64_t>(value) : static_cast<int32_t>(static_cast<uint32_t>(value));
  return make_constant({is_long ? JavaKind::long_ : JavaKind::int_, nullptr}, of_integer(number));
}

base::Result<Node> floating_of(const Token& token) {
  std::string_view digits = token.text;
  const bool is_single = digits.ends_with('f') || digits.ends_with('F');
  if (is_single || digits.ends_with('d') || digits.ends_with('D')) digits.remove_suffix(1);
  double value = 0;
  float single = 0;
  const auto [end, error] = is_single ? std::from_chars(digits.data(), digits.data() + digits.size(), single)
                                      : std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size())
    return refused(token.line, fmt::format("The literal {} of type {} is out of range ", token.text,
                                           is_single ? "float" : "double"));
  return make_constant({is_single ? JavaKind::float_ : JavaKind::double_, nullptr},
                       of_floating(is_single ? single : value));
}

}  // namespace

const Token& ExpressionReader::peek(size_t distance) const {
  return tokens_[std::min(at_ + distance, tokens_.size() - 1)];
}

const Token& ExpressionReader::next() {
  const Token& token = peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool ExpressionReader::accept(std::string_view symbol) {
  if (!peek().is(symbol)) return false;
  next();
  return true;
}

base::Status ExpressionReader::expect(std::string_view symbol) {
  if (accept(symbol)) return {};
  if (peek().kind == Token::Kind::end)
    return refused(peek().line, fmt::format("'{}' is missing at the end", symbol));
  return unsupported();
}

std::unexpected<base::Error> ExpressionReader::unsupported() const {
  if (peek().kind == Token::Kind::end) return refused(peek().line, "an expression is missing at the end");
  return refused(peek().line, fmt::format("'{}' is not supported here", peek().text));
}

std::optional<Type> ExpressionReader::type_name() const {
  const auto found = std::find_if(type_names.begin(), type_names.end(),
                                  [&](const auto& entry) { return entry.first == peek().text; });
  const bool is_word = peek().kind == Token::Kind::name || peek().kind == Token::Kind::keyword;
  if (found == type_names.end() || !is_word || find_variable(peek().text)) return std::nullopt;
  return Type{found->second, nullptr};
}

std::optional<size_t> ExpressionReader::find_variable(std::string_view name) const {
  const auto found = std::find_if(variables_.begin(), variables_.end(),
                                  [&](const Variable& variable) { return variable.name == name; });
  if (found == variables_.end()) return std::nullopt;
  return static_cast<size_t>(found - variables_.begin());
}

base::Result<Node> ExpressionReader::expression() {
  if (depth_ >= max_depth) return refused(peek().line, "an expression of this depth is not supported");
  if (depth_ == 0) operations_ = 0;
  ++depth_;
  auto node = conditional_expression();
  --depth_;
  return node;
}

base::Status ExpressionReader::count_operation() {
  if (++operations_ > max_operations)
    return refused(peek().line, "an expression of this length is not supported");
  return {};
}

base::Result<Node> ExpressionReader::conditional_expression() {
  SIBYL_ASSIGN(Node node, binary_expression(0));
  const int line = peek().line;
  if (!accept("?")) return node;
  SIBYL_TRY(count_operation());
  SIBYL_ASSIGN(Node yes, expression());
  SIBYL_TRY(expect(":"));
  SIBYL_ASSIGN(Node no, expression());
  return conditional(std::move(node), std::move(yes), std::move(no), line);
}

base::Result<Node> ExpressionReader::binary_expression(size_t level) {
  if (level == levels.size()) return unary_expression();
  SIBYL_ASSIGN(Node node, binary_expression(level + 1));
  for (;;) {
    const Token& token = peek();
    const auto& symbols = levels[level];
    const auto found = std::find_if(symbols.begin(), symbols.end(), [&](std::string_view symbol) {
      return !symbol.empty() && token.is(symbol);
    });
    if (found == symbols.end()) return node;
    SIBYL_TRY(count_operation());
    const int line = token.line;
    next();
    SIBYL_ASSIGN(Node right, binary_expression(level + 1));
    SIBYL_ASSIGN(node, binary(*found, std::move(node), std::move(right), line));
  }
}

base::Result<Node> ExpressionReader::unary_expression() {
  if (depth_ >= max_depth) return refused(peek().line, "an expression of this depth is not supported");
  const Token& token = peek();
  const int line = token.line;
  for (const std::string_view op : {"-", "+", "!", "~"})
    if (token.is(op)) {
      SIBYL_TRY(count_operation());
      next();
      ++depth_;
      auto node = op == "-" ? negated(line) : unary_expression();
      --depth_;
      if (!node || op == "-") return node;
      return unary(op, std::move(*node), line);
    }
  if (!token.is("(")) return postfix_expression();
  next();
  const std::optional<Type> type = type_name();
  const bool is_cast = type && peek(1).is(")");
  --at_;
  if (!is_cast) return postfix_expression();
  SIBYL_TRY(count_operation());
  at_ += 3;
  // `(Integer) -1` is a subtraction.
  if (!is_primitive(type->kind) && (peek().is("+") || peek().is("-"))) return unsupported();
  ++depth_;
  auto operand = unary_expression();
  --depth_;
  if (!operand) return operand;
  return cast(std::move(*operand), *type, line);
}

// The operand of a minus that has been read.
base::Result<Node> ExpressionReader::negated(int line) {
  if (peek().kind == Token::Kind::integer && !peek(1).is(".")) return integer_of(next(), true);
  SIBYL_ASSIGN(Node operand, unary_expression());
  return unary("-", std::move(operand), line);
}

base::Result<Node> ExpressionReader::postfix_expression() {
  SIBYL_ASSIGN(Node node, primary_expression());
  while (accept(".")) {
    SIBYL_TRY(count_operation());
    const Token method = next();
    if (method.kind != Token::Kind::name)
      return refused(method.line, fmt::format("'{}' is not supported here", method.text));
    if (!peek().is("("))
      return refused(method.line, fmt::format("the field '{}' is not supported", method.text));
    SIBYL_ASSIGN(std::vector<Node> given, arguments());
    SIBYL_ASSIGN(node, call_method(std::move(node), method.text, std::move(given), method.line));
  }
  return node;
}

base::Result<Node> ExpressionReader::primary_expression() {
  if (accept("(")) {
    SIBYL_ASSIGN(Node node, expression());
    SIBYL_TRY(expect(")"));
    return node;
  }
  return peek().kind == Token::Kind::name ? named() : literal();
}

base::Result<Node> ExpressionReader::literal() {
  const Token& token = peek();
  switch (token.kind) {
    case Token::Kind::integer:
      return integer_of(next(), false);
    case Token::Kind::floating:
      return floating_of(next());
    case Token::Kind::string:
      return make_constant({JavaKind::string, nullptr}, of_text(next().value));
    case Token::Kind::character:
      return make_constant({JavaKind::char_, nullptr}, of_integer(next().value[0]));
    default:
      break;
  }
  if (accept("true")) return make_constant({JavaKind::boolean, nullptr}, of_integer(1));
  if (accept("false")) return make_constant({JavaKind::boolean, nullptr}, of_integer(0));
  if (!accept("null")) return unsupported();
  Value null;
  null.is_null = true;
  return make_constant({JavaKind::null, nullptr}, null);
}

base::Result<Node> ExpressionReader::named() {
  const Token& token = peek();
  if (const auto slot = find_variable(token.text)) {
    next();
    return make_variable(variables_[*slot].type, *slot, variables_[*slot].described);
  }
  // `java.lang.Math.max(a, b)`
  if (token.text == "java" && peek(1).is(".") && peek(2).text == "lang" && peek(3).is(".") &&
      is_class(peek(4).text))
    at_ += 4;
  if (is_class(peek().text) && peek(1).is(".")) return static_member();
  if (peek(1).is("(") || peek(1).is(".")) return unsupported();
  return refused(token.line, fmt::format("{} cannot be resolved to a variable", token.text));
}

base::Result<Node> ExpressionReader::static_member() {
  const std::string class_name = next().text;
  next();
  const Token member = next();
  if (member.kind != Token::Kind::name)
    return refused(member.line, fmt::format("'{}' is not supported here", member.text));
  if (!peek().is("(")) return constant_of(class_name, member.text, member.line);
  SIBYL_ASSIGN(std::vector<Node> given, arguments());
  return call_static(class_name, member.text, std::move(given), member.line);
}

base::Result<std::vector<Node>> ExpressionReader::arguments() {
  std::vector<Node> nodes;
  SIBYL_TRY(expect("("));
  while (!accept(")")) {
    if (!nodes.empty()) SIBYL_TRY(expect(","));
    SIBYL_ASSIGN(Node node, expression());
    nodes.push_back(std::move(node));
  }
  return nodes;
}

}  // namespace sibyl::plan::java
