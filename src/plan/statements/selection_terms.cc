#include "plan/statements/selection_terms.h"

#include <fmt/format.h>

#include "plan/statements/selection.h"
#include "plan/terms/functions.h"

namespace sibyl::plan {

using base::invalid;
using types::Kind;

base::Result<ValueView> FieldTerm::evaluate(const Bindings& bindings, Scratch& scratch) const {
  SIBYL_ASSIGN(const ValueView value, of_->evaluate(bindings, scratch));
  if (!value.is_present()) return ValueView::null();
  SIBYL_ASSIGN(const types::Elements fields, types::split(*of_->type(), value.bytes));
  return field_ < fields.size() && fields[field_] ? ValueView::of(*fields[field_]) : ValueView::null();
}

base::Result<ValueView> ElementTerm::evaluate(const Bindings& bindings, Scratch& scratch) const {
  SIBYL_ASSIGN(const ValueView key, key_->evaluate(bindings, scratch));
  if (key.is_null()) return invalid(fmt::format("Invalid null value for element selection on {}", name_));
  if (key.is_unset()) return invalid(fmt::format("Invalid unset value for element selection on {}", name_));
  SIBYL_ASSIGN(const ValueView value, of_->evaluate(bindings, scratch));
  if (!value.is_present()) return ValueView::null();
  const types::Type& type = *of_->type();
  SIBYL_ASSIGN(const types::Elements elements, types::split(type, value.bytes));
  const size_t step = type.kind() == Kind::map ? 2 : 1;
  for (size_t i = 0; i < elements.size(); i += step) {
    if (!elements[i] || types::compare(*type.parameters()[0], *elements[i], key.bytes) != 0) continue;
    const auto& found = elements[i + step - 1];
    return found ? ValueView::of(*found) : ValueView::null();
  }
  return ValueView::null();
}

base::Result<ValueView> SliceTerm::evaluate(const Bindings& bindings, Scratch& scratch) const {
  const auto bound = [&](const TermPtr& term) -> base::Result<ValueView> {
    if (term == nullptr) return ValueView::unset();
    SIBYL_ASSIGN(const ValueView value, term->evaluate(bindings, scratch));
    if (value.is_null()) return invalid(fmt::format("Invalid null value for slice selection on {}", name_));
    return value;
  };
  SIBYL_ASSIGN(const ValueView from, bound(from_));
  SIBYL_ASSIGN(const ValueView to, bound(to_));
  SIBYL_ASSIGN(const ValueView value, of_->evaluate(bindings, scratch));
  if (!value.is_present()) return ValueView::null();
  SIBYL_ASSIGN(const types::Elements elements, types::split(*type_, value.bytes));
  const size_t step = type_->kind() == Kind::map ? 2 : 1;
  const types::Type& key_type = *type_->parameters()[0];
  types::Elements kept_elements;
  for (size_t i = 0; i < elements.size(); i += step) {
    if (!elements[i]) continue;
    if (from.is_present() && types::compare(key_type, *elements[i], from.bytes) < 0) continue;
    if (to.is_present() && types::compare(key_type, *elements[i], to.bytes) > 0) continue;
    for (size_t j = 0; j < step; ++j) kept_elements.push_back(elements[i + j]);
  }
  if (kept_elements.empty() && type_->is_multi_cell()) return ValueView::null();
  return kept(scratch, types::join(*type_, kept_elements));
}

// --- Names

namespace {

struct Namer {
  const schema::Table& table;
  const Binder& binder;
  bool leaves_out_casts;  // casts to the type that the value already has

  std::string name(const cql::Expression& expression) const {
    if (const auto* call = std::get_if<cql::FunctionCall>(&expression.node)) {
      const FunctionPtr function = binder.resolved(expression);
      return call_name(*call, function == nullptr ? "system" : function->keyspace);
    }
    return std::visit(*this, expression.node);
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
    if (const auto* column = std::get_if<cql::ColumnReference>(&cast.of->node); column && leaves_out_casts) {
      const schema::Column* found = table.find(column->name);
      if (to != nullptr && found != nullptr && *found->type == *to) return name(*cast.of);
    }
    const FunctionPtr inner = binder.resolved(*cast.of);
    if (leaves_out_casts && to != nullptr && inner != nullptr && *inner->returns == *to)
      return name(*cast.of);
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

std::string result_name(const cql::Expression& expression, const schema::Table& table, const Binder& binder) {
  return Namer{table, binder, true}.name(expression);
}

std::string selector_text(const cql::Expression& expression, const schema::Table& table,
                          const Binder& binder) {
  return Namer{table, binder, false}.name(expression);
}

}  // namespace sibyl::plan
