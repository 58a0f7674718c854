#include "cli/migrate/plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace sibyl::cli::migrate {
namespace {

// Prepares the SELECT of each part. If the source refuses it because it has no write times of collections,
// prepares it without them.
base::Result<std::vector<Part>> parts_of_table(client::Connection& source, const SourceTable& table) {
  base::Error refusal(base::ErrorCode::server, "");
  for (const bool has_element_times : {true, false}) {
    std::vector<Part> parts = parts_of(table, has_element_times);
    bool is_refused = false;
    for (Part& part : parts) {
      const auto prepared = source.prepare(part.select);
      is_refused = !prepared;
      if (is_refused) refusal = prepared.error();
      if (is_refused) break;
      SIBYL_TRY(set_types(part, *prepared));
    }
    if (!is_refused) return parts;
    if (!source.is_connected()) break;
  }
  return base::fail(refusal);
}

// Sums the estimates of all ranges. If the server has no estimates, every table has the same weight.
void estimate_weights(client::Connection& source, std::vector<Part>& parts) {
  const auto rows = read_rows(source, "SELECT * FROM system.size_estimates");
  if (!rows) return;
  for (Part& part : parts) {
    uint64_t bytes = 0;
    for (const SchemaRow& row : *rows)
      if (row.text("keyspace_name") == part.keyspace && row.text("table_name") == part.table)
        bytes += static_cast<uint64_t>(std::max<int64_t>(row.integer("mean_partition_size"), 0) *
                                       std::max<int64_t>(row.integer("partitions_count"), 0));
    // Static columns are estimated as a small part of a table.
    part.weight = 1 + bytes / (part.is_static ? 10'000 : 1'000);
  }
}

bool is_chosen(const SourceTable& table, const std::vector<std::string>& tables) {
  return tables.empty() || std::ranges::find(tables, table.keyspace + "." + table.name) != tables.end();
}

}  // namespace

base::Result<std::vector<SourceKeyspace>> read_chosen(client::Connection& source,
                                                      const MigrateOptions& options) {
  std::vector<std::string> names = options.keyspaces;
  for (const std::string& table : options.tables) {
    const size_t dot = table.find('.');
    if (dot == std::string::npos || dot == 0 || dot + 1 == table.size())
      return base::fail(base::ErrorCode::invalid, fmt::format("'{}' is not KEYSPACE.TABLE", table));
    if (const std::string keyspace = table.substr(0, dot); std::ranges::find(names, keyspace) == names.end())
      names.push_back(keyspace);
  }
  SIBYL_ASSIGN(std::vector<SourceKeyspace> keyspaces, read_schema(source, names));
  std::vector<std::string> missing = options.tables;
  for (SourceKeyspace& keyspace : keyspaces) {
    std::erase_if(keyspace.tables,
                  [&](const SourceTable& table) { return !is_chosen(table, options.tables); });
    for (const SourceTable& table : keyspace.tables) std::erase(missing, table.keyspace + "." + table.name);
    if (!options.tables.empty())
      std::erase_if(keyspace.views, [&](const SourceTable& view) {
        const std::string base = view.row.text("base_table_name");
        return std::ranges::find(keyspace.tables, base, &SourceTable::name) == keyspace.tables.end();
      });
  }
  if (!missing.empty())
    return base::fail(base::ErrorCode::invalid, fmt::format("The source has no table {}", missing.front()));
  return keyspaces;
}

base::Result<std::vector<Part>> plan_parts(client::Connection& source,
                                           const std::vector<SourceKeyspace>& keyspaces, Report& report) {
  std::vector<Part> parts;
  for (const SourceKeyspace& keyspace : keyspaces) {
    for (const SourceTable& table : keyspace.tables) {
      if (table.is_compact()) continue;
      auto of_table = parts_of_table(source, table);
      if (!of_table && !source.is_connected()) return base::fail(of_table.error());
      if (!of_table) {
        report.add_loss("rows of " + table.quoted_name(), of_table.error().message());
        continue;
      }
      const bool has_masks = std::ranges::any_of(
          table.columns, [](const SourceColumn& column) { return column.mask.has_value(); });
      if (has_masks)
        report.add_note(
            fmt::format("{} has masked columns: without the permission UNMASK their masks were copied",
                        table.quoted_name()));
      std::ranges::move(*of_table, std::back_inserter(parts));
    }
  }
  estimate_weights(source, parts);
  return parts;
}

}  // namespace sibyl::cli::migrate
