// Scans the text of literals from front to back.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "types/literals/literal_number.h"

namespace sibyl::types {

inline constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Like Java's String.trim().
inline std::string_view trim(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  std::string_view rest() const { return rest_; }
  bool at_end() const { return rest_.empty(); }
  bool accept(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool accept(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  // Takes as many digits as possible, at most `most`. Returns false if there are fewer than `least`.
  bool digits(size_t least, size_t most, std::string_view& found) {
    size_t count = 0;
    while (count < most && count < rest_.size() && is_digit(rest_[count])) ++count;
    if (count < least) return false;
    found = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return true;
  }
  // Like digits(), but returns a number. Also returns false if it does not fit.
  bool number(size_t least, size_t most, int64_t& value) {
    std::string_view found;
    return digits(least, most, found) && parse_integer(found, value);
  }

 private:
  std::string_view rest_;
};

}  // namespace sibyl::types
