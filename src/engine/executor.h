// Runs planned statements.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "auth/login.h"
#include "cql/ast.h"
#include "execute/environment.h"
#include "execute/write/batch.h"
#include "plan/prepared.h"

namespace sibyl::engine {

// Thread-safe. Completions run on the calling thread, or on a thread of the store or of the locks.
class Executor {
 public:
  virtual ~Executor() = default;

  // Runs any plan. Returns Unauthorized if `login` misses a permission; nullptr skips the checks: for the
  // program itself, or for a server without authentication. If plan->profile.may_block is true, the caller
  // must use a thread that may block.
  virtual void execute_as(const auth::Login* login, plan::PreparedPtr plan, const execute::Request& request,
                          execute::Completion done) = 0;
  // Like execute_as(), for a client of the server `host_id`, which relays the statement to this one.
  // system.local and the tables of peers show what that server would show.
  virtual void execute_relayed(const base::Bytes& host_id, const auth::Login* login, plan::PreparedPtr plan,
                               const execute::Request& request, execute::Completion done) = 0;
  virtual void execute_batch_as(const auth::Login* login, cql::Batch::Kind kind,
                                std::vector<execute::BatchItem> items, const execute::Request& request,
                                execute::Completion done) = 0;

  // Runs a plan for the program itself.
  void execute(plan::PreparedPtr plan, const execute::Request& request, execute::Completion done) {
    execute_as(nullptr, std::move(plan), request, std::move(done));
  }
  void execute_batch(cql::Batch::Kind kind, std::vector<execute::BatchItem> items,
                     const execute::Request& request, execute::Completion done) {
    execute_batch_as(nullptr, kind, std::move(items), request, std::move(done));
  }

  // Counts of statements that a server of a cluster has not run by itself: statements that it sent to the
  // owner of their partitions, and writes to partitions of several owners. nullopt: this executor runs
  // everything itself.
  struct Routed {
    uint64_t forwarded = 0, spread = 0;
  };
  virtual std::optional<Routed> routed() const { return std::nullopt; }

  // Recent time that writes wait for the device; zero if they do not wait. Cheap.
  virtual std::chrono::microseconds sync_time() const = 0;
};

}  // namespace sibyl::engine
