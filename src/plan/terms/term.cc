#include "plan/terms/term.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/statement.h"
#include "plan/terms/functions.h"
#include "plan/terms/term_nodes.h"
#include "plan/terms/term_text.h"
#include "plan/terms/term_types.h"
#include "types/compare.h"
#include "types/elements.h"
#include "types/literals/literal.h"
#include "types/print.h"
#include "types/validate.h"

namespace sibyl::plan {

using base::invalid;
using types::Kind;
using types::TypePtr;

// --- Receivers

ColumnSpec spec_of(const schema::Table& table, const schema::Column& column) {
  return {table.keyspace, table.name, column.name, column.type};
}

namespace {
ColumnSpec inner(const ColumnSpec& outer, std::string name, TypePtr type) {
  return {outer.keyspace, outer.table, std::move(name), std::move(type)};
}
}  // namespace

ColumnSpec index_spec(const ColumnSpec& list) {
  return inner(list, fmt::format("idx({})", list.name), types::scalar(Kind::int_));
}
ColumnSpec key_spec(const ColumnSpec& map) {
  return inner(map, fmt::format("key({})", map.name), map.type->map_key());
}
ColumnSpec value_spec(const ColumnSpec& collection) {
  const TypePtr& type = collection.type->parameters()[collection.type->kind() == Kind::map ? 1 : 0];
  return inner(collection, fmt::format("value({})", collection.name), type);
}
ColumnSpec component_spec(const ColumnSpec& tuple, size_t component) {
  return inner(tuple, fmt::format("{}[{}]", tuple.name, component), tuple.type->parameters()[component]);
}
ColumnSpec field_spec(const ColumnSpec& udt, size_t field) {
  return inner(udt, fmt::format("{}.{}", udt.name, udt.type->field_names()[field]),
               udt.type->parameters()[field]);
}

// --- Binder

Binder::Binder(const schema::Snapshot& schema, std::string keyspace, uint32_t markers)
    : schema_(schema), keyspace_(std::move(keyspace)), markers_(markers), function_keyspace_(keyspace_) {}

base::Result<schema::TablePtr> Binder::table(const cql::QualifiedName& name) const {
  const std::string& keyspace = name.keyspace.empty() ? keyspace_ : name.keyspace;
  if (keyspace.empty())
    return base::fail(base::Error(base::ErrorCode::invalid,
                                  "No keyspace has been specified. USE a keyspace, or explicitly specify "
                                  "keyspace.tablename")
                          .at(name.position));
  const schema::KeyspacePtr found = schema_.find_keyspace(keyspace);
  if (found == nullptr)
    return base::fail(
        base::Error(base::ErrorCode::invalid, fmt::format("keyspace {} does not exist", keyspace))
            .at(name.position));
  schema::TablePtr table = found->find_table(name.name);
  if (table == nullptr)
    return base::fail(base::Error(base::ErrorCode::invalid, fmt::format("table {} does not exist", name.name))
                          .at(name.position));
  return table;
}

void Binder::set_marker(uint32_t index, ColumnSpec spec) {
  if (index >= markers_.size()) markers_.resize(index + 1);
  markers_[index] = std::move(spec);
}

base::Result<TermPtr> Binder::term(const cql::Expression& expression, const ColumnSpec& receiver) {
  constexpr int64_t nanos_of_binding = 500;
  base::count_work(nanos_of_binding);
  const auto bind = [&]() -> base::Result<TermPtr> {
    if (const auto* literal_node = std::get_if<cql::Literal>(&expression.node))
      return literal(*literal_node, receiver);
    if (const auto* node = std::get_if<cql::BindMarker>(&expression.node)) return marker(*node, receiver);
    if (const auto* node = std::get_if<cql::ListLiteral>(&expression.node))
      return list_or_vector(*node, receiver);
    if (const auto* node = std::get_if<cql::SetLiteral>(&expression.node)) return set(*node, receiver);
    if (const auto* node = std::get_if<cql::MapLiteral>(&expression.node)) return map(*node, receiver);
    if (const auto* node = std::get_if<cql::TupleLiteral>(&expression.node)) return tuple(*node, receiver);
    if (const auto* node = std::get_if<cql::UserTypeLiteral>(&expression.node))
      return user_type(*node, receiver);
    if (std::holds_alternative<cql::TypeHint>(expression.node)) return hinted(expression, receiver);
    if (scope_ != nullptr) {
      SIBYL_ASSIGN(const TypePtr own, scope_->type_of(expression));
      if (own != nullptr) return scope_->bind(expression);
    }
    return call(expression, receiver, true);
  };
  auto bound = bind();
  if (!bound && !bound.error().position()) return base::fail(bound.error().at(expression.position));
  return bound;
}

base::Result<TermPtr> Binder::marker(const cql::BindMarker& marker, const ColumnSpec& receiver) {
  ColumnSpec spec = receiver;
  if (scope_ != nullptr) spec.name = scope_->marker_name(receiver);
  if (!marker.name.empty()) spec.name = marker.name;
  set_marker(marker.index, std::move(spec));
  return std::make_shared<MarkerTerm>(receiver.type, marker.index);
}

namespace {

const char* kind_name(cql::Literal::Kind kind) {
  switch (kind) {
    case cql::Literal::Kind::integer:
      return "INTEGER";
    case cql::Literal::Kind::floating:
      return "FLOAT";
    case cql::Literal::Kind::string:
      return "STRING";
    case cql::Literal::Kind::uuid:
      return "UUID";
    case cql::Literal::Kind::boolean:
      return "BOOLEAN";
    case cql::Literal::Kind::blob:
      return "HEX";
    case cql::Literal::Kind::duration:
      return "DURATION";
    case cql::Literal::Kind::null:
      return "NULL";
  }
  return "";
}

// The correct spelling of the most common mistakes.
std::string literal_hint(const cql::Literal& literal, const types::Type& type) {
  const bool is_text = type.kind() == Kind::text || type.kind() == Kind::ascii;
  if (is_text && literal.kind != cql::Literal::Kind::string)
    return fmt::format("text is written in single quotes: '{}'", literal.text);
  const bool is_quoted = literal.kind == cql::Literal::Kind::string;
  const bool is_number =
      type.kind() == Kind::int_ || type.kind() == Kind::bigint || type.kind() == Kind::smallint ||
      type.kind() == Kind::tinyint || type.kind() == Kind::varint || type.kind() == Kind::counter ||
      type.kind() == Kind::float_ || type.kind() == Kind::double_ || type.kind() == Kind::decimal;
  if (is_quoted && is_number) return "numbers are written without quotes";
  if (is_quoted && (type.kind() == Kind::uuid || type.kind() == Kind::timeuuid))
    return "UUIDs are written without quotes";
  if (is_quoted && type.kind() == Kind::boolean) return "booleans are written without quotes: true or false";
  if (is_quoted && type.kind() == Kind::blob)
    return "blobs are written in hexadecimal without quotes: 0x00ff";
  return {};
}

}  // namespace

base::Result<TermPtr> Binder::literal(const cql::Literal& literal, const ColumnSpec& receiver) {
  const types::Type& type = *receiver.type;
  if (literal.kind == cql::Literal::Kind::null) {
    if (type.is_counter()) return invalid("Invalid null value for counter increment/decrement");
    return std::make_shared<ConstantTerm>(receiver.type);
  }
  cql::Expression expression;
  expression.node = literal;
  SIBYL_ASSIGN(const Fit fits, fit_literal(expression, receiver));
  if (fits == Fit::none) {
    base::Error error(base::ErrorCode::invalid,
                      fmt::format("Invalid {} constant ({}) for \"{}\" of type {}", kind_name(literal.kind),
                                  literal.text, receiver.name, type.cql_name()));
    const std::string hint = literal_hint(literal, type);
    return base::fail(hint.empty() ? error : error.with_hint(hint));
  }
  if (literal.kind == cql::Literal::Kind::blob) {
    Bytes bytes;
    if (!base::from_hex(std::string_view(literal.text).substr(2), bytes))
      return invalid(fmt::format("cannot parse '{}' as hex bytes", literal.text.substr(2)));
    if (type.kind() == Kind::custom) SIBYL_TRY(types::validate(type, bytes));
    return std::make_shared<ConstantTerm>(receiver.type, std::move(bytes));
  }
  if (type.kind() == Kind::tuple && literal.kind != cql::Literal::Kind::string)
    return invalid(fmt::format("cannot parse '{}' as {}", literal.text, type.cql_name()));
  const types::Type& read_as = type.is_counter() ? *types::scalar(Kind::bigint) : type;
  SIBYL_ASSIGN(Bytes bytes, types::from_string(read_as, literal.text));
  return std::make_shared<ConstantTerm>(receiver.type, std::move(bytes));
}

base::Result<TermPtr> Binder::hinted(const cql::Expression& expression, const ColumnSpec& receiver) {
  const auto& hint = std::get<cql::TypeHint>(expression.node);
  SIBYL_ASSIGN(TypePtr type,
               this->type(hint.type, receiver.keyspace.empty() ? keyspace_ : receiver.keyspace));
  ColumnSpec cast = receiver;
  cast.name = text_of(expression);
  cast.type = type;
  SIBYL_ASSIGN(const Fit inside, fit(*hint.of, cast));
  if (inside == Fit::none && scope_ != nullptr)
    return invalid(fmt::format("Cannot assign value {0} to {0} of type {1}", text(expression),
                               types::freeze(type)->cql_name()));
  if (inside == Fit::none)
    return invalid(fmt::format("Cannot cast value {} to type {}", text_of(*hint.of), type->cql_name()));
  if (fit_of(*type, *receiver.type) == Fit::none)
    return invalid(fmt::format("Cannot assign value {} to {} of type {}", text_of(expression), receiver.name,
                               receiver.type->cql_name()));
  return term(*hint.of, scope_ == nullptr ? receiver : cast);
}

}  // namespace sibyl::plan
