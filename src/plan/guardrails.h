// Limits that first warn and then refuse: Cassandra's guardrails, with its names, defaults and texts.
//
// Guardrails is a plain value that is set when the engine is opened and never changes. Everything here is
// thread-safe. `keyspaces.warn` is cassandra.yaml's keyspaces_warn_threshold, and so on.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sibyl::plan {

// A value of 0 or less disables the check.
struct Threshold {
  int64_t warn = -1;
  int64_t fail = -1;
};
// Names are in upper case. Table properties are spelled as in the statement.
struct ValueSets {
  std::set<std::string> warned, ignored, disallowed;
};

struct Guardrails {
  // --- Definitions
  Threshold keyspaces, tables, columns_per_table, fields_per_udt;
  Threshold secondary_indexes_per_table, materialized_views_per_table;
  Threshold vector_dimensions;
  Threshold minimum_replication_factor, maximum_replication_factor;
  ValueSets table_properties;
  bool alter_table_enabled = true;
  bool drop_truncate_table_enabled = true;
  bool drop_keyspace_enabled = true;
  bool secondary_indexes_enabled = true;
  bool uncompressed_tables_enabled = true;
  bool simplestrategy_enabled = true;
  bool vector_type_enabled = true;
  // Cassandra's default is false: there, functions need a patch and views are experimental.
  bool user_defined_functions_enabled = true, materialized_views_enabled = true;
  // Cassandra warns by default, except superusers. Without authentication every client is a superuser.
  bool zero_ttl_on_twcs_warned = false, zero_ttl_on_twcs_enabled = true;

  // --- Reads
  Threshold page_size, partition_keys_in_select, in_select_cartesian_product;
  ValueSets read_consistency_levels;
  bool group_by_enabled = true;
  bool allow_filtering_enabled = true;
  int64_t tombstone_warn_threshold = 1000;  // tombstones read by one request
  int64_t tombstone_failure_threshold = 100'000;

  // --- Writes
  Threshold column_value_size, collection_size, items_per_collection;  // sizes in bytes
  Threshold partition_size;  // size of a partition in one data file, checked when the file is written
  Threshold data_disk_usage_percentage;
  int64_t data_disk_usage_max_disk_size = 0;       // 0: the size of the disk
  Threshold maximum_timestamp, minimum_timestamp;  // microseconds from now
  ValueSets write_consistency_levels;
  bool limits_values() const {
    const auto is_set = [](const Threshold& one) { return one.warn > 0 || one.fail > 0; };
    return is_set(column_value_size) || is_set(collection_size) || is_set(items_per_collection);
  }
  bool limits_timestamps() const {
    const auto is_set = [](const Threshold& one) { return one.warn > 0 || one.fail > 0; };
    return is_set(maximum_timestamp) || is_set(minimum_timestamp);
  }
  bool user_timestamps_enabled = true;
  bool read_before_write_list_operations_enabled = true;
  int64_t batch_size_warn_threshold = 5 * 1024;  // bytes
  int64_t batch_size_fail_threshold = 50 * 1024;
  int64_t unlogged_batch_across_partitions_warn_threshold = 10;
};

// Cassandra's defaults.
extern const Guardrails default_guardrails;

// --- Checks. Warnings are added to `warnings`; failures are errors 0x2200 with Cassandra's text.

// Compares a number with a threshold. {what}, {value} and {threshold} in the texts are replaced.
struct NumberGuard {
  Threshold Guardrails::* threshold;
  const char* name;
  const char* warn_text;
  const char* fail_text;
  const char* reason = "";
  bool is_minimum = false;
};
extern const NumberGuard keyspaces_guard, tables_guard, columns_guard, fields_guard, indexes_guard,
    views_guard, dimensions_guard, minimum_replication_guard, maximum_replication_guard, page_size_guard,
    partition_keys_guard, cartesian_product_guard, column_value_guard, collection_size_guard,
    collection_items_guard, maximum_timestamp_guard, minimum_timestamp_guard;
base::Status guard(const Guardrails& guardrails, const NumberGuard& which, int64_t value,
                   std::string_view what, std::vector<std::string>& warnings);

// A feature that can be disabled.
struct FeatureGuard {
  bool Guardrails::* enabled;
  const char* name;
  const char* feature;
  const char* reason = "";
  bool Guardrails::* warned = nullptr;
};
extern const FeatureGuard alter_table_guard, drop_truncate_guard, drop_keyspace_guard, secondary_index_guard,
    uncompressed_guard, simplestrategy_guard, vector_type_guard, zero_ttl_guard, group_by_guard,
    allow_filtering_guard, user_timestamps_guard, list_reads_guard;
base::Status guard(const Guardrails& guardrails, const FeatureGuard& which,
                   std::vector<std::string>& warnings);

// Values that cause a warning, are ignored or are refused. Returns the values to ignore.
struct ValuesGuard {
  ValueSets Guardrails::* values;
  const char* name;
  const char* what;
};
extern const ValuesGuard table_properties_guard, read_consistency_guard, write_consistency_guard;
base::Result<std::set<std::string>> guard(const Guardrails& guardrails, const ValuesGuard& which,
                                          const std::set<std::string>& values,
                                          std::vector<std::string>& warnings);

}  // namespace sibyl::plan
