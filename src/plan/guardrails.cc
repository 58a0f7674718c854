#include "plan/guardrails.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace sibyl::plan {

const Guardrails default_guardrails;

const NumberGuard keyspaces_guard = {
    &Guardrails::keyspaces, "keyspaces",
    "Creating keyspace {what}, current number of keyspaces {value} exceeds warning threshold of {threshold}.",
    "Cannot have more than {threshold} keyspaces, aborting the creation of keyspace {what}"};
const NumberGuard tables_guard = {
    &Guardrails::tables, "tables",
    "Creating table {what}, current number of tables {value} exceeds warning threshold of {threshold}.",
    "Cannot have more than {threshold} tables, aborting the creation of table {what}"};
const NumberGuard columns_guard = {
    &Guardrails::columns_per_table, "columns_per_table",
    "The table {what} has {value} columns, this exceeds the warning threshold of {threshold}.",
    "Tables cannot have more than {threshold} columns, but {value} provided for table {what}"};
const NumberGuard fields_guard = {
    &Guardrails::fields_per_udt, "fields_per_udt",
    "The user type {what} has {value} columns, this exceeds the warning threshold of {threshold}.",
    "User types cannot have more than {threshold} columns, but {value} provided for user type {what}."};
const NumberGuard indexes_guard = {
    &Guardrails::secondary_indexes_per_table, "secondary_indexes_per_table",
    "Creating secondary index {what}, current number of indexes {value} exceeds warning threshold of "
    "{threshold}.",
    "Tables cannot have more than {threshold} secondary indexes, aborting the creation of secondary index "
    "{what}"};
const NumberGuard views_guard = {
    &Guardrails::materialized_views_per_table, "materialized_views_per_table",
    "Creating materialized view {what}, current number of views {value} exceeds warning threshold of "
    "{threshold}.",
    "Tables cannot have more than {threshold} materialized views, aborting the creation of materialized view "
    "{what}"};
const NumberGuard dimensions_guard = {
    &Guardrails::vector_dimensions, "vector_dimensions",
    "{what} has a vector of {value} dimensions, this exceeds the warning threshold of {threshold}.",
    "{what} has a vector of {value} dimensions, this exceeds the failure threshold of {threshold}."};
const NumberGuard minimum_replication_guard = {
    &Guardrails::minimum_replication_factor,
    "minimum_replication_factor",
    "The keyspace {what} has a replication factor of {value}, below the warning threshold of {threshold}.",
    "The keyspace {what} has a replication factor of {value}, below the failure threshold of {threshold}.",
    "",
    true};
const NumberGuard maximum_replication_guard = {
    &Guardrails::maximum_replication_factor, "maximum_replication_factor",
    "The keyspace {what} has a replication factor of {value}, above the warning threshold of {threshold}.",
    "The keyspace {what} has a replication factor of {value}, above the failure threshold of {threshold}."};
const NumberGuard page_size_guard = {
    &Guardrails::page_size, "page_size",
    "Query for table {what} with page size {value} exceeds warning threshold of {threshold}.",
    "Aborting query for table {what}, page size {value} exceeds fail threshold of {threshold}."};
const NumberGuard partition_keys_guard = {
    &Guardrails::partition_keys_in_select, "partition_keys_in_select",
    "Query with partition keys in IN clause on table {what}, with number of partition keys {value} exceeds "
    "warning threshold of {threshold}.",
    "Aborting query with partition keys in IN clause on table {what}, number of partition keys {value} "
    "exceeds fail threshold of {threshold}."};
const NumberGuard cartesian_product_guard = {
    &Guardrails::in_select_cartesian_product, "in_select_cartesian_product",
    "The cartesian product of the IN restrictions on {what} produces {value} values, this exceeds warning "
    "threshold of {threshold}.",
    "Aborting query because the cartesian product of the IN restrictions on {what} produces {value} values, "
    "this exceeds fail threshold of {threshold}."};
