// Guardrails by their names in cassandra.yaml, for reading and showing a configuration.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/guardrails.h"

namespace sibyl::plan {

// Example: "tables" for tables_warn_threshold and tables_fail_threshold.
struct NamedThreshold {
  enum class Unit : uint8_t { count, bytes, micros };
  const char* name;
  Threshold Guardrails::* threshold;
  Unit unit = Unit::count;
};
struct NamedFlag {
  const char* name;
  bool Guardrails::* flag;
  const char* help;
};
// Example: "table_properties_warned".
struct NamedValues {
  const char* name;
  ValueSets Guardrails::* sets;
  std::set<std::string> ValueSets::* set;
  bool is_upper_case;
  const char* help;
};

// The values that such a set may contain.
std::span<const std::string_view> known_values(const NamedValues& values);

std::span<const NamedThreshold> guardrail_thresholds();
std::span<const NamedFlag> guardrail_flags();
std::span<const NamedValues> guardrail_values();

// Names and values as shown in system_views.settings.
std::vector<std::pair<std::string, std::string>> settings_of(const Guardrails& guardrails);

}  // namespace sibyl::plan
