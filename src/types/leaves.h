// How many values a type's values hold when they are written out.
#pragma once

#include <cstdint>

#include "types/type.h"

namespace sibyl::types {

// Types from users may have so many. Names, metadata and default values of a type are as large as all that is
// in it: ten user types of sixty fields, each of the one before, would be 60^10.
inline constexpr uint64_t max_type_leaves = 65'536;

// Fields of user types, components of tuples and elements of vectors, at every depth; a scalar is one, and a
// collection is what its parameters are. Stops counting once there are more than `enough`, and takes no
// longer than that.
uint64_t count_leaves(const Type& type, uint64_t enough = max_type_leaves);

}  // namespace sibyl::types
