// The system keyspaces: their schema and their rows.
//
// The rows are in a separate store in memory and are created again at each start. Rows about the schema and
// the node are updated when those change. Rows about prepared statements, sizes, clients and the like are
// created when they are read. Thread-safe.
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

// The token of the only node, which owns the whole ring.
inline constexpr const char* node_token = "0";
inline constexpr const char* partitioner_class = "org.apache.cassandra.dht.Murmur3Partitioner";
inline constexpr uint16_t storage_port = 7000;  // Cassandra's default; nothing listens there

// Contents of system.local for this server.
struct Node {
  Bytes host_id;
  std::string cluster_name;
  std::string data_center = "datacenter1", rack = "rack1";
  std::string address = "127.0.0.1";  // numeric
  uint16_t port = 9042;
  int64_t started_seconds = 0;
  std::vector<std::string> tokens = {node_token};
};

// A server of a cluster, as drivers see it.
struct ClusterNode {
  Bytes host_id;
  std::string data_center, rack;
  std::string address;  // numeric
  uint16_t port = 0;
  std::vector<std::string> tokens;  // each ends a range of the ring that it owns; empty: none
  bool operator==(const ClusterNode&) const = default;
};

// Created once. The storage ids of these keyspaces' tables are below those of users' tables.
const std::vector<schema::KeyspacePtr>& system_schema_keyspaces();
// REQUIRES: the table exists.
const schema::Table& system_table(std::string_view keyspace, std::string_view name);

class SystemTables {
 public:
  // Borrows both arguments, which must outlive the object.
  SystemTables(storage::Store& store, base::Clock& clock) : store_(store), clock_(clock) {}

  // Updates the rows about the schema to `after`. Writes only keyspaces that differ from `before` (nullptr:
  // all). system.local's schema_version is updated in the same commit.
  base::Status show_schema(const schema::Snapshot* before, const schema::Snapshot& after);
  base::Status show_node(Node node);
  base::Status show_settings(const std::map<std::string, std::string>& settings);
  Node node() const;

  // Shows the servers of a cluster, including this one, in local, peers and peers_v2. The other servers relay
  // connections to this server, and their clients expect to see them as local. So there are rows for each of
  // these servers, in a store from `make_store`.
  using StoreFactory = std::function<std::unique_ptr<storage::Store>()>;
  base::Status show_cluster(const std::vector<ClusterNode>& nodes, const StoreFactory& make_store);
  // Returns the rows of local, peers and peers_v2 as the server `host_id` shows them. Returns nullptr for
  // other tables, for this server and for unknown servers: their rows are in the system store.
  std::shared_ptr<storage::Store> view_of(const Bytes& host_id, const schema::Table& table) const;

  // Adds rows of system_traces, and deletes the sessions in `evicted`.
  void publish_trace(const SystemRow& session, const std::vector<SystemRow>& events,
                     const std::vector<Bytes>& evicted);

  // Creates the rows of a table when it is read.
  using Source = std::function<std::vector<SystemRow>()>;
  // Must be called before the first read. REQUIRES: the system table exists.
  void set_source(std::string_view keyspace, std::string_view table, Source source);
  // Creates the rows of a system table if it has a source. Must be called before reading the table.
  base::Status refresh(const schema::Table& table);

 private:
  // Add the rows to the commit of the change that they show. The views of other servers are updated
  // separately.
  void put_local(storage::WriteSet& writes) const;
  void put_node(const Node& node, storage::WriteSet& writes) const;
  base::Status update_views() const;

  storage::Store& store_;
  base::Clock& clock_;
  mutable std::mutex mutex_;  // guards the members below; only one thread at a time rewrites a table
  Node node_;
  Bytes schema_version_;
  std::vector<ClusterNode> cluster_;                        // empty: there is no other server
  std::map<Bytes, std::shared_ptr<storage::Store>> views_;  // by host_id
  std::map<uint32_t, Source> sources_;
};

}  // namespace sibyl::engine
