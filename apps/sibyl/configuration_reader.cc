// Reading: files, environment, flags.
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "auth/options.h"
#include "base/file.h"
#include "sibyl/configuration.h"

namespace sibyl {
namespace {

std::string unknown_text(std::string_view name) {
  std::string text = fmt::format("unknown setting '{}'", name);
  if (const std::string nearest = nearest_name(name); !nearest.empty())
    text += fmt::format("; did you mean '{}'?", nearest);
  return text;
}

constexpr std::string_view environment_prefix = "SIBYL_";

// "client_encryption_options.enabled" is set by SIBYL_CLIENT_ENCRYPTION_OPTIONS_ENABLED.
std::string environment_name(std::string_view setting) {
  std::string name(environment_prefix);
  for (const char c : setting)
    name += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::string unknown_variable_text(const std::string& name) {
  std::string setting = name.substr(environment_prefix.size());
  for (char& c : setting) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const std::string nearest = nearest_name(setting);
  return fmt::format(
      "{} is set, and there is no such setting{}", name,
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

// Lists are separated by commas where there is no yaml to say so; they may be written as yaml's, too.
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

// Of client_encryption_options, beside those that are settings here.
bool is_cassandra_tls_name(std::string_view name) {
  static constexpr std::string_view names[] = {"algorithm",
                                               "certificate_validity_warn_threshold",
                                               "keystore_password_file",
                                               "max_certificate_validity_period",
                                               "protocol",
                                               "require_endpoint_verification",
                                               "ssl_context_factory",
                                               "store_type",
                                               "truststore_password_file"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool has_nested(std::string_view name) {
  return std::any_of(settings().begin(), settings().end(), [&](const Setting& setting) {
    const std::string_view known = setting.name;
    return known.size() > name.size() && known.starts_with(name) && known[name.size()] == '.';
  });
}

}  // namespace

// One document, key by key.
struct Reader::Yaml {
  Reader& reader;
  const std::string& name;

  std::string place(const YAML::Node& node) const { return place(node.Mark()); }
  std::string place(const YAML::Mark& mark) const {
    return mark.is_null() ? name : fmt::format("{}:{}", name, mark.line + 1);
  }
  void problem(const std::string& where, std::string what) const {
    reader.problems_.push_back({where, std::move(what)});
  }

  void read(const YAML::Node& document) const {
    if (document.IsNull()) return;
    if (!document.IsMap()) return problem(name, "it is not a list of `name: value`");
    for (const auto& entry : document) read_entry("", entry.first, entry.second);
  }

  void read_entry(const std::string& prefix, const YAML::Node& key, const YAML::Node& value) const {
    const std::string where = place(key);
    if (!key.IsScalar()) return problem(where, "a name is expected");
    const std::string full = prefix + key.Scalar();
    if (find_setting(full) != nullptr) return read_value(full, where, value);
    if (has_nested(full)) return read_group(full, where, value);
    if (prefix.empty() ? is_cassandra_name(full) : is_cassandra_tls_name(key.Scalar())) {
      reader.ignored_.push_back(full);
      return;
    }
    problem(where, unknown_text(full));
  }

  void read_group(const std::string& full, const std::string& where, const YAML::Node& value) const {
    if (value.IsNull()) return;
    if (!value.IsMap()) return problem(where, fmt::format("'{}' is a group of settings", full));
    for (const auto& entry : value) read_entry(full + ".", entry.first, entry.second);
  }

  void read_value(const std::string& full, const std::string& where, const YAML::Node& value) const {
    if (value.IsNull()) return;  // "name:" alone: the default
    RawValue raw;
    if (value.IsScalar()) {
      raw.items = {value.Scalar()};
    } else if (value.IsSequence()) {
      raw.is_list = true;
      for (const auto& item : value) {
        if (!item.IsScalar())
          return problem(place(item), fmt::format("'{}' is a list of plain values", full));
        raw.items.push_back(item.Scalar());
      }
    } else if (value.IsMap() && value["class_name"] && value["class_name"].IsScalar()) {
      // Cassandra's classes with parameters: `authenticator: {class_name: …, parameters: …}`.
      raw.items = {value["class_name"].Scalar()};
    } else {
      return problem(where, fmt::format("'{}' takes a plain value", full));
    }
    reader.give(full, std::move(raw), Origin::file, where);
  }
};

void Reader::read_file(const std::string& path) {
  if (const auto text = base::read_file(path)) {
    read_yaml(*text, path);
  } else {
    problems_.push_back({path, "it cannot be read: " + text.error().message()});
  }
}

void Reader::read_yaml(const std::string& text, const std::string& name) {
  try {
    Yaml{*this, name}.read(YAML::Load(text));
  } catch (const YAML::Exception& error) {
    const std::string where = error.mark.is_null() ? name : fmt::format("{}:{}", name, error.mark.line + 1);
    problems_.push_back({where, error.msg});
  }
}

void Reader::read_environment(const char* const* environment) {
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const size_t equals = entry.find('=');
    if (!entry.starts_with(environment_prefix) || equals == std::string_view::npos) continue;
    const std::string name(entry.substr(0, equals));
    if (name == "SIBYL_CONFIG") continue;
    const Setting* setting = setting_of_environment(name);
    if (setting == nullptr) {
      warnings_.push_back(unknown_variable_text(name));
      continue;
    }
    RawValue value = plain_value(*setting, std::string(entry.substr(equals + 1)));
    for (const Setting::Alias& alias : setting->aliases)
      if (environment_name(alias.name) == name) value.unit = alias.unit;
    give(setting->name, std::move(value), Origin::environment, name);
  }
}

void Reader::set(std::string_view name, const std::string& value, Origin origin, const std::string& where) {
  const Setting* setting = find_setting(name);
  if (setting == nullptr) {
    problems_.push_back({where, is_cassandra_name(name) ? fmt::format("'{}' has no meaning here", name)
                                                        : unknown_text(name)});
    return;
  }
  give(name, plain_value(*setting, value), origin, where);
}

const Reader::Given* Reader::given(std::string_view name) const {
  const auto found = given_.find(name);
  return found == given_.end() || found->second.origin == Origin::by_default ? nullptr : &found->second;
}

void Reader::give(std::string_view name, RawValue value, Origin origin, const std::string& where) {
  const Setting* setting = find_setting(name);
  if (value.unit.empty()) value.unit = unit_of(*setting, name);
  Given& given = given_[setting->name];
  if (given.origin == origin) {
    problems_.push_back({where, fmt::format("'{}' was set already, at {}", setting->name, given.where)});
    return;
  }
  if (given.origin < origin) given = {std::move(value), origin, where};
}

namespace {

// What each setting may be is checked as it is read; here, whether they agree.
void check_together(const Configuration& configuration, std::vector<Problem>& problems) {
  const server::Limits& limits = configuration.server.limits;
  const auto need = [&](bool fits, const char* name, std::string what) {
    if (!fits) problems.push_back({name, std::move(what)});
  };
  need(limits.frame_body_bytes <= limits.bytes_in_flight, "connection_max_request_data_in_flight",
       fmt::format("{} is less than native_transport_max_frame_size, {}",
                   size_text(static_cast<int64_t>(limits.bytes_in_flight)),
                   size_text(static_cast<int64_t>(limits.frame_body_bytes))));
  need(limits.bytes_in_flight <= limits.total_bytes_in_flight, "native_transport_max_request_data_in_flight",
       fmt::format("{} is less than connection_max_request_data_in_flight, {}",
                   size_text(static_cast<int64_t>(limits.total_bytes_in_flight)),
                   size_text(static_cast<int64_t>(limits.bytes_in_flight))));
  if (const base::Status status = auth::validate(configuration.engine.auth); !status)
    problems.push_back({"authorizer", status.error().text()});
  const plan::Guardrails& guardrails = configuration.engine.guardrails;
  need(guardrails.batch_size_fail_threshold == 0 ||
           guardrails.batch_size_warn_threshold <= guardrails.batch_size_fail_threshold,
       "batch_size_warn_threshold", "it is more than batch_size_fail_threshold");
  const uint64_t memory = configuration.memory_bytes;
  const uint64_t taken = configuration.engine.block_cache_bytes + configuration.engine.memtable_bytes;
  need(memory == 0 || taken < memory, "memory",
       fmt::format("{} does not hold file_cache_size and memtable_heap_space, {} together",
                   size_text(static_cast<int64_t>(memory)), size_text(static_cast<int64_t>(taken))));
}

}  // namespace

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
  if (configuration.tls_enabled)
    configuration.server.tls.mode = configuration.tls_optional ? Mode::optional : Mode::required;
  if (configuration.rate_limiting)
    configuration.server.limits.requests_per_second = configuration.requests_per_second;
  derive_sizes(result, available_memory());
  if (problems_.empty()) check_together(result.configuration, problems_);
  result.configuration.engine.settings = shown_settings(result.configuration);
  return result;
}

}  // namespace sibyl
