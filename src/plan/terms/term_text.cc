// Expressions as spelled in Cassandra's error texts and result names.
#include "plan/terms/term_text.h"

#include <fmt/format.h>

#include "base/statement.h"
#include "cql/printer.h"
#include "plan/terms/functions.h"

namespace sibyl::plan {

namespace {

constexpr int64_t nanos_of_text = 100;

std::string joined(const std::vector<cql::ExpressionPtr>& elements) {
  std::string text;
  for (const cql::ExpressionPtr& element : elements) {
    if (!text.empty()) text += ", ";
    text += text_of(*element);
  }
  return text;
}

struct Printer {
  std::string operator()(const cql::Literal& literal) const {
    if (literal.kind == cql::Literal::Kind::null) return "NULL";
    return literal.kind == cql::Literal::Kind::string ? fmt::format("'{}'", literal.text) : literal.text;
  }
  std::string operator()(const cql::BindMarker&) const { return "?"; }
  std::string operator()(const cql::ListLiteral& list) const {
    return fmt::format("[{}]", joined(list.elements));
  }
  std::string operator()(const cql::SetLiteral& set) const {
    return fmt::format("{{{}}}", joined(set.elements));
  }
  std::string operator()(const cql::MapLiteral& map) const {
    std::string text;
    for (const auto& [key, value] : map.entries)
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", text_of(*key), text_of(*value));
    return fmt::format("{{{}}}", text);
  }
  std::string operator()(const cql::UserTypeLiteral& udt) const {
    std::string text;
    for (const auto& [name, value] : udt.fields)
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, text_of(*value));
    return fmt::format("{{{}}}", text);
  }
  std::string operator()(const cql::TupleLiteral& tuple) const {
    return fmt::format("({})", joined(tuple.elements));
  }
  std::string operator()(const cql::FunctionCall& call) const {
    const std::string prefix = call.function.keyspace.empty() ? "" : call.function.keyspace + ".";
    return fmt::format("{}{}({})", prefix, call.function.name, call.star ? "*" : joined(call.arguments));
  }
  std::string operator()(const cql::ColumnReference& column) const { return column.name; }
  std::string operator()(const cql::FieldSelection& field) const {
    return fmt::format("{}.{}", text_of(*field.of), field.field);
  }
  std::string operator()(const cql::ElementSelection& element) const {
    return fmt::format("{}[{}]", text_of(*element.of), text_of(*element.key));
  }
  std::string operator()(const cql::SliceSelection& slice) const {
    return fmt::format("{}[{}..{}]", text_of(*slice.of), slice.from ? text_of(*slice.from) : "",
                       slice.to ? text_of(*slice.to) : "");
  }
  std::string operator()(const cql::Cast& cast) const {
    return fmt::format("system.cast_as_{}({})", cql::print(cast.type), text_of(*cast.of));
  }
  std::string operator()(const cql::TypeHint& hint) const {
    return fmt::format("({}){}", cql::print(hint.type), text_of(*hint.of));
  }
  std::string operator()(const cql::Arithmetic& arithmetic) const {
    return fmt::format("system.\"{}\"({}, {})", operation_name(arithmetic.op), text_of(*arithmetic.left),
                       text_of(*arithmetic.right));
  }
  std::string operator()(const cql::Negation& negation) const {
    return fmt::format("system.\"{}\"({})", negation_name, text_of(*negation.of));
  }
};

}  // namespace

// Each level of a nested expression copies the texts of its parts, so the copies are counted as work.
std::string text_of(const cql::Expression& expression) {
  std::string text = std::visit(Printer{}, expression.node);
  base::count_work(nanos_of_text + static_cast<int64_t>(text.size()));
  return text;
}

}  // namespace sibyl::plan
