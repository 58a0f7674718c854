#include "engine/engine.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <mutex>
#include <optional>

#include "base/check.h"
#include "base/statement.h"
#include "engine/builds/builder.h"
#include "engine/builds/builds.h"
#include "engine/catalogue/catalogue.h"
#include "engine/catalogue/open_store.h"
#include "engine/consistency.h"
#include "engine/describe/describe.h"
#include "engine/describe/explain_result.h"
#include "engine/key_names.h"
#include "engine/lock_waits.h"
#include "engine/maintenance/disk_usage.h"
#include "engine/prepared/paging_states.h"
#include "engine/prepared/statements.h"
#include "engine/roles/permissions.h"
#include "engine/roles/role_statements.h"
#include "engine/roles/roles.h"
#include "engine/statistics/usage.h"
#include "engine/statistics/usage_store.h"
#include "engine/system_sources.h"
#include "engine/system_tables/monitor_tables.h"
#include "engine/system_tables/system_tables.h"
#include "engine/tracing/trace_steps.h"
#include "engine/tracing/traces.h"
#include "engine/write_gate.h"
#include "execute/interruptible.h"
#include "execute/vector/vector_indexes.h"
#include "execute/write/locks.h"
#include "execute/write/try_write.h"
#include "plan/definitions/definitions.h"
#include "row/record_key.h"
#include "schema/storage_ids.h"

namespace sibyl::engine {
namespace {

using base::Bytes;
using base::BytesView;
using execute::Completion;
using execute::Request;
using execute::ResultSet;
using plan::PreparedPtr;

// Adds the warnings of planning to the result.
Completion with_warnings(std::vector<std::string> warnings, Completion done) {
  return [warnings = std::move(warnings), done = std::move(done)](base::Result<ResultSet> result) mutable {
    if (result) result->warnings.insert(result->warnings.begin(), warnings.begin(), warnings.end());
    done(std::move(result));
  };
}

// The data of such keyspaces is stored and served here, but drivers that route by datacenter look elsewhere.
void warn_of_other_datacenters(const schema::Snapshot& schema, const std::string& own) {
  for (const auto& [name, keyspace] : schema.keyspaces) {
    const auto strategy = keyspace->replication.find("class");
    if (strategy == keyspace->replication.end() || !strategy->second.ends_with("NetworkTopologyStrategy"))
      continue;
    for (const auto& [datacenter, factor] : keyspace->replication)
      if (datacenter != "class" && datacenter != own)
        spdlog::warn(
            "keyspace {} is replicated in data center {}, but this server is in {}: alter the keyspace, "
            "or set data_center",
            name, datacenter, own);
  }
}

class EngineImpl final : public Engine {
 public:
  EngineImpl(const Options& options, std::unique_ptr<base::Clock> own_clock, base::Clock& clock,
             std::unique_ptr<storage::Store> store, Catalogue catalogue, SealingKey paging_key)
      : options_(options),
        own_clock_(std::move(own_clock)),
        clock_(clock),
        store_(std::move(store)),
        system_store_(make_system_store(clock_)),
        timestamps_(clock_),
        environment_{*store_, *system_store_, clock_, timestamps_, locks_, &vectors_, &options_.guardrails},
        system_tables_(*system_store_, clock_),
        catalogue_(std::move(catalogue)),
        statements_(catalogue_.schema(), options_.guardrails),
        paging_states_(std::move(paging_key)) {
    if (!options_.statistics) return;
    environment_.observer = &usage_;
    statements_.set_usage_factory([this](const cql::Statement& statement, const plan::Prepared& plan) {
      return usage_.shape_of(statement, plan);
    });
  }

  ~EngineImpl() override {
    builder_.reset();  // first, because it waits for locks
    locks_.stop();
    // Closing writes files, by which time the schema that names keys has been destroyed.
    store_->set_large_partition_callback(0, {});
    store_->set_key_formatter({});
  }

