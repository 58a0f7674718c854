#include "engine/engine.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <optional>
#include <thread>

#include "base/check.h"
#include "engine/announcements.h"
#include "engine/builds/builder.h"
#include "engine/catalogue/catalogue.h"
#include "engine/catalogue/open_store.h"
#include "engine/execution.h"
#include "engine/intents/intents.h"
#include "engine/key_names.h"
#include "engine/maintenance/disk_usage.h"
#include "engine/prepared/paging_states.h"
#include "engine/prepared/statements.h"
#include "engine/reserved_timestamps.h"
#include "engine/roles/roles.h"
#include "engine/schema_changes.h"
#include "engine/statistics/usage.h"
#include "engine/statistics/usage_records.h"
#include "engine/statistics/usage_store.h"
#include "engine/statistics/usage_totals.h"
#include "engine/system_sources.h"
#include "engine/system_tables/monitor_tables.h"
#include "engine/system_tables/system_tables.h"
#include "engine/tracing/traces.h"
#include "engine/write_gate.h"
#include "execute/vector/vector_indexes.h"
#include "execute/write/locks.h"
#include "row/record_key.h"
#include "schema/storage_ids.h"
#include "storage/sharded_store.h"

namespace sibyl::engine {
namespace {

using base::Bytes;
using base::BytesView;

// Data of such keyspaces is stored and served by this server, but drivers that route by datacenter look
// elsewhere for it.
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

// The time for which a server waits until the server that holds the catalogue has created it.
constexpr std::chrono::seconds start_patience{30};
constexpr std::chrono::milliseconds start_pause{20};

class EngineMeasurements final : public Measurements {
 public:
  EngineMeasurements(const storage::Store& store, const Statements& statements)
      : store_(store), statements_(statements) {}

  PreparedStatistics prepared() const override {
    const PlanCache& kept = statements_.prepared();
    return {kept.size(), kept.bytes(), kept.evictions()};
  }
  const storage::Store& store() const override { return store_; }

 private:
  const storage::Store& store_;
  const Statements& statements_;
};

}  // namespace

class Engine::Impl {
 public:
  static base::Result<std::unique_ptr<Impl>> open(const Options& options,
                                                  std::shared_ptr<base::Clock> own_clock,
                                                  base::Clock& clock) {
    SIBYL_ASSIGN(std::unique_ptr<storage::Store> store, open_store(options, clock));
    const auto use = options.is_in_cluster() ? Catalogue::Use::in_cluster : Catalogue::Use::alone;
    SIBYL_ASSIGN(Catalogue catalogue, Catalogue::load(*store, use));
    SIBYL_ASSIGN(SealingKey paging_key, load_paging_key(*store));
    auto impl = std::make_unique<Impl>(options, std::move(own_clock), clock, std::move(store),
                                       std::move(catalogue), std::move(paging_key));
    SIBYL_TRY(impl->start());
    return impl;
  }

  Impl(const Options& options, std::shared_ptr<base::Clock> own_clock, base::Clock& clock,
       std::unique_ptr<storage::Store> store, Catalogue catalogue, SealingKey paging_key)
      : options_(options),
        own_clock_(std::move(own_clock)),
        clock_(clock),
        host_id_(options.shared && !options.shared->host_id.empty() ? options.shared->host_id
                                                                    : catalogue.host_id()),
        store_(std::move(store)),
        system_store_(make_system_store(clock_)),
        timestamps_(clock_),
        environment_{*store_, *system_store_, clock_, timestamps_, locks_,
                     // In a cluster there are no vector indexes: they would miss the writes of other servers.
                     options_.is_in_cluster() ? nullptr : &vectors_, &options_.guardrails},
        system_tables_(*system_store_, clock_),
        statements_(catalogue.schema(), options_.guardrails),
        schema_changes_(std::move(catalogue), {.options = options_,
                                               .timestamps = timestamps_,
                                               .roles = roles_,
                                               .system_tables = system_tables_,
                                               .vectors = vectors_,
                                               .usage = usage_,
                                               .statements = statements_}),
        execution_(std::move(paging_key), {.options = options_,
                                           .environment = environment_,
                                           .roles = roles_,
                                           .system_tables = system_tables_,
                                           .usage = usage_,
                                           .statements = statements_,
                                           .schema_changes = schema_changes_,
                                           .gate = gate_,
                                           .announcements = announcements_,
                                           .builder = builder_}) {
    if (!options_.statistics) return;
    environment_.observer = &usage_;
    statements_.set_usage_factory([this](const cql::Statement& statement, const plan::Prepared& plan) {
      return usage_.shape_of(statement, plan);
    });
  }

