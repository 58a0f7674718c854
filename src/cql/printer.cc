#include "cql/printer.h"

#include <algorithm>

#include "cql/keyword.h"
#include "cql/shape.h"
#include "cql/writer.h"

namespace sibyl::cql {
namespace {

bool is_plain(std::string_view name) {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto rest = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && letter(name.front()) && std::all_of(name.begin(), name.end(), rest);
}

std::string in_quotes(std::string_view text, char quote) {
  std::string result(1, quote);
  for (const char c : text) {
    if (c == quote) result += c;
    result += c;
  }
  result += quote;
  return result;
}

// Operator precedence, from sums to nodes that never need parentheses.
enum Binding : int { sum_binding = 1, product_binding, sign_binding, modifier_binding, primary_binding };

int binding_of(const Expression& expression) {
  if (const auto* arithmetic = std::get_if<Arithmetic>(&expression.node)) {
    const bool sum =
        arithmetic->op == ArithmeticOperator::add || arithmetic->op == ArithmeticOperator::subtract;
    return sum ? sum_binding : product_binding;
  }
  if (std::holds_alternative<Negation>(expression.node)) return sign_binding;
  if (std::holds_alternative<FieldSelection>(expression.node) ||
      std::holds_alternative<ElementSelection>(expression.node) ||
      std::holds_alternative<SliceSelection>(expression.node)) {
    return modifier_binding;
  }
  return primary_binding;
}

// `(t)[0]` parses as a list with the type hint t. An expression that ends like this needs more parentheses
// before a bracket.
bool reads_as_hint(const Expression& expression) {
  if (const auto* hint = std::get_if<TypeHint>(&expression.node)) return reads_as_hint(*hint->of);
  const auto* tuple = std::get_if<TupleLiteral>(&expression.node);
  if (tuple == nullptr || tuple->elements.size() != 1) return false;
  const auto& inner = tuple->elements[0]->node;
  return std::holds_alternative<ColumnReference>(inner) || std::holds_alternative<FieldSelection>(inner) ||
         std::holds_alternative<Literal>(inner);
}

// True for a column, or an element, slice or field of one: the arguments of writetime() and ttl().
bool is_column_path(const Expression& expression) {
  if (std::holds_alternative<ColumnReference>(expression.node)) return true;
  if (const auto* field = std::get_if<FieldSelection>(&expression.node)) return is_column_path(*field->of);
  if (const auto* element = std::get_if<ElementSelection>(&expression.node))
    return is_column_path(*element->of);
  if (const auto* slice = std::get_if<SliceSelection>(&expression.node)) return is_column_path(*slice->of);
  return false;
}

}  // namespace

std::string print_name(std::string_view name) {
  return is_plain(name) && !is_reserved(name) ? std::string(name) : in_quotes(name, '"');
}

std::string print_string(std::string_view text) {
  return in_quotes(text, '\'');
}

std::string print(const Statement& statement) {
  Writer writer;
  writer.statement(statement);
  return writer.take();
}

std::string print(const Expression& expression) {
  Writer writer;
  writer.expression(expression);
  return writer.take();
}

std::string print(const RawType& type) {
  Writer writer;
  writer.type(type);
  return writer.take();
}

std::string print(const std::vector<Relation>& where) {
  Writer writer;
  writer.relations(where);
  return writer.take();
}

const char* to_string(Operator op) {
  switch (op) {
    case Operator::equal:
      return "=";
    case Operator::not_equal:
      return "!=";
    case Operator::less:
      return "<";
    case Operator::less_or_equal:
      return "<=";
    case Operator::greater:
      return ">";
    case Operator::greater_or_equal:
      return ">=";
    case Operator::in:
      return "IN";
    case Operator::not_in:
      return "NOT IN";
    case Operator::contains:
      return "CONTAINS";
    case Operator::contains_key:
      return "CONTAINS KEY";
    case Operator::not_contains:
      return "NOT CONTAINS";
    case Operator::not_contains_key:
      return "NOT CONTAINS KEY";
    case Operator::like:
      return "LIKE";
    case Operator::between:
      return "BETWEEN";
    case Operator::is_not_null:
      return "IS NOT NULL";
  }
  return "";
}

// --- Pieces

Writer& Writer::put(std::string_view text) {
  out_ += text;
  return *this;
}

void Writer::name(std::string_view name) {
  out_ += print_name(name);
}

void Writer::guarded_name(std::string_view name) {
  const bool bare = is_plain(name) && keyword_kind(name) == TokenKind::identifier;
  out_ += bare ? std::string(name) : in_quotes(name, '"');
}

// These words have another meaning at the beginning of a selector.
void Writer::column_reference(std::string_view column) {
  const bool ambiguous = column == "json" || column == "distinct" || column == "as" || column == "per";
  ambiguous ? guarded_name(column) : name(column);
}

void Writer::qualified(const QualifiedName& qualified) {
  const std::string_view keyspace =
      qualified.keyspace.empty() ? shape_keyspace_ : std::string_view(qualified.keyspace);
  if (!keyspace.empty()) {
    name(keyspace);
    put(".");
  }
  name(qualified.name);
}

void Writer::plain_function_name(std::string_view function) {
  const bool bare = is_plain(function) && is_function_name(keyword_kind(function));
  out_ += bare ? std::string(function) : in_quotes(function, '"');
}

void Writer::function_name(const QualifiedName& function) {
  if (!function.keyspace.empty()) {
    name(function.keyspace);
    put(".");
  }
  plain_function_name(function.name);
}

void Writer::string(std::string_view text) {
  out_ += print_string(text);
}

void Writer::names(const std::vector<std::string>& list) {
  separated(list, ", ", [this](const std::string& item) { name(item); });
}

void Writer::expressions(const std::vector<ExpressionPtr>& list) {
  separated(list, ", ", [this](const ExpressionPtr& item) { expression(*item); });
}

void Writer::types(const std::vector<RawType>& list) {
  separated(list, ", ", [this](const RawType& item) { type(item); });
}

void Writer::user_type_name(const QualifiedName& type) {
  if (!type.keyspace.empty()) {
    name(type.keyspace);
    put(".");
  }
  is_reserved_type_name(type.name) ? static_cast<void>(put(in_quotes(type.name, '"')))
                                   : guarded_name(type.name);
}

void Writer::type(const RawType& type) {
  if (type.frozen) put("frozen<");
  if (type.custom) {
    string(type.name);
  } else if (type.keyspace.empty() && is_native_type(keyword_kind(type.name))) {
    put(type.name);
  } else if (!type.parameters.empty()) {
    put(type.name).put("<");
    types(type.parameters);
    if (type.name == "vector") put(", ").put(std::to_string(type.dimension));
    put(">");
  } else {
    user_type_name({type.keyspace, type.name, type.position});
  }
  if (type.frozen) put(">");
}

// --- Expressions

void Writer::expression(const Expression& expression) {
  if (is_shape_ && is_constant(expression)) {
    put("?");
    return;
  }
  std::visit([this](const auto& inner) { node(inner); }, expression.node);
}

void Writer::operand(const Expression& expression, int binding) {
  const bool enclose = binding_of(expression) < binding;
  if (enclose) put("(");
  this->expression(expression);
  if (enclose) put(")");
}

void Writer::bracketed(const Expression& expression) {
  const bool enclose = reads_as_hint(expression);
  if (enclose) put("(");
  operand(expression, modifier_binding);
  if (enclose) put(")");
}

void Writer::node(const Literal& node) {
  if (node.kind == Literal::Kind::string) {
    string(node.text);
  } else if (node.kind == Literal::Kind::null) {
    put("null");
  } else {
    put(node.text);
  }
}

void Writer::node(const BindMarker& node) {
  if (node.name.empty()) {
    put("?");
  } else {
    put(":");
    name(node.name);
  }
}

void Writer::node(const ListLiteral& node) {
  put("[");
  expressions(node.elements);
  put("]");
}

void Writer::node(const SetLiteral& node) {
  put("{");
  expressions(node.elements);
  put("}");
}

void Writer::node(const MapLiteral& node) {
  put("{");
  separated(node.entries, ", ", [this](const auto& entry) {
    expression(*entry.first);
    put(": ");
    expression(*entry.second);
  });
  put("}");
}

void Writer::node(const UserTypeLiteral& node) {
  put("{");
  separated(node.fields, ", ", [this](const auto& field) {
    name(field.first);
    put(": ");
    expression(*field.second);
  });
  put("}");
}

void Writer::node(const TupleLiteral& node) {
  put("(");
  expressions(node.elements);
  put(")");
}

void Writer::node(const FunctionCall& node) {
  const QualifiedName& function = node.function;
  const bool of_cell = function.keyspace.empty() && (function.name == "writetime" || function.name == "ttl" ||
                                                     function.name == "maxwritetime");
  if (of_cell && node.arguments.size() == 1 && is_column_path(*node.arguments[0])) {
    put(function.name);
  } else {
    function_name(function);
  }
  put("(");
  if (node.star) put("*");
  expressions(node.arguments);
  put(")");
}

void Writer::node(const ColumnReference& node) {
  column_reference(node.name);
}

void Writer::node(const FieldSelection& node) {
  operand(*node.of, modifier_binding);
  // Without a space, `0.f` would parse as a number.
  put(std::holds_alternative<Literal>(node.of->node) ? " ." : ".");
  name(node.field);
}

void Writer::node(const ElementSelection& node) {
  bracketed(*node.of);
  put("[");
  expression(*node.key);
  put("]");
}

namespace {
// True for the ends of texts and numbers: a dot beside them stays a token of its own.
bool is_clear_of_dots(char c) {
  return c == '\'' || (c >= '0' && c <= '9');
}
}  // namespace

void Writer::node(const SliceSelection& node) {
  bracketed(*node.of);
  put("[");
  // As in Cassandra, there are no spaces if the ends cannot be confused with the dots: m['a'..'b'].
  if (node.from) {
    expression(*node.from);
    if (!is_clear_of_dots(out_.back())) put(" ");
  }
  put("..");
  if (node.to) {
    const size_t start = out_.size();
    expression(*node.to);
    if (!is_clear_of_dots(out_[start])) out_.insert(start, 1, ' ');
  }
  put("]");
}

void Writer::node(const Cast& node) {
  put("CAST(");
  expression(*node.of);
  put(" AS ");
  type(node.type);
  put(")");
}

void Writer::node(const TypeHint& node) {
  put("(");
  type(node.type);
  put(") ");
  operand(*node.of, primary_binding);
}

void Writer::node(const Arithmetic& node) {
  static constexpr const char* signs[] = {" + ", " - ", " * ", " / ", " % "};
  const bool sum = node.op == ArithmeticOperator::add || node.op == ArithmeticOperator::subtract;
  operand(*node.left, sum ? sum_binding : product_binding);
  put(signs[static_cast<size_t>(node.op)]);
  operand(*node.right, sum ? product_binding : sign_binding);
}

void Writer::node(const Negation& node) {
  put("-");
  const size_t start = out_.size();
  operand(*node.of, sign_binding);
  // Without a space, two signs would start a comment, and a sign before NaN, Infinity or P1D would belong to
  // that literal.
  const char first = out_[start];
  const bool clear = first == '(' || first == '"' || first == ':' || first == '?' ||
                     (first >= 'a' && first <= 'z' && first != 'n' && first != 'i');
  if (!clear) out_.insert(start, 1, ' ');
}

}  // namespace sibyl::cql
