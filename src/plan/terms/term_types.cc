// Types of written expressions: whether they fit a receiver, and types that are written explicitly.
#include "plan/terms/term_types.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/statement.h"
#include "plan/terms/functions.h"
#include "plan/terms/term.h"
#include "types/compare.h"
#include "types/literals/literal.h"
#include "types/literals/literal_number.h"
#include "types/number.h"
#include "types/print.h"
#include "types/uuid.h"

namespace sibyl::plan {

using base::invalid;
using types::Kind;
using types::TypePtr;

// --- Comparing types

namespace {

bool same(const types::Type& left, const types::Type& right) {
  return left == right;
}

// True if values of `other` also sort like values of `receiver`. Required for keys of maps and sets.
bool order_compatible(const types::Type& receiver, const types::Type& other) {
  if (same(receiver, other)) return true;
  if (receiver.kind() == Kind::blob) return other.kind() == Kind::ascii || other.kind() == Kind::text;
  return receiver.kind() == Kind::text && other.kind() == Kind::ascii;
}

bool value_compatible(const types::Type& receiver, const types::Type& other);

bool parts_compatible(const types::Type& receiver, const types::Type& other) {
  if (receiver.kind() != other.kind() || receiver.parameters().size() < other.parameters().size())
    return false;
  for (size_t i = 0; i < other.parameters().size(); ++i)
    if (!value_compatible(*receiver.parameters()[i], *other.parameters()[i])) return false;
  return true;
}

bool collection_compatible(const types::Type& receiver, const types::Type& other) {
  if (receiver.kind() != other.kind() || receiver.is_multi_cell() != other.is_multi_cell()) return false;
  switch (receiver.kind()) {
    case Kind::list:
      return value_compatible(*receiver.element(), *other.element());
    case Kind::set:
      return order_compatible(*receiver.element(), *other.element());
    default:
      return order_compatible(*receiver.map_key(), *other.map_key()) &&
             value_compatible(*receiver.map_value(), *other.map_value());
  }
}

bool value_compatible(const types::Type& receiver, const types::Type& other) {
  if (same(receiver, other)) return true;
  const Kind from = other.kind();
  switch (receiver.kind()) {
    case Kind::blob:
      return true;
    case Kind::text:
      return from == Kind::ascii;
    case Kind::bigint:
      return from == Kind::timestamp;
    case Kind::timestamp:
    case Kind::time:
      return from == Kind::bigint;
    case Kind::date:
      return from == Kind::int_;
    case Kind::varint:
      return from == Kind::int_ || from == Kind::bigint || from == Kind::timestamp;
    case Kind::uuid:
      return from == Kind::timeuuid;
    case Kind::tuple:
      return parts_compatible(receiver, other);
    case Kind::udt:
      return from == Kind::udt && receiver.keyspace() == other.keyspace() &&
             receiver.name() == other.name() && receiver.is_multi_cell() == other.is_multi_cell() &&
             parts_compatible(receiver, other);
    case Kind::list:
    case Kind::set:
    case Kind::map:
      return collection_compatible(receiver, other);
    default:
      return false;
  }
}

// The type of a literal in a place that implies none.
TypePtr preferred_literal_type(const cql::Literal& literal) {
  switch (literal.kind) {
    case cql::Literal::Kind::string: {
      for (const char c : literal.text)
        if (static_cast<unsigned char>(c) >= 0x80) return types::scalar(Kind::text);
      return types::scalar(Kind::ascii);
    }
    case cql::Literal::Kind::integer: {
      if (types::from_string(*types::scalar(Kind::int_), literal.text)) return types::scalar(Kind::int_);
      if (types::from_string(*types::scalar(Kind::bigint), literal.text)) return types::scalar(Kind::bigint);
      return types::scalar(Kind::varint);
    }
    case cql::Literal::Kind::floating: {
      const auto decimal = types::parse_decimal(literal.text);
      if (!decimal) return types::scalar(Kind::double_);  // these are NaN and the infinities
      const auto rounded = types::from_string(*types::scalar(Kind::double_), literal.text);
      if (!rounded) return types::scalar(Kind::decimal);
      const auto again = types::parse_decimal(types::format_double(types::decode_double(*rounded)));
      const bool is_exact = again && types::compare(*types::scalar(Kind::decimal), *again, *decimal) == 0;
      return types::scalar(is_exact ? Kind::double_ : Kind::decimal);
    }
    case cql::Literal::Kind::uuid: {
      Bytes uuid;
      const bool is_time = types::parse_uuid(literal.text, uuid) && types::uuid_version(uuid) == 1;
      return types::scalar(is_time ? Kind::timeuuid : Kind::uuid);
    }
    case cql::Literal::Kind::boolean:
      return types::scalar(Kind::boolean);
    case cql::Literal::Kind::blob:
      return types::scalar(Kind::blob);
    case cql::Literal::Kind::duration:
      return types::scalar(Kind::duration);
    case cql::Literal::Kind::null:
      return nullptr;
  }
  return nullptr;
}

bool literal_reads_as(cql::Literal::Kind literal, Kind type) {
  switch (literal) {
    case cql::Literal::Kind::string:
      return type == Kind::ascii || type == Kind::text || type == Kind::inet || type == Kind::date ||
             type == Kind::time || type == Kind::timestamp;
    case cql::Literal::Kind::integer:
      return type == Kind::bigint || type == Kind::counter || type == Kind::date || type == Kind::decimal ||
             type == Kind::double_ || type == Kind::duration || type == Kind::float_ || type == Kind::int_ ||
             type == Kind::smallint || type == Kind::time || type == Kind::timestamp ||
             type == Kind::tinyint || type == Kind::varint;
    case cql::Literal::Kind::uuid:
      return type == Kind::uuid || type == Kind::timeuuid;
    case cql::Literal::Kind::floating:
      return type == Kind::decimal || type == Kind::double_ || type == Kind::float_;
    case cql::Literal::Kind::boolean:
      return type == Kind::boolean;
    case cql::Literal::Kind::blob:
      return type == Kind::blob;
    case cql::Literal::Kind::duration:
      return type == Kind::duration;
    case cql::Literal::Kind::null:
      return true;
  }
  return false;
}

Fit weaker(Fit left, Fit right) {
  return left > right ? left : right;
}

}  // namespace

namespace {
// Ignores frozen, which affects how a column is stored but not its value.
bool same_value(const types::Type& left, const types::Type& right) {
  if (same(left, right)) return true;
  const bool has_cells = left.is_collection() || left.kind() == Kind::udt;
  if (!has_cells || left.kind() != right.kind() || left.keyspace() != right.keyspace() ||
      left.name() != right.name() || left.field_names() != right.field_names() ||
      left.parameters().size() != right.parameters().size())
    return false;
  for (size_t i = 0; i < left.parameters().size(); ++i)
    if (!same_value(*left.parameters()[i], *right.parameters()[i])) return false;
  return true;
}
}  // namespace

Fit fit_of(const types::Type& type, const types::Type& receiver) {
  if (same(type, receiver) || (type.is_multi_cell() && same_value(type, receiver))) return Fit::exact;
  return value_compatible(receiver, type) ? Fit::weak : Fit::none;
}

namespace {
// A selected value fits whether it is frozen or not.
Fit fit_of_selected(const types::Type& type, const types::Type& receiver) {
  return same_value(type, receiver) ? Fit::exact : fit_of(type, receiver);
}
}  // namespace

// --- Fitting expressions to receivers

base::Result<Fit> Binder::fit_all(const std::vector<cql::ExpressionPtr>& elements,
                                  const ColumnSpec& receiver) {
  Fit all = Fit::exact;
  for (const cql::ExpressionPtr& element : elements) {
    SIBYL_ASSIGN(const Fit one, fit(*element, receiver));
    all = weaker(all, one);
  }
  return all;
}

base::Result<Fit> Binder::fit_literal(const cql::Expression& expression, const ColumnSpec& receiver) {
  const auto& literal = std::get<cql::Literal>(expression.node);
  const types::Type& type = *receiver.type;
  if (literal.kind == cql::Literal::Kind::null) return type.is_counter() ? Fit::none : Fit::weak;
  if (type.is_collection() || type.kind() == Kind::udt || type.kind() == Kind::vector) return Fit::none;
  if (type.kind() == Kind::tuple || type.kind() == Kind::custom) return Fit::weak;
  if (const TypePtr own = preferred_literal_type(literal); own != nullptr && *own == type) return Fit::exact;
  return literal_reads_as(literal.kind, type.kind()) ? Fit::weak : Fit::none;
}

namespace {
base::Result<Fit> fit_map(Binder& binder, const cql::MapLiteral& map, const ColumnSpec& receiver) {
  if (receiver.type->kind() != Kind::map) return Fit::none;
  Fit all = Fit::exact;
  for (const auto& [key, value] : map.entries) {
    SIBYL_ASSIGN(const Fit key_fit, binder.fit(*key, key_spec(receiver)));
    SIBYL_ASSIGN(const Fit value_fit, binder.fit(*value, value_spec(receiver)));
    all = weaker(all, weaker(key_fit, value_fit));
  }
  return all;
}

base::Result<Fit> fit_tuple(Binder& binder, const cql::TupleLiteral& tuple, const ColumnSpec& receiver) {
  if (receiver.type->kind() != Kind::tuple)
    return tuple.elements.size() == 1 ? binder.fit(*tuple.elements[0], receiver)
                                      : base::Result<Fit>(Fit::none);
  if (tuple.elements.size() > receiver.type->parameters().size()) return Fit::none;
  for (size_t i = 0; i < tuple.elements.size(); ++i) {
    SIBYL_ASSIGN(const Fit one, binder.fit(*tuple.elements[i], component_spec(receiver, i)));
    if (one == Fit::none) return Fit::none;
  }
  return Fit::weak;
}

base::Result<Fit> fit_map_of_columns(Binder& binder, const cql::UserTypeLiteral& literal,
                                     const ColumnSpec& receiver) {
  Fit all = Fit::exact;
  for (const auto& [column, value] : literal.fields) {
    cql::Expression key;
    key.node = cql::ColumnReference{column};
    SIBYL_ASSIGN(const Fit key_fit, binder.fit(key, key_spec(receiver)));
    SIBYL_ASSIGN(const Fit value_fit, binder.fit(*value, value_spec(receiver)));
    all = weaker(all, weaker(key_fit, value_fit));
  }
  return all;
}

base::Result<Fit> fit_user_type(Binder& binder, const cql::UserTypeLiteral& literal,
                                const ColumnSpec& receiver) {
  if (binder.scope() != nullptr && receiver.type->kind() == Kind::map)
    return fit_map_of_columns(binder, literal, receiver);
  if (receiver.type->kind() != Kind::udt) return Fit::none;
  for (const auto& [name, value] : literal.fields) {
    const int index = receiver.type->field_index(name);
    if (index < 0) continue;
    SIBYL_ASSIGN(const Fit one, binder.fit(*value, field_spec(receiver, static_cast<size_t>(index))));
    if (one == Fit::none) return Fit::none;
  }
  return Fit::weak;
}
}  // namespace

base::Result<Fit> Binder::fit(const cql::Expression& expression, const ColumnSpec& receiver) {
  constexpr int64_t nanos_of_fitting = 200;
  base::count_work(nanos_of_fitting);
  const types::Type& type = *receiver.type;
  if (std::holds_alternative<cql::Literal>(expression.node)) return fit_literal(expression, receiver);
  if (std::holds_alternative<cql::BindMarker>(expression.node)) return Fit::weak;
  if (const auto* list = std::get_if<cql::ListLiteral>(&expression.node)) {
    const bool is_vector = type.kind() == Kind::vector;
    if (!is_vector && type.kind() != Kind::list && scope_ != nullptr) return Fit::none;
    if (!is_vector && type.kind() != Kind::list)
      return invalid(
          fmt::format("Unexpected receiver type '{}'; only list and vector are expected", type.cql_name()));
    if (is_vector && list->elements.size() != type.dimension()) return Fit::none;
    return list->elements.empty() ? base::Result<Fit>(Fit::weak)
                                  : fit_all(list->elements, value_spec(receiver));
  }
  if (const auto* set = std::get_if<cql::SetLiteral>(&expression.node)) {
    if (set->elements.empty())
      return type.kind() == Kind::set || type.kind() == Kind::map ? Fit::weak : Fit::none;
    if (type.kind() != Kind::set) return Fit::none;
    return fit_all(set->elements, value_spec(receiver));
  }
  if (const auto* map = std::get_if<cql::MapLiteral>(&expression.node)) return fit_map(*this, *map, receiver);
  if (const auto* tuple = std::get_if<cql::TupleLiteral>(&expression.node))
    return fit_tuple(*this, *tuple, receiver);
  if (const auto* udt = std::get_if<cql::UserTypeLiteral>(&expression.node))
    return fit_user_type(*this, *udt, receiver);
  if (scope_ != nullptr) {
    SIBYL_ASSIGN(const TypePtr own, scope_->type_of(expression));
    if (own != nullptr) return fit_of_selected(*own, type);
  }
  if (const auto* hint = std::get_if<cql::TypeHint>(&expression.node)) {
    SIBYL_ASSIGN(const TypePtr own,
                 this->type(hint->type, receiver.keyspace.empty() ? keyspace_ : receiver.keyspace));
    return scope_ == nullptr ? fit_of(*own, type) : fit_of_selected(*own, type);
  }
  return fit_call(expression, receiver);
}

base::Result<Fit> Binder::fit_call(const cql::Expression& expression, const ColumnSpec& receiver) {
  if (scope_ != nullptr && std::holds_alternative<cql::Cast>(expression.node)) {
    SIBYL_ASSIGN(const TypePtr own, exact_type(expression));
    if (own != nullptr) return fit_of_selected(*own, *receiver.type);
  }
  if (scope_ != nullptr) {
    // Selectors have their own types, independent of their use.
    SIBYL_ASSIGN(const FunctionPtr own, resolve(expression, receiver, false));
    return own == nullptr ? Fit::weak : fit_of_selected(*own->returns, *receiver.type);
  }
  const auto function = resolve(expression, receiver, true);
  // A call that cannot be resolved counts as fitting, because binding it gives the better error.
  if (!function || *function == nullptr) return Fit::weak;
  if ((*function)->from_factory) return Fit::weak;
  return fit_of(*(*function)->returns, *receiver.type);
}

// --- Types of expressions

namespace {
// The type of the first element that has one, or nullptr.
base::Result<TypePtr> element_type(Binder& binder, const std::vector<cql::ExpressionPtr>& elements) {
  for (const cql::ExpressionPtr& element : elements) {
    SIBYL_ASSIGN(const TypePtr own, binder.exact_type(*element));
    if (own != nullptr) return types::freeze(own);
  }
  return nullptr;
}

base::Result<TypePtr> map_type(Binder& binder, const cql::MapLiteral& map) {
  TypePtr key, value;
  for (const auto& entry : map.entries) {
    if (key == nullptr) {
      SIBYL_ASSIGN(key, binder.exact_type(*entry.first));
    }
    if (value == nullptr) {
      SIBYL_ASSIGN(value, binder.exact_type(*entry.second));
    }
  }
  if (key == nullptr || value == nullptr) return nullptr;
  return types::map_of(types::freeze(key), types::freeze(value), false);
}

base::Result<TypePtr> tuple_type(Binder& binder, const cql::TupleLiteral& tuple) {
  // One element in parentheses may be a tuple, or just an expression in parentheses.
  if (tuple.elements.size() == 1) return nullptr;
  std::vector<TypePtr> components;
  for (const cql::ExpressionPtr& element : tuple.elements) {
    SIBYL_ASSIGN(TypePtr own, binder.exact_type(*element));
    if (own == nullptr) return nullptr;
    components.push_back(types::freeze(own));
  }
  return types::tuple_of(std::move(components));
}
}  // namespace

base::Result<TypePtr> Binder::exact_type(const cql::Expression& expression) {
  if (scope_ != nullptr) {
    SIBYL_ASSIGN(TypePtr own, scope_->type_of(expression));
    if (own != nullptr) return own;
  }
  // Values built in a selection are frozen.
  const bool frozen = scope_ != nullptr;
  if (const auto* hint = std::get_if<cql::TypeHint>(&expression.node)) {
    SIBYL_ASSIGN(const TypePtr own, type(hint->type, keyspace_));
    return frozen ? types::freeze(own) : own;
  }
  if (const auto* cast = std::get_if<cql::Cast>(&expression.node); cast != nullptr && scope_ != nullptr) {
    SIBYL_ASSIGN(const TypePtr own, type(cast->type, keyspace_));
    if (!cast_name(*own).empty()) return own;
  }
  if (const auto* set = std::get_if<cql::SetLiteral>(&expression.node)) {
    SIBYL_ASSIGN(const TypePtr element, element_type(*this, set->elements));
    return element == nullptr ? nullptr : types::set_of(element, frozen);
  }
  if (const auto* map = std::get_if<cql::MapLiteral>(&expression.node)) return map_type(*this, *map);
  if (const auto* tuple = std::get_if<cql::TupleLiteral>(&expression.node)) return tuple_type(*this, *tuple);
  if (const auto* list = std::get_if<cql::ListLiteral>(&expression.node);
      list != nullptr && scope_ != nullptr) {
    SIBYL_ASSIGN(const TypePtr element, element_type(*this, list->elements));
    return element == nullptr ? nullptr : types::list_of(element, frozen);
  }
  const bool is_call = std::holds_alternative<cql::FunctionCall>(expression.node) ||
                       std::holds_alternative<cql::Arithmetic>(expression.node) ||
                       std::holds_alternative<cql::Negation>(expression.node) ||
                       std::holds_alternative<cql::Cast>(expression.node);
  if (!is_call) return nullptr;
  const auto function = resolve(expression, scope_ == nullptr ? ColumnSpec() : scope_->receiver(), false);
  return function && *function != nullptr ? (*function)->returns : nullptr;
}

namespace {
// The first of the types that fits all the others.
TypePtr common_type(const std::vector<TypePtr>& known) {
  for (const TypePtr& candidate : known) {
    bool all = true;
    for (const TypePtr& other : known) all = all && fit_of(*other, *candidate) != Fit::none;
    if (all) return candidate;
  }
  return nullptr;
}
}  // namespace

base::Result<TypePtr> Binder::preferred_type(const cql::Expression& expression) {
  if (const auto* literal = std::get_if<cql::Literal>(&expression.node))
    return preferred_literal_type(*literal);
  const std::vector<cql::ExpressionPtr>* elements = nullptr;
  // Cassandra infers types of different literals in terms and in selectors.
  const bool selects = scope_ != nullptr;
  if (const auto* list = std::get_if<cql::ListLiteral>(&expression.node); list != nullptr && selects)
    elements = &list->elements;
  if (const auto* set = std::get_if<cql::SetLiteral>(&expression.node)) elements = &set->elements;
  if (elements != nullptr) {
    std::vector<TypePtr> known;
    for (const cql::ExpressionPtr& element : *elements) {
      SIBYL_ASSIGN(TypePtr own, preferred_type(*element));
      if (own != nullptr) known.push_back(types::freeze(own));
    }
    const TypePtr common = common_type(known);
    if (common == nullptr) return nullptr;
    const bool is_list = std::holds_alternative<cql::ListLiteral>(expression.node);
    return is_list ? types::list_of(common, true) : types::set_of(common, true);
  }
  if (const auto* map = std::get_if<cql::MapLiteral>(&expression.node)) {
    if (selects) return nullptr;
    std::vector<TypePtr> keys, values;
    for (const auto& entry : map->entries) {
      SIBYL_ASSIGN(TypePtr key, preferred_type(*entry.first));
      SIBYL_ASSIGN(TypePtr value, preferred_type(*entry.second));
      if (key != nullptr) keys.push_back(types::freeze(key));
      if (value != nullptr) values.push_back(types::freeze(value));
    }
    const TypePtr key = common_type(keys), value = common_type(values);
    if (key == nullptr || value == nullptr) return nullptr;
    return types::map_of(key, value, true);
  }
  if (!selects && std::holds_alternative<cql::ListLiteral>(expression.node)) return nullptr;
  if (const auto* tuple = std::get_if<cql::TupleLiteral>(&expression.node);
      tuple != nullptr && selects && tuple->elements.size() > 1) {
    std::vector<TypePtr> components;
    for (const cql::ExpressionPtr& element : tuple->elements) {
      SIBYL_ASSIGN(const TypePtr own, preferred_type(*element));
      if (own == nullptr) return nullptr;
      components.push_back(types::freeze(own));
    }
    return types::tuple_of(std::move(components));
  }
  return exact_type(expression);
}

}  // namespace sibyl::plan
