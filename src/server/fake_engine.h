// An engine for tests of the server. Its statements are commands that say how to answer:
//
//   void                  an empty result
//   rows COUNT BYTES      COUNT rows of BYTES bytes
//   large BYTES           one row, on a pool thread
//   fail TEXT             an invalid-request error
//   warn TEXT             an empty result with a warning
//   use NAME              changes the keyspace
//   keyspace              the keyspace in which it was planned
//   who                   the role that has logged in
//   values                echoes its values; two markers, a and b
//   markers COUNT         echoes its values; markers m0, m1, …
//   create NAME           a schema change
//   later NAME            completes on another thread when the test calls release(NAME)
//   block NAME            blocks a pool thread until release(NAME)
//   hold NAME             blocks the reactor until release(NAME)
//   plan NAME             blocks in planning until release(NAME)
//   last                  runs until it is interrupted; completes at the second attempt
//   throw WHERE           throws; WHERE is plan, run, late (after completing), elsewhere (drops the
//   completion
//                         on another thread), no_memory, or strange (not a std::exception)
//   throw_blocking WHERE  the same on a pool thread
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "engine/services.h"
#include "engine/tracing/traces.h"
#include "execute/write/batch.h"
#include "types/type.h"

namespace sibyl::server {

class FakeEngine final : public engine::Planner,
                         public engine::Executor,
                         public engine::Authenticator,
                         public engine::SchemaSource,
                         public engine::ServerTables,
                         public engine::Measurements,
                         public engine::TraceSink {
 public:
  ~FakeEngine() override {
    for (auto& thread : threads_) thread.join();
  }

  engine::Services services() { return {*this, *this, *this, *this, *this, *this, *this, clock_}; }

  base::Result<engine::PreparedStatement> prepare(std::string_view text,
                                                  const std::string& keyspace) override {
    auto plan = plan_query(text, keyspace);
    if (!plan) return base::fail(plan.error());
    const std::lock_guard lock(mutex_);
    const std::string id = "id-" + std::string(text);
    prepared_[id] = *plan;
    return engine::PreparedStatement{id, *plan};
  }

  base::Result<plan::PreparedPtr> find_prepared(std::string_view id) override {
    const std::lock_guard lock(mutex_);
    const auto found = prepared_.find(std::string(id));
    if (found != prepared_.end()) return found->second;
    base::ErrorDetails details;
    details.code = base::ErrorCode::unprepared;
    details.message = "Prepared query with ID " + base::to_hex(id) + " not found";
    details.statement_id = std::string(id);
    return base::fail(base::Error(std::move(details)));
  }

  base::Result<plan::PreparedPtr> plan_query(std::string_view text, const std::string& keyspace,
                                             execute::Trace* trace = nullptr) override {
    if (trace != nullptr) trace->step("planned");
    auto plan = std::make_shared<plan::Prepared>();
    plan->text = std::string(text);
    plan->keyspace = keyspace;
    const std::string command = first_word(plan->text);
    static const std::set<std::string> known = {
        "void",  "rows",   "fail",     "warn", "use",     "values", "later", "block", "hold",
        "large", "create", "keyspace", "who",  "markers", "plan",   "last",  "throw", "throw_blocking"};
    if (!known.contains(command))
      return base::fail(base::ErrorCode::syntax, "line 1:0 no viable alternative at input '" + command + "'");
    if (command == "values") {
      plan->markers = {{"ks", "t", "a", types::scalar(types::Kind::blob)},
                       {"ks", "t", "b", types::scalar(types::Kind::blob)}};
      plan->partition_key_markers = {0};
    }
    if (plan->text.find("throw") == 0 && plan->text.ends_with(" plan")) throw std::length_error("planning");
    if (command == "plan") wait_for(plan->text.substr(5, plan->text.find(' ', 5) - 5));
    if (command == "markers")
      for (size_t i = 0; i < std::stoul(plan->text.substr(8)); ++i)
        plan->markers.push_back({"ks", "t", "m" + std::to_string(i), types::scalar(types::Kind::blob)});
    if (command == "values" || command == "rows") {
      plan->result = one_column();
      plan->result_id = plan::metadata_id(*plan->result);
    }
    if (command == "warn") plan->warnings = {plan->text.substr(5)};
    plan->plan = plan::Use{};
    plan->profile.may_block =
        command == "block" || command == "large" || command == "create" || command == "throw_blocking";
    if (plan->profile.may_block) plan->profile.kind = plan::StatementKind::definition;
    return plan;
  }

  std::atomic<int> lasting_runs{0};  // executions of `last`
  std::atomic<int> large_runs{0};    // executions of `large`

  // Set by the test before the server starts. Where logins are required, every role's password is its name.
  auth::Options auth;
  std::atomic<int> logins{0};
  const auth::Options& options() const override { return auth; }
  base::Result<const auth::Login*> log_in(std::string_view role, std::string_view password) override {
    ++logins;
    {
      const std::lock_guard lock(mutex_);
      login_order_.emplace_back(role);
    }
    if (role == "slow") wait_for("login");
    if (role != password)
      return base::fail(base::ErrorCode::bad_credentials,
                        "Provided username " + std::string(role) + " and/or password are incorrect");
    const std::lock_guard lock(mutex_);
    return &known_.try_emplace(std::string(role), auth::Login{std::string(role), 1}).first->second;
  }
  // The roles of all login attempts, in order.
  std::vector<std::string> login_order() {
    const std::lock_guard lock(mutex_);
    return login_order_;
  }
  base::Result<const auth::Login*> log_in_by_identity(std::string_view identity) override {
    return log_in(identity, "mapped");
  }
  base::Result<const auth::Login*> login_of(std::string_view) override {
    return base::fail(base::ErrorCode::server, "There are no other servers");
  }

  void execute_relayed(const base::Bytes&, const auth::Login* login, plan::PreparedPtr plan,
                       const execute::Request& request, execute::Completion done) override {
    execute_as(login, std::move(plan), request, std::move(done));
  }
  void execute_as(const auth::Login* login, plan::PreparedPtr plan, const execute::Request& request,
                  execute::Completion done) override {
    if (plan->text != "who") return run(plan, request, std::move(done));
    execute::ResultSet result;
    result.kind = execute::ResultSet::Kind::rows;
    result.metadata = one_column();
    result.rows.add(login ? login->role : "nobody");
    result.rows.end_row();
    done(std::move(result));
  }
  void execute_batch_as(const auth::Login*, cql::Batch::Kind, std::vector<execute::BatchItem> items,
                        const execute::Request&, execute::Completion done) override {
    execute::ResultSet result;
    execute::RowBuffer rows;
    for (const auto& item : items) {
      rows.add(item.statement->text + "/" + std::to_string(item.values.size()));
      rows.end_row();
    }
    result.kind = execute::ResultSet::Kind::rows;
    result.rows = std::move(rows);
    result.metadata = one_column();
    done(std::move(result));
  }

  // Lets current and later statements that wait for this name complete.
  void release(const std::string& name) {
    {
      const std::lock_guard lock(mutex_);
      released_.insert(name);
    }
    changed_.notify_all();
  }
  // Blocks until `count` statements have begun to wait.
  void await_waiting(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return began_waiting_ >= count; });
  }

  std::atomic<bool> throws_at_traces{false};
  void publish(const engine::RequestTrace& trace) override {
    if (throws_at_traces) throw std::bad_alloc();
    const std::lock_guard lock(mutex_);
    shown_.push_back(trace);
  }
  std::vector<engine::RequestTrace> shown() {
    const std::lock_guard lock(mutex_);
    return shown_;
  }

  schema::SnapshotPtr schema() const override {
    auto snapshot = std::make_shared<schema::Snapshot>();
    snapshot->keyspaces.insert_or_assign("shop", std::make_shared<schema::Keyspace>());
    return snapshot;
  }
  uint64_t subscribe(Listener listener) override {
    const std::lock_guard lock(mutex_);
    listener_ = std::move(listener);
    return 1;
  }
  void unsubscribe(uint64_t) override {
    const std::lock_guard lock(mutex_);
    listener_ = nullptr;
  }
  void set_endpoint(const std::string&, uint16_t port) override { port_ = port; }
  uint16_t port() const { return port_; }
  void set_clients(Clients clients) override { clients_ = std::move(clients); }
  void set_monitor(const engine::Monitor* monitor) override { monitor_ = monitor; }
  const engine::Monitor* monitor() const { return monitor_; }
  engine::PreparedStatistics prepared() const override { return {}; }
  std::vector<engine::Client> clients() const { return clients_(); }
  std::chrono::microseconds sync_time() const override { return {}; }
  const storage::Store& store() const override { std::abort(); }

 private:
  std::map<std::string, auth::Login> known_;
  std::vector<std::string> login_order_;
  void run(const plan::PreparedPtr& plan, const execute::Request& request, execute::Completion done) {
    std::istringstream words(plan->text);
    std::string command, argument;
    words >> command >> argument;
    execute::ResultSet result;
    result.warnings = plan->warnings;
    // The statement runs until it is interrupted. The second attempt completes.
    if (command == "last" && ++lasting_runs == 1) {
      base::Status wanted;
      while (wanted) wanted = request.interrupt->check();
      return done(base::fail(wanted.error()));
    }
    if (command.starts_with("throw")) return run_throwing(argument, std::move(done));
    if (command == "fail") return done(base::invalid(plan->text.substr(5)));
    if (command == "rows") {
      size_t size = 0;
      words >> size;
      fill_rows(result, std::stoul(argument), size);
    } else if (command == "values" || command == "markers") {
      echo(result, request);
    } else if (command == "keyspace") {
      result.kind = execute::ResultSet::Kind::rows;
      result.metadata = one_column();
      result.rows.add(plan->keyspace);
      result.rows.end_row();
    } else if (command == "use") {
      result.kind = execute::ResultSet::Kind::set_keyspace;
      result.keyspace = argument;
    } else if (command == "later") {
      return wait_elsewhere(argument, std::move(done));
    } else if (command == "large") {
      ++large_runs;
      fill_rows(result, 1, std::stoul(argument));
    } else if (command == "block" || command == "hold") {
      wait_for(argument);
    } else if (command == "create") {
      result.kind = execute::ResultSet::Kind::schema_change;
      result.change =
          schema::Change{schema::Change::Kind::created, schema::Change::Target::table, "ks", argument, {}};
      notify_listener(*result.change);
    }
    done(std::move(result));
  }

  static std::string first_word(const std::string& text) { return text.substr(0, text.find(' ')); }

  static plan::ResultMetadataPtr one_column() {
    static const auto metadata = std::make_shared<const plan::ResultMetadata>(
        plan::ResultMetadata{{{"ks", "t", "v", types::scalar(types::Kind::blob)}}});
    return metadata;
  }
  static void fill_rows(execute::ResultSet& result, size_t count, size_t size) {
    result.kind = execute::ResultSet::Kind::rows;
    result.metadata = one_column();
    const std::string value(size, 'v');
    for (size_t i = 0; i < count; ++i) {
      result.rows.add(value);
      result.rows.end_row();
    }
  }
  static void echo(execute::ResultSet& result, const execute::Request& request) {
    result.kind = execute::ResultSet::Kind::rows;
    result.metadata = one_column();
    for (const auto& value : request.values) {
      if (value.is_present()) {
        result.rows.add(value.bytes);
      } else {
        result.rows.add(value.is_unset() ? "unset" : "null");
      }
      result.rows.end_row();
    }
    if (request.page_size > 0) result.paging_state = "page " + std::to_string(request.page_size);
  }
  void wait_for(const std::string& name) {
    std::unique_lock lock(mutex_);
    ++began_waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return released_.contains(name); });
  }
  void run_throwing(const std::string& where, execute::Completion done) {
    if (where == "run") throw std::length_error("running");
    if (where == "no_memory") throw std::bad_alloc();
    if (where == "strange") throw 7;
    if (where == "elsewhere") {
      const std::lock_guard lock(mutex_);
      threads_.emplace_back([dropped = std::move(done)]() mutable { dropped = nullptr; });
      return;
    }
    done(execute::ResultSet());
    throw std::length_error("completed");
  }
  void wait_elsewhere(const std::string& name, execute::Completion done) {
    const std::lock_guard lock(mutex_);
    threads_.emplace_back([this, name, done = std::move(done)]() mutable {
      wait_for(name);
      done(execute::ResultSet{});
    });
  }
  void notify_listener(const schema::Change& change) {
    Listener listener;
    {
      const std::lock_guard lock(mutex_);
      listener = listener_;
    }
    if (listener) listener(change);
  }

  base::SystemClock clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, plan::PreparedPtr> prepared_;
  std::set<std::string> released_;
  std::vector<engine::RequestTrace> shown_;
  std::vector<std::thread> threads_;
  Listener listener_;
  size_t began_waiting_ = 0;
  uint16_t port_ = 0;
  Clients clients_;
  const engine::Monitor* monitor_ = nullptr;
};

}  // namespace sibyl::server
