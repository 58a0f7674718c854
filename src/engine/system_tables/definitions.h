// The system keyspaces and their tables, as in Cassandra 5.0. Drivers read them by name, column and type.
//
// Only the tables that clients query and those that Sibyl can fill truthfully are defined. Cassandra's
// internal tables are not.
#pragma once

#include <cstdint>
#include <span>

namespace sibyl::engine {

struct SystemKeyspace {
  const char* name;
  const char* strategy;
  int replication_factor;  // 0: none (LocalStrategy)
  bool is_virtual;
  int32_t gc_grace_seconds;
  int32_t memtable_flush_period_in_ms;
  // 0: the server creates the rows in memory. Otherwise the rows are durable; tables have consecutive storage
  // ids from this one, which must never change.
  uint32_t first_storage_id;
  const char* tables;  // CREATE TABLE statements, each terminated by `;` and a line break
};

std::span<const SystemKeyspace> system_keyspaces();

}  // namespace sibyl::engine
