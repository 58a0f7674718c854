// Literals with several parts: lists, vectors, sets, maps, tuples, user types.
#include <fmt/format.h>

#include <algorithm>

#include "plan/terms/functions.h"
#include "plan/terms/term.h"
#include "plan/terms/term_nodes.h"
#include "plan/terms/term_text.h"

namespace sibyl::plan {

using base::invalid;
using types::Kind;
using types::TypePtr;

namespace {

base::Result<TermPtr> composite(const Binder& binder, const TypePtr& type, std::vector<TermPtr> parts) {
  const bool is_selected = binder.scope() != nullptr;
  return fold(std::make_shared<CompositeTerm>(type, std::move(parts), is_selected));
}

std::unexpected<base::Error> wrong_literal(const char* what, const ColumnSpec& receiver) {
  return invalid(
      fmt::format("Invalid {} literal for {} of type {}", what, receiver.name, receiver.type->cql_name()));
}

base::Status refuse_markers(const char* what, const TermPtr& term, const ColumnSpec& receiver) {
  if (!term->has_marker()) return {};
  return invalid(
      fmt::format("Invalid {} literal for {}: bind variables are not supported inside collection literals",
                  what, receiver.name));
}

// `{a: 1}` where a selection needs a map: the key is the value of column a.
base::Result<TermPtr> map_of_columns(Binder& binder, const cql::UserTypeLiteral& literal,
                                     const ColumnSpec& receiver) {
  std::vector<TermPtr> parts;
  for (const auto& [column, value] : literal.fields) {
    cql::Expression key;
    key.node = cql::ColumnReference{column};
    SIBYL_ASSIGN(TermPtr bound_key, binder.term(key, key_spec(receiver)));
    SIBYL_ASSIGN(TermPtr bound_value, binder.term(*value, value_spec(receiver)));
    SIBYL_TRY(refuse_markers("map", bound_value, receiver));
    parts.push_back(std::move(bound_key));
    parts.push_back(std::move(bound_value));
  }
  return composite(binder, receiver.type, std::move(parts));
}

}  // namespace

base::Result<TermPtr> Binder::list_or_vector(const cql::ListLiteral& literal, const ColumnSpec& receiver) {
  const bool is_vector = receiver.type->kind() == Kind::vector;
  if (!is_vector && receiver.type->kind() != Kind::list)
    return invalid(fmt::format("Unexpected receiver type '{}'; only list and vector are expected",
                               receiver.type->cql_name()));
  const char* what = is_vector ? "vector" : "list";
  if (is_vector && literal.elements.size() != receiver.type->dimension())
    return invalid(fmt::format("Invalid vector literal for {} of type {}; expected {} elements, but given {}",
                               receiver.name, receiver.type->cql_name(), receiver.type->dimension(),
                               literal.elements.size()));
  const ColumnSpec element = value_spec(receiver);
  for (const cql::ExpressionPtr& part : literal.elements) {
    SIBYL_ASSIGN(const Fit fits, fit(*part, element));
    if (fits == Fit::none)
      return invalid(fmt::format("Invalid {} literal for {}: value {} is not of type {}", what, receiver.name,
                                 text_of(*part), element.type->cql_name()));
  }
  std::vector<TermPtr> parts;
  for (const cql::ExpressionPtr& part : literal.elements) {
    SIBYL_ASSIGN(TermPtr bound, term(*part, element));
    if (!is_vector) SIBYL_TRY(refuse_markers(what, bound, receiver));
    parts.push_back(std::move(bound));
  }
  return composite(*this, receiver.type, std::move(parts));
}

base::Result<TermPtr> Binder::set(const cql::SetLiteral& literal, const ColumnSpec& receiver) {
  if (receiver.type->kind() == Kind::map && literal.elements.empty())
    return composite(*this, receiver.type, {});
  if (receiver.type->kind() != Kind::set) return wrong_literal("set", receiver);
  const ColumnSpec element = value_spec(receiver);
  if (scope_ != nullptr && element.type->kind() == Kind::duration)
    return invalid("Durations are not allowed inside sets: " + types::freeze(receiver.type)->cql_name());
  for (const cql::ExpressionPtr& part : literal.elements) {
    SIBYL_ASSIGN(const Fit fits, fit(*part, element));
    if (fits == Fit::none)
      return invalid(fmt::format("Invalid set literal for {}: value {} is not of type {}", receiver.name,
                                 text_of(*part), element.type->cql_name()));
  }
  std::vector<TermPtr> parts;
  for (const cql::ExpressionPtr& part : literal.elements) {
    SIBYL_ASSIGN(TermPtr bound, term(*part, element));
    SIBYL_TRY(refuse_markers("set", bound, receiver));
    parts.push_back(std::move(bound));
  }
  return composite(*this, receiver.type, std::move(parts));
}

base::Result<TermPtr> Binder::map(const cql::MapLiteral& literal, const ColumnSpec& receiver) {
  if (receiver.type->kind() != Kind::map) return wrong_literal("map", receiver);
  const ColumnSpec key = key_spec(receiver);
  const ColumnSpec value = value_spec(receiver);
  for (const auto& [key_part, value_part] : literal.entries) {
    SIBYL_ASSIGN(const Fit key_fits, fit(*key_part, key));
    if (key_fits == Fit::none)
      return invalid(fmt::format("Invalid map literal for {}: key {} is not of type {}", receiver.name,
                                 text_of(*key_part), key.type->cql_name()));
    SIBYL_ASSIGN(const Fit value_fits, fit(*value_part, value));
    if (value_fits == Fit::none)
      return invalid(fmt::format("Invalid map literal for {}: value {} is not of type {}", receiver.name,
                                 text_of(*value_part), value.type->cql_name()));
  }
  std::vector<TermPtr> parts;
  for (const auto& [key_part, value_part] : literal.entries) {
    SIBYL_ASSIGN(TermPtr bound_key, term(*key_part, key));
    SIBYL_ASSIGN(TermPtr bound_value, term(*value_part, value));
    SIBYL_TRY(refuse_markers("map", bound_key, receiver));
    SIBYL_TRY(refuse_markers("map", bound_value, receiver));
    parts.push_back(std::move(bound_key));
    parts.push_back(std::move(bound_value));
  }
  return composite(*this, receiver.type, std::move(parts));
}

base::Result<TermPtr> Binder::tuple(const cql::TupleLiteral& literal, const ColumnSpec& receiver) {
  const bool is_tuple = receiver.type->kind() == Kind::tuple;
  if (!is_tuple && literal.elements.size() == 1) return term(*literal.elements[0], receiver);
  if (!is_tuple) return wrong_literal("tuple type", receiver);
  const size_t expected = receiver.type->parameters().size();
  for (size_t i = 0; i < literal.elements.size(); ++i) {
    if (i >= expected)
      return invalid(
          fmt::format("Invalid tuple literal for {}: too many elements. Type {} expects {} but got {}",
                      receiver.name, receiver.type->cql_name(), expected, literal.elements.size()));
    const ColumnSpec component = component_spec(receiver, i);
    SIBYL_ASSIGN(const Fit fits, fit(*literal.elements[i], component));
    if (fits == Fit::none)
      return invalid(fmt::format("Invalid tuple literal for {}: component {} is not of type {}",
                                 receiver.name, i, component.type->cql_name()));
  }
  std::vector<TermPtr> parts;
  for (size_t i = 0; i < literal.elements.size(); ++i) {
    SIBYL_ASSIGN(TermPtr bound, term(*literal.elements[i], component_spec(receiver, i)));
    parts.push_back(std::move(bound));
  }
  return composite(*this, receiver.type, std::move(parts));
}

base::Result<TermPtr> Binder::user_type(const cql::UserTypeLiteral& literal, const ColumnSpec& receiver) {
  if (scope_ != nullptr && receiver.type->kind() == Kind::map)
    return map_of_columns(*this, literal, receiver);
  if (receiver.type->kind() != Kind::udt) return wrong_literal("user type", receiver);
  const types::Type& type = *receiver.type;
  // If a field is written twice, its last value counts.
  std::vector<const cql::Expression*> fields(type.field_names().size());
  for (const auto& [name, value] : literal.fields)
    if (const int index = type.field_index(name); index >= 0)
      fields[static_cast<size_t>(index)] = value.get();
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i] == nullptr) continue;
    const ColumnSpec field = field_spec(receiver, i);
    SIBYL_ASSIGN(const Fit fits, fit(*fields[i], field));
    if (fits == Fit::none)
      return invalid(fmt::format("Invalid user type literal for {}: field {} is not of type {}",
                                 receiver.name, type.field_names()[i], field.type->cql_name()));
  }
  std::vector<TermPtr> parts;
  for (size_t i = 0; i < fields.size(); ++i) {
    const ColumnSpec field = field_spec(receiver, i);
    if (fields[i] == nullptr) {
      parts.push_back(std::make_shared<ConstantTerm>(field.type));
      continue;
    }
    SIBYL_ASSIGN(TermPtr bound, term(*fields[i], field));
    parts.push_back(std::move(bound));
  }
  for (const auto& [name, value] : literal.fields)
    if (type.field_index(name) < 0)
      return invalid(fmt::format("Unknown field '{}' in value of user defined type {}", name, type.name()));
  return composite(*this, receiver.type, std::move(parts));
}

}  // namespace sibyl::plan
