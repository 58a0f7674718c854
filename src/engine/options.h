// How a database is opened.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auth/options.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
#include "engine/lock_waits.h"
#include "engine/statistics/monitor.h"
#include "plan/guardrails.h"

namespace sibyl::storage {
class Store;
namespace objects {
class ObjectStore;
}
}  // namespace sibyl::storage

namespace sibyl::engine {

class UsageRecords;  // statistics/usage_records.h

inline constexpr const char* release_version = "5.0.2";  // the Cassandra release that we are compatible with
inline constexpr const char* cql_version = "3.4.7";

// A database on storage that several servers share. Without open_store, one server has it open at a time, and
// opening takes it over. With open_store, several servers serve it at the same time, each the shards that it
// has open.
struct SharedData {
  // Opens the store over the shards of all servers. The store's hold() decides what this server may change.
  // If open_store is set, connect, name and on_lost are not used.
  std::function<base::Result<std::unique_ptr<storage::Store>>()> open_store;
  // Called with open_store by the server that has changed the schema or roles. Passes the message to
  // Engine::receive() of every other live server, and returns when each has returned from it or has lost its
  // lease. Blocks.
  std::function<base::Status(const base::Bytes& message)> announce;

  std::function<base::Result<std::unique_ptr<storage::objects::ObjectStore>>()> connect;
  // Called with open_store. Passes the message to Engine::apply() of the server that has the shard of the
  // record key, perhaps several times, and returns its answer. If this server has the shard, the error is
  // storage::is_not_here(). Blocks. Empty: batches over several servers are refused.
  std::function<base::Result<base::Bytes>(base::BytesView key, base::Bytes message)> ask_owner;

  std::string name;  // name of the store's directory
  // Called at most once, on any thread, when another server has taken the store over or its storage cannot be
  // reached. Reads may be stale from then on, so the process must end. Must not block.
  std::function<void(const std::string& why)> on_lost;
  // Returns false if another server may have the store. Called after rows were read and before they are
  // returned.
  std::function<bool()> may_answer;
  // The records of this server's and of the other servers' statistics. nullptr: statistics are not saved.
  std::shared_ptr<UsageRecords> usage_records;
  base::Bytes host_id;  // id of this server, 16 bytes; the id in the store is the same for all servers
};

struct Options {
  std::string data = ":memory:";     // a directory, created if missing, or ":memory:"
  std::optional<SharedData> shared;  // if set, the data is on that storage, and `data` is only its name in
                                     // messages
  bool is_in_cluster() const { return shared && shared->open_store; }
  enum class Sync { group, periodic } commitlog_sync = Sync::group;
  uint64_t block_cache_bytes = 32u << 20;
  uint64_t row_cache_bytes = 8u << 20;      // merged records for point reads; 0: none
  bool gives_back_memory = false;           // the caches shrink while the machine is short of memory
  uint64_t memtable_bytes = 48u << 20;      // size of the data that is not in data files yet
  uint64_t commit_queue_bytes = 64u << 20;  // size of the write sets that wait for the disk
  uint64_t commitlog_segment_bytes = 8u << 20;
  std::chrono::milliseconds commitlog_sync_period{10'000};  // with Sync::periodic
  base::Clock* clock = nullptr;                             // nullptr: the system clock
  std::string cluster_name = "Sibyl";
  // Location of this server. Drivers use it for routing, and NetworkTopologyStrategy refers to data_center.
  std::string data_center = "datacenter1", rack = "rack1";
  plan::Guardrails guardrails;
  LockTimeouts lock_timeouts;
  bool dynamic_data_masking = false;  // allows MASKED WITH, and hides masked values
  auth::Options auth;
  // Kept for each table and each query shape (usage.h); turn off only to measure their cost.
  bool statistics = true;
  // Shown in system_views.settings in addition to the settings that the engine knows.
  std::map<std::string, std::string> settings;
  // Returns the newest lines of the log, oldest first, for system_views.system_logs.
  std::function<std::vector<LogLine>()> recent_logs;
};

}  // namespace sibyl::engine
