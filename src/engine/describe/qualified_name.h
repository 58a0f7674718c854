// Names in definitions that DESCRIBE prints.
#pragma once

#include <string>

#include "types/identifier.h"

namespace sibyl::engine {

// keyspace.name, with quotes where they are needed.
inline std::string qualified_name(const std::string& keyspace, const std::string& name) {
  return types::quote_identifier(keyspace) + "." + types::quote_identifier(name);
}

}  // namespace sibyl::engine
