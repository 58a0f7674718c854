#include "cli/migrate/source_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "types/elements.h"
#include "types/identifier.h"
#include "types/print.h"
#include "types/value.h"

namespace sibyl::cli::migrate {
namespace {

constexpr const char* system_keyspaces[] = {"system",
                                            "system_schema",
                                            "system_auth",
                                            "system_traces",
                                            "system_distributed",
                                            "system_views",
                                            "system_virtual_schema",
                                            "system_cluster_metadata"};

using Rows = std::vector<SchemaRow>;

// Rows of one table of system_schema for a keyspace. A table that the server's version does not have is
// empty.
base::Result<Rows> keyspace_rows(client::Connection& source, const char* table, const std::string& keyspace) {
  const types::ValueView values[] = {types::ValueView::of(keyspace)};
  auto rows =
      read_rows(source, fmt::format("SELECT * FROM system_schema.{} WHERE keyspace_name = ?", table), values);
  const bool is_missing = !rows && source.is_connected() && rows.error().code() == base::ErrorCode::invalid;
  return is_missing ? Rows() : std::move(rows);
}

int kind_order(const std::string& kind) {
  return kind == "partition_key" ? 0 : kind == "clustering" ? 1 : 2;
}

std::vector<SourceColumn> columns_of(const Rows& columns, const Rows& masks, const std::string& table) {
  std::vector<SourceColumn> found;
  for (const SchemaRow& row : columns) {
    if (row.text("table_name") != table) continue;
    SourceColumn& column = found.emplace_back();
    column = {row.text("column_name"),
              row.text("kind"),
              row.text("type"),
              static_cast<int>(row.integer("position")),
              row.text("clustering_order") == "desc",
              std::nullopt};
    for (const SchemaRow& mask : masks)
      if (mask.text("table_name") == table && mask.text("column_name") == column.name) column.mask = mask;
  }
  std::ranges::sort(found, {}, [](const SourceColumn& column) {
    return std::tuple(kind_order(column.kind), column.is_key() ? column.position : 0, column.name);
  });
  return found;
}

base::Status read_tables(client::Connection& source, SourceKeyspace& keyspace) {
  SIBYL_ASSIGN(const Rows tables, keyspace_rows(source, "tables", keyspace.name));
  SIBYL_ASSIGN(const Rows views, keyspace_rows(source, "views", keyspace.name));
  SIBYL_ASSIGN(const Rows columns, keyspace_rows(source, "columns", keyspace.name));
  SIBYL_ASSIGN(const Rows masks, keyspace_rows(source, "column_masks", keyspace.name));
  SIBYL_ASSIGN(const Rows indexes, keyspace_rows(source, "indexes", keyspace.name));
  SIBYL_ASSIGN(const Rows triggers, keyspace_rows(source, "triggers", keyspace.name));
  for (const SchemaRow& row : tables) {
    SourceTable& table = keyspace.tables.emplace_back();
    table = {keyspace.name, row.text("table_name"), row, {}, {}, {}};
    table.columns = columns_of(columns, masks, table.name);
    for (const SchemaRow& index : indexes)
      if (index.text("table_name") == table.name) table.indexes.push_back(index);
    for (const SchemaRow& trigger : triggers)
      if (trigger.text("table_name") == table.name) table.triggers.push_back(trigger.text("trigger_name"));
  }
  for (const SchemaRow& row : views) {
    SourceTable& view = keyspace.views.emplace_back();
    view = {keyspace.name, row.text("view_name"), row, {}, {}, {}};
    view.columns = columns_of(columns, masks, view.name);
  }
  return {};
}

}  // namespace

std::string SchemaRow::text(const std::string& column) const {
  const auto found = values_.find(column);
  return found == values_.end() ? "" : found->second.bytes;
}

int64_t SchemaRow::integer(const std::string& column) const {
  const auto found = values_.find(column);
  if (found == values_.end() || found->second.bytes.empty()) return 0;
  return types::decode_integer(found->second.type->kind(), found->second.bytes);
}

bool SchemaRow::boolean(const std::string& column) const {
  const auto found = values_.find(column);
  return found != values_.end() && found->second.bytes == std::string_view("\1", 1);
}

std::vector<std::string> SchemaRow::texts(const std::string& column) const {
  std::vector<std::string> result;
  const auto found = values_.find(column);
  if (found == values_.end()) return result;
  const auto elements = types::split(*found->second.type, found->second.bytes);
  if (!elements) return result;
  for (const auto& element : *elements) result.emplace_back(element.value_or(""));
  return result;
}

std::vector<std::pair<std::string, std::string>> SchemaRow::map(const std::string& column) const {
  std::vector<std::pair<std::string, std::string>> result;
  const std::vector<std::string> entries = texts(column);
  for (size_t i = 0; i + 1 < entries.size(); i += 2) result.emplace_back(entries[i], entries[i + 1]);
  return result;
}

bool SourceTable::is_counter() const {
  return std::ranges::any_of(columns, [](const SourceColumn& column) { return column.type == "counter"; });
}

bool SourceTable::is_compact() const {
  if (is_view()) return false;
  const std::vector<std::string> flags = row.texts("flags");
  const auto has = [&](const char* flag) { return std::ranges::find(flags, flag) != flags.end(); };
  return !has("compound") || has("dense") || has("super");
}

std::string SourceTable::quoted_name() const {
  return types::quote_identifier(keyspace) + "." + types::quote_identifier(name);
}

bool is_system_keyspace(const std::string& name) {
  return std::ranges::find(system_keyspaces, name) != std::end(system_keyspaces);
}

base::Result<std::vector<SchemaRow>> read_rows(client::Connection& server, const std::string& query,
                                               std::span<const types::ValueView> values) {
  client::StatementOptions options;
  options.page_size = 1000;
  Rows rows;
  while (true) {
    SIBYL_ASSIGN(client::Result page, server.query(query, values, options));
    for (client::Row row; page.next(row);) {
      SchemaRow& next = rows.emplace_back();
      for (size_t i = 0; i < row.size(); ++i)
        if (row[i]) next.set(page.columns[i].name, {page.columns[i].type, base::Bytes(*row[i])});
    }
    if (!page.paging_state) return rows;
    options.paging_state = page.paging_state;
  }
}

base::Result<std::vector<SourceKeyspace>> read_schema(client::Connection& source,
                                                      const std::vector<std::string>& names) {
  SIBYL_ASSIGN(const Rows rows, read_rows(source, "SELECT * FROM system_schema.keyspaces"));
  std::vector<SourceKeyspace> keyspaces;
  for (const SchemaRow& row : rows) {
    const std::string name = row.text("keyspace_name");
    const bool is_chosen =
        names.empty() ? !is_system_keyspace(name) : std::ranges::find(names, name) != names.end();
    if (!is_chosen) continue;
    SourceKeyspace& keyspace = keyspaces.emplace_back();
    keyspace.name = name;
    keyspace.row = row;
    SIBYL_ASSIGN(keyspace.types, keyspace_rows(source, "types", name));
    SIBYL_ASSIGN(keyspace.functions, keyspace_rows(source, "functions", name));
    SIBYL_ASSIGN(keyspace.aggregates, keyspace_rows(source, "aggregates", name));
    SIBYL_TRY(read_tables(source, keyspace));
  }
  for (const std::string& name : names)
    if (std::ranges::find(keyspaces, name, &SourceKeyspace::name) == keyspaces.end())
      return base::fail(base::ErrorCode::invalid, fmt::format("The source has no keyspace '{}'", name));
  std::ranges::sort(keyspaces, {}, &SourceKeyspace::name);
  return keyspaces;
}

}  // namespace sibyl::cli::migrate
