#include "engine/maintenance/compact.h"

#include <fmt/format.h>

#include "row/record_key.h"
#include "storage/rocksdb/rocksdb_store.h"

namespace sibyl::engine {
namespace {

using base::Bytes;
using Ranges = std::vector<std::pair<Bytes, Bytes>>;

void add_table(const schema::Table& table, Ranges& ranges) {
  const auto add = [&](uint32_t storage_id) {
    ranges.emplace_back(row::table_begin(storage_id), row::table_end(storage_id));
  };
  add(table.storage_id);
  for (const schema::Index& index : table.indexes) add(index.storage_id);
}

}  // namespace

base::Result<Ranges> compaction_ranges(const schema::Snapshot& schema, const std::string& name) {
  Ranges ranges;
  if (name.empty()) {
    ranges.emplace_back(row::table_begin(row::catalogue_table_id), Bytes(8, '\xff'));
    return ranges;
  }
  const size_t dot = name.find('.');
  const schema::KeyspacePtr keyspace = schema.find_keyspace(name.substr(0, dot));
  if (!keyspace || keyspace->is_system)
    return base::invalid(fmt::format("Keyspace '{}' does not exist", name.substr(0, dot)));
  const std::string wanted = dot == std::string::npos ? "" : name.substr(dot + 1);
  for (const auto* kind : {&keyspace->tables, &keyspace->views})
    for (const auto& [table_name, table] : *kind)
      if (dot == std::string::npos || table_name == wanted) add_table(*table, ranges);
  if (ranges.empty() && dot != std::string::npos)
    return base::invalid(fmt::format("Table '{}' does not exist", name));
  return ranges;
}

base::Status compact(Engine& engine, const std::string& name) {
  SIBYL_ASSIGN(const Ranges ranges, compaction_ranges(*engine.schema(), name));
  for (const auto& [begin, end] : ranges) SIBYL_TRY(engine.store().compact(begin, end));
  return {};
}

void stop_compacting(Engine& engine) {
  storage::rocksdb::stop_compacting(engine.store());
}

}  // namespace sibyl::engine
