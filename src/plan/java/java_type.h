// The Java types of parameters, results and expressions. Internal to src/plan/java.
#pragma once

#include <string>

#include "types/type.h"

namespace sibyl::plan::java {

enum class JavaKind : uint8_t {
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
  JavaKind kind = JavaKind::null;
  types::TypePtr cql;  // other: the CQL type

  bool operator==(const Type& right) const {
    return kind == right.kind && (kind != JavaKind::other || *cql == *right.cql);
  }
};

constexpr bool is_primitive(JavaKind kind) {
  return kind <= JavaKind::double_;
}
constexpr bool is_boxed(JavaKind kind) {
  return kind >= JavaKind::boxed_boolean && kind <= JavaKind::boxed_double;
}
// The primitive type of a boxed one; other kinds are returned as they are.
JavaKind unboxed(JavaKind kind);
// The boxed type of a primitive one; other kinds are returned as they are.
JavaKind boxed(JavaKind kind);
// True for primitive numbers, including char.
constexpr bool is_numeric(JavaKind kind) {
  return kind >= JavaKind::byte_ && kind <= JavaKind::double_;
}
constexpr bool is_integral(JavaKind kind) {
  return kind >= JavaKind::byte_ && kind <= JavaKind::long_;
}
// True if every value of the primitive type `from` is implicitly converted to the primitive type `to`.
bool widens(JavaKind from, JavaKind to);
// The type in which Java calculates with two numbers. REQUIRES: is_numeric().
JavaKind promoted(JavaKind left, JavaKind right);

// The Java type of a CQL type. Parameters and results of functions that are not called with nulls are primitive.
Type java_type(const types::TypePtr& cql, bool is_primitive);
// As Java's compiler writes the type: `int`, `Integer`, `String`.
std::string name_of(const Type& type);

}  // namespace sibyl::plan::java
