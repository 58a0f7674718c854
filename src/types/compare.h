// The order of values.
#pragma once

#include "types/value.h"

namespace sibyl::types {

// Compares two values of one type in Cassandra's order: negative, zero or positive. Total on any bytes.
int compare(const Type& type, BytesView left, BytesView right);

}  // namespace sibyl::types