  base::Status start() {
    vectors_.watch(schema::vector_index_ids(*catalogue_.schema()));
    install_sources(system_tables_, {.options = options_,
                                     .engine = *this,
                                     .store = *store_,
                                     .host_id = catalogue_.host_id(),
                                     .statements = statements_,
                                     .usage = usage_,
                                     .builder = builder_});
    monitor_tables_.install(system_tables_, *this, options_);
    store_->set_key_formatter([this](BytesView key) { return name_of_key(*schema(), key); });
    watch_partition_sizes(*store_, options_.guardrails,
                          [this](BytesView key) { return name_of_key(*schema(), key); });
    SIBYL_TRY(system_tables_.show_node({.host_id = catalogue_.host_id(),
                                        .cluster_name = options_.cluster_name,
                                        .data_center = options_.data_center,
                                        .rack = options_.rack,
                                        .started_seconds = clock_.now_seconds()}));
    warn_of_other_datacenters(*catalogue_.schema(), options_.data_center);
    SIBYL_TRY(show_settings());
    SIBYL_TRY(system_tables_.show_schema(nullptr, *catalogue_.schema()));
    SIBYL_TRY(roles_.start(catalogue_.schema()));
    keep_usage();
    builder_.emplace(environment_,
                     Builder::Hooks{.schema = [this] { return schema(); },
                                    .wait_for_writers = [this] { gate_.wait(); },
                                    .finish = [this](uint32_t id) { return finish_building(id); }});
    return {};
  }

  base::Result<PreparedStatement> prepare(std::string_view text, const std::string& keyspace) override {
    SIBYL_ASSIGN(Statements::Prepared prepared, statements_.prepare(text, keyspace));
    return PreparedStatement{std::move(prepared.id), std::move(prepared.plan)};
  }
  base::Result<PreparedPtr> find_prepared(std::string_view id) override {
    return statements_.find_prepared(id);
  }
  base::Result<PreparedPtr> plan_query(std::string_view text, const std::string& keyspace,
                                       execute::Trace* trace) override {
    return statements_.plan_query(text, keyspace, trace);
  }

  const auth::Options& auth_options() const override { return options_.auth; }
  base::Result<const auth::Login*> log_in(std::string_view role, std::string_view password) override {
    return roles_.log_in(role, password);
  }
  base::Result<const auth::Login*> log_in_by_identity(std::string_view identity) override {
    return roles_.log_in_by_identity(identity);
  }

  void execute(PreparedPtr plan, const Request& request, Completion done) override {
    execute_as(nullptr, std::move(plan), request, std::move(done));
  }
  void execute_batch(cql::Batch::Kind kind, std::vector<execute::BatchItem> items, const Request& request,
                     Completion done) override {
    execute_batch_as(nullptr, kind, std::move(items), request, std::move(done));
  }

  void execute_as(const auth::Login* login, PreparedPtr plan, const Request& request,
                  Completion done) override {
    if (base::Status status = check_permission(plan, login); !status)
      return done(base::fail(std::move(status.error())));
    std::vector<std::string> warnings;
    if (base::Status status = check_request(*plan, request, *this, options_.guardrails, warnings); !status)
      return done(base::fail(std::move(status.error())));
    if (plan->profile.is_write())
      if (base::Status status = disk_usage_.check(warnings); !status)
        return done(base::fail(std::move(status.error())));
    if (!warnings.empty()) done = with_warnings(std::move(warnings), std::move(done));
    if (request.trace != nullptr)
      done = with_steps(describe_run(*plan), committed(), *request.trace, std::move(done));
    if (!plan->warnings.empty()) done = with_warnings(plan->warnings, std::move(done));
    if (hides(plan->tables, login)) {
      Request hiding = request;
      hiding.unmasked = false;
      return std::visit([&](const auto& what) { run(what, plan, hiding, login, std::move(done)); },
                        plan->plan);
    }
    std::visit([&](const auto& what) { run(what, plan, request, login, std::move(done)); }, plan->plan);
  }
  void execute_batch_as(const auth::Login* login, cql::Batch::Kind kind,
                        std::vector<execute::BatchItem> items, const Request& request,
                        Completion done) override {
    for (const execute::BatchItem& item : items)
      if (base::Status status = check_permission(item.statement, login); !status)
        return done(base::fail(std::move(status.error())));
    std::vector<std::string> warnings;
    if (base::Status status = check_request(items, request, *this, options_.guardrails, warnings); !status)
      return done(base::fail(std::move(status.error())));
    if (base::Status status = disk_usage_.check(warnings); !status)
      return done(base::fail(std::move(status.error())));
    if (!warnings.empty()) done = with_warnings(std::move(warnings), std::move(done));
    if (request.trace != nullptr)
      done = with_steps(fmt::format("Executing a batch of {} statements", items.size()), committed(),
                        *request.trace, std::move(done));
    Request hiding = request;
    for (const execute::BatchItem& item : items)
      hiding.unmasked = hiding.unmasked && !hides(item.statement->tables, login);
    write_batch(kind, std::move(items), hiding, std::move(done), {});
  }

