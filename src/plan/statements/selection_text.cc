#include "plan/statements/selection_text.h"

#include <fmt/format.h>

#include "base/statement.h"
#include "plan/terms/functions.h"
#include "plan/terms/term_text.h"

namespace sibyl::plan {

namespace {

struct Namer {
  const schema::Table& table;
  const Binder& binder;
  Binder* typing;  // leaves out casts to the type that the value already has; nullptr: keeps them

  std::string name(const cql::Expression& expression) const {
    if (const auto* call = std::get_if<cql::FunctionCall>(&expression.node)) {
      const FunctionPtr function = binder.resolved(expression);
      return counted(call_name(*call, function == nullptr ? "system" : function->keyspace));
    }
    return counted(std::visit(*this, expression.node));
  }
  // Counts the work, because every level of a nested expression copies the texts of its parts.
  static std::string counted(std::string text) {
    constexpr int64_t nanos_of_name = 200;
    base::count_work(nanos_of_name + static_cast<int64_t>(text.size()));
    return text;
  }
  std::string list(const std::vector<cql::ExpressionPtr>& elements) const {
    std::string text;
    for (const cql::ExpressionPtr& element : elements) text += (text.empty() ? "" : ", ") + name(*element);
    return text;
  }

  std::string operator()(const cql::Literal& literal) const {
    cql::Expression expression;
    expression.node = literal;
    return text_of(expression);
  }
  std::string operator()(const cql::BindMarker&) const { return "?"; }
  std::string operator()(const cql::ListLiteral& node) const {
    return fmt::format("[{}]", list(node.elements));
  }
  std::string operator()(const cql::SetLiteral& node) const {
    return fmt::format("{{{}}}", list(node.elements));
  }
  std::string operator()(const cql::TupleLiteral& node) const {
    return fmt::format("({})", list(node.elements));
  }
  std::string operator()(const cql::MapLiteral& node) const {
    std::string text;
    for (const auto& [key, value] : node.entries)
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name(*key), name(*value));
    return fmt::format("{{{}}}", text);
  }
  std::string operator()(const cql::UserTypeLiteral& node) const {
    std::string text;
    for (const auto& [field, value] : node.fields)
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", field, name(*value));
    return fmt::format("{{{}}}", text);
  }
  std::string operator()(const cql::FunctionCall& call) const { return call_name(call, "system"); }
  std::string call_name(const cql::FunctionCall& call, const std::string& keyspace) const {
    const std::string& function = call.function.name;
    const bool of_literal =
        call.arguments.size() == 1 && std::holds_alternative<cql::Literal>(call.arguments[0]->node);
    const bool counts_rows = function == "count" && (call.star || of_literal);
    if (counts_rows || function == "count_rows") return "count";
    constexpr std::string_view cast = "cast_as_";
    if (function.starts_with(cast) && keyspace == "system")
      return fmt::format("cast({} as {})", list(call.arguments), function.substr(cast.size()));
    const bool is_metadata = call.function.keyspace.empty() &&
                             (function == "writetime" || function == "maxwritetime" || function == "ttl");
    return fmt::format("{}{}({})", is_metadata ? "" : keyspace + ".", function, list(call.arguments));
  }
  std::string operator()(const cql::ColumnReference& column) const { return column.name; }
  std::string operator()(const cql::FieldSelection& field) const {
    return fmt::format("{}.{}", name(*field.of), field.field);
  }
  std::string operator()(const cql::ElementSelection& element) const {
    return fmt::format("{}[{}]", name(*element.of), text_of(*element.key));
  }
  std::string operator()(const cql::SliceSelection& slice) const {
    return fmt::format("{}[{}..{}]", name(*slice.of), slice.from ? text_of(*slice.from) : "",
                       slice.to ? text_of(*slice.to) : "");
  }
  std::string operator()(const cql::Cast& cast) const {
    const types::TypePtr to = types::scalar_by_name(cast.type.name);
    if (typing != nullptr && to != nullptr) {
      const auto own = typing->exact_type(*cast.of);
      if (own && *own != nullptr && **own == *to) return name(*cast.of);
    }
    return fmt::format("cast({} as {})", name(*cast.of), to == nullptr ? cast.type.name : to->cql_name());
  }
  std::string operator()(const cql::TypeHint& hint) const {
    const std::string type = type_text(hint.type, false);
    return fmt::format("({}){}", type, name(*hint.of));
  }
  std::string operator()(const cql::Arithmetic& node) const {
    return fmt::format("{} {} {}", name(*node.left), operation_symbol(operation_name(node.op)),
                       name(*node.right));
  }
  std::string operator()(const cql::Negation& node) const { return fmt::format("-{}", name(*node.of)); }

 private:
  // User types have their full names. `frozen` is omitted for types that are always frozen, and written
  // inside others.
  std::string type_text(const cql::RawType& type, bool is_inner) const {
    const bool is_user_type =
        type.parameters.empty() && !type.custom && types::scalar_by_name(type.name) == nullptr;
    std::string text =
        is_user_type ? (type.keyspace.empty() ? table.keyspace : type.keyspace) + "." + type.name : type.name;
    for (size_t i = 0; i < type.parameters.size(); ++i)
      text += (i == 0 ? "<" : ", ") + type_text(type.parameters[i], true);
    if (!type.parameters.empty()) text += type.dimension != 0 ? fmt::format(", {}>", type.dimension) : ">";
    const bool is_always_frozen = type.name == "tuple" || type.name == "vector";
    const bool says_frozen = is_user_type ? type.frozen || is_inner : type.frozen && !is_always_frozen;
    return says_frozen ? fmt::format("frozen<{}>", text) : text;
  }
};

}  // namespace

std::string result_name(const cql::Expression& expression, const schema::Table& table, Binder& binder) {
  return Namer{table, binder, &binder}.name(expression);
}

std::string selector_text(const cql::Expression& expression, const schema::Table& table,
                          const Binder& binder) {
  return Namer{table, binder, nullptr}.name(expression);
}

}  // namespace sibyl::plan