  ~Impl() {
    builder_.reset();                // destroyed first, because it waits for locks
    if (intents_) intents_->stop();  // so does this
    reserved_timestamps_.reset();
    locks_.stop();
    // Closing the store writes files. These callbacks use the schema, which is destroyed before the store is
    // closed.
    store_->set_large_partition_callback(0, {});
    store_->set_key_formatter({});
    store_->set_timestamps(nullptr);
  }

  base::Status start() {
    if (options_.is_in_cluster()) {
      store_->set_timestamps(&timestamps_);
    } else if (options_.shared) {
      SIBYL_ASSIGN(reserved_timestamps_, ReservedTimestamps::start(*store_, timestamps_, clock_));
    }
    vectors_.watch(schema::vector_index_ids(*schema()));
    install_sources(system_tables_, {.options = options_,
                                     .schema_source = schema_changes_,
                                     .store = *store_,
                                     .host_id = host_id_,
                                     .statements = statements_,
                                     .usage = [this] { return usage_totals(); },
                                     .builder = builder_});
    monitor_tables_.install(schema_changes_, measurements_);
    store_->set_key_formatter([this](BytesView key) { return name_of_key(*schema(), key); });
    watch_partition_sizes(*store_, options_.guardrails,
                          [this](BytesView key) { return name_of_key(*schema(), key); });
    SIBYL_TRY(system_tables_.show_node({.host_id = host_id_,
                                        .cluster_name = options_.cluster_name,
                                        .data_center = options_.data_center,
                                        .rack = options_.rack,
                                        .started_seconds = clock_.now_seconds()}));
    warn_of_other_datacenters(*schema(), options_.data_center);
    SIBYL_TRY(system_tables_.show_settings(shown_settings(options_, system_tables_.node())));
    SIBYL_TRY(system_tables_.show_schema(nullptr, *schema()));
    SIBYL_TRY(roles_.start(schema()));
    keep_usage();
    if (options_.is_in_cluster() && options_.shared->ask_owner) {
      intents_ =
          std::make_unique<Intents>(environment_, gate_,
                                    Intents::Hooks{.schema = [this] { return schema(); },
                                                   .reload = [this] { return announcements_.reload(); },
                                                   .ask_owner = options_.shared->ask_owner,
                                                   .may_answer = options_.shared->may_answer});
      environment_.spread = intents_.get();
    }
    builder_.emplace(environment_, builder_hooks());
    return {};
  }

  Builder::Hooks builder_hooks() {
    Builder::Hooks hooks;
    hooks.schema = [this] { return schema(); };
    hooks.wait_for_writers = [this] { gate_.wait(); };
    hooks.finish = [this](uint32_t id) { return finish_building(id); };
    if (!options_.is_in_cluster()) return hooks;
    hooks.is_settled = [this] { return announcements_.is_settled(); };
    hooks.announce = [this] { return announcements_.announce(); };
    return hooks;
  }

  base::Status finish_building(uint32_t storage_id) {
    {
      const auto hold = store_->hold({});
      if (!hold) return base::fail(storage::not_here(0));
      SIBYL_TRY(schema_changes_.finish_building(storage_id));
    }
    return announcements_.announce();
  }

  Announcements& announcements() { return announcements_; }
  base::Result<Bytes> apply(BytesView message) {
    if (!intents_) return base::fail(base::ErrorCode::server, "This server has no cluster");
    return intents_->receive(message);
  }

  base::Status show_cluster(const std::vector<ClusterNode>& nodes) {
    return system_tables_.show_cluster(nodes, [this] { return make_system_store(clock_); });
  }
  const Bytes& host_id() const { return host_id_; }
  schema::SnapshotPtr schema() const { return schema_changes_.schema(); }
  storage::Store& store() { return *store_; }
  Services services() {
    return {statements_,     executor_ != nullptr ? *executor_ : execution_,
            roles_,          schema_changes_,
            monitor_tables_, measurements_,
            traces_,         clock_};
  }
  void set_executor(Executor& executor) { executor_ = &executor; }
  Executor& local_executor() { return execution_; }

 private:
  // Loads the counts of earlier runs. A store in memory has nothing to load or save.
  void keep_usage() {
    if (!options_.statistics || options_.data == ":memory:") return;
    if (options_.is_in_cluster())
      usage_records_ = options_.shared->usage_records;
    else
      usage_records_ = make_usage_records(*store_);
    if (!usage_records_) return;
    if (const auto status = load_usage(*usage_records_, *schema(), usage_); !status)
      spdlog::warn("statistics of earlier runs cannot be read: {}", status.error().text());
    usage_keeper_.emplace(
        usage_records_, usage_, [this] { return schema(); },
        [this] { monitor_tables_.update_rates(store_->statistics()); });
  }
  // This server's counts are current. The counts of other servers are those that they have saved.
  UsageTotals usage_totals() const {
    UsageTotals totals = totals_of(usage_);
    if (!usage_records_) return totals;
    const auto others = usage_records_->others();
    if (!others) {
      spdlog::warn("statistics of other servers cannot be read: {}", others.error().text());
      return totals;
    }
    for (const UsageRecords::Records& records : *others)
      if (const auto saved = saved_totals(records, *schema())) totals.add(*saved);
    return totals;
  }

