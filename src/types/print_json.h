// Converts values to JSON text.
#pragma once

#include <string>

#include "types/value.h"

namespace sibyl::types {

// As Cassandra's toJson() and SELECT JSON write it.
std::string to_json(const Type& type, BytesView bytes);

}  // namespace sibyl::types
