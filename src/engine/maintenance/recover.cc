#include "engine/maintenance/recover.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/bytes.h"
#include "engine/catalogue/catalogue.h"
#include "engine/key_names.h"
#include "row/record_key.h"
#include "storage/rocksdb/recovery/salvage.h"
#include "storage/rocksdb/rocksdb_store.h"

namespace sibyl::engine {
namespace {

using storage::rocksdb::Salvaged;

uint32_t table_id_of(base::BytesView key, uint32_t unknown) {
  return key.size() < 4 ? unknown : base::read_big_endian<uint32_t>(key);
}

struct NamedTable {
  uint32_t id = 0;
  std::string name;
};

// Returns tables and views under their names, and each index under the name of its table.
std::vector<NamedTable> tables_of(const schema::Snapshot& schema) {
  std::vector<NamedTable> tables;
  for (const auto& [name, keyspace] : schema.keyspaces)
    for (const auto* kind : {&keyspace->tables, &keyspace->views})
      for (const auto& [table_name, table] : *kind) {
        if (keyspace->is_virtual) continue;
        tables.push_back({table->storage_id, name + "." + table_name});
        for (const schema::Index& index : table->indexes)
          tables.push_back({index.storage_id, name + "." + table_name});
      }
  return tables;
}

void add_loss(const Salvaged::Loss& loss, const schema::Snapshot& schema,
              const std::vector<NamedTable>& tables, std::set<std::string>& affected, Recovery& recovery) {
  const auto name = [&](const base::Bytes& key, const char* unknown) {
    return key.empty() ? std::string(unknown) : name_of_key(schema, key);
  };
  recovery.losses.push_back(fmt::format("{}: {}; records from {} to {}", loss.file, loss.what,
                                        name(loss.first_key, "the first"), name(loss.last_key, "the last")));
  const uint32_t first = table_id_of(loss.first_key, 0), last = table_id_of(loss.last_key, UINT32_MAX);
  for (const NamedTable& table : tables)
    if (table.id >= first && table.id <= last) affected.insert(table.name);
  if (first == row::catalogue_table_id)
    recovery.doubts.push_back(
        "definitions may be among the lost records; rows of a table without a definition are not served");
}

}  // namespace

base::Result<Recovery> recover(const std::string& data, const std::string& to) {
  SIBYL_ASSIGN(const Salvaged salvaged, storage::rocksdb::salvage(data, to));
  Recovery recovery;
  recovery.data_files = salvaged.table_files;
  recovery.records = salvaged.records;
  recovery.log_segments = salvaged.log_segments;
  recovery.log_groups = salvaged.log_groups;
  recovery.doubts = salvaged.doubts;
  SIBYL_ASSIGN(const auto store, storage::rocksdb::open_store(to));
  SIBYL_ASSIGN(const std::vector<std::string> repaired, Catalogue::repair(*store));
  recovery.doubts.insert(recovery.doubts.end(), repaired.begin(), repaired.end());
  SIBYL_ASSIGN(const Catalogue catalogue, Catalogue::load(*store));
  const std::vector<NamedTable> tables = tables_of(*catalogue.schema());
  std::set<std::string> affected;
  for (const Salvaged::Loss& loss : salvaged.losses)
    add_loss(loss, *catalogue.schema(), tables, affected, recovery);
  for (const std::string& loss : salvaged.log_losses) recovery.losses.push_back("commit log: " + loss);
  if (!salvaged.log_losses.empty())
    for (const NamedTable& table : tables) affected.insert(table.name);
  recovery.affected_tables.assign(affected.begin(), affected.end());
  return recovery;
}

}  // namespace sibyl::engine
