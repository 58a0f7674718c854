// The database in one object: catalogue, prepared statements, system tables, stores.
//
// Threads: thread-safe. Completions run on the calling thread or on a thread of the store. Destroy the Engine
// only after all requests have completed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "auth/login.h"
#include "auth/options.h"
#include "base/clock.h"
#include "base/result.h"
#include "engine/lock_waits.h"
#include "engine/statistics/monitor.h"
#include "engine/tracing/traces.h"
#include "execute/environment.h"
#include "execute/execute.h"
#include "execute/result_set.h"
#include "plan/guardrails.h"
#include "plan/prepared.h"
#include "schema/schema.h"

namespace sibyl::engine {

inline constexpr const char* release_version = "5.0.2";  // the Cassandra release that we are compatible with
inline constexpr const char* cql_version = "3.4.7";

struct Options {
  std::string data = ":memory:";  // a directory, created if missing, or ":memory:"
  enum class Sync { group, periodic } commitlog_sync = Sync::group;
  uint64_t block_cache_bytes = 32u << 20;
  uint64_t row_cache_bytes = 8u << 20;      // merged records for point reads; 0: none
  uint64_t memtable_bytes = 48u << 20;      // data that is not yet in data files
  uint64_t commit_queue_bytes = 64u << 20;  // write sets waiting for the disk
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
  bool statistics = true;  // per table and per query shape (usage.h); turn off only to measure their cost
  // Shown in system_views.settings in addition to the settings that the engine knows.
  std::map<std::string, std::string> settings;
  // Returns the newest lines of the log, oldest first, for system_views.system_logs.
  std::function<std::vector<LogLine>()> recent_logs;
};

// A connection, as system_views.clients shows it.
struct Client {
  std::string address;  // numeric
  uint16_t port = 0;
  std::string stage = "ready";
  std::string role = "anonymous";
  std::string driver_name, driver_version;  // empty if the driver did not send them
  std::string keyspace;
  int32_t protocol_version = 0;
  uint64_t request_count = 0;
  std::map<std::string, std::string> options;  // of the STARTUP message
  std::string tls_protocol, tls_cipher_suite;  // empty: not encrypted
};

class Engine {
 public:
  // Opens the data directory, or creates it. Fails if the directory is in use, has another format, or is not
  // a Sibyl directory.
  static base::Result<std::unique_ptr<Engine>> open(const Options& options);
  virtual ~Engine() = default;

  // The id depends only on keyspace and text, because drivers compare ids. Results are cached.
  struct PreparedStatement {
    base::Bytes id;
    plan::PreparedPtr plan;
  };
  virtual base::Result<PreparedStatement> prepare(std::string_view text, const std::string& keyspace) = 0;
  // Returns the newest plan for an id. Plans it again if its tables changed. Returns an `unprepared` error
  // for unknown ids.
  virtual base::Result<plan::PreparedPtr> find_prepared(std::string_view id) = 0;
  // Parses and binds a text that is executed without being prepared. The plan is cached for repeats but is
  // not kept as a prepared statement.
  virtual base::Result<plan::PreparedPtr> plan_query(std::string_view text, const std::string& keyspace,
                                                     execute::Trace* trace = nullptr) = 0;

  // Runs any plan. If plan->profile.may_block is true, the caller must use a thread that may block.
  virtual void execute(plan::PreparedPtr plan, const execute::Request& request, execute::Completion done) = 0;
  virtual void execute_batch(cql::Batch::Kind kind, std::vector<execute::BatchItem> items,
                             const execute::Request& request, execute::Completion done) = 0;

  // Authentication, if the options require it. Requests of a client run with the Login that these functions
  // return, which lives as long as the engine. Errors are Cassandra's (0x0100). A wrong password and an
  // unknown role get the same error after the same time. log_in() hashes a password: do not call it on a
  // reactor thread.
  virtual const auth::Options& auth_options() const {
    static const auth::Options allow_all;
    return allow_all;
  }
  virtual base::Result<const auth::Login*> log_in(std::string_view role, std::string_view password) {
    static_cast<void>(password);
    return base::fail(base::ErrorCode::bad_credentials, std::string(role) + " is not permitted to log in");
  }
  // For a verified certificate: logs in the role that its identity is mapped to. Fast.
  virtual base::Result<const auth::Login*> log_in_by_identity(std::string_view identity) {
    return log_in(identity, {});
  }

  // Like execute() and execute_batch(), but checks the permissions of `login` and returns Unauthorized if one
  // is missing. nullptr skips the checks: for the program itself, or for a server without authentication.
  virtual void execute_as(const auth::Login* login, plan::PreparedPtr plan, const execute::Request& request,
                          execute::Completion done) {
    static_cast<void>(login);
    execute(std::move(plan), request, std::move(done));
  }
  virtual void execute_batch_as(const auth::Login* login, cql::Batch::Kind kind,
                                std::vector<execute::BatchItem> items, const execute::Request& request,
                                execute::Completion done) {
    static_cast<void>(login);
    execute_batch(kind, std::move(items), request, std::move(done));
  }

  // Publishes a finished trace in system_traces.
  virtual void publish_trace(const RequestTrace& trace) = 0;

  virtual schema::SnapshotPtr schema() const = 0;
  // The listener is called after each schema change is durable and visible, in order, one change at a time.
  // It must not change the schema, subscribe or unsubscribe. Returns a token for unsubscribe(). The listener
  // is not called after unsubscribe() has returned.
  using Listener = std::function<void(const schema::Change&)>;
  virtual uint64_t subscribe(Listener listener) = 0;
  virtual void unsubscribe(uint64_t token) = 0;

  // Sets the address that system.local shows for this server.
  virtual void set_endpoint(const std::string& address, uint16_t port) = 0;

  // The function is called on any thread whenever system_views.clients is read; empty: there are no clients.
  // Once set_clients() has returned, the previous function is not called any more. Replace it before
  // destroying what it uses.
  using Clients = std::function<std::vector<Client>()>;
  virtual void set_clients(Clients clients) = 0;

  // Queried whenever a table of system_views about requests is read; nullptr: there is none. As with
  // set_clients(), replace it before destroying it.
  virtual void set_monitor(const Monitor* monitor) = 0;
  // Prepared statements that are kept, the bytes of their texts, and the number of evicted ones.
  struct Statistics {
    uint64_t prepared = 0, prepared_bytes = 0, prepared_evicted = 0;
  };
  virtual Statistics statistics() const = 0;

  // Recent time that writes wait for the device; zero if they do not wait. Cheap.
  virtual std::chrono::microseconds sync_time() const = 0;

  virtual storage::Store& store() = 0;
  virtual base::Clock& clock() = 0;
  virtual base::Status flush() = 0;
  virtual base::Status compact() = 0;
};

}  // namespace sibyl::engine
