#include "engine/describe/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/describe/qualified_name.h"
#include "types/identifier.h"
#include "types/print.h"

namespace sibyl::engine {
namespace {

using schema::Column;
using schema::DroppedColumn;
using schema::Table;
using types::quote_identifier;
using types::quote_string;

std::string print_map(const std::map<std::string, std::string>& map) {
  std::string out = "{";
  for (const auto& [key, value] : map)
    out += fmt::format("{}{}: {}", out.size() > 1 ? ", " : "", quote_string(key), quote_string(value));
  return out + "}";
}

std::string print_extensions(const std::map<std::string, Bytes>& extensions) {
  std::string out = "{";
  for (const auto& [key, value] : extensions)
    out += fmt::format("{}{}: 0x{}", out.size() > 1 ? ", " : "", quote_string(key), base::to_hex(value));
  return out + "}";
}

std::vector<std::string> print_options(const schema::TableOptions& options, bool is_view) {
  std::vector<std::string> lines = {
      "additional_write_policy = " + quote_string(options.additional_write_policy),
      fmt::format("allow_auto_snapshot = {}", options.allow_auto_snapshot),
      "bloom_filter_fp_chance = " + types::format_double(options.bloom_filter_fp_chance),
      "caching = " + print_map(options.caching),
      fmt::format("cdc = {}", options.cdc),
      "comment = " + quote_string(options.comment),
      "compaction = " + print_map(options.compaction),
      "compression = " + print_map(options.compression),
      "memtable = " + quote_string(options.memtable),
      "crc_check_chance = " + types::format_double(options.crc_check_chance),
      fmt::format("default_time_to_live = {}", options.default_time_to_live),
      "extensions = " + print_extensions(options.extensions),
      fmt::format("gc_grace_seconds = {}", options.gc_grace_seconds),
      fmt::format("incremental_backups = {}", options.incremental_backups),
      fmt::format("max_index_interval = {}", options.max_index_interval),
      fmt::format("memtable_flush_period_in_ms = {}", options.memtable_flush_period_in_ms),
      fmt::format("min_index_interval = {}", options.min_index_interval),
      "read_repair = " + quote_string(options.read_repair),
      "speculative_retry = " + quote_string(options.speculative_retry),
  };
  // Rows of a view expire together with their base rows.
  if (is_view) std::erase_if(lines, [](const std::string& line) { return line.starts_with("default_time"); });
  return lines;
}

template <typename SomeColumn>
std::string print_column(const SomeColumn& column, bool is_static) {
  std::string out =
      quote_identifier(column.name) + " " + column.type->cql_name() + (is_static ? " static" : "");
  if constexpr (requires { column.mask; })
    if (column.mask) out += " MASKED WITH " + column.mask->text();
  return out;
}

// The columns of a compact table without clustering columns are static, but not printed as static.
bool shows_static(const Table& table, const Column& column) {
  return column.kind == schema::ColumnKind::static_ && table.compact != schema::Compact::static_;
}

// Returns the columns in Cassandra's order: like SELECT *, but single-cell columns before multi-cell ones.
std::vector<const Column*> creation_order(const Table& table) {
  std::vector<const Column*> columns;
  for (const Column& column : table.columns)
    if (!column.is_hidden) columns.push_back(&column);
  std::stable_sort(columns.begin(), columns.end(), [](const Column* left, const Column* right) {
    if (left->kind != right->kind) return left->kind < right->kind;
    return !left->is_primary_key() && left->type->is_multi_cell() < right->type->is_multi_cell();
  });
  return columns;
}

std::string print_primary_key(const Table& table) {
  std::string partition, clustering;
  for (size_t i = 0; i < table.partition_key_count; ++i)
    partition += (i ? ", " : "") + quote_identifier(table.partition_key(i).name);
  for (size_t i = 0; i < table.clustering_count && !table.clustering(i).is_hidden; ++i)
    clustering += ", " + quote_identifier(table.clustering(i).name);
  if (table.partition_key_count > 1) partition = "(" + partition + ")";
  return "PRIMARY KEY (" + partition + clustering + ")";
}

std::string print_clustering_order(const Table& table) {
  std::string out = "CLUSTERING ORDER BY (";
  for (size_t i = 0; i < table.clustering_count; ++i) {
    const Column& column = table.clustering(i);
    out += (i ? ", " : "") + quote_identifier(column.name) + (column.descending ? " DESC" : " ASC");
  }
  return out + ")";
}

std::vector<DroppedColumn> sorted_dropped_columns(const Table& table) {
  std::vector<DroppedColumn> dropped = table.dropped_columns;
  std::stable_sort(dropped.begin(), dropped.end(), [](const DroppedColumn& left, const DroppedColumn& right) {
    return left.name < right.name;
  });
  return dropped;
}

bool contains(const std::vector<DroppedColumn>& dropped, const std::string& name) {
  return std::any_of(dropped.begin(), dropped.end(),
                     [&](const DroppedColumn& column) { return column.name == name; });
}

// Prints the lines between the parentheses. A column that was dropped and added again is printed in its
// definition before the drop.
std::vector<std::string> print_columns(const Table& table, const std::vector<DroppedColumn>& dropped) {
  bool inline_key = table.partition_key_count == 1 && table.clustering_count == 0;
  std::vector<std::string> lines;
  for (const Column* column : creation_order(table)) {
    if (contains(dropped, column->name)) continue;
    lines.push_back(print_column(*column, shows_static(table, *column)) +
                    (inline_key && column->is_partition_key() ? " PRIMARY KEY" : ""));
  }
  for (const DroppedColumn& column : dropped)
    lines.push_back(print_column(column, column.kind == schema::ColumnKind::static_));
  if (!inline_key) lines.push_back(print_primary_key(table));
  return lines;
}

std::string print_drops(const Table& table, const std::vector<DroppedColumn>& dropped) {
  std::string name = qualified_name(table.keyspace, table.name), out;
  for (const DroppedColumn& column : dropped) {
    out += fmt::format("\nALTER TABLE {} DROP {} USING TIMESTAMP {};", name, quote_identifier(column.name),
                       column.dropped_micros);
    if (const Column* again = table.find(column.name))
      out += fmt::format("\nALTER TABLE {} ADD {};", name, print_column(*again, shows_static(table, *again)));
  }
  return out;
}

}  // namespace

std::string describe_keyspace(const schema::Keyspace& keyspace) {
  std::string name = quote_identifier(keyspace.name);
  if (keyspace.is_virtual)
    return fmt::format(
        "/*\nWarning: Keyspace {0} is a virtual keyspace and cannot be recreated with CQL.\nStructure, for "
        "reference:\nVIRTUAL KEYSPACE {0};\n*/",
        name);
  constexpr std::string_view package = "org.apache.cassandra.locator.";
  std::string options;
  auto strategy = keyspace.replication.find("class");
  if (strategy != keyspace.replication.end()) {
    std::string_view simple = strategy->second;
    if (simple.starts_with(package)) simple.remove_prefix(package.size());
    options = "'class': " + quote_string(simple);
  }
  for (const auto& [key, value] : keyspace.replication)
    if (key != "class") options += ", " + quote_string(key) + ": " + quote_string(value);
  return fmt::format("CREATE KEYSPACE {} WITH replication = {{{}}}  AND durable_writes = {};", name, options,
                     keyspace.durable_writes);
}

std::string describe_type(const schema::UserType& type) {
  std::string out = "CREATE TYPE " + qualified_name(type.keyspace, type.name) + " (";
  for (size_t i = 0; i < type.field_names.size(); ++i)
    out += fmt::format("{}\n    {} {}", i ? "," : "", quote_identifier(type.field_names[i]),
                       type.field_types[i]->cql_name());
  return out + "\n);";
}

std::string describe_index(const Table& table, const schema::Index& index) {
  std::map<std::string, std::string> options = index.options;
  const std::string target = options["target"], class_name = options["class_name"];
  options.erase("target");
  options.erase("class_name");
  std::string out =
      fmt::format("CREATE {}INDEX {} ON {} ({})", index.is_custom ? "CUSTOM " : "",
                  quote_identifier(index.name), qualified_name(table.keyspace, table.name), target);
  if (index.is_custom) out += " USING " + quote_string(class_name);
  if (!options.empty()) out += " WITH OPTIONS = " + print_map(options);
  return out + ";";
}

std::string describe_view(const Table& view, bool with_internals) {
  std::string selected = "*";
  if (!view.view->include_all_columns) {
    std::vector<std::string> names;
    for (const Column& column : view.columns) names.push_back(quote_identifier(column.name));
    selected = fmt::format("{}", fmt::join(names, ", "));
  }
  std::vector<std::string> options;
  if (with_internals) options.push_back("ID = " + types::format_uuid(view.id));
  if (view.clustering_count != 0) options.push_back(print_clustering_order(view));
  for (std::string& option : print_options(view.options, true)) options.push_back(std::move(option));
  return fmt::format(
      "CREATE MATERIALIZED VIEW {} AS\n    SELECT {}\n    FROM {}\n    WHERE {}\n    {}\n WITH {};",
      qualified_name(view.keyspace, view.name), selected,
      qualified_name(view.keyspace, view.view->base_table), view.view->where_clause, print_primary_key(view),
      fmt::join(options, "\n    AND "));
}

std::string describe_table(const Table& table, bool is_virtual, bool with_internals) {
  std::vector<DroppedColumn> dropped;
  if (with_internals) dropped = sorted_dropped_columns(table);
  std::vector<std::string> options;
  if (table.is_compact()) options.push_back("COMPACT STORAGE");
  if (with_internals) options.push_back("ID = " + types::format_uuid(table.id));
  if (table.clustering_count != 0) options.push_back(print_clustering_order(table));
  if (is_virtual) {
    options.push_back("comment = " + quote_string(table.options.comment));
  } else {
    for (std::string& option : print_options(table.options, false)) options.push_back(std::move(option));
  }

  std::string name = qualified_name(table.keyspace, table.name), out;
  if (is_virtual)
    out += fmt::format(
        "/*\nWarning: Table {} is a virtual table and cannot be recreated with CQL.\nStructure, for "
        "reference:\n",
        name);
  // Cassandra prints this for every compact table, even for tables that were created by CQL.
  if (table.is_compact())
    out += fmt::format(
        "/*\nWarning: Table {} omitted because it has constructs not compatible with CQL (was created via "
        "legacy API).\nApproximate structure, for reference:\n(this should not be used to reproduce this "
        "schema)\n\n",
        name);
  out += fmt::format("{} TABLE {} (\n", is_virtual ? "VIRTUAL" : "CREATE", name);
  out += fmt::format("    {}\n)", fmt::join(print_columns(table, dropped), ",\n    "));
  out += fmt::format(" WITH {};", fmt::join(options, "\n    AND "));
  if (is_virtual) out += "\n*/";
  out += print_drops(table, dropped);
  return table.is_compact() ? out + "\n*/" : out;
}

}  // namespace sibyl::engine
