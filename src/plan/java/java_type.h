// The Java types of parameters, results and expressions. Internal to src/plan/java.
#pragma once

#include <string>

#include "types/type.h"

namespace sibyl::plan::java {

enum class Kind : uint8_t {
  // Primitive types, in the order of widening; char_ widens to int_.
  boolean,
  byte_,
  short_,
  char_,
  int_,
  long_,
  float_,
  double_,
  // References.
  null,
  boxed_boolean,
  boxed_byte,
  boxed_short,
  boxed_char,
  boxed_int,
  boxed_long,
  boxed_float,
  boxed_double,
  string,
  other,  // a value that can only be passed on and compared with null
};

struct Type {
  Kind kind = Kind::null;
  types::TypePtr cql;  // other: the CQL type

  bool operator==(const Type& right) const {
    return kind == right.kind && (kind != Kind::other || *cql == *right.cql);
  }
};

constexpr bool is_primitive(Kind kind) {
  return kind <= Kind::double_;
}
constexpr bool is_boxed(Kind kind) {
  return kind >= Kind::boxed_boolean && kind <= Kind::boxed_double;
}
// The primitive type of a boxed one; other kinds are returned as they are.
Kind unboxed(Kind kind);
// The boxed type of a primitive one; other kinds are returned as they are.
Kind boxed(Kind kind);
// True for primitive numbers, including char.
constexpr bool is_numeric(Kind kind) {
  return kind >= Kind::byte_ && kind <= Kind::double_;
}
constexpr bool is_integral(Kind kind) {
  return kind >= Kind::byte_ && kind <= Kind::long_;
}
// True if every value of the primitive type `from` is implicitly converted to the primitive type `to`.
bool widens(Kind from, Kind to);
// The type in which Java calculates with two numbers. REQUIRES: is_numeric().
Kind promoted(Kind left, Kind right);

// The Java type of a CQL type. Parameters and results of functions that are not called with nulls are primitive.
Type java_type(const types::TypePtr& cql, bool is_primitive);
// As Java's compiler writes the type: `int`, `Integer`, `String`.
std::string name_of(const Type& type);

}  // namespace sibyl::plan::java
