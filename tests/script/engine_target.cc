#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <future>

#include "base/bytes.h"
#include "engine/engine.h"
#include "script/engine_target.h"
#include "script/target.h"
#include "storage/sharded_store.h"

namespace sibyl::script {
namespace {

std::string note_of(const execute::ResultSet& result) {
  if (result.kind == execute::ResultSet::Kind::set_keyspace) return "KEYSPACE " + result.keyspace;
  if (result.kind != execute::ResultSet::Kind::schema_change) return {};
  const schema::Change& change = *result.change;
  return describe_change(static_cast<int>(change.kind), static_cast<int>(change.target), change.keyspace,
                         change.name);
}

void add_rows(const execute::ResultSet& result, Outcome& outcome) {
  if (!outcome.has_rows)
    for (const auto& column : result.metadata->columns) outcome.columns.push_back({column.name, column.type});
  outcome.has_rows = true;
  base::Reader reader(result.rows.bytes());
  for (size_t i = 0; i < result.rows.count(); ++i) {
    std::vector<std::optional<std::string>> row(outcome.columns.size());
    for (auto& cell : row) {
      uint32_t size = 0;
      base::BytesView bytes;
      reader.big_endian(size);
      if (size == 0xffffffffu) continue;
      reader.take(size, bytes);
      cell.emplace(bytes);
    }
    outcome.rows.push_back(std::move(row));
  }
}

base::Result<plan::PreparedPtr> plan_of(engine::Engine& engine, const std::string& statement,
                                        const std::string& keyspace, const Mode& mode) {
  if (!mode.prepared && mode.values.empty()) return engine.planner().plan_query(statement, keyspace);
  SIBYL_ASSIGN(const auto prepared, engine.planner().prepare(statement, keyspace));
  return engine.planner().find_prepared(prepared.id);
}

base::Result<execute::ResultSet> execute_on(engine::Engine& engine, const std::string& statement,
                                            const std::string& keyspace, const Mode& mode,
                                            const execute::Request& request) {
  SIBYL_ASSIGN(const plan::PreparedPtr plan, plan_of(engine, statement, keyspace, mode));
  std::promise<base::Result<execute::ResultSet>> promise;
  engine.executor().execute(
      plan, request, [&](base::Result<execute::ResultSet> result) { promise.set_value(std::move(result)); });
  return promise.get_future().get();
}

class EngineTarget final : public Target {
 public:
  explicit EngineTarget(std::string data) : data_(std::move(data)) { open(); }

  Outcome run(const std::string& statement, const Mode& mode) override {
    return run_on([this](size_t) { return engine_.get(); }, statement, mode, keyspace_);
  }

  void restart() override {
    if (data_ == ":memory:") return;
    engine_.reset();
    open();
  }

 private:
  void open() {
    engine::Options options;
    options.data = data_;
    options.dynamic_data_masking = true;  // as in the recorded Cassandra
    auto engine = engine::Engine::open(options);
    if (!engine) {
      std::fprintf(stderr, "cannot open %s: %s\n", data_.c_str(), engine.error().text().c_str());
      std::exit(2);
    }
    engine_ = std::move(*engine);
  }

  std::string data_;
  std::string keyspace_;
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace

std::vector<types::ValueView> views_of(const std::vector<BoundValue>& values) {
  std::vector<types::ValueView> views;
  for (const auto& value : values) views.push_back({value.state, value.bytes});
  return views;
}

Outcome run_on(const ChooseEngine& choose, const std::string& statement, const Mode& mode,
               std::string& keyspace) {
  Outcome outcome;
  execute::Request request;
  request.page_size = mode.page_size;
  request.now_seconds = mode.now_seconds;
  const auto values = views_of(mode.values);
  request.values = values;
  for (size_t attempt = 0;; ++attempt) {
    auto result = execute_on(*choose(attempt), statement, keyspace, mode, request);
    if (!result && storage::is_not_here(result.error())) continue;
    if (!result) {
      outcome = Outcome();
      outcome.error = result.error();
      return outcome;
    }
    add_warnings(result->warnings, outcome);
    outcome.note = note_of(*result);
    if (result->kind == execute::ResultSet::Kind::set_keyspace) keyspace = result->keyspace;
    if (result->kind != execute::ResultSet::Kind::rows) return outcome;
    add_rows(*result, outcome);
    if (!result->paging_state) return outcome;
    outcome.page_ends.push_back(outcome.rows.size());
    request.paging_state = result->paging_state;
  }
}

std::unique_ptr<Target> memory_target() {
  return std::make_unique<EngineTarget>(":memory:");
}
std::unique_ptr<Target> directory_target(std::string directory) {
  return std::make_unique<EngineTarget>(std::move(directory));
}

}  // namespace sibyl::script
