// The rows of system_schema and system_virtual_schema: what drivers read a schema from.
#pragma once

#include <cstdint>

#include "engine/system_rows.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::engine {

// Gathers rows about keyspaces into a write set. REQUIRES: the write set outlives it.
class SchemaRows {
 public:
  SchemaRows(storage::WriteSet& writes, int64_t timestamp) : writes_(writes), timestamp_(timestamp) {}

  void erase(const schema::Keyspace& keyspace);
  // Everything in the keyspace; erase() an older state of it first.
  void put(const schema::Keyspace& keyspace);
  // Only what differs: a keyspace may have thousands of tables. REQUIRES: neither is virtual.
  void change(const schema::Keyspace& before, const schema::Keyspace& after);

 private:
  void put_keyspace(const schema::Keyspace& keyspace);
  void put_view(const schema::Table& view);
  // Those of a table or a view.
  void erase_table(const schema::Table& table);
  void put_table(const schema::Table& table, bool is_virtual);
  void put_columns(const schema::Table& table);
  void add(const char* table, const SystemRow& row);

  storage::WriteSet& writes_;
  int64_t timestamp_;
  const char* where_ = nullptr;  // the keyspace that the rows go to
};

}  // namespace sibyl::engine
