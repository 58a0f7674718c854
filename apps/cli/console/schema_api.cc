#include "cli/console/schema_api.h"

#include <fmt/format.h>

#include "cli/console/statements.h"
#include "types/identifier.h"
#include "types/print.h"

namespace sibyl::cli::console {
namespace {

template <typename Map>
json::array names_of(const Map& map) {
  json::array names;
  for (const auto& [name, ignored] : map) names.emplace_back(name);
  return names;
}

json::object keyspace_json(const schema::Keyspace& keyspace) {
  json::array tables, indexes;
  for (const auto& [name, table] : keyspace.tables) {
    tables.emplace_back(name);
    for (const schema::Index& index : table->indexes)
      indexes.push_back({{"name", index.name}, {"table", name}});
  }
  json::array views;
  for (const auto& [name, view] : keyspace.views)
    views.push_back({{"name", name}, {"table", view->view->base_table}});
  return {{"name", keyspace.name},
          {"system", keyspace.is_system},
          {"tables", std::move(tables)},
          {"views", std::move(views)},
          {"indexes", std::move(indexes)},
          {"types", names_of(keyspace.types)},
          {"functions", names_of(keyspace.functions)},
          {"aggregates", names_of(keyspace.aggregates)}};
}

json::array columns_json(const schema::Table& table) {
  json::array columns;
  for (const schema::Column& column : table.columns) {
    if (column.is_hidden) continue;
    json::array indexes;
    for (const schema::Index& index : table.indexes)
      if (index.column_id == column.id) indexes.emplace_back(index.name);
    columns.push_back({{"name", column.name},
                       {"type", column.type->cql_name()},
                       {"kind", schema::to_string(column.kind)},
                       {"position", column.position},
                       {"descending", column.descending},
                       {"masked", column.mask != nullptr},
                       {"indexes", std::move(indexes)}});
  }
  return columns;
}

base::Result<std::string> describe(const Call& call, const std::string& what) {
  StatementRequest request;
  request.text = "DESCRIBE " + what;
  SIBYL_ASSIGN(const execute::ResultSet result, run_statement(call.engine, call.login(), request));
  if (!result.metadata) return std::string();
  std::string text;
  const auto& columns = result.metadata->columns;
  for (const Row& row : rows_of(result))
    for (size_t i = 0; i < row.size(); ++i)
      if (columns[i].name == "create_statement" && row[i]) text += std::string(*row[i]) + "\n\n";
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// Statements on the table, and samples of its data. Read by the console itself: the caller has checked that
// the role may read the table.
base::Status add_statistics(const Call& call, const schema::Table& table, json::object& out) {
  const std::string where = fmt::format(" WHERE keyspace_name = {} AND table_name = {}",
                                        types::quote_string(table.keyspace), types::quote_string(table.name));
  SIBYL_ASSIGN(json::array statistics,
               select_objects(call.engine, nullptr, "SELECT * FROM system_views.table_statistics" + where));
  out["statistics"] = statistics.empty() ? json::value() : std::move(statistics.front());
  SIBYL_ASSIGN(out["hot_partitions"],
               select_objects(call.engine, nullptr, "SELECT * FROM system_views.hot_partitions" + where));
  SIBYL_ASSIGN(out["queries"],
               select_objects(call.engine, nullptr, "SELECT * FROM system_views.query_shapes" + where));
  return {};
}

}  // namespace

Answer list_schema(const Call& call) {
  const schema::SnapshotPtr schema = call.engine.schema();
  json::array keyspaces;
  for (const auto& [name, keyspace] : schema->keyspaces) keyspaces.push_back(keyspace_json(*keyspace));
  return json::object{{"version", types::format_uuid(schema->version)}, {"keyspaces", std::move(keyspaces)}};
}

Answer describe_object(const Call& call) {
  const std::string kind = call.parameter("kind");
  const std::string keyspace = types::quote_identifier(call.parameter("keyspace"));
  const std::string name = types::quote_identifier(call.parameter("name"));
  std::string what;
  if (kind == "keyspace") {
    what = "KEYSPACE " + keyspace;
  } else if (kind == "table") {
    what = fmt::format("TABLE {}.{}", keyspace, name);
  } else if (kind == "view") {
    what = fmt::format("MATERIALIZED VIEW {}.{}", keyspace, name);
  } else if (kind == "index") {
    what = fmt::format("INDEX {}.{}", keyspace, name);
  } else if (kind == "type") {
    what = fmt::format("TYPE {}.{}", keyspace, name);
  } else if (kind == "function" || kind == "aggregate") {
    const std::string signature = call.parameter("name");
    what = fmt::format("{} {}.{}", kind == "function" ? "FUNCTION" : "AGGREGATE", keyspace,
                       types::quote_identifier(signature.substr(0, signature.find('('))));
  } else {
    return base::invalid("Unknown kind of object " + kind);
  }
  SIBYL_ASSIGN(std::string text, describe(call, what));
  return json::object{{"ddl", std::move(text)}};
}

Answer show_table(const Call& call) {
  const std::string keyspace = call.parameter("keyspace"), name = call.parameter("table");
  const schema::TablePtr table = call.engine.schema()->find_table(keyspace, name);
  if (!table) return base::invalid(fmt::format("There is no table {}.{}", keyspace, name));
  const bool is_readable = may_select(call.engine, call.login(), keyspace, name);
  json::object out{{"keyspace", keyspace},
                   {"name", name},
                   {"view_of", table->is_view() ? json::value(table->view->base_table) : json::value()},
                   {"virtual", table->is_virtual},
                   {"counter", table->is_counter},
                   {"comment", table->options.comment},
                   {"columns", columns_json(*table)},
                   {"readable", is_readable}};
  if (table->is_virtual || call.parameter("brief") == "1") return out;
  SIBYL_ASSIGN(out["ddl"],
               describe(call, fmt::format("{} {}.{}", table->is_view() ? "MATERIALIZED VIEW" : "TABLE",
                                          types::quote_identifier(keyspace), types::quote_identifier(name))));
  if (is_readable) SIBYL_TRY(add_statistics(call, *table, out));
  return out;
}

}  // namespace sibyl::cli::console
