// Encodes addresses for system tables.
#pragma once

#include <string>

#include "base/bytes.h"

namespace sibyl::engine {

// Encodes a numeric address. Encodes `otherwise` if `address` is not numeric.
base::Bytes inet(const std::string& address, const std::string& otherwise = "127.0.0.1");

}  // namespace sibyl::engine
