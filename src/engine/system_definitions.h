// The system keyspaces and their tables, as Cassandra 5.0 has them: names, columns and types are what drivers
// read.
//
// Here are the tables that clients ask for and those that Sibyl can fill truthfully; Cassandra's private ones
// are not.
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
  // 0: rows live in memory and are made by the server. Else they are durable, in the tables' storage from
  // this id on, which never changes.
  uint32_t first_storage_id;
  const char* tables;  // CREATE TABLE statements, each ended by `;` and a line break
};

std::span<const SystemKeyspace> system_keyspaces();

}  // namespace sibyl::engine
