// Reads the environment and flags, and decides which of the values apply.
#include "cli/configuration/reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/process.h"
#include "cli/configuration/check.h"
#include "cli/configuration/configuration.h"
#include "cli/configuration/memory.h"
#include "cli/configuration/names.h"
#include "cli/configuration/print.h"
#include "cli/configuration/settings.h"
#include "cli/configuration/values.h"
#include "server/scheduling/default_threads.h"

namespace sibyl::cli {
namespace {

constexpr std::string_view environment_prefix = "SIBYL_";

// "client_encryption_options.enabled" is set by SIBYL_CLIENT_ENCRYPTION_OPTIONS_ENABLED.
std::string environment_name(std::string_view setting) {
  std::string name(environment_prefix);
  for (const char c : setting) name += c == '.' ? '_' : base::ascii_upper(c);
  return name;
}

std::string unknown_variable_text(const std::string& name) {
  const std::string nearest = nearest_name(base::ascii_lower(name.substr(environment_prefix.size())));
  return fmt::format(
      "{} is set, but there is no such setting{}", name,
      find_setting(nearest) == nullptr ? "" : fmt::format("; did you mean {}?", environment_name(nearest)));
}

const Setting* setting_of_environment(std::string_view name) {
  for (const Setting& setting : settings()) {
    if (environment_name(setting.name) == name) return &setting;
    for (const Setting::Alias& alias : setting.aliases)
      if (environment_name(alias.name) == name) return &setting;
  }
  return nullptr;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(blanks);
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

// Outside of YAML files, lists are separated by commas. YAML's form [a, b] is also accepted.
RawValue plain_value(const Setting& setting, const std::string& text) {
  RawValue value;
  if (setting.type != Setting::Type::list) {
    value.items = {text};
    return value;
  }
  value.is_list = true;
  std::string_view rest = trimmed(text);
  if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
  for (bool more = true; more;) {
    const size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    if (const std::string_view item = trimmed(rest.substr(0, comma)); !item.empty())
      value.items.emplace_back(item);
    if (more) rest.remove_prefix(comma + 1);
  }
  return value;
}

std::string unit_of(const Setting& setting, std::string_view name) {
  for (const Setting::Alias& alias : setting.aliases)
    if (name == alias.name) return alias.unit;
  return {};
}

}  // namespace

void Reader::read_environment(const char* const* environment) {
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const size_t equals = entry.find('=');
    if (!entry.starts_with(environment_prefix) || equals == std::string_view::npos) continue;
    const std::string name(entry.substr(0, equals));
    if (name == "SIBYL_CONFIG" || name == "SIBYL_PASSWORD") continue;
    const Setting* setting = setting_of_environment(name);
    if (setting == nullptr) {
      warnings_.push_back(unknown_variable_text(name));
      continue;
    }
    RawValue value = plain_value(*setting, std::string(entry.substr(equals + 1)));
    for (const Setting::Alias& alias : setting->aliases)
      if (environment_name(alias.name) == name) value.unit = alias.unit;
    add_value(setting->name, std::move(value), Origin::environment, name);
  }
}

void Reader::set(std::string_view name, const std::string& value, Origin origin, const std::string& where) {
  const Setting* setting = find_setting(name);
  if (setting == nullptr) {
    problems_.push_back({where, is_cassandra_name(name) ? fmt::format("'{}' has no meaning in Sibyl", name)
                                                        : unknown_setting_text(name)});
    return;
  }
  add_value(name, plain_value(*setting, value), origin, where);
}

const Reader::Given* Reader::given(std::string_view name) const {
  const auto found = given_.find(name);
  return found == given_.end() || found->second.origin == Origin::by_default ? nullptr : &found->second;
}

void Reader::add_value(std::string_view name, RawValue value, Origin origin, const std::string& where) {
  const Setting* setting = find_setting(name);
  if (value.unit.empty()) value.unit = unit_of(*setting, name);
  Given& given = given_[setting->name];
  if (given.origin == origin) {
    problems_.push_back({where, fmt::format("'{}' is already set at {}", setting->name, given.where)});
    return;
  }
  if (given.origin < origin) given = {std::move(value), origin, where};
}

Reader::Result Reader::finish() {
  Result result;
  for (const auto& [name, given] : given_) {
    if (given.origin == Origin::by_default) continue;
    const Setting& setting = *find_setting(name);
    if (base::Status status = setting.assign(result.configuration, given.value); !status) {
      problems_.push_back({given.where, fmt::format("{}: {}", name, status.error().text())});
      continue;
    }
    result.origins[name] = given.origin;
    result.places[name] = given.where;
  }
  using Mode = server::TlsOptions::Mode;
  Configuration& configuration = result.configuration;
  // As in Cassandra, `optional: true` turns TLS on, whatever `enabled` says.
  if (configuration.tls_optional) {
    configuration.server.tls.mode = Mode::optional;
  } else if (configuration.tls_enabled) {
    configuration.server.tls.mode = Mode::required;
  }
  if (configuration.server.threads == 0) configuration.server.threads = server::default_threads();
  if (configuration.rate_limiting)
    configuration.server.limits.requests_per_second = configuration.requests_per_second;
  constexpr uint64_t largest_frame = 255u << 20;  // frames of the protocol are less than 256 MiB
  if (uint64_t& frame = configuration.server.limits.frame_body_bytes; frame > largest_frame) {
    frame = largest_frame;
    warnings_.push_back(fmt::format("{}: native_transport_max_frame_size: it is reduced to {}, the maximum",
                                    result.places["native_transport_max_frame_size"],
                                    size_text(largest_frame)));
  }
  derive_sizes(result, base::usable_memory());
  if (problems_.empty()) check_together(result, problems_, warnings_);
  result.configuration.engine.settings = shown_settings(result.configuration);
  return result;
}

}  // namespace sibyl::cli
