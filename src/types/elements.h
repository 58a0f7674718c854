// Splits collections and tuples into their elements, and joins them.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "types/value.h"

namespace sibyl::types {

// A null element is nullopt.
using Elements = std::vector<std::optional<BytesView>>;
// The elements of a list, set or vector; for a map: key, value, key, value...; for a tuple or udt: the
// components, of which missing ones at the end are null. The views point into `bytes`.
base::Result<Elements> split(const Type& type, BytesView bytes);
// The inverse of split(). For sets and maps, elements must be in order and without duplicates.
Bytes join(const Type& type, const Elements& elements);
// Sorts set elements (or map entries by key) in the type's order and drops duplicates. Of equal elements or
// keys the first one's spelling is kept (1.0 before 1.00); of the values of equal keys the last one is kept.
void normalise(const Type& type, Elements& elements);

}  // namespace sibyl::types
