// Addresses as values of system tables.
#pragma once

#include <string>

#include "base/bytes.h"

namespace sibyl::engine {

// Of a numeric address; of `otherwise` when it is none.
base::Bytes inet(const std::string& address, const std::string& otherwise = "127.0.0.1");

}  // namespace sibyl::engine
