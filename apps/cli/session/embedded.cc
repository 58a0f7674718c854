// A session on a data directory in this process, without a server.
#include "cli/session/embedded.h"

#include <fmt/format.h>

#include <future>

#include "cli/session/session.h"
#include "engine/engine.h"
#include "engine/tracing/traces.h"

namespace sibyl::cli::shell {
namespace {

std::vector<ResultRow> take_rows(const execute::ResultSet& set) {
  std::vector<ResultRow> rows(set.rows.count());
  base::BytesView bytes = set.rows.bytes();
  for (ResultRow& row : rows) {
    row.resize(set.metadata->columns.size());
    for (std::optional<Bytes>& value : row) {
      const auto length = static_cast<int32_t>(base::read_big_endian<uint32_t>(bytes));
      bytes.remove_prefix(4);
      if (length < 0) continue;
      value = Bytes(bytes.substr(0, static_cast<size_t>(length)));
      bytes.remove_prefix(static_cast<size_t>(length));
    }
  }
  return rows;
}

StatementResult take_result(execute::ResultSet set) {
  StatementResult result;
  switch (set.kind) {
    case execute::ResultSet::Kind::nothing:
      break;
    case execute::ResultSet::Kind::rows:
      result.kind = StatementResult::Kind::rows;
      for (const plan::ColumnSpec& column : set.metadata->columns)
        result.columns.push_back({column.keyspace, column.table, column.name, column.type});
      result.rows = take_rows(set);
      break;
    case execute::ResultSet::Kind::set_keyspace:
      result.kind = StatementResult::Kind::set_keyspace;
      break;
    case execute::ResultSet::Kind::schema_change:
      result.kind = StatementResult::Kind::schema_change;
      break;
  }
  result.paging_state = std::move(set.paging_state);
  result.keyspace = std::move(set.keyspace);
  result.warnings = std::move(set.warnings);
  return result;
}

SchemaNames names_of(const schema::Snapshot& snapshot) {
  SchemaNames names;
  for (const auto& [keyspace_name, keyspace] : snapshot.keyspaces) {
    KeyspaceNames& found = names.keyspaces[keyspace_name];
    for (const auto& [table_name, table] : keyspace->tables)
      for (const schema::Column& column : table->columns)
        if (!column.is_hidden) found.tables[table_name].columns.push_back({column.name, column.kind});
    for (const auto& [type_name, type] : keyspace->types) found.types.push_back(type_name);
  }
  return names;
}

class EmbeddedSession : public Session {
 public:
  EmbeddedSession(std::unique_ptr<engine::Engine> engine, std::string data)
      : engine_(std::move(engine)), data_(std::move(data)) {}

  base::Result<StatementResult> execute(std::string_view text, const StatementOptions& options) override {
    std::optional<engine::RequestTrace> trace;
    if (options.trace)
      trace.emplace(
          engine::RequestTrace::Start{"Execute CQL3 query", "127.0.0.1", {{"query", std::string(text)}}},
          engine_->clock());
    SIBYL_ASSIGN(plan::PreparedPtr plan,
                 engine_->planner().plan_query(text, keyspace_, trace ? &*trace : nullptr));
    if (!plan->markers.empty()) return base::invalid("Invalid amount of bind variables");
    execute::Request request;
    request.trace = trace ? &*trace : nullptr;
    request.page_size = options.page_size;
    request.paging_state = options.paging_state;
    request.consistency = options.consistency;
    request.serial_consistency = options.serial_consistency;
    std::promise<base::Result<execute::ResultSet>> promise;
    std::future<base::Result<execute::ResultSet>> done = promise.get_future();
    engine_->executor().execute(plan, request, [&promise](base::Result<execute::ResultSet> set) {
      promise.set_value(std::move(set));
    });
    base::Result<execute::ResultSet> set = done.get();
    if (!set) return base::fail(set.error());
    if (set->kind == execute::ResultSet::Kind::set_keyspace) keyspace_ = set->keyspace;
    StatementResult result = take_result(std::move(*set));
    if (trace) {
      trace->stop();
      engine_->traces().publish(*trace);
      result.trace_id = trace->id();
    }
    return result;
  }

  base::Status log_in(const std::string&, const std::string&) override {
    return base::fail(
        base::Error(base::ErrorCode::invalid, "there is no server to log in to")
            .with_hint(
                "Logins do not apply to a data directory: access to its files is access to all data."));
  }

  std::string place() const override {
    return data_ == ":memory:" ? "in memory, discarded when this shell ends"
                               : fmt::format("on the directory {}, without a server", data_);
  }

  ServerVersions versions() override { return {"Sibyl", engine::release_version, engine::cql_version, "5"}; }

  const SchemaNames& names() override {
    const schema::SnapshotPtr now = engine_->schema();
    if (now != snapshot_) names_ = names_of(*now);
    snapshot_ = now;
    return names_;
  }

 private:
  std::unique_ptr<engine::Engine> engine_;
  std::string data_;
  schema::SnapshotPtr snapshot_;
  SchemaNames names_;
};

}  // namespace

base::Result<std::unique_ptr<engine::Engine>> open_engine(const std::string& data) {
  engine::Options options;
  options.data = data;
  auto engine = engine::Engine::open(options);
  if (!engine && engine.error().message().find("another process has it open") != std::string::npos)
    return base::fail(engine.error().with_hint(
        "A server uses it: connect with `sibyl shell HOST:PORT`, or stop the server first."));
  return engine;
}

base::Result<std::unique_ptr<Session>> open_session(const std::string& data) {
  SIBYL_ASSIGN(std::unique_ptr<engine::Engine> engine, open_engine(data));
  return std::make_unique<EmbeddedSession>(std::move(engine), data);
}

}  // namespace sibyl::cli::shell
