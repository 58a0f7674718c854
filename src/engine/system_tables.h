// The system keyspaces: their definitions as schema, and their rows.
//
// The rows live in a store of their own, in memory: they are made anew at each start. Those about the schema
// and the node change when those do; those about what moves by itself (prepared statements, sizes, clients)
// are made when they are read. Threads: everything here may be called by any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/system_rows.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::engine {

// The token of the only node: it owns the whole ring.
inline constexpr const char* node_token = "0";
inline constexpr const char* partitioner_class = "org.apache.cassandra.dht.Murmur3Partitioner";
inline constexpr uint16_t storage_port = 7000;  // Cassandra's default; nothing listens there

// What system.local says about this server.
struct Node {
  Bytes host_id;
  std::string cluster_name;
  std::string data_center = "datacenter1", rack = "rack1";
  std::string address = "127.0.0.1";  // numeric
  uint16_t port = 9042;
  int64_t started_seconds = 0;
};

// Made once; their storage ids are below those of users' tables.
const std::vector<schema::KeyspacePtr>& system_schema_keyspaces();
// REQUIRES: there is one of that name.
const schema::Table& system_table(std::string_view keyspace, std::string_view name);

class SystemTables {
 public:
  // Borrows both, which must outlive it.
  SystemTables(storage::Store& store, base::Clock& clock) : store_(store), clock_(clock) {}

  // Makes the rows about the schema say what `after` holds; touches only keyspaces that differ from `before`
  // (nullptr: all). system.local's schema_version follows in the same commit.
  base::Status show_schema(const schema::Snapshot* before, const schema::Snapshot& after);
  base::Status show_node(Node node);
  base::Status show_settings(const std::map<std::string, std::string>& settings);
  Node node() const;

  // Adds rows of system_traces, and forgets the sessions that are named in `gone`.
  void show_trace(const SystemRow& session, const std::vector<SystemRow>& events,
                  const std::vector<Bytes>& gone);

  // The rows of a table that are made when it is read.
  using Source = std::function<std::vector<SystemRow>()>;
  // Before the first read; REQUIRES: a system table of that name.
  void set_source(std::string_view keyspace, std::string_view table, Source source);
  // To be called before reading a system table: makes its rows when it has a source.
  base::Status refresh(const schema::Table& table);

 private:
  void put_local(storage::WriteSet& writes);

  storage::Store& store_;
  base::Clock& clock_;
  mutable std::mutex mutex_;  // guards what follows, and keeps rewrites of one table apart
  Node node_;
  Bytes schema_version_;
  std::map<uint32_t, Source> sources_;
};

}  // namespace sibyl::engine
