// Guardrails as settings.
#include "cli/configuration/guardrails.h"

#include <memory>
#include <set>

#include "base/ascii.h"
#include "cli/configuration/configuration.h"
#include "cli/configuration/kinds.h"
#include "cli/configuration/settings.h"
#include "cli/configuration/values.h"
#include "plan/guardrails_settings.h"

namespace sibyl::cli {
namespace {

using namespace kinds;

const char* threshold_help(std::string_view name, plan::NamedThreshold::Unit unit, bool warns) {
  using Unit = plan::NamedThreshold::Unit;
  if (name == "partition_size") return "Guardrail: log partitions that take more than this in one data file";
  if (name == "minimum_replication_factor")
    return warns ? "Guardrail: warn below this value" : "Guardrail: refuse below this value";
  if (name == "data_disk_usage_percentage")
    return warns ? "Guardrail: writes warn above this disk usage"
                 : "Guardrail: writes fail above this disk usage";
  if (unit == Unit::micros)
    return warns ? "Guardrail: warn at or beyond this value" : "Guardrail: refuse at or beyond this value";
  return warns ? "Guardrail: warn above this value" : "Guardrail: refuse above this value";
}

void add_threshold(const plan::NamedThreshold& one, bool warns, std::vector<Setting>& list) {
  using Unit = plan::NamedThreshold::Unit;
  const auto access = [member = one.threshold, warns](auto& c) -> auto& {
    auto& threshold = c.engine.guardrails.*member;
    return warns ? threshold.warn : threshold.fail;
  };
  static std::vector<std::unique_ptr<std::string>> names;  // Setting::name borrows from these
  names.push_back(
      std::make_unique<std::string>(fmt::format("{}_{}_threshold", one.name, warns ? "warn" : "fail")));
  const char* name = names.back()->c_str();
  constexpr const char* section = "Guardrails";
  const char* help = threshold_help(one.name, one.unit, warns);
  if (one.unit == Unit::count) {
    list.push_back(integer(name, section, access, -1, any, help));
    return;
  }
  Setting setting = size(name, section, access, 0, any, help);
  const bool is_size = one.unit == Unit::bytes;
  setting.type = is_size ? Type::size : Type::duration;
  setting.text = [access, is_size](const Configuration& c) {
    const int64_t value = access(c);
    return value <= 0 ? std::string() : is_size ? size_text(value) : duration_text(value);
  };
  if (!is_size)
    setting.assign = [access](Configuration& c, const RawValue& value) -> base::Status {
      SIBYL_ASSIGN(const std::string given, single(value));
      SIBYL_ASSIGN(access(c), parse_duration(given, value.unit));
      return {};
    };
  list.push_back(std::move(setting));
}

Setting value_set(const plan::NamedValues& one) {
  const auto access = [one](auto& c) -> auto& { return (c.engine.guardrails.*one.sets).*one.set; };
  Setting setting{one.name, Type::list, "Guardrails", one.help};
  setting.text = [access](const Configuration& c) { return fmt::format("[{}]", fmt::join(access(c), ", ")); };
  setting.assign = [access, one](Configuration& c, const RawValue& value) -> base::Status {
    std::set<std::string> values;
    const auto known = plan::known_values(one);
    for (const std::string& given : value.items) {
      std::string item = one.is_upper_case ? base::ascii_upper(given) : base::ascii_lower(given);
      if (std::find(known.begin(), known.end(), item) == known.end())
        return base::fail(bad(fmt::format("'{}' is not one of {}", item, fmt::join(known, ", "))));
      values.insert(std::move(item));
    }
    access(c) = std::move(values);
    return {};
  };
  return setting;
}

// Guardrails whose names in cassandra.yaml do not follow the pattern of the others.
void add_read_and_batch_limits(std::vector<Setting>& list) {
  constexpr const char* section = "Guardrails";
  list.push_back(integer(
      "tombstone_warn_threshold", section,
      [](auto& c) -> auto& { return c.engine.guardrails.tombstone_warn_threshold; }, -1, any,
      "Warn if a read finds more tombstones than this"));
  list.push_back(integer(
      "tombstone_failure_threshold", section,
      [](auto& c) -> auto& { return c.engine.guardrails.tombstone_failure_threshold; }, -1, any,
      "Fail a read that finds more tombstones than this"));
  list.push_back(size(
      "batch_size_warn_threshold", section,
      [](auto& c) -> auto& { return c.engine.guardrails.batch_size_warn_threshold; }, 0, any,
      "Warn if a batch is larger than this"));
  list.back().aliases = {{"batch_size_warn_threshold_in_kb", "KiB"}};
  list.push_back(size(
      "batch_size_fail_threshold", section,
      [](auto& c) -> auto& { return c.engine.guardrails.batch_size_fail_threshold; }, 0, any,
      "Refuse batches larger than this"));
  list.back().aliases = {{"batch_size_fail_threshold_in_kb", "KiB"}};
  list.push_back(integer(
      "unlogged_batch_across_partitions_warn_threshold", section,
      [](auto& c) -> auto& { return c.engine.guardrails.unlogged_batch_across_partitions_warn_threshold; },
      -1, any, "An unlogged batch over more partitions warns"));
}

}  // namespace

void add_guardrails(std::vector<Setting>& list) {
  add_read_and_batch_limits(list);
  for (const plan::NamedThreshold& one : plan::guardrail_thresholds()) {
    add_threshold(one, true, list);
    if (std::string_view(one.name) == "keyspaces") list.back().aliases = {{"keyspace_count_warn_threshold"}};
    if (std::string_view(one.name) == "tables") list.back().aliases = {{"table_count_warn_threshold"}};
    if (std::string_view(one.name) == "partition_size")
      list.back().aliases = {{"compaction_large_partition_warning_threshold"},
                             {"compaction_large_partition_warning_threshold_mb", "MiB"}};
    add_threshold(one, false, list);
  }
  list.push_back(size(
      "data_disk_usage_max_disk_size", "Guardrails",
      [](auto& c) -> auto& { return c.engine.guardrails.data_disk_usage_max_disk_size; }, 0, any,
      "Size that counts as the whole disk for data_disk_usage_percentage; 0B: the actual size"));
  for (const plan::NamedFlag& one : plan::guardrail_flags())
    list.push_back(flag(
        one.name, "Guardrails", [member = one.flag](auto& c) -> auto& { return c.engine.guardrails.*member; },
        one.help));
  for (Setting& setting : list) {
    if (std::string_view(setting.name) == "user_defined_functions_enabled")
      setting.aliases = {{"enable_user_defined_functions"}};
    if (std::string_view(setting.name) == "materialized_views_enabled")
      setting.aliases = {{"enable_materialized_views"}};
  }
  for (const plan::NamedValues& one : plan::guardrail_values()) list.push_back(value_set(one));
}

}  // namespace sibyl::cli
