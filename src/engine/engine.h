// The database in one object: catalogue, prepared statements, system tables, stores.
//
// Threads: every member function may be called from any thread. Completions run on the calling thread or on a
// thread of the store's. Closing: destroy the Engine after all requests have completed.
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
#include "engine/monitor.h"
#include "engine/traces.h"
#include "execute/environment.h"
#include "execute/execute.h"
#include "execute/result_set.h"
#include "plan/guardrails.h"
#include "plan/prepared.h"
#include "schema/schema.h"

namespace sibyl::engine {

inline constexpr const char* release_version = "5.0.2";  // the Cassandra whose answers are ours
inline constexpr const char* cql_version = "3.4.7";

struct Options {
  std::string data = ":memory:";  // a directory, created when missing, or ":memory:"
  enum class Sync { group, periodic } commitlog_sync = Sync::group;
  uint64_t block_cache_bytes = 32u << 20;
  uint64_t memtable_bytes = 48u << 20;      // what is written and not yet in data files
  uint64_t commit_queue_bytes = 64u << 20;  // write sets that wait for the disk
  uint64_t commitlog_segment_bytes = 8u << 20;
  std::chrono::milliseconds commitlog_sync_period{10'000};  // with Sync::periodic
  base::Clock* clock = nullptr;                             // nullptr: the system's
  std::string cluster_name = "Sibyl";
  // Where the server says it is: drivers route by it, and NetworkTopologyStrategy names the first.
  std::string data_center = "datacenter1", rack = "rack1";
  plan::Guardrails guardrails;
  LockTimeouts lock_timeouts;
  bool dynamic_data_masking = false;  // MASKED WITH may be used, and hides what it covers
  auth::Options auth;
  bool statistics = true;  // per table and per shape of a query (usage.h); off only to measure their cost
  // What system_views.settings shows beside what the engine knows itself.
  std::map<std::string, std::string> settings;
  // The newest lines of the log, oldest first, for system_views.system_logs.
  std::function<std::vector<LogLine>()> recent_logs;
};

// A connection, as system_views.clients shows it.
struct Client {
  std::string address;  // numeric
  uint16_t port = 0;
  std::string stage = "ready";
  std::string role = "anonymous";
  std::string driver_name, driver_version;  // empty: not told
  std::string keyspace;
  int32_t protocol_version = 0;
  uint64_t request_count = 0;
  std::map<std::string, std::string> options;  // STARTUP's
  std::string tls_protocol, tls_cipher_suite;  // empty: not encrypted
};

class Engine {
 public:
  // Creates or opens. A directory in use, of another format or not ours is refused.
  static base::Result<std::unique_ptr<Engine>> open(const Options& options);
  virtual ~Engine() = default;

  // A statement's id is stable for a (keyspace, text): drivers compare it. Cached.
  struct PreparedStatement {
    base::Bytes id;
    plan::PreparedPtr plan;
  };
  virtual base::Result<PreparedStatement> prepare(std::string_view text, const std::string& keyspace) = 0;
  // The newest plan for an id (prepared again when its tables changed); an `unprepared` error for unknown
  // ids.
  virtual base::Result<plan::PreparedPtr> find_prepared(std::string_view id) = 0;
  // A plan for text that runs once: parsed and bound, cached for repeats but not kept as a prepared
  // statement.
  virtual base::Result<plan::PreparedPtr> plan_query(std::string_view text, const std::string& keyspace,
                                                     execute::Trace* trace = nullptr) = 0;

  // Runs any plan. When execute::may_block() says so the caller uses a thread that may wait.
  virtual void execute(plan::PreparedPtr plan, const execute::Request& request, execute::Completion done) = 0;
  virtual void execute_batch(cql::Batch::Kind kind, std::vector<execute::BatchItem> items,
                             const execute::Request& request, execute::Completion done) = 0;

  // Who logs in, when the options ask for it. Requests of clients are run as what these return, which lives
  // as long as the engine. Errors are Cassandra's (0x0100),
  // the same for a wrong password as for a role that is not there, and take as long. Hashes: not for a thread
  // that serves others.
  virtual const auth::Options& auth_options() const {
    static const auth::Options nobody_asked;
    return nobody_asked;
  }
  virtual base::Result<const auth::Login*> log_in(std::string_view role, std::string_view password) {
    static_cast<void>(password);
    return base::fail(base::ErrorCode::bad_credentials, std::string(role) + " is not permitted to log in");
  }
  // For a certificate that was verified: the role that its identity stands for. Quick.
  virtual base::Result<const auth::Login*> log_in_by_identity(std::string_view identity) {
    return log_in(identity, {});
  }

  // The same as execute() and execute_batch(), for somebody: what he may not do is refused. nullptr: the
  // program itself, or a server where nobody logs in.
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

  // Shows a request's trace, which has ended, in system_traces.
  virtual void show_trace(const RequestTrace& trace) = 0;

  virtual schema::SnapshotPtr schema() const = 0;
  // Called after each change is durable and visible, in order, one at a time. A listener must not define
  // anything, subscribe or unsubscribe. Returns a token for unsubscribe, after which it is not called any
  // more.
  using Listener = std::function<void(const schema::Change&)>;
  virtual uint64_t subscribe(Listener listener) = 0;
  virtual void unsubscribe(uint64_t token) = 0;

  // The address that system.local shows as the server's own.
  virtual void set_endpoint(const std::string& address, uint16_t port) = 0;

  // Asked whenever system_views.clients is read, on any thread; an empty function: nobody to ask. Clear it
  // before what it uses is gone: after set_clients() returns the old one is not called any more.
  using Clients = std::function<std::vector<Client>()>;
  virtual void set_clients(Clients clients) = 0;

  // Asked whenever the tables of system_views about requests are read; nullptr: nobody. Clear it before it is
  // gone, as above.
  virtual void set_monitor(const Monitor* monitor) = 0;
  // Prepared statements that are kept, their texts' bytes, and those that made room for others.
  struct Statistics {
    uint64_t prepared = 0, prepared_bytes = 0, prepared_evicted = 0;
  };
  virtual Statistics statistics() const = 0;

  // How long writes wait for the device, lately; zero where they do not. Cheap.
  virtual std::chrono::microseconds sync_time() const = 0;

  virtual storage::Store& store() = 0;
  virtual base::Clock& clock() = 0;
  virtual base::Status flush() = 0;
  virtual base::Status compact() = 0;
};

}  // namespace sibyl::engine
