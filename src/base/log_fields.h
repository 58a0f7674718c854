// Log lines with fields: what happened, then names and values. They travel inside the message, marked by
// control characters, and whoever writes the log out shows them in its format.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace sibyl::base {

inline constexpr char log_field_mark = '\x1f';
inline constexpr char log_value_mark = '\x1e';

using LogFields = std::initializer_list<std::pair<std::string_view, std::string_view>>;

// Values may come from outside: a mark within one is none.
inline std::string with_fields(std::string_view message, LogFields fields) {
  std::string text(message);
  for (const auto& [name, value] : fields) {
    text += log_field_mark;
    text += name;
    text += log_value_mark;
    for (const char c : value) text += c == log_field_mark || c == log_value_mark ? '?' : c;
  }
  return text;
}

}  // namespace sibyl::base
