// Errors and words of options.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sibyl::plan {

inline std::unexpected<base::Error> config_error(std::string message) {
  return base::fail(base::ErrorCode::config, std::move(message));
}

// Converts ASCII letters.
inline std::string in_upper_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

}  // namespace sibyl::plan
