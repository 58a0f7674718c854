#include "engine/maintenance/compact.h"

#include <fmt/format.h>

#include "row/record_key.h"
#include "storage/rocksdb/rocksdb_store.h"

namespace sibyl::engine {
namespace {

base::Status compact_storage(Engine& engine, uint32_t storage_id) {
  return engine.store().compact(row::table_begin(storage_id), row::table_end(storage_id));
}

base::Status compact_table(Engine& engine, const schema::Table& table) {
  SIBYL_TRY(compact_storage(engine, table.storage_id));
  for (const schema::Index& index : table.indexes) SIBYL_TRY(compact_storage(engine, index.storage_id));
  return {};
}

}  // namespace

base::Status compact(Engine& engine, const std::string& name) {
  if (name.empty()) return engine.compact();
  const schema::SnapshotPtr schema = engine.schema();
  const size_t dot = name.find('.');
  const schema::KeyspacePtr keyspace = schema->find_keyspace(name.substr(0, dot));
  if (!keyspace || keyspace->is_system)
    return base::invalid(fmt::format("Keyspace '{}' does not exist", name.substr(0, dot)));
  if (dot != std::string::npos) {
    const std::string table = name.substr(dot + 1);
    if (const auto found = keyspace->tables.find(table); found != keyspace->tables.end())
      return compact_table(engine, *found->second);
    if (const auto found = keyspace->views.find(table); found != keyspace->views.end())
      return compact_table(engine, *found->second);
    return base::invalid(fmt::format("Table '{}' does not exist", name));
  }
  for (const auto& [table_name, table] : keyspace->tables) SIBYL_TRY(compact_table(engine, *table));
  for (const auto& [view_name, view] : keyspace->views) SIBYL_TRY(compact_table(engine, *view));
  return {};
}

void stop_compacting(Engine& engine) {
  storage::rocksdb::stop_compacting(engine.store());
}

}  // namespace sibyl::engine