  void publish_trace(const RequestTrace& trace) override { traces_.show(trace); }

  schema::SnapshotPtr schema() const override { return statements_.schema(); }

  uint64_t subscribe(Listener listener) override {
    std::lock_guard lock(listeners_mutex_);
    listeners_[++last_token_] = std::move(listener);
    return last_token_;
  }
  void unsubscribe(uint64_t token) override {
    std::lock_guard lock(listeners_mutex_);
    listeners_.erase(token);
  }

  void set_endpoint(const std::string& address, uint16_t port) override {
    Node node = system_tables_.node();
    // A server that listens on all interfaces has no single address to show.
    bool everywhere = address == "0.0.0.0" || address == "::";
    node.address = everywhere ? "127.0.0.1" : address;
    node.port = port;
    SIBYL_CHECK(system_tables_.show_node(std::move(node)).has_value());
    SIBYL_CHECK(show_settings().has_value());
  }
  void set_clients(Clients clients) override { monitor_tables_.set_clients(std::move(clients)); }
  void set_monitor(const Monitor* monitor) override { monitor_tables_.set_monitor(monitor); }
  Statistics statistics() const override {
    const PlanCache& prepared = statements_.prepared();
    return {prepared.size(), prepared.bytes(), prepared.evictions()};
  }

  std::chrono::microseconds sync_time() const override { return store_->sync_time(); }
  storage::Store& store() override { return *store_; }
  base::Clock& clock() override { return clock_; }
  base::Status flush() override { return store_->flush(); }
  base::Status compact() override {
    return store_->compact(row::table_begin(row::catalogue_table_id), Bytes(8, '\xff'));
  }

 private:
  // The trace step at the end of a write.
  const char* committed() const {
    if (options_.data == ":memory:") return "Committed in memory";
    return options_.commitlog_sync == Options::Sync::group ? "Committed and synced"
                                                           : "Committed; the log is synced later";
  }

  base::Status check_permission(const PreparedPtr& plan, const auth::Login* login) const {
    if (login == nullptr || !roles_.checks_permissions()) return {};
    return permissions_.check(plan, *login, [this] { return schema(); });
  }

  // Returns true if masks hide column values of these tables from the user.
  bool hides(const std::vector<schema::TablePtr>& tables, const auth::Login* login) const {
    return options_.dynamic_data_masking && login != nullptr && roles_.checks_permissions() &&
           !may_unmask(tables, login->role, *roles_.access());
  }

  // --- One function per kind of plan.
  void run(const std::shared_ptr<const plan::Select>& select, const PreparedPtr& plan, const Request& request,
           const auth::Login* login, Completion done) {
    if (base::Status status = check_indexes(*select, *builder_); !status)
      return done(base::fail(std::move(status.error())));
    for (const schema::TablePtr& table : plan->tables) {
      if (!table->is_virtual) continue;
      if (base::Status status = system_tables_.refresh(*table); !status)
        return done(base::fail(std::move(status.error())));
    }
    const bool by_index = !select->where->index_uses().empty() || select->nearest;
    done(paging_states_.run(plan->text, login, request, [&](const Request& opened) {
      return by_index ? select_by_index(plan, opened) : execute::select(*plan, opened, environment_);
    }));
  }

