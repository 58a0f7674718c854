// Converts values to JSON text.
#pragma once

#include <string>

#include "types/value.h"

namespace sibyl::types {

// Prints JSON as Cassandra's toJson() and SELECT JSON do.
std::string to_json(const Type& type, BytesView bytes);

}  // namespace sibyl::types
