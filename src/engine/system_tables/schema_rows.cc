#include "engine/system_tables/schema_rows.h"

#include "engine/system_tables/system_tables.h"
#include "schema/compare.h"
#include "types/print_value.h"
#include "types/value.h"

namespace sibyl::engine {
namespace {

using schema::Column;
using schema::Keyspace;
using schema::Table;
using types::TypePtr;

constexpr const char* schema_tables[] = {"keyspaces", "tables",     "columns",         "types",
                                         "functions", "aggregates", "dropped_columns", "views",
                                         "triggers",  "indexes",    "column_masks"};
constexpr const char* virtual_schema_tables[] = {"keyspaces", "tables", "columns"};

const char* clustering_order(const Column& column) {
  if (!column.is_clustering()) return "none";
  return column.descending ? "desc" : "asc";
}

SystemRow column_row(const Table& table, const Column& column) {
  return {{"keyspace_name", table.keyspace},
          {"table_name", table.name},
          {"column_name", column.name},
          {"clustering_order", clustering_order(column)},
          {"column_name_bytes", column.name},
          {"kind", schema::to_string(column.kind)},
          {"position", types::encode_int32(column.position)},
          {"type", column.type->cql_name()}};
}

// Prints text unchanged, blobs and composite values in hexadecimal, and all other values as literals without
// quotes.
std::string argument_text(const types::Type& type, const Bytes& value) {
  if (type.kind() == types::Kind::text || type.kind() == types::Kind::ascii) return value;
  if (type.kind() == types::Kind::blob || !type.parameters().empty()) return base::to_hex(value);
  std::string literal = types::to_literal(type, value);
  const bool is_quoted = literal.size() > 1 && literal.front() == '\'' && literal.back() == '\'';
  return is_quoted ? literal.substr(1, literal.size() - 2) : literal;
}

SystemRow mask_row(const Table& table, const Column& column) {
  const schema::ColumnMask& mask = *column.mask;
  std::vector<std::string> types, values;
  std::vector<bool> nulls;
  for (size_t i = 0; i < mask.arguments.size(); ++i) {
    const types::Type& type = *mask.argument_types[i];
    types.push_back(type.cql_name());
    values.push_back(mask.arguments[i] ? argument_text(type, *mask.arguments[i]) : "");
    nulls.push_back(!mask.arguments[i]);
  }
  return {{"keyspace_name", table.keyspace},
          {"table_name", table.name},
          {"column_name", column.name},
          {"function_argument_nulls", boolean_list(nulls)},
          {"function_argument_types", text_list(types)},
          {"function_argument_values", text_list(values)},
          {"function_keyspace", mask.keyspace},
          {"function_name", mask.function}};
}

SystemRow dropped_row(const Table& table, const schema::DroppedColumn& column) {
  return {{"keyspace_name", table.keyspace},
          {"table_name", table.name},
          {"column_name", column.name},
          {"dropped_time", types::encode_int64(column.dropped_micros / 1000)},
          {"kind", schema::to_string(column.kind)},
          {"type", column.type->cql_name()}};
}

// Columns that tables and views have in common.
SystemRow options_row(const Table& table) {
  const schema::TableOptions& options = table.options;
  SystemRow row = {{"keyspace_name", table.keyspace},
                   {"additional_write_policy", options.additional_write_policy},
                   {"bloom_filter_fp_chance", types::encode_double(options.bloom_filter_fp_chance)},
                   {"caching", text_map(options.caching)},
                   {"comment", options.comment},
                   {"compaction", text_map(options.compaction)},
                   {"compression", text_map(options.compression)},
                   {"crc_check_chance", types::encode_double(options.crc_check_chance)},
                   {"dclocal_read_repair_chance", types::encode_double(0)},
                   {"default_time_to_live", types::encode_int32(options.default_time_to_live)},
                   {"extensions", text_map(options.extensions)},
                   {"gc_grace_seconds", types::encode_int32(options.gc_grace_seconds)},
                   {"id", table.id},
                   {"max_index_interval", types::encode_int32(options.max_index_interval)},
                   {"memtable_flush_period_in_ms", types::encode_int32(options.memtable_flush_period_in_ms)},
                   {"min_index_interval", types::encode_int32(options.min_index_interval)},
                   {"read_repair", options.read_repair},
                   {"read_repair_chance", types::encode_double(0)},
                   {"speculative_retry", options.speculative_retry}};
  // Cassandra leaves these columns null if they have the default value.
  if (!options.allow_auto_snapshot) row.emplace_back("allow_auto_snapshot", types::encode_boolean(false));
  if (options.cdc) row.emplace_back("cdc", types::encode_boolean(true));
  if (!options.incremental_backups) row.emplace_back("incremental_backups", types::encode_boolean(false));
  if (options.memtable != "default") row.emplace_back("memtable", options.memtable);
  return row;
}

SystemRow table_row(const Table& table) {
  std::vector<std::string> flags;  // in alphabetical order
  if (!table.is_compact() || (table.compact == schema::Compact::dense && table.clustering_count > 1))
    flags.push_back("compound");
  if (table.is_counter) flags.push_back("counter");
  if (table.compact == schema::Compact::dense) flags.push_back("dense");
  SystemRow row = options_row(table);
  row.emplace_back("table_name", table.name);
  row.emplace_back("flags", text_set(std::move(flags)));
  return row;
}

SystemRow view_row(const Table& view) {
  SystemRow row = options_row(view);
  row.emplace_back("view_name", view.name);
  row.emplace_back("base_table_id", view.view->base_id);
  row.emplace_back("base_table_name", view.view->base_table);
  row.emplace_back("include_all_columns", types::encode_boolean(view.view->include_all_columns));
  row.emplace_back("where_clause", view.view->where_clause);
  return row;
}

SystemRow index_row(const Table& table, const schema::Index& index) {
  return {{"keyspace_name", table.keyspace},
          {"table_name", table.name},
          {"index_name", index.name},
          {"kind", index.is_custom ? "CUSTOM" : "COMPOSITES"},
          {"options", text_map(index.options)}};
}

// Prints types as in function signatures: collections, tuples and user types are frozen.
Bytes type_names(const std::vector<TypePtr>& list) {
  std::vector<std::string> names;
  for (const TypePtr& type : list) names.push_back(type->cql_name());
  return text_list(names);
}

SystemRow function_row(const schema::UserFunction& function) {
  return {{"keyspace_name", function.keyspace},
          {"function_name", function.name},
          {"argument_types", type_names(function.argument_types)},
          {"argument_names", text_list(function.argument_names)},
          {"body", function.body},
          {"called_on_null_input", types::encode_boolean(function.called_on_null_input)},
          {"language", function.language},
          {"return_type", function.return_type->cql_name()}};
}

SystemRow aggregate_row(const schema::UserAggregate& aggregate) {
  SystemRow row = {{"keyspace_name", aggregate.keyspace},
                   {"aggregate_name", aggregate.name},
                   {"argument_types", type_names(aggregate.argument_types)},
                   {"return_type", aggregate.return_type->cql_name()},
                   {"state_func", aggregate.state_function},
                   {"state_type", aggregate.state_type->cql_name()}};
  if (!aggregate.final_function.empty()) row.emplace_back("final_func", aggregate.final_function);
  if (aggregate.initial_condition)
    row.emplace_back("initcond", types::to_literal(*aggregate.state_type, *aggregate.initial_condition));
  return row;
}

SystemRow type_row(const schema::UserType& type) {
  return {{"keyspace_name", type.keyspace},
          {"type_name", type.name},
          {"field_names", text_list(type.field_names)},
          {"field_types", type_names(type.field_types)}};
}

}  // namespace

void SchemaRows::erase(const Keyspace& keyspace) {
  if (keyspace.is_virtual) {
    for (const char* name : virtual_schema_tables)
      erase_partition(system_table("system_virtual_schema", name), keyspace.name, writes_);
  } else {
    for (const char* name : schema_tables)
      erase_partition(system_table("system_schema", name), keyspace.name, writes_);
  }
}

void SchemaRows::put_keyspace(const Keyspace& keyspace) {
  SystemRow row = {{"keyspace_name", keyspace.name}};
  if (!keyspace.is_virtual) {
    row.emplace_back("durable_writes", types::encode_boolean(keyspace.durable_writes));
    row.emplace_back("replication", text_map(keyspace.replication));
  }
  add("keyspaces", row);
}

void SchemaRows::put(const Keyspace& keyspace) {
  where_ = keyspace.is_virtual ? "system_virtual_schema" : "system_schema";
  put_keyspace(keyspace);
  for (const auto& [name, table] : keyspace.tables) put_table(*table, keyspace.is_virtual);
  for (const auto& [name, type] : keyspace.types) add("types", type_row(*type));
  for (const auto& [name, view] : keyspace.views) put_view(*view);
  for (const auto& [signature, function] : keyspace.functions) add("functions", function_row(*function));
  for (const auto& [signature, aggregate] : keyspace.aggregates) add("aggregates", aggregate_row(*aggregate));
}

// First erases, then puts: a table may be replaced by a view of the same name.
void SchemaRows::change(const Keyspace& before, const Keyspace& after) {
  where_ = "system_schema";
  const auto each = [](const auto& old, const auto& next, auto visit) {
    schema::compare(old, next,
                    [&](const std::string&, const auto& one, const auto& other) { visit(one, other); });
  };
  const auto erase_old = [&](const schema::TablePtr& old, const schema::TablePtr&) {
    if (old) erase_table(*old);
  };
  each(before.tables, after.tables, erase_old);
  each(before.views, after.views, erase_old);
  if (before.replication != after.replication || before.durable_writes != after.durable_writes)
    put_keyspace(after);
  each(before.tables, after.tables, [&](const schema::TablePtr&, const schema::TablePtr& next) {
    if (next) put_table(*next, false);
  });
  each(before.views, after.views, [&](const schema::TablePtr&, const schema::TablePtr& next) {
    if (next) put_view(*next);
  });
  const auto replace = [&](const char* table, auto row_of) {
    return [this, table, row_of](const auto& old, const auto& next) {
      if (old) erase_row(system_table(where_, table), row_of(*old), writes_);
      if (next) add(table, row_of(*next));
    };
  };
  each(before.types, after.types, replace("types", type_row));
  each(before.functions, after.functions, replace("functions", function_row));
  each(before.aggregates, after.aggregates, replace("aggregates", aggregate_row));
}

void SchemaRows::erase_table(const Table& table) {
  for (const char* rows : {"tables", "columns", "dropped_columns", "views", "indexes", "column_masks"})
    erase_rows(system_table(where_, rows), table.keyspace, table.name, writes_);
}

void SchemaRows::put_view(const Table& view) {
  add("views", view_row(view));
  put_columns(view);
}

void SchemaRows::put_table(const Table& table, bool is_virtual) {
  if (is_virtual) {
    add("tables",
        {{"keyspace_name", table.keyspace}, {"table_name", table.name}, {"comment", table.options.comment}});
  } else {
    add("tables", table_row(table));
  }
  put_columns(table);
  for (const schema::Index& index : table.indexes) add("indexes", index_row(table, index));
}

void SchemaRows::put_columns(const Table& table) {
  for (const Column& column : table.columns) {
    add("columns", column_row(table, column));
    if (column.mask) add("column_masks", mask_row(table, column));
  }
  for (const schema::DroppedColumn& column : table.dropped_columns)
    add("dropped_columns", dropped_row(table, column));
}

void SchemaRows::add(const char* table, const SystemRow& row) {
  put_row(system_table(where_, table), row, timestamp_, writes_);
}

}  // namespace sibyl::engine
