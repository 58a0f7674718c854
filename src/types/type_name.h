// Cassandra's class names of types.
#pragma once

#include <string_view>

#include "types/type.h"

namespace sibyl::types {

// The inverse of class_name(). Also accepts names without a package, and ReversedType(x) as x. Unknown
// classes become custom types. Returns nullptr if the text is malformed or nests deeper than max_type_depth.
TypePtr parse_class_name(std::string_view text);

}  // namespace sibyl::types
