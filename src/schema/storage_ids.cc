#include "schema/storage_ids.h"

#include "schema/compare.h"
#include "schema/index.h"

namespace sibyl::schema {

std::unordered_set<uint32_t> table_ids(const Snapshot& schema) {
  std::unordered_set<uint32_t> ids;
  for (const auto& [name, keyspace] : schema.keyspaces)
    for (const auto* tables : {&keyspace->tables, &keyspace->views})
      for (const auto& [table_name, table] : *tables) ids.insert(table->storage_id);
  return ids;
}

bool indexes_differ(const Snapshot& before, const Snapshot& after) {
  bool differ = false;
  compare_keyspaces(before, after, [&](const Keyspace& old_keyspace, const Keyspace& new_keyspace) {
    compare(old_keyspace.tables, new_keyspace.tables,
            [&](const std::string&, const TablePtr& old, const TablePtr& next) {
              differ = differ || (old && !old->indexes.empty()) || (next && !next->indexes.empty());
            });
  });
  return differ;
}

std::set<uint32_t> vector_index_ids(const Snapshot& schema) {
  std::set<uint32_t> ids;
  for (const auto& [name, keyspace] : schema.keyspaces)
    for (const auto& [table_name, table] : keyspace->tables)
      for (const Index& index : table->indexes)
        if (is_vector_index(*table, index)) ids.insert(index.storage_id);
  return ids;
}

SnapshotPtr with_new_storage(const Snapshot& schema, const Table& table, std::vector<uint32_t>& dropped) {
  auto next = std::make_shared<Snapshot>(schema);
  auto keyspace = std::make_shared<Keyspace>(*schema.find_keyspace(table.keyspace));
  const auto renew = [&](uint32_t& id) {
    dropped.push_back(id);
    id = next->next_storage_id++;
  };
  auto renewed = std::make_shared<Table>(*keyspace->find_table(table.name));
  renew(renewed->storage_id);
  for (Index& index : renewed->indexes) renew(index.storage_id);
  const std::vector<TablePtr> views = renewed->views;
  keyspace->tables.insert_or_assign(table.name, std::move(renewed));
  for (const TablePtr& each : views) {
    auto view = std::make_shared<Table>(*each);
    renew(view->storage_id);
    keyspace->put_view(std::move(view));
  }
  next->keyspaces.insert_or_assign(table.keyspace, std::move(keyspace));
  return next;
}

}  // namespace sibyl::schema