  // An index that was dropped after planning or during the read has no entries any more, so rows may be
  // missing. The read is then repeated with a new plan.
  base::Result<ResultSet> select_by_index(PreparedPtr plan, const Request& request) {
    while (true) {
      const uint64_t drops = drops_.load(std::memory_order_seq_cst);
      if (drops % 2 != 0) {  // a drop is in progress
        const std::lock_guard until_it_is_published(definition_mutex_);
        continue;
      }
      SIBYL_ASSIGN(plan, statements_.renew(plan));
      base::Result<ResultSet> result = execute::select(*plan, request, environment_);
      if (drops_.load(std::memory_order_seq_cst) == drops) return result;
    }
  }
  void run(const std::shared_ptr<const plan::Modification>&, const PreparedPtr& plan, const Request& request,
           const auth::Login*, Completion done) {
    write(plan, request, std::move(done), {});
  }
  void run(const std::shared_ptr<const plan::Batch>&, const PreparedPtr& plan, const Request& request,
           const auth::Login*, Completion done) {
    write(plan, request, std::move(done), {});
  }
  void run(const plan::Truncate&, const PreparedPtr& plan, const Request& request, const auth::Login*,
           Completion done) {
    write(plan, request, std::move(done), {});
  }
  void run(const plan::Use& use, const PreparedPtr&, const Request&, const auth::Login*, Completion done) {
    if (!schema()->find_keyspace(use.keyspace))
      return done(base::invalid("Keyspace '" + use.keyspace + "' does not exist"));
    ResultSet result;
    result.kind = ResultSet::Kind::set_keyspace;
    result.keyspace = use.keyspace;
    done(std::move(result));
  }
  void run(const plan::Definition& definition, const PreparedPtr& plan, const Request&,
           const auth::Login* login, Completion done) {
    done(define(*definition.statement, plan->keyspace, login));
  }
  void run(const plan::Describe& statement, const PreparedPtr& plan, const Request& request,
           const auth::Login* login, Completion done) {
    done(paging_states_.run(plan->text, login, request, [&](const Request& opened) {
      return execute::run_interruptible(request.interrupt, [&] {
        return describe(std::get<cql::Describe>(statement.statement->node), plan->keyspace, *schema(),
                        system_tables_.node(), opened);
      });
    }));
  }

  void run(const plan::Explain& explain, const PreparedPtr& plan, const Request&, const auth::Login*,
           Completion done) {
    done(explain_result(explain, *plan));
  }

  // Loads the counts of earlier runs. A store in memory has nothing to load or save.
  void keep_usage() {
    if (!options_.statistics || options_.data == ":memory:") return;
    if (const auto status = load_usage(*store_, *schema(), usage_); !status)
      spdlog::warn("statistics of earlier runs cannot be read: {}", status.error().text());
    usage_keeper_.emplace(
        *store_, usage_, [this] { return schema(); },
        [this] { monitor_tables_.update_rates(store_->statistics()); });
  }

  // Marks a drop of records in drops_, from before it starts until the new schema is published. nullptr:
  // nothing is dropped.
  class Dropping {
   public:
    explicit Dropping(std::atomic<uint64_t>* drops) : drops_(drops) { count(); }
    ~Dropping() { count(); }
    Dropping(const Dropping&) = delete;
    Dropping& operator=(const Dropping&) = delete;

   private:
    void count() const {
      if (drops_ != nullptr) drops_->fetch_add(1, std::memory_order_seq_cst);
    }
    std::atomic<uint64_t>* const drops_;
  };

  // Runs a write with a plan for the newest schema. Called again when the write has acquired locks that it
  // had to wait for.
  void write(const PreparedPtr& plan, const Request& request, Completion done, execute::LockAttempt attempt) {
    const WriteGate::Pass pass = gate_.enter();
    base::Result<PreparedPtr> current = statements_.renew(plan);
    if (!current) return done(base::fail(std::move(current.error())));
    if (execute::try_write(**current, request, environment_, attempt, done)) return;
    wait_for_locks(std::move(attempt), lock_user(**current), request, std::move(done),
                   [this, plan, request](execute::LockAttempt with_locks, Completion then) mutable {
                     write(plan, request, std::move(then), std::move(with_locks));
                   });
  }
  void write_batch(cql::Batch::Kind kind, std::vector<execute::BatchItem> items, const Request& request,
                   Completion done, execute::LockAttempt attempt) {
    const WriteGate::Pass pass = gate_.enter();
    for (execute::BatchItem& item : items) {
      auto current = statements_.renew(item.statement);
      if (!current) return done(base::fail(std::move(current.error())));
      item.statement = std::move(*current);
    }
    std::shared_ptr<void> usage = options_.statistics ? usage_.shape_of(kind, items) : nullptr;
    if (execute::try_batch(kind, items, request, environment_, std::move(usage), attempt, done)) return;
    const LockUser user = lock_user(items);
    wait_for_locks(std::move(attempt), user, request, std::move(done),
                   [this, kind, items = std::move(items), request](execute::LockAttempt with_locks,
                                                                   Completion then) mutable {
                     write_batch(kind, std::move(items), request, std::move(then), std::move(with_locks));
                   });
  }