const NumberGuard column_value_guard = {
    &Guardrails::column_value_size, "column_value_size",
    "Value of column '{what}' has size {value}, this exceeds the warning threshold of {threshold}.",
    "Value of column '{what}' has size {value}, this exceeds the failure threshold of {threshold}."};
const NumberGuard collection_size_guard = {
    &Guardrails::collection_size, "collection_size",
    "Detected collection {what} of size {value}, this exceeds the warning threshold of {threshold}.",
    "Detected collection {what} of size {value}, this exceeds the failure threshold of {threshold}."};
const NumberGuard collection_items_guard = {
    &Guardrails::items_per_collection, "items_per_collection",
    "Detected collection {what} with {value} items, this exceeds the warning threshold of {threshold}.",
    "Detected collection {what} with {value} items, this exceeds the failure threshold of {threshold}."};
const NumberGuard maximum_timestamp_guard = {
    &Guardrails::maximum_timestamp, "maximum_timestamp",
    "The modification to table {what} has a timestamp {value} after the maximum allowable warning threshold "
    "{threshold}",
    "The modification to table {what} has a timestamp {value} after the maximum allowable failure threshold "
    "{threshold}",
    "Timestamps too far in the future can lead to data that can't be easily overwritten"};
const NumberGuard minimum_timestamp_guard = {
    &Guardrails::minimum_timestamp,
    "minimum_timestamp",
    "The modification to table {what} has a timestamp {value} before the minimum allowable warning threshold "
    "{threshold}",
    "The modification to table {what} has a timestamp {value} before the minimum allowable failure threshold "
    "{threshold}",
    "Timestamps too far in the past can cause writes can be unexpectedly lost",
    true};

const FeatureGuard alter_table_guard = {&Guardrails::alter_table_enabled, "alter_table",
                                        "User access to ALTER TABLE statement for column mutation"};
const FeatureGuard drop_truncate_guard = {&Guardrails::drop_truncate_table_enabled,
                                          "drop_truncate_table_enabled",
                                          "DROP and TRUNCATE TABLE functionality"};
const FeatureGuard drop_keyspace_guard = {&Guardrails::drop_keyspace_enabled, "drop_keyspace_enabled",
                                          "DROP KEYSPACE functionality"};
const FeatureGuard secondary_index_guard = {&Guardrails::secondary_indexes_enabled, "secondary_indexes",
                                            "User creation of secondary indexes"};
const FeatureGuard uncompressed_guard = {&Guardrails::uncompressed_tables_enabled,
                                         "uncompressed_tables_enabled", "Uncompressed table"};
const FeatureGuard simplestrategy_guard = {&Guardrails::simplestrategy_enabled, "simplestrategy",
                                           "SimpleStrategy"};
const FeatureGuard vector_type_guard = {&Guardrails::vector_type_enabled, "vector_type_enabled",
                                        "usage of the vector type"};
const FeatureGuard zero_ttl_guard = {
    &Guardrails::zero_ttl_on_twcs_enabled, "zero_ttl_on_twcs",
    "0 default_time_to_live on a table with TimeWindowCompactionStrategy compaction strategy",
    "It is suspicious to use default_time_to_live set to 0 with such compaction strategy. Please keep in "
    "mind "
    "that data will not start to automatically expire after they are older than a respective compaction "
    "window unit of a certain size. Please set TTL for your INSERT or UPDATE statements if you expect data "
    "to be expired as table settings will not do it. ",
    &Guardrails::zero_ttl_on_twcs_warned};
const FeatureGuard group_by_guard = {&Guardrails::group_by_enabled, "group_by", "GROUP BY functionality"};
const FeatureGuard allow_filtering_guard = {
    &Guardrails::allow_filtering_enabled, "allow_filtering", "Querying with ALLOW FILTERING",
    "ALLOW FILTERING can potentially visit all the data in the table and have unpredictable performance."};
