#include "plan/numbers/java_numbers.h"

#include <charconv>
#include <limits>

namespace sibyl::plan {
namespace {

template <typename Integer>
bool parse_integer(std::string_view text, Integer& value) {
  const bool has_plus = text.starts_with('+');
  if (has_plus) text.remove_prefix(1);
  if (text.empty() || (has_plus && text.starts_with('-'))) return false;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

bool parse_int32(std::string_view text, int32_t& value) {
  return parse_integer(text, value);
}
bool parse_int64(std::string_view text, int64_t& value) {
  return parse_integer(text, value);
}

bool parse_double(std::string_view text, double& value) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  const bool has_plus = text.starts_with('+');
  if (has_plus) text.remove_prefix(1);
  if (text.empty() || (has_plus && text.starts_with('-'))) return false;
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  const double sign = digits.size() == text.size() ? 1.0 : -1.0;
  if (digits == "NaN") {
    value = std::numeric_limits<double>::quiet_NaN();
    return true;
  }
  if (digits == "Infinity") {
    value = sign * std::numeric_limits<double>::infinity();
    return true;
  }
  if (digits.empty() || (digits[0] != '.' && (digits[0] < '0' || digits[0] > '9'))) return false;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace sibyl::plan
