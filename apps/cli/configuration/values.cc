#include "cli/configuration/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace sibyl::cli {
namespace {

struct Unit {
  const char* name;
  int64_t factor;
};
constexpr Unit sizes[] = {
    {"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", int64_t{1} << 40}};
constexpr Unit durations[] = {{"us", 1},
                              {"µs", 1},
                              {"ms", 1'000},
                              {"s", 1'000'000},
                              {"m", 60'000'000},
                              {"h", 3'600'000'000},
                              {"d", 86'400'000'000}};

template <size_t count>
base::Result<int64_t> parse_quantity(std::string_view text, std::string_view unit, const Unit (&units)[count],
                                     const char* examples) {
  const auto refused = [&](std::string_view why) {
    return base::fail(base::ErrorCode::config, fmt::format("'{}' {}; write it as {}", text, why, examples));
  };
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return refused("is not a number with a unit");
  std::string_view given(end, static_cast<size_t>(text.data() + text.size() - end));
  while (given.starts_with(' ')) given.remove_prefix(1);
  if (given.empty()) given = unit;
  if (given.empty()) return refused("has no unit");
  for (const Unit& one : units) {
    if (given != one.name) continue;
    if (number > std::numeric_limits<int64_t>::max() / one.factor) return refused("is too large");
    return number * one.factor;
  }
  return refused("has an unknown unit");
}

// Prints the value with the largest unit that divides it.
template <size_t count>
std::string quantity_text(int64_t value, const Unit (&units)[count]) {
  for (size_t i = count; i-- > 0;)
    if (value % units[i].factor == 0 && (value != 0 || i == 0))
      return fmt::format("{}{}", value / units[i].factor, units[i].name);
  return {};
}

}  // namespace

base::Result<int64_t> parse_size(std::string_view text, std::string_view unit) {
  return parse_quantity(text, unit, sizes, "512KiB, 16MiB or 1GiB");
}

base::Result<int64_t> parse_duration(std::string_view text, std::string_view unit) {
  return parse_quantity(text, unit, durations, "500ms, 10s or 1h");
}

std::string size_text(int64_t bytes) {
  return quantity_text(bytes, sizes);
}

std::string duration_text(int64_t micros) {
  if (micros == 0) return "0ms";
  return quantity_text(micros, durations);
}

}  // namespace sibyl::cli