  // Restarts a write on a thread of the lock manager once its locks are granted. The caller's thread is free
  // in the meantime, so writes that wait for one partition do not block other requests.
  template <typename Again>
  void wait_for_locks(execute::LockAttempt attempt, LockUser user, const Request& request, Completion done,
                      Again again) {
    if (request.trace != nullptr) request.trace->step("Waiting for other writes to the same partitions");
    if (!attempt.deadline)
      attempt.deadline = std::chrono::steady_clock::now() + timeout_of(user, options_.lock_timeouts);
    execute::PartitionLocks::Stripes wanted = std::exchange(attempt.wanted, {});
    const auto deadline = *attempt.deadline;
    locks_.acquire_later(
        std::move(wanted), deadline,
        [this, user, attempt = std::move(attempt), interrupt = request.interrupt, done = std::move(done),
         again = std::move(again)](std::optional<execute::PartitionLocks::Held> held,
                                   uint32_t contentions) mutable {
          if (!held) return done(base::fail(lock_timeout_error(user, options_.lock_timeouts, contentions)));
          attempt.held = std::move(*held);
          run_guarded(std::move(done), [&](Completion then) {
            base::Status wanted_still = interrupt != nullptr ? interrupt->check() : base::Status();
            if (!wanted_still) return then(base::fail(std::move(wanted_still.error())));
            again(std::move(attempt), std::move(then));
          });
        });
  }

  base::Result<ResultSet> define(const cql::Statement& statement, const std::string& keyspace,
                                 const auth::Login* login) {
    if (plan::is_about_roles(statement))
      return run_role_statement(
          statement, roles_.requires_login() ? login : nullptr, keyspace, [this] { return schema(); }, roles_,
          options_.data_center);
    base::Result<ResultSet> result = define_next(statement, keyspace, login);
    if (!result || result->kind != ResultSet::Kind::schema_change) return result;
    const bool needs_building = std::holds_alternative<cql::CreateIndex>(statement.node) ||
                                std::holds_alternative<cql::CreateView>(statement.node);
    if (!needs_building) return result;
    // Lets builds of small tables finish before the response.
    builder_->wake();
    builder_->wait(std::chrono::seconds(1));
    return result;
  }

  base::Result<ResultSet> define_next(const cql::Statement& statement, const std::string& keyspace,
                                      const auth::Login* login) {
    std::lock_guard lock(definition_mutex_);
    schema::SnapshotPtr before = catalogue_.schema();
    SIBYL_ASSIGN(plan::DefinitionResult made, base::run_statement(nullptr, [&] {
                   return plan::define(statement, before,
                                       {.keyspace = keyspace,
                                        .now_micros = timestamps_.next(),
                                        .guardrails = &options_.guardrails,
                                        .masks_columns = options_.dynamic_data_masking,
                                        .datacenter = options_.data_center});
                 }));
    ResultSet result;
    result.warnings = std::move(made.warnings);
    if (made.schema == before) return result;
    // Permissions change in the same commit, so that a definition is never applied partially and no
    // permission outlives its resource.
    SIBYL_TRY(roles_.change(
        permission_change_for(made.changes, *made.schema, roles_.checks_permissions() ? login : nullptr),
        [&](storage::WriteSet permissions) -> base::Status {
          const Dropping dropping(made.dropped_storage_ids.empty() ? nullptr : &drops_);
          SIBYL_TRY(catalogue_.change(*made.schema, made.dropped_storage_ids, std::move(permissions)));
          publish_schema(*before);
          return {};
        }));
    if (!made.dropped_storage_ids.empty()) usage_.forget_dropped(*catalogue_.schema());
    notify(made.changes);
    if (!made.changes.empty()) {
      result.kind = ResultSet::Kind::schema_change;
      result.change = made.changes.front();
    }
    return result;
  }