  Options options_;
  const std::shared_ptr<base::Clock> own_clock_;  // set if the options have no clock
  base::Clock& clock_;
  const Bytes host_id_;
  // Members are destroyed in reverse order. Objects that borrow a store are destroyed before it. Objects used
  // by completions of writes are destroyed after it, because closing the store completes pending writes.
  execute::PartitionLocks locks_;
  execute::VectorIndexes vectors_;
  Usage usage_{clock_};
  std::unique_ptr<Intents> intents_;  // nullptr: not in a cluster
  std::unique_ptr<storage::Store> store_, system_store_;
  execute::TimestampSource timestamps_;
  std::unique_ptr<ReservedTimestamps> reserved_timestamps_;  // nullptr: the store is not shared
  execute::Environment environment_;
  Roles roles_{environment_, options_.auth, options_.is_in_cluster()};
  SystemTables system_tables_;
  Traces traces_{system_tables_};
  Statements statements_;
  EngineMeasurements measurements_{*store_, statements_};
  SchemaChanges schema_changes_;
  MonitorTables monitor_tables_{system_tables_, options_};
  WriteGate gate_;
  Announcements announcements_{{.options = options_,
                                .schema_changes = schema_changes_,
                                .roles = roles_,
                                .gate = gate_,
                                .on_settled = [this] {
                                  if (builder_) builder_->wake();
                                }}};
  Execution execution_;
  Executor* executor_ = nullptr;                 // nullptr: execution_
  std::shared_ptr<UsageRecords> usage_records_;  // nullptr: statistics are not kept
  std::optional<UsageKeeper> usage_keeper_;
  std::optional<Builder> builder_;  // declared last because it uses the other members
};

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Engine::~Engine() = default;

base::Result<std::unique_ptr<Engine>> Engine::open(const Options& options) {
  SIBYL_TRY(auth::validate(options.auth));
  std::shared_ptr<base::Clock> own_clock;
  if (options.clock == nullptr) own_clock = std::make_shared<base::SystemClock>();
  base::Clock& clock = options.clock ? *options.clock : *own_clock;
  SIBYL_TRY(check_clock(clock));
  // If several servers start, the server that holds the catalogue creates it, and the others wait.
  const auto deadline = std::chrono::steady_clock::now() + start_patience;
  while (true) {
    auto impl = Impl::open(options, own_clock, clock);
    if (impl) return std::unique_ptr<Engine>(new Engine(std::move(*impl)));
    if (!options.is_in_cluster() || !storage::is_not_here(impl.error()) ||
        std::chrono::steady_clock::now() >= deadline)
      return base::fail(impl.error());
    std::this_thread::sleep_for(start_pause);
  }
}

Services Engine::services() {
  return impl_->services();
}
Planner& Engine::planner() {
  return services().planner;
}
Executor& Engine::executor() {
  return services().executor;
}
Authenticator& Engine::authenticator() {
  return services().authenticator;
}
SchemaSource& Engine::schema_source() {
  return services().schema_source;
}
ServerTables& Engine::server_tables() {
  return services().server_tables;
}
TraceSink& Engine::traces() {
  return services().traces;
}
void Engine::set_executor(Executor& executor) {
  impl_->set_executor(executor);
}
Executor& Engine::local_executor() {
  return impl_->local_executor();
}
storage::Store& Engine::store() {
  return impl_->store();
}
base::Clock& Engine::clock() {
  return services().clock;
}
base::Status Engine::show_cluster(const std::vector<ClusterNode>& nodes) {
  return impl_->show_cluster(nodes);
}
const Bytes& Engine::host_id() const {
  return impl_->host_id();
}
schema::SnapshotPtr Engine::schema() const {
  return impl_->schema();
}
base::Status Engine::receive(BytesView announcement) {
  return impl_->announcements().receive(announcement);
}
base::Result<Bytes> Engine::apply(BytesView message) {
  return impl_->apply(message);
}
base::Status Engine::reload() {
  return impl_->announcements().reload();
}
base::Status Engine::flush() {
  return store().flush();
}
base::Status Engine::compact() {
  return store().compact(row::table_begin(row::catalogue_table_id), Bytes(8, '\xff'));
}

}  // namespace sibyl::engine