const FeatureGuard user_timestamps_guard = {&Guardrails::user_timestamps_enabled, "user_timestamps",
                                            "User provided timestamps (USING TIMESTAMP)"};
const FeatureGuard list_reads_guard = {&Guardrails::read_before_write_list_operations_enabled,
                                       "read_before_write_list_operations",
                                       "List operation requiring read before write"};

const ValuesGuard table_properties_guard = {&Guardrails::table_properties, "table_properties",
                                            "Table Properties"};
const ValuesGuard read_consistency_guard = {&Guardrails::read_consistency_levels, "read_consistency_levels",
                                            "read consistency levels"};
const ValuesGuard write_consistency_guard = {&Guardrails::write_consistency_levels,
                                             "write_consistency_levels", "write consistency levels"};

namespace {

std::string decorated(const char* name, const std::string& message, std::string_view reason) {
  std::string text = fmt::format("Guardrail {} violated: {}", name, message);
  if (!reason.empty()) text += (message.ends_with('.') ? " " : ". ") + std::string(reason);
  return text;
}

std::set<std::string> common(const std::set<std::string>& left, const std::set<std::string>& right) {
  std::set<std::string> both;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(),
                        std::inserter(both, both.end()));
  return both;
}

std::string listed(const std::set<std::string>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

}  // namespace

base::Status guard(const Guardrails& guardrails, const NumberGuard& which, int64_t value,
                   std::string_view what, std::vector<std::string>& warnings) {
  const Threshold& threshold = guardrails.*which.threshold;
  const auto crosses = [&](int64_t bound) {
    return bound > 0 && (which.is_minimum ? value < bound : value > bound);
  };
  const auto text = [&](const char* format, int64_t bound) {
    const std::string message = fmt::format(fmt::runtime(format), fmt::arg("what", what),
                                            fmt::arg("value", value), fmt::arg("threshold", bound));
    return decorated(which.name, message, which.reason);
  };
  if (crosses(threshold.fail)) return base::invalid(text(which.fail_text, threshold.fail));
  if (crosses(threshold.warn)) warnings.push_back(text(which.warn_text, threshold.warn));
  return {};
}

base::Status guard(const Guardrails& guardrails, const FeatureGuard& which,
                   std::vector<std::string>& warnings) {
  if (!(guardrails.*which.enabled))
    return base::invalid(
        decorated(which.name, fmt::format("{} is not allowed", which.feature), which.reason));
  if (which.warned != nullptr && guardrails.*which.warned)
    warnings.push_back(
        decorated(which.name, fmt::format("{} is not recommended", which.feature), which.reason));
  return {};
}

base::Result<std::set<std::string>> guard(const Guardrails& guardrails, const ValuesGuard& which,
                                          const std::set<std::string>& values,
                                          std::vector<std::string>& warnings) {
  const ValueSets& sets = guardrails.*which.values;
  if (const auto refused = common(values, sets.disallowed); !refused.empty()) {
    const std::string message =
        fmt::format("Provided values {} are not allowed for {} (disallowed values are: {})", listed(refused),
                    which.what, listed(sets.disallowed));
    return base::invalid(decorated(which.name, message, ""));
  }
  const std::set<std::string> ignored = common(values, sets.ignored);
  if (!ignored.empty()) {
    const std::string message =
        fmt::format("Ignoring provided values {} as they are not supported for {} (ignored values are: {})",
                    listed(ignored), which.what, listed(sets.ignored));
    warnings.push_back(decorated(which.name, message, ""));
  }
  if (const auto warned = common(values, sets.warned); !warned.empty()) {
    const std::string message =
        fmt::format("Provided values {} are not recommended for {} (warned values are: {})", listed(warned),
                    which.what, listed(sets.warned));
    warnings.push_back(decorated(which.name, message, ""));
  }
  return ignored;
}

}  // namespace sibyl::plan
