#include "plan/guardrails_settings.h"

#include <fmt/format.h>

#include "plan/options/options.h"

namespace sibyl::plan {
namespace {

using Unit = NamedThreshold::Unit;
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
    {"data_disk_usage_percentage", &Guardrails::data_disk_usage_percentage},
    {"partition_size", &Guardrails::partition_size, Unit::bytes},
    {"column_value_size", &Guardrails::column_value_size, Unit::bytes},
    {"collection_size", &Guardrails::collection_size, Unit::bytes},
    {"maximum_timestamp", &Guardrails::maximum_timestamp, Unit::micros},
    {"minimum_timestamp", &Guardrails::minimum_timestamp, Unit::micros},
};

constexpr NamedFlag flags[] = {
    {"user_defined_functions_enabled", &Guardrails::user_defined_functions_enabled,
     "Whether functions may be created. Cassandra's default is false"},
    {"materialized_views_enabled", &Guardrails::materialized_views_enabled,
     "Whether views may be created. Cassandra's default is false"},
    {"alter_table_enabled", &Guardrails::alter_table_enabled,
     "Whether columns may be added, changed and dropped"},
    {"drop_truncate_table_enabled", &Guardrails::drop_truncate_table_enabled,
     "Whether tables may be dropped and truncated"},
    {"drop_keyspace_enabled", &Guardrails::drop_keyspace_enabled, "Whether keyspaces may be dropped"},
    {"secondary_indexes_enabled", &Guardrails::secondary_indexes_enabled, "Whether indexes may be created"},
    {"uncompressed_tables_enabled", &Guardrails::uncompressed_tables_enabled,
     "Whether tables may disable compression"},
    {"simplestrategy_enabled", &Guardrails::simplestrategy_enabled,
     "Whether keyspaces may use SimpleStrategy"},
    {"vector_type_enabled", &Guardrails::vector_type_enabled, "Whether columns may have the type vector"},
    {"zero_ttl_on_twcs_warned", &Guardrails::zero_ttl_on_twcs_warned,
     "Whether TimeWindowCompactionStrategy without a default TTL causes a warning"},
    {"zero_ttl_on_twcs_enabled", &Guardrails::zero_ttl_on_twcs_enabled,
     "Whether tables with TimeWindowCompactionStrategy may have no default TTL"},
    {"group_by_enabled", &Guardrails::group_by_enabled, "Whether GROUP BY may be used"},
    {"allow_filtering_enabled", &Guardrails::allow_filtering_enabled, "Whether ALLOW FILTERING may be used"},
    {"user_timestamps_enabled", &Guardrails::user_timestamps_enabled, "Whether USING TIMESTAMP may be used"},
    {"read_before_write_list_operations_enabled", &Guardrails::read_before_write_list_operations_enabled,
     "Whether list elements may be set and deleted by position"},
};

constexpr NamedValues values[] = {
    {"table_properties_warned", &Guardrails::table_properties, &ValueSets::warned, false,
     "Table properties that cause a warning"},
    {"table_properties_ignored", &Guardrails::table_properties, &ValueSets::ignored, false,
     "Table properties that are ignored, with a warning"},
    {"table_properties_disallowed", &Guardrails::table_properties, &ValueSets::disallowed, false,
     "Table properties that are refused"},
    {"read_consistency_levels_warned", &Guardrails::read_consistency_levels, &ValueSets::warned, true,
     "Consistency levels of reads that cause a warning"},
    {"read_consistency_levels_disallowed", &Guardrails::read_consistency_levels, &ValueSets::disallowed, true,
     "Consistency levels of reads that are refused"},
    {"write_consistency_levels_warned", &Guardrails::write_consistency_levels, &ValueSets::warned, true,
     "Consistency levels of writes that cause a warning"},
    {"write_consistency_levels_disallowed", &Guardrails::write_consistency_levels, &ValueSets::disallowed,
     true, "Consistency levels of writes that are refused"},
};

std::string set_text(const std::set<std::string>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

}  // namespace

std::span<const NamedThreshold> guardrail_thresholds() {
  return thresholds;
}

std::span<const NamedFlag> guardrail_flags() {
  return flags;
}

std::span<const NamedValues> guardrail_values() {
  return values;
}

std::span<const std::string_view> known_values(const NamedValues& values) {
  static constexpr std::string_view levels[] = {"ALL",          "ANY",          "EACH_QUORUM", "LOCAL_ONE",
                                                "LOCAL_QUORUM", "LOCAL_SERIAL", "NODE_LOCAL",  "ONE",
                                                "QUORUM",       "SERIAL",       "THREE",       "TWO"};
  if (values.sets == &Guardrails::table_properties) return table_property_names();
  return levels;
}

std::vector<std::pair<std::string, std::string>> settings_of(const Guardrails& guardrails) {
  std::vector<std::pair<std::string, std::string>> settings;
  const auto bound = [&](const NamedThreshold& one, const char* which, int64_t value) {
    if (one.unit != Unit::count && value <= 0) return;
    settings.emplace_back(fmt::format("{}_{}_threshold", one.name, which), std::to_string(value));
  };
  for (const NamedThreshold& one : thresholds) {
    bound(one, "warn", (guardrails.*one.threshold).warn);
    bound(one, "fail", (guardrails.*one.threshold).fail);
  }
  for (const NamedFlag& one : flags) settings.emplace_back(one.name, guardrails.*one.flag ? "true" : "false");
  for (const NamedValues& one : values)
    settings.emplace_back(one.name, set_text((guardrails.*one.sets).*one.set));
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
