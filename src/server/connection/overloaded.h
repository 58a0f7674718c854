// Errors of requests that are refused because the server is overloaded.
#pragma once

#include <string>

#include "base/result.h"

namespace sibyl::server {

inline base::Error overloaded(std::string reason) {
  return base::Error(base::ErrorCode::overloaded, std::move(reason));
}

}  // namespace sibyl::server
