// The table of settings. It is used for reading, `sibyl serve --print-config`, system_views.settings and
// docs/configuration.md. Names are Cassandra's where the meaning is the same.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/configuration/configuration.h"

namespace sibyl::cli {

struct Setting {
  enum class Type : uint8_t { boolean, integer, size, duration, text, choice, list, address };
  // An older Cassandra name, and the unit of its numbers.
  struct Alias {
    const char* name;
    const char* unit = "";
  };

  const char* name;  // nested names have dots: "client_encryption_options.enabled"
  Type type;
  const char* section;
  std::string help;
  bool is_ours = false;  // not a name of cassandra.yaml
  bool is_secret = false;
  std::vector<Alias> aliases;
  std::string default_note;  // how the default depends on the machine; empty: it does not
  // The value in YAML form; empty: not set.
  std::function<std::string(const Configuration&)> text;
  std::function<base::Status(Configuration&, const RawValue&)> assign;
};

const std::vector<Setting>& settings();
// Finds a setting by its current or an older name. Returns nullptr if there is none.
const Setting* find_setting(std::string_view name);
const char* to_string(Setting::Type type);

}  // namespace sibyl::cli
