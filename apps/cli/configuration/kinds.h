// Kinds of settings: how each parses, checks and prints its value. Internal to apps/cli/configuration.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "cli/configuration/configuration.h"
#include "cli/configuration/settings.h"
#include "cli/configuration/values.h"

namespace sibyl::cli::kinds {

using Type = Setting::Type;
inline constexpr int64_t any = std::numeric_limits<int64_t>::max();

inline base::Error bad(std::string what) {
  return base::Error(base::ErrorCode::config, std::move(what));
}

inline base::Result<std::string> single(const RawValue& value) {
  if (value.is_list) return base::fail(bad("one value is expected, not a list"));
  return value.items.at(0);
}

inline base::Result<bool> parse_boolean(const std::string& text) {
  const std::string lower = base::ascii_lower(text);
  if (lower == "true" || lower == "yes" || lower == "on") return true;
  if (lower == "false" || lower == "no" || lower == "off") return false;
  return base::fail(bad(fmt::format("'{}' is neither true nor false", text)));
}

inline base::Result<int64_t> parse_integer(const std::string& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return base::fail(bad(fmt::format("'{}' is not a whole number", text)));
  return number;
}

inline base::Status check_range(int64_t value, int64_t least, int64_t most, std::string (*text)(int64_t)) {
  if (value >= least && value <= most) return {};
  if (most == any) return base::fail(bad(fmt::format("{} is less than {}", text(value), text(least))));
  return base::fail(bad(fmt::format("{} is not between {} and {}", text(value), text(least), text(most))));
}

inline std::string number_text(int64_t value) {
  return std::to_string(value);
}

// --- Kinds of settings. `access` returns a reference to the value in a Configuration.

template <typename Access>
Setting flag(const char* name, const char* section, Access access, std::string help) {
  Setting setting{name, Type::boolean, section, std::move(help)};
  setting.text = [access](const Configuration& c) { return std::string(access(c) ? "true" : "false"); };
  setting.assign = [access](Configuration& c, const RawValue& value) -> base::Status {
    SIBYL_ASSIGN(const std::string text, single(value));
    SIBYL_ASSIGN(access(c), parse_boolean(text));
    return {};
  };
  return setting;
}

template <typename Access>
Setting integer(const char* name, const char* section, Access access, int64_t least, int64_t most,
                std::string help) {
  Setting setting{name, Type::integer, section, std::move(help)};
  setting.text = [access](const Configuration& c) { return fmt::to_string(access(c)); };
  setting.assign = [access, least, most](Configuration& c, const RawValue& value) -> base::Status {
    SIBYL_ASSIGN(const std::string text, single(value));
    SIBYL_ASSIGN(const int64_t number, parse_integer(text));
    SIBYL_TRY(check_range(number, least, most, number_text));
    access(c) = static_cast<std::decay_t<decltype(access(c))>>(number);
    return {};
  };
  return setting;
}

// -1: no limit.
template <typename Access>
Setting limit(const char* name, const char* section, Access access, std::string help) {
  Setting setting = integer(name, section, access, -1, any, std::move(help));
  setting.text = [access](const Configuration& c) {
    return access(c) == std::numeric_limits<size_t>::max() ? "-1" : fmt::to_string(access(c));
  };
  return setting;
}

template <typename Access>
Setting size(const char* name, const char* section, Access access, int64_t least, int64_t most,
             std::string help) {
  Setting setting{name, Type::size, section, std::move(help)};
  setting.text = [access](const Configuration& c) { return size_text(static_cast<int64_t>(access(c))); };
  setting.assign = [access, least, most](Configuration& c, const RawValue& value) -> base::Status {
    SIBYL_ASSIGN(const std::string text, single(value));
    SIBYL_ASSIGN(const int64_t bytes, parse_size(text, value.unit));
    SIBYL_TRY(check_range(bytes, least, most, size_text));
    access(c) = static_cast<std::decay_t<decltype(access(c))>>(bytes);
    return {};
  };
  return setting;
}

// `access` returns a reference to a std::chrono duration.
template <typename Access>
Setting duration(const char* name, const char* section, Access access, int64_t least, int64_t most,
                 std::string help) {
  using Duration = std::decay_t<decltype(access(std::declval<Configuration&>()))>;
  Setting setting{name, Type::duration, section, std::move(help)};
  setting.text = [access](const Configuration& c) {
    return duration_text(std::chrono::duration_cast<std::chrono::microseconds>(access(c)).count());
  };
  setting.assign = [access, least, most](Configuration& c, const RawValue& value) -> base::Status {
    SIBYL_ASSIGN(const std::string text, single(value));
    SIBYL_ASSIGN(const int64_t micros, parse_duration(text, value.unit));
    constexpr int64_t longest =
        int64_t{100} * 365 * 86'400 * 1'000'000;  // limited, so that a clock's nanoseconds do not overflow
    SIBYL_TRY(check_range(micros, least, std::min(most, longest), duration_text));
    const auto converted = std::chrono::duration_cast<Duration>(std::chrono::microseconds(micros));
    if (micros != 0 && converted == Duration::zero()) {
      constexpr auto least_kept = std::chrono::duration_cast<std::chrono::microseconds>(Duration(1));
      return base::fail(
          bad(fmt::format("{} is less than {}", duration_text(micros), duration_text(least_kept.count()))));
    }
    access(c) = converted;
    return {};
  };
  return setting;
}

template <typename Access>
Setting text(const char* name, const char* section, Access access, std::string help) {
  Setting setting{name, Type::text, section, std::move(help)};
  setting.text = [access](const Configuration& c) { return access(c); };
  setting.assign = [access](Configuration& c, const RawValue& value) -> base::Status {
    SIBYL_ASSIGN(access(c), single(value));
    return {};
  };
  return setting;
}

template <typename Access>
Setting choice(const char* name, const char* section, Access access, std::vector<std::string> choices,
               std::string help) {
  Setting setting = text(name, section, access, std::move(help));
  setting.type = Type::choice;
  setting.assign = [access, choices](Configuration& c, const RawValue& value) -> base::Status {
    SIBYL_ASSIGN(const std::string given, single(value));
    if (std::find(choices.begin(), choices.end(), given) == choices.end())
      return base::fail(bad(fmt::format("'{}' is not one of {}", given, fmt::join(choices, ", "))));
    access(c) = given;
    return {};
  };
  return setting;
}

// A list of words, stored in a vector.
template <typename Access>
Setting words(const char* name, const char* section, Access access, std::string help) {
  Setting setting{name, Type::list, section, std::move(help)};
  setting.text = [access](const Configuration& c) {
    return access(c).empty() ? std::string() : fmt::format("[{}]", fmt::join(access(c), ", "));
  };
  setting.assign = [access](Configuration& c, const RawValue& value) -> base::Status {
    access(c) = value.items;
    return {};
  };
  return setting;
}

}  // namespace sibyl::cli::kinds
