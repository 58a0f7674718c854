#include "cli/advise/measure_database.h"

#include <fmt/format.h>

#include <future>

#include "base/mutex.h"

namespace sibyl::cli {
namespace {

uint64_t nanos_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

std::vector<types::ValueView> views_of(const advisor::Cells& values) {
  std::vector<types::ValueView> views;
  views.reserve(values.size());
  for (const auto& value : values)
    views.push_back(value ? types::ValueView::of(*value) : types::ValueView::null());
  return views;
}

base::Result<execute::ResultSet> run_plan(engine::Engine& engine, const plan::PreparedPtr& plan,
                                          const execute::Request& request) {
  std::promise<base::Result<execute::ResultSet>> answer;
  engine.executor().execute(
      plan, request, [&](base::Result<execute::ResultSet> result) { answer.set_value(std::move(result)); });
  return answer.get_future().get();
}

std::vector<advisor::Cells> cells_of(const execute::ResultSet& result) {
  std::vector<advisor::Cells> rows;
  if (result.metadata == nullptr) return rows;
  const base::Bytes& bytes = result.rows.bytes();
  size_t at = 0;
  for (size_t row = 0; row < result.rows.count(); ++row) {
    advisor::Cells& cells = rows.emplace_back();
    for (size_t column = 0; column < result.metadata->columns.size(); ++column) {
      const auto size =
          static_cast<int32_t>(base::read_big_endian<uint32_t>(base::BytesView(bytes).substr(at, 4)));
      at += 4;
      if (size < 0) {
        cells.emplace_back();
        continue;
      }
      cells.emplace_back(bytes.substr(at, static_cast<size_t>(size)));
      at += static_cast<size_t>(size);
    }
  }
  return rows;
}

}  // namespace

// Keeps several writes in flight.
class TrialDatabase::Loads {
 public:
  static constexpr size_t most = 512;
  static constexpr size_t max_bytes = 8 << 20;  // the database rejects more than a few times this amount

  base::Status begin(size_t bytes) {
    const base::MutexLock lock(mutex_);
    while (pending_ > 0 && (pending_ >= most || pending_bytes_ + bytes > max_bytes)) changed_.wait(mutex_);
    if (error_) return base::fail(*error_);
    ++pending_;
    pending_bytes_ += bytes;
    return {};
  }
  void end(size_t bytes, const base::Result<execute::ResultSet>& result) {
    const base::MutexLock lock(mutex_);
    if (!result && !error_) error_ = result.error();
    --pending_;
    pending_bytes_ -= bytes;
    changed_.notify_all();
  }
  base::Status wait() {
    const base::MutexLock lock(mutex_);
    while (pending_ > 0) changed_.wait(mutex_);
    return error_ ? base::Status(base::fail(*error_)) : base::Status();
  }

 private:
  base::Mutex mutex_;
  base::CondVar changed_;
  size_t pending_ SIBYL_GUARDED_BY(mutex_) = 0;
  size_t pending_bytes_ SIBYL_GUARDED_BY(mutex_) = 0;
  std::optional<base::Error> error_ SIBYL_GUARDED_BY(mutex_);
};

TrialDatabase::TrialDatabase() : loads_(std::make_unique<Loads>()) {}

TrialDatabase::~TrialDatabase() {
  static_cast<void>(loads_->wait());
}

base::Result<std::unique_ptr<TrialDatabase>> TrialDatabase::open(const std::string& directory,
                                                                 const advisor::Trial& trial) {
  std::unique_ptr<TrialDatabase> database(new TrialDatabase());
  SIBYL_ASSIGN(database->engine_,
               engine::Engine::open({.data = directory, .commitlog_sync = engine::Options::Sync::periodic}));
  SIBYL_TRY(database->define(fmt::format("CREATE KEYSPACE {} WITH replication = {{'class': 'SimpleStrategy', "
                                         "'replication_factor': 1}}",
                                         advisor::Trial::trial_keyspace),
                             ""));
  for (const advisor::Trial::Text& definition : trial.definitions)
    SIBYL_TRY(database->define(definition.text, definition.keyspace));
  for (const advisor::Trial::Text& statement : trial.statements)
    database->statements_.push_back({statement, nullptr, std::nullopt, {}});
  database->prepare();
  return database;
}

base::Status TrialDatabase::define(const std::string& text, const std::string& keyspace) {
  SIBYL_ASSIGN(const plan::PreparedPtr plan, engine_->planner().plan_query(text, keyspace));
  SIBYL_TRY(run_plan(*engine_, plan, {}));
  return {};
}

void TrialDatabase::prepare() {
  for (Statement& statement : statements_) {
    auto prepared = engine_->planner().prepare(statement.source.text, statement.source.keyspace);
    statement.markers.clear();
    statement.plan = prepared ? std::move(prepared->plan) : nullptr;
    statement.error.reset();
    if (!prepared)
      statement.error = base::Error(prepared.error().code(),
                                    fmt::format("{}: {}", statement.source.text, prepared.error().message()));
    if (statement.plan == nullptr) continue;
    for (const plan::ColumnSpec& marker : statement.plan->markers)
      statement.markers.push_back({marker.name, marker.type});
  }
}

base::Result<std::vector<advisor::Cells>> TrialDatabase::run(size_t statement, const advisor::Cells& values) {
  if (statements_[statement].error) return base::fail(*statements_[statement].error);
  const std::vector<types::ValueView> views = views_of(values);
  execute::Request request;
  request.values = views;
  const uint64_t wall = nanos_of(CLOCK_MONOTONIC), cpu = nanos_of(CLOCK_PROCESS_CPUTIME_ID);
  SIBYL_ASSIGN(const execute::ResultSet result, run_plan(*engine_, statements_[statement].plan, request));
  clocks_.cpu_nanos += nanos_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  clocks_.wall_nanos += nanos_of(CLOCK_MONOTONIC) - wall;
  ++clocks_.requests;
  clocks_.rows += result.rows.count();
  return cells_of(result);
}

base::Status TrialDatabase::load(size_t statement, const advisor::Cells& values) {
  if (statements_[statement].error) return base::fail(*statements_[statement].error);
  size_t bytes = 0;
  for (const auto& value : values) bytes += value ? value->size() : 0;
  SIBYL_TRY(loads_->begin(bytes));
  struct Pending {
    advisor::Cells values;
    std::vector<types::ValueView> views;
  };
  auto pending = std::make_unique<Pending>();
  pending->values = values;
  pending->views = views_of(pending->values);
  execute::Request request;
  request.values = pending->views;
  engine_->executor().execute(statements_[statement].plan, request,
                              [loads = loads_.get(), pending = std::move(pending), bytes](auto result) {
                                loads->end(bytes, result);
                              });
  return {};
}

base::Status TrialDatabase::finish_loading() {
  SIBYL_TRY(loads_->wait());
  SIBYL_TRY(engine_->flush());
  SIBYL_TRY(engine_->compact());
  prepare();
  return {};
}

}  // namespace sibyl::cli
