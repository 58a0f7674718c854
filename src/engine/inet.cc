#include "engine/inet.h"

#include "types/literals/literal.h"

namespace sibyl::engine {

base::Bytes inet(const std::string& address, const std::string& otherwise) {
  const types::Type& type = *types::scalar(types::Kind::inet);
  if (auto bytes = types::from_string(type, address)) return *bytes;
  return *types::from_string(type, otherwise);
}

}  // namespace sibyl::engine
