// The database in one object: catalogue, prepared statements, system tables, stores.
//
// Threads: every member function may be called from any thread. Completions run on the calling thread or on a
// thread of the store's. Closing: destroy the Engine after all requests have completed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "auth/options.h"
#include "base/clock.h"
#include "base/result.h"
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
  base::Clock* clock = nullptr;  // nullptr: the system's
  std::string cluster_name = "Sibyl";
  plan::Guardrails guardrails;
  auth::Options auth;
};

// A connection, as system_views.clients shows it.
struct Client {
  std::string address;  // numeric
  uint16_t port = 0;
  std::string stage = "ready";
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

  virtual storage::Store& store() = 0;
  virtual base::Clock& clock() = 0;
  virtual base::Status flush() = 0;
  virtual base::Status compact() = 0;
};

}  // namespace sibyl::engine
