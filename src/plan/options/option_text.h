// Errors of options.
#pragma once

#include <string>

#include "base/result.h"

namespace sibyl::plan {

inline std::unexpected<base::Error> config_error(std::string message) {
  return base::fail(base::ErrorCode::config, std::move(message));
}

}  // namespace sibyl::plan
