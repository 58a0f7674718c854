#include "cli/migrate/definitions.h"

#include <fmt/format.h>

#include <algorithm>

#include "types/identifier.h"
#include "types/literals/literal.h"
#include "types/print.h"
#include "types/print_value.h"
#include "types/value.h"

namespace sibyl::cli::migrate {
namespace {

using types::quote_identifier;
using types::quote_string;

std::string name_in(const SchemaRow& row, const std::string& column) {
  return quote_identifier(row.text("keyspace_name")) + "." + quote_identifier(row.text(column));
}

std::string map_literal(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string text = "{";
  for (const auto& [key, value] : entries)
    text += fmt::format("{}{}: {}", text.size() > 1 ? ", " : "", quote_string(key), quote_string(value));
  return text + "}";
}

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

// The schema table has a mask's arguments as texts without quotes, or in hexadecimal.
std::string mask_argument(const std::string& type, const std::string& value) {
  for (const char* bare : {"int", "bigint", "smallint", "tinyint", "varint", "decimal", "float", "double",
                           "boolean", "uuid", "timeuuid", "duration"})
    if (type == bare) return value;
  if (type == "blob") return value.starts_with("0x") ? value : "0x" + value;
  return quote_string(value);
}

std::string mask_text(const SchemaRow& mask) {
  const std::string keyspace = mask.text("function_keyspace");
  std::string text = " MASKED WITH ";
  if (keyspace != "system") text += quote_identifier(keyspace) + ".";
  text += quote_identifier(mask.text("function_name"));
  const std::vector<std::string> types = mask.texts("function_argument_types"),
                                 values = mask.texts("function_argument_values"),
                                 nulls = mask.texts("function_argument_nulls");
  std::vector<std::string> arguments;
  for (size_t i = 0; i < values.size() && i < types.size() && i < nulls.size(); ++i)
    arguments.push_back(nulls[i] == std::string_view("\1", 1) ? "null" : mask_argument(types[i], values[i]));
  return fmt::format("{}({})", text, joined(arguments));
}

std::string key_text(const SourceTable& table) {
  std::vector<std::string> partition, clustering;
  for (const SourceColumn& column : table.columns) {
    if (column.kind == "partition_key") partition.push_back(quote_identifier(column.name));
    if (column.kind == "clustering") clustering.push_back(quote_identifier(column.name));
  }
  std::string text = fmt::format("PRIMARY KEY (({})", joined(partition));
  if (!clustering.empty()) text += ", " + joined(clustering);
  return text + ")";
}

std::string order_text(const SourceTable& table) {
  std::vector<std::string> order;
  bool is_needed = false;
  for (const SourceColumn& column : table.columns) {
    if (column.kind != "clustering") continue;
    is_needed = is_needed || column.is_descending;
    order.push_back(quote_identifier(column.name) + (column.is_descending ? " DESC" : " ASC"));
  }
  return is_needed ? fmt::format("CLUSTERING ORDER BY ({})", joined(order)) : "";
}

constexpr const char* essential_options[] = {"comment", "default_time_to_live", "gc_grace_seconds"};
// Options of 3.11 that later versions dropped are not in this list.
constexpr const char* tuning_options[] = {"additional_write_policy",
                                          "allow_auto_snapshot",
                                          "bloom_filter_fp_chance",
                                          "caching",
                                          "cdc",
                                          "compaction",
                                          "compression",
                                          "crc_check_chance",
                                          "incremental_backups",
                                          "max_index_interval",
                                          "memtable",
                                          "memtable_flush_period_in_ms",
                                          "min_index_interval",
                                          "read_repair",
                                          "speculative_retry"};

std::string option_value(const SchemaRow& row, const std::string& name) {
  const SchemaRow::Value& value = row.values().at(name);
  switch (value.type->kind()) {
    case types::Kind::map:
      return map_literal(row.map(name));
    case types::Kind::text:
      return quote_string(value.bytes);
    case types::Kind::double_:
      return types::format_double(types::decode_double(value.bytes));
    default:
      return types::to_literal(*value.type, value.bytes);
  }
}

std::string with_options(const SourceTable& table, TableOptions options) {
  std::vector<std::string> parts;
  if (const std::string order = order_text(table); !order.empty()) parts.push_back(order);
  const auto add = [&](const char* name) {
    // A view's default_time_to_live cannot be set.
    if (!table.row.has(name) || (table.is_view() && std::string_view(name) == "default_time_to_live")) return;
    parts.push_back(fmt::format("{} = {}", name, option_value(table.row, name)));
  };
  for (const char* name : essential_options) add(name);
  if (options == TableOptions::all)
    for (const char* name : tuning_options) add(name);
  return parts.empty() ? "" : fmt::format(" WITH {}", fmt::join(parts, " AND "));
}

std::string keyspace_text(const SourceKeyspace& keyspace, const std::string& replication) {
  return fmt::format("CREATE KEYSPACE IF NOT EXISTS {} WITH replication = {} AND durable_writes = {}",
                     quote_identifier(keyspace.name), replication,
                     !keyspace.row.has("durable_writes") || keyspace.row.boolean("durable_writes"));
}

}  // namespace

std::string create_keyspace(const SourceKeyspace& keyspace) {
  return keyspace_text(keyspace, map_literal(keyspace.row.map("replication")));
}

std::string create_keyspace_with_one_copy(const SourceKeyspace& keyspace) {
  return keyspace_text(keyspace, "{'class': 'SimpleStrategy', 'replication_factor': '1'}");
}

std::string create_type(const SchemaRow& type) {
  const std::vector<std::string> names = type.texts("field_names"), types = type.texts("field_types");
  std::vector<std::string> fields;
  for (size_t i = 0; i < names.size() && i < types.size(); ++i)
    fields.push_back(quote_identifier(names[i]) + " " + types[i]);
  return fmt::format("CREATE TYPE IF NOT EXISTS {} ({})", name_in(type, "type_name"), joined(fields));
}

std::string create_function(const SchemaRow& function) {
  const std::vector<std::string> names = function.texts("argument_names"),
                                 types = function.texts("argument_types");
  std::vector<std::string> arguments;
  for (size_t i = 0; i < names.size() && i < types.size(); ++i)
    arguments.push_back(quote_identifier(names[i]) + " " + types[i]);
  return fmt::format("CREATE FUNCTION IF NOT EXISTS {} ({}) {} ON NULL INPUT RETURNS {} LANGUAGE {} AS {}",
                     name_in(function, "function_name"), joined(arguments),
                     function.boolean("called_on_null_input") ? "CALLED" : "RETURNS NULL",
                     function.text("return_type"), function.text("language"),
                     quote_string(function.text("body")));
}

std::string create_aggregate(const SchemaRow& aggregate) {
  std::string text =
      fmt::format("CREATE AGGREGATE IF NOT EXISTS {} ({}) SFUNC {} STYPE {}",
                  name_in(aggregate, "aggregate_name"), joined(aggregate.texts("argument_types")),
                  quote_identifier(aggregate.text("state_func")), aggregate.text("state_type"));
  if (aggregate.has("final_func")) text += " FINALFUNC " + quote_identifier(aggregate.text("final_func"));
  if (aggregate.has("initcond")) text += " INITCOND " + aggregate.text("initcond");
  return text;
}

std::string create_table(const SourceTable& table, TableOptions options) {
  std::string columns;
  for (const SourceColumn& column : table.columns)
    columns +=
        fmt::format("{} {}{}{}, ", quote_identifier(column.name), column.type,
                    column.kind == "static" ? " static" : "", column.mask ? mask_text(*column.mask) : "");
  return fmt::format("CREATE TABLE IF NOT EXISTS {} ({}{}){}", table.quoted_name(), columns, key_text(table),
                     with_options(table, options));
}

std::string create_view(const SourceTable& view, TableOptions options) {
  std::vector<std::string> names;
  for (const SourceColumn& column : view.columns) names.push_back(quote_identifier(column.name));
  return fmt::format("CREATE MATERIALIZED VIEW IF NOT EXISTS {} AS SELECT {} FROM {}.{} WHERE {} {}{}",
                     view.quoted_name(), view.row.boolean("include_all_columns") ? "*" : joined(names),
                     quote_identifier(view.keyspace), quote_identifier(view.row.text("base_table_name")),
                     view.row.text("where_clause"), key_text(view), with_options(view, options));
}

std::string create_index(const SourceTable& table, const SchemaRow& index) {
  std::vector<std::pair<std::string, std::string>> options;
  std::string target, class_name;
  for (auto& [name, value] : index.map("options")) {
    if (name == "target")
      target = value;
    else if (name == "class_name")
      class_name = value;
    else
      options.emplace_back(name, value);
  }
  const bool is_custom = index.text("kind") == "CUSTOM";
  std::string text = fmt::format("CREATE {}INDEX IF NOT EXISTS {} ON {} ({})", is_custom ? "CUSTOM " : "",
                                 quote_identifier(index.text("index_name")), table.quoted_name(), target);
  if (is_custom) text += " USING " + quote_string(class_name);
  if (is_custom && !options.empty()) text += " WITH OPTIONS = " + map_literal(options);
  return text;
}

std::string signature(const SchemaRow& function, const std::string& name_column) {
  return fmt::format("{}({})", name_in(function, name_column), joined(function.texts("argument_types")));
}

}  // namespace sibyl::cli::migrate
