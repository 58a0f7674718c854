// Rows of system_schema and system_virtual_schema, from which drivers read the schema.
#pragma once

#include <cstdint>

#include "engine/system_rows.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::engine {

// Adds rows about keyspaces to a write set. REQUIRES: the write set outlives the object.
class SchemaRows {
 public:
  SchemaRows(storage::WriteSet& writes, int64_t timestamp) : writes_(writes), timestamp_(timestamp) {}

  void erase(const schema::Keyspace& keyspace);
  // Adds the rows of everything in the keyspace. Call erase() for its previous state first.
  void put(const schema::Keyspace& keyspace);
  // Writes only the differences, since a keyspace may have thousands of tables. REQUIRES: neither is virtual.
  void change(const schema::Keyspace& before, const schema::Keyspace& after);

 private:
  void put_keyspace(const schema::Keyspace& keyspace);
  void put_view(const schema::Table& view);
  // Erases the rows of a table or a view.
  void erase_table(const schema::Table& table);
  void put_table(const schema::Table& table, bool is_virtual);
  void put_columns(const schema::Table& table);
  void add(const char* table, const SystemRow& row);

  storage::WriteSet& writes_;
  int64_t timestamp_;
  const char* where_ = nullptr;  // the keyspace that the rows are written to
};

}  // namespace sibyl::engine
