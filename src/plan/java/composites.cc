// Tuples and user types: values of single components are read and replaced.
#include "plan/java/composites.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plan/java/conversions.h"
#include "plan/java/lexer.h"
#include "plan/java/values.h"
#include "types/elements.h"

namespace sibyl::plan::java {
namespace {

// Methods by the part of their name after get and set.
constexpr std::array<std::pair<std::string_view, types::Kind>, 8> accessors = {
    {{"Int", types::Kind::int_},
     {"Long", types::Kind::bigint},
     {"Double", types::Kind::double_},
     {"Float", types::Kind::float_},
     {"Short", types::Kind::smallint},
     {"Byte", types::Kind::tinyint},
     {"Bool", types::Kind::boolean},
     {"String", types::Kind::text}}};

struct Component {
  size_t index = 0;
  types::TypePtr cql;
  Type type;         // String or primitive
  bool is_by_index;  // not by name
};

// The component that a call of getInt or setInt is about.
base::Result<Component> find_component(const Type& owner, const std::string& method,
                                       const std::vector<Node>& arguments, int line) {
  const types::Type& cql = *owner.cql;
  const auto accessor = std::find_if(accessors.begin(), accessors.end(),
                                     [&](const auto& one) { return one.first == method.substr(3); });
  if (accessor == accessors.end() || arguments.empty())
    return no_method(name_of(owner), method, arguments, line);
  const Node& key = arguments[0];
  int64_t index = -1;
  if (key.constant && key.type.kind == JavaKind::int_) index = *key.constant;
  if (key.literal && cql.kind() == types::Kind::udt) index = cql.field_index(*key.literal);
  if (index < 0 || index >= static_cast<int64_t>(cql.parameters().size()))
    return refused(line, fmt::format("{}.{}() is not supported for this component", name_of(owner), method));
  Component component{
      static_cast<size_t>(index), cql.parameters()[static_cast<size_t>(index)], {}, !key.literal};
  const types::Kind kind =
      component.cql->kind() == types::Kind::ascii ? types::Kind::text : component.cql->kind();
  if (kind != accessor->second)
    return refused(line, fmt::format("{}.{}() of a component of type {} is not supported", name_of(owner),
                                     method, component.cql->cql_name()));
  component.type = java_type(component.cql, true);
  return component;
}

std::string call_text(const Type& owner, const std::string& method, const Component& component, bool is_set) {
  const std::string value =
      is_set
          ? ", " + (component.type.kind == JavaKind::string ? std::string("String") : name_of(component.type))
          : "";
  return fmt::format("org.apache.cassandra.cql3.functions.types.{}.{}({}{})", name_of(owner), method,
                     component.is_by_index ? "int" : "String", value);
}

Value zero_or_null(const Type& type) {
  Value value;
  value.is_null = type.kind == JavaKind::string;
  return value;
}

}  // namespace

bool is_composite(const Type& type) {
  return type.kind == JavaKind::other &&
         (type.cql->kind() == types::Kind::tuple || type.cql->kind() == types::Kind::udt);
}

base::Result<Node> get_component(Node object, const std::string& method, std::vector<Node> arguments,
                                 int line) {
  if (arguments.size() != 1 || !method.starts_with("get"))
    return no_method(name_of(object.type), method, arguments, line);
  SIBYL_ASSIGN(const Component component, find_component(object.type, method, arguments, line));
  const std::string call = call_text(object.type, method, component, false);
  Node out;
  out.type = component.type;
  out.evaluate = [object = std::move(object), component, call](Frame& frame) -> base::Result<Value> {
    SIBYL_ASSIGN(const Value value, object.evaluate(frame));
    if (value.is_null) return null_pointer(object, call);
    SIBYL_ASSIGN(const types::Elements parts, types::split(*object.type.cql, value.bytes));
    if (component.index >= parts.size() || !parts[component.index]) return zero_or_null(component.type);
    return read_value(component.type, *component.cql, types::ValueView::of(*parts[component.index]));
  };
  return out;
}

base::Result<Node> set_component(Node object, const std::string& method, std::vector<Node> arguments,
                                 int line) {
  if (arguments.size() != 2 || !method.starts_with("set"))
    return no_method(name_of(object.type), method, arguments, line);
  SIBYL_ASSIGN(const Component component, find_component(object.type, method, arguments, line));
  const std::string call = call_text(object.type, method, component, true);
  SIBYL_ASSIGN(Node given, assigned(std::move(arguments[1]), component.type, line));
  Node out;
  out.type = object.type;
  out.evaluate = [object = std::move(object), given = std::move(given), component,
                  call](Frame& frame) -> base::Result<Value> {
    SIBYL_ASSIGN(Value value, object.evaluate(frame));
    SIBYL_ASSIGN(const Value replacement, given.evaluate(frame));
    if (value.is_null) return null_pointer(object, call);
    SIBYL_ASSIGN(types::Elements parts, types::split(*object.type.cql, value.bytes));
    parts.resize(object.type.cql->parameters().size());
    base::Bytes bytes;
    if (!replacement.is_null) {
      SIBYL_ASSIGN(bytes, write_value(component.type, *component.cql, replacement));
    }
    parts[component.index] = replacement.is_null ? std::nullopt : std::optional<base::BytesView>(bytes);
    value.bytes = types::join(*object.type.cql, parts);
    return value;
  };
  return out;
}

}  // namespace sibyl::plan::java
