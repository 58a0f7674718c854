// Log lines with fields: a message, then names and values. The fields are embedded in the message, separated
// by control characters. The log's writer formats them.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace sibyl::base {

inline constexpr char log_field_mark = '\x1f';
inline constexpr char log_value_mark = '\x1e';

using LogFields = std::initializer_list<std::pair<std::string_view, std::string_view>>;

// Values may come from clients, so separators inside a value are replaced by '?'.
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
