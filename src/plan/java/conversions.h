// Conversions with Java's rules: promotion, boxing, casts and texts. Internal to src/plan/java.
#pragma once

#include <string>

#include "base/result.h"
#include "plan/java/node.h"

namespace sibyl::plan::java {

// The value as Java's implicit conversion in an assignment or a return gives it: widening, boxing, unboxing, and narrowing of
// constants.
base::Result<Node> assigned(Node node, const Type& to, int line);
// The value of a number or boolean as a primitive. REQUIRES: unboxed(node.type.kind) is primitive.
Node as_primitive(Node node);
// The value of a primitive number in another numeric type, as a cast.
Node cast_number(Node node, JavaKind to);
// `(type) node`
base::Result<Node> cast(Node node, const Type& to, int line);

// As Java writes a value into a text.
base::Result<std::u16string> text_of(const Type& type, const Value& value);
// True if text_of() supports the type.
bool has_text(const Type& type);

}  // namespace sibyl::plan::java
