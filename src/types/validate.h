// Checks that bytes are a value of a type.
#pragma once

#include "base/result.h"
#include "types/value.h"

namespace sibyl::types {

// Returns an error if the bytes are not a value of the type. Messages are Cassandra's ("Expected 4 or 0 byte
// int (3)", ...).
base::Status validate(const Type& type, BytesView bytes);

}  // namespace sibyl::types
