// The number of scalar values inside a value of a type.
#pragma once

#include <cstdint>

#include "types/type.h"

namespace sibyl::types {

// Limit for types that users define. Names, metadata and default values of a type are as large as everything
// in it. Ten user types of sixty fields, each field of the previous type, would hold 60^10 values.
inline constexpr uint64_t max_type_leaves = 65'536;

// Counts fields of user types, components of tuples and elements of vectors, at every depth. A scalar counts
// as one; a collection counts its parameters. Stops once the count exceeds `enough`, which also bounds its
// time.
uint64_t count_leaves(const Type& type, uint64_t enough = max_type_leaves);

}  // namespace sibyl::types
