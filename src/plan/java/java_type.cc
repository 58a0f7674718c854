#include "plan/java/java_type.h"

#include <algorithm>

namespace sibyl::plan::java {

using CqlKind = types::Kind;

Kind unboxed(Kind kind) {
  if (!is_boxed(kind)) return kind;
  return static_cast<Kind>(static_cast<int>(kind) - static_cast<int>(Kind::boxed_boolean));
}

Kind boxed(Kind kind) {
  if (!is_primitive(kind)) return kind;
  return static_cast<Kind>(static_cast<int>(kind) + static_cast<int>(Kind::boxed_boolean));
}

bool widens(Kind from, Kind to) {
  if (from == to) return true;
  if (!is_numeric(from) || !is_numeric(to) || to == Kind::char_) return false;
  if (from == Kind::char_) return to >= Kind::int_;
  return from < to;
}

Kind promoted(Kind left, Kind right) {
  return std::max({left, right, Kind::int_});
}

Type java_type(const types::TypePtr& cql, bool is_primitive) {
  const auto number = [&](Kind kind) { return Type{is_primitive ? kind : boxed(kind), nullptr}; };
  switch (cql->kind()) {
    case CqlKind::boolean:
      return number(Kind::boolean);
    case CqlKind::tinyint:
      return number(Kind::byte_);
    case CqlKind::smallint:
      return number(Kind::short_);
    case CqlKind::int_:
      return number(Kind::int_);
    case CqlKind::bigint:
    case CqlKind::counter:
    case CqlKind::time:
      return number(Kind::long_);
    case CqlKind::float_:
      return number(Kind::float_);
    case CqlKind::double_:
      return number(Kind::double_);
    case CqlKind::text:
    case CqlKind::ascii:
      return {Kind::string, nullptr};
    default:
      return {Kind::other, cql};
  }
}

std::string name_of(const Type& type) {
  static constexpr const char* names[] = {"boolean",   "byte",    "short", "char",    "int",    "long",
                                          "float",     "double",  "null",  "Boolean", "Byte",   "Short",
                                          "Character", "Integer", "Long",  "Float",   "Double", "String"};
  if (type.kind == Kind::other && type.cql->kind() == CqlKind::tuple) return "TupleValue";
  if (type.kind == Kind::other && type.cql->kind() == CqlKind::udt) return "UDTValue";
  if (type.kind == Kind::other) return type.cql->cql_name();
  return names[static_cast<int>(type.kind)];
}

}  // namespace sibyl::plan::java
