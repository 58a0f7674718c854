// TRACING: prints the steps of a statement from system_traces.
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "cli/shell/result.h"
#include "cli/shell/shell.h"
#include "types/print.h"
#include "types/uuid.h"
#include "types/value.h"

namespace sibyl::cli::shell {
namespace {

// Cassandra publishes a trace some time after the response. Sibyl publishes it before.
constexpr int attempts = 20;
constexpr std::chrono::milliseconds between_attempts{50};

const types::TypePtr& type_of(types::Kind kind) {
  return types::scalar(kind);
}

Bytes timestamp(int64_t micros) {
  return types::encode_int64(micros / 1000);
}

// One row for the request, one for each step, and one for its end.
StatementResult steps_of(const ResultRow& session, const std::vector<ResultRow>& events) {
  using types::Kind;
  StatementResult result;
  result.kind = StatementResult::Kind::rows;
  const auto column = [&](const char* name, Kind kind) {
    result.columns.push_back({"system_traces", "events", name, type_of(kind)});
  };
  column("activity", Kind::text);
  column("timestamp", Kind::timestamp);
  column("source", Kind::inet);
  column("source_elapsed", Kind::int_);
  column("client", Kind::inet);
  const auto& request = session[0];
  const auto& duration = session[1];
  const auto& started = session[2];
  const auto& coordinator = session[3];
  const auto& client = session[4];
  result.rows.push_back({request, started, coordinator, types::encode_int32(0), client});
  for (const ResultRow& event : events)
    result.rows.push_back({event[1], timestamp(types::uuid_unix_micros(event[0].value_or(Bytes(16, '\0')))),
                           event[2], event[3], client});
  std::optional<Bytes> ended;
  if (started && started->size() == 8 && duration && duration->size() == 4)
    ended = types::encode_int64(types::decode_integer(types::Kind::bigint, *started) +
                                types::decode_integer(types::Kind::int_, *duration) / 1000);
  result.rows.push_back({"Request complete", ended, coordinator, duration, client});
  return result;
}

}  // namespace

bool Shell::print_trace(const Bytes& id) {
  const std::string uuid = types::format_uuid(id);
  const auto rows_of = [&](const std::string& query) {
    auto result = ask(query, {});
    return result ? std::move(result->rows) : std::vector<ResultRow>();
  };
  std::vector<ResultRow> sessions;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    sessions = rows_of(
        "SELECT request, duration, started_at, coordinator, client FROM system_traces.sessions "
        "WHERE session_id = " +
        uuid);
    if (!sessions.empty() && sessions[0][1]) break;
    std::this_thread::sleep_for(between_attempts);
  }
  if (sessions.empty()) return false;
  print(fmt::format("\nTracing session: {}\n", uuid));
  const auto events = rows_of(
      "SELECT event_id, activity, source, source_elapsed FROM system_traces.events "
      "WHERE session_id = " +
      uuid);
  static const SchemaNames no_names;
  ResultPrinter printer(Format::table, palette_, no_names);
  print(printer.page(steps_of(sessions[0], events), true));
  print("\n");
  return true;
}

}  // namespace sibyl::cli::shell
