#include "plan/java/java_type.h"

#include <algorithm>

namespace sibyl::plan::java {

using CqlKind = types::Kind;

JavaKind unboxed(JavaKind kind) {
  if (!is_boxed(kind)) return kind;
  return static_cast<JavaKind>(static_cast<int>(kind) - static_cast<int>(JavaKind::boxed_boolean));
}

JavaKind boxed(JavaKind kind) {
  if (!is_primitive(kind)) return kind;
  return static_cast<JavaKind>(static_cast<int>(kind) + static_cast<int>(JavaKind::boxed_boolean));
}

bool widens(JavaKind from, JavaKind to) {
  if (from == to) return true;
  if (!is_numeric(from) || !is_numeric(to) || to == JavaKind::char_) return false;
  if (from == JavaKind::char_) return to >= JavaKind::int_;
  return from < to;
}

JavaKind promoted(JavaKind left, JavaKind right) {
  return std::max({left, right, JavaKind::int_});
}

Type java_type(const types::TypePtr& cql, bool is_primitive) {
  const auto number = [&](JavaKind kind) { return Type{is_primitive ? kind : boxed(kind), nullptr}; };
  switch (cql->kind()) {
    case CqlKind::boolean:
      return number(JavaKind::boolean);
    case CqlKind::tinyint:
      return number(JavaKind::byte_);
    case CqlKind::smallint:
      return number(JavaKind::short_);
    case CqlKind::int_:
      return number(JavaKind::int_);
    case CqlKind::bigint:
    case CqlKind::counter:
    case CqlKind::time:
      return number(JavaKind::long_);
    case CqlKind::float_:
      return number(JavaKind::float_);
    case CqlKind::double_:
      return number(JavaKind::double_);
    case CqlKind::text:
    case CqlKind::ascii:
      return {JavaKind::string, nullptr};
    default:
      return {JavaKind::other, cql};
  }
}

std::string name_of(const Type& type) {
  static constexpr const char* names[] = {"boolean",   "byte",    "short", "char",    "int",    "long",
                                          "float",     "double",  "null",  "Boolean", "Byte",   "Short",
                                          "Character", "Integer", "Long",  "Float",   "Double", "String"};
  if (type.kind == JavaKind::other && type.cql->kind() == CqlKind::tuple) return "TupleValue";
  if (type.kind == JavaKind::other && type.cql->kind() == CqlKind::udt) return "UDTValue";
  if (type.kind == JavaKind::other) return type.cql->cql_name();
  return names[static_cast<int>(type.kind)];
}

}  // namespace sibyl::plan::java
