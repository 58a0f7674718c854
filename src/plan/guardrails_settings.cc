#include <fmt/format.h>

#include "plan/guardrails.h"

namespace sibyl::plan {
namespace {

struct NamedThreshold {
  const char* name;
  Threshold Guardrails::* threshold;
  bool is_size = false;  // left out when off
};
constexpr NamedThreshold thresholds[] = {
    {"keyspaces", &Guardrails::keyspaces},
    {"tables", &Guardrails::tables},
    {"columns_per_table", &Guardrails::columns_per_table},
    {"fields_per_udt", &Guardrails::fields_per_udt},
    {"secondary_indexes_per_table", &Guardrails::secondary_indexes_per_table},
    {"materialized_views_per_table", &Guardrails::materialized_views_per_table},
    {"vector_dimensions", &Guardrails::vector_dimensions},
    {"minimum_replication_factor", &Guardrails::minimum_replication_factor},
    {"maximum_replication_factor", &Guardrails::maximum_replication_factor},
    {"page_size", &Guardrails::page_size},
    {"partition_keys_in_select", &Guardrails::partition_keys_in_select},
    {"in_select_cartesian_product", &Guardrails::in_select_cartesian_product},
    {"items_per_collection", &Guardrails::items_per_collection},
    {"column_value_size", &Guardrails::column_value_size, true},
    {"collection_size", &Guardrails::collection_size, true},
    {"maximum_timestamp", &Guardrails::maximum_timestamp, true},
    {"minimum_timestamp", &Guardrails::minimum_timestamp, true},
};

struct NamedFlag {
  const char* name;
  bool Guardrails::* flag;
};
constexpr NamedFlag flags[] = {
    {"alter_table_enabled", &Guardrails::alter_table_enabled},
    {"drop_truncate_table_enabled", &Guardrails::drop_truncate_table_enabled},
    {"drop_keyspace_enabled", &Guardrails::drop_keyspace_enabled},
    {"secondary_indexes_enabled", &Guardrails::secondary_indexes_enabled},
    {"uncompressed_tables_enabled", &Guardrails::uncompressed_tables_enabled},
    {"simplestrategy_enabled", &Guardrails::simplestrategy_enabled},
    {"vector_type_enabled", &Guardrails::vector_type_enabled},
    {"zero_ttl_on_twcs_warned", &Guardrails::zero_ttl_on_twcs_warned},
    {"zero_ttl_on_twcs_enabled", &Guardrails::zero_ttl_on_twcs_enabled},
    {"group_by_enabled", &Guardrails::group_by_enabled},
    {"allow_filtering_enabled", &Guardrails::allow_filtering_enabled},
    {"user_timestamps_enabled", &Guardrails::user_timestamps_enabled},
    {"read_before_write_list_operations_enabled", &Guardrails::read_before_write_list_operations_enabled},
};

std::string set_text(const std::set<std::string>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> settings_of(const Guardrails& guardrails) {
  std::vector<std::pair<std::string, std::string>> settings;
  const auto bound = [&](const NamedThreshold& one, const char* which, int64_t value) {
    if (one.is_size && value <= 0) return;
    settings.emplace_back(fmt::format("{}_{}_threshold", one.name, which), std::to_string(value));
  };
  for (const NamedThreshold& one : thresholds) {
    bound(one, "warn", (guardrails.*one.threshold).warn);
    bound(one, "fail", (guardrails.*one.threshold).fail);
  }
  for (const NamedFlag& one : flags) settings.emplace_back(one.name, guardrails.*one.flag ? "true" : "false");
  const auto values = [&](const std::string& name, const ValueSets& sets, bool can_ignore) {
    settings.emplace_back(name + "_warned", set_text(sets.warned));
    if (can_ignore) settings.emplace_back(name + "_ignored", set_text(sets.ignored));
    settings.emplace_back(name + "_disallowed", set_text(sets.disallowed));
  };
  values("table_properties", guardrails.table_properties, true);
  values("read_consistency_levels", guardrails.read_consistency_levels, false);
  values("write_consistency_levels", guardrails.write_consistency_levels, false);
  settings.emplace_back("tombstone_warn_threshold", std::to_string(guardrails.tombstone_warn_threshold));
  settings.emplace_back("tombstone_failure_threshold",
                        std::to_string(guardrails.tombstone_failure_threshold));
  const auto kibibytes = [](int64_t bytes) { return fmt::format("{}KiB", bytes / 1024); };
  settings.emplace_back("batch_size_warn_threshold", kibibytes(guardrails.batch_size_warn_threshold));
  settings.emplace_back("batch_size_fail_threshold", kibibytes(guardrails.batch_size_fail_threshold));
  settings.emplace_back("unlogged_batch_across_partitions_warn_threshold",
                        std::to_string(guardrails.unlogged_batch_across_partitions_warn_threshold));
  return settings;
}

}  // namespace sibyl::plan