  // Called when an index or view is complete. Queries may use it from now on.
  base::Status finish_building(uint32_t storage_id) {
    std::lock_guard lock(definition_mutex_);
    schema::SnapshotPtr before = catalogue_.schema();
    schema::SnapshotPtr next = with_built(*before, storage_id);
    if (!next) return {};
    SIBYL_TRY(catalogue_.change(*next, {}));
    publish_schema(*before);
    return {};
  }

  // Publishes the schema of the catalogue.
  void publish_schema(const schema::Snapshot& before) {
    const schema::SnapshotPtr after = catalogue_.schema();
    SIBYL_CHECK(system_tables_.show_schema(&before, *after).has_value());  // in memory: it cannot fail
    if (schema::indexes_differ(before, *after)) vectors_.watch(schema::vector_index_ids(*after));
    statements_.set_schema(after);
  }

  // As drivers expect, a dropped keyspace is reported after its contents.
  void notify(std::vector<schema::Change> changes) {
    if (!changes.empty() && changes.front().target == schema::Change::Target::keyspace)
      std::rotate(changes.begin(), changes.begin() + 1, changes.end());
    std::lock_guard lock(listeners_mutex_);
    for (const schema::Change& change : changes)
      for (const auto& [token, listener] : listeners_) listener(change);
  }

  // --- System tables

  base::Status show_settings() {
    return system_tables_.show_settings(shown_settings(options_, system_tables_.node()));
  }

  Options options_;
  std::unique_ptr<base::Clock> own_clock_;  // set if the options have no clock
  base::Clock& clock_;
  // Members are destroyed in reverse order. Objects that borrow a store are destroyed before it. Objects used
  // by completions of writes are destroyed after it, because closing the store completes pending writes.
  execute::PartitionLocks locks_;
  execute::VectorIndexes vectors_;
  Usage usage_{clock_};
  std::unique_ptr<storage::Store> store_, system_store_;
  execute::TimestampSource timestamps_;
  execute::Environment environment_;
  Roles roles_{environment_, options_.auth};
  PermissionCheck permissions_{roles_};
  SystemTables system_tables_;
  Traces traces_{system_tables_};
  std::mutex definition_mutex_;  // one definition at a time
  // Incremented at the start and the end of a drop of records; odd during one.
  std::atomic<uint64_t> drops_ = 0;
  Catalogue catalogue_;  // guarded by definition_mutex_ once started
  Statements statements_;
  const PagingStates paging_states_;
  std::mutex listeners_mutex_;
  std::map<uint64_t, Listener> listeners_;
  uint64_t last_token_ = 0;
  MonitorTables monitor_tables_;
  WriteGate gate_;
  DiskUsage disk_usage_{options_.guardrails, *store_, options_.data};
  std::optional<UsageKeeper> usage_keeper_;
  std::optional<Builder> builder_;  // declared last because it uses the other members
};

}  // namespace

base::Result<std::unique_ptr<Engine>> Engine::open(const Options& options) {
  SIBYL_TRY(auth::validate(options.auth));
  std::unique_ptr<base::Clock> own_clock;
  if (options.clock == nullptr) own_clock = std::make_unique<base::SystemClock>();
  base::Clock& clock = options.clock ? *options.clock : *own_clock;
  SIBYL_TRY(check_clock(clock));
  SIBYL_ASSIGN(std::unique_ptr<storage::Store> store, open_store(options, clock));
  SIBYL_ASSIGN(Catalogue catalogue, Catalogue::load(*store));
  SIBYL_ASSIGN(SealingKey paging_key, load_paging_key(*store));
  auto engine = std::make_unique<EngineImpl>(options, std::move(own_clock), clock, std::move(store),
                                             std::move(catalogue), std::move(paging_key));
  SIBYL_TRY(engine->start());
  return engine;
}

}  // namespace sibyl::engine
