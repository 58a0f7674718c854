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

}  // namespace sibyl::schema
