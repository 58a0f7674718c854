#include "cli/console/query_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/consistency.h"
#include "cli/console/result_json.h"
#include "cli/console/statements.h"
#include "types/print.h"
#include "types/uuid.h"

namespace sibyl::cli::console {
namespace {

constexpr int64_t default_page_size = 100, max_page_size = 1000;

base::Status read_options(const Call& call, StatementRequest& request) {
  request.text = call.text("text");
  request.keyspace = call.text("keyspace");
  request.read_only = call.settings.read_only;
  const json::value* size = call.body.if_contains("page_size");
  const int64_t rows = size != nullptr && size->is_int64() ? size->get_int64() : default_page_size;
  request.page_size = static_cast<int32_t>(std::clamp<int64_t>(rows, 1, max_page_size));
  if (const std::string state = call.text("paging_state"); !state.empty()) {
    request.paging_state = from_base64(state);
    if (!request.paging_state) return base::invalid("The paging state is not valid");
  }
  if (const std::string name = call.text("consistency"); !name.empty()) {
    const std::optional<base::Consistency> level = base::consistency_named(name);
    if (!level) return base::invalid("Unknown consistency level " + name);
    request.consistency = *level;
    if (base::is_serial(*level)) request.serial_consistency = *level;
  }
  if (const json::value* values = call.body.if_contains("values"); values != nullptr && values->is_array())
    for (const json::value& value : values->get_array())
      request.values.push_back(value.is_string() ? std::optional(std::string(value.get_string()))
                                                 : std::nullopt);
  return {};
}

json::object trace_json(const engine::RequestTrace& trace) {
  json::array steps;
  for (const engine::RequestTrace::Step& step : trace.steps())
    steps.push_back(
        {{"activity", step.activity}, {"thread", step.thread}, {"elapsed_us", step.elapsed_micros}});
  return {{"id", types::format_uuid(trace.id())},
          {"duration_us", trace.duration_micros()},
          {"steps", std::move(steps)}};
}

}  // namespace

Answer run_query(const Call& call) {
  StatementRequest request;
  SIBYL_TRY(read_options(call, request));
  StatementControl control(call.request.is_abandoned);
  request.control = &control;
  const RunningStatements::Entry entry(call.running, call.session.id, call.text("id"), control);
  std::optional<engine::RequestTrace> trace;
  const json::value* wants_trace = call.body.if_contains("trace");
  if (wants_trace != nullptr && wants_trace->is_bool() && wants_trace->get_bool())
    trace.emplace(
        engine::RequestTrace::Start{"Execute CQL3 query", call.request.address, {{"query", request.text}}},
        call.engine.clock());
  if (trace) request.trace = &*trace;
  const auto started = std::chrono::steady_clock::now();
  SIBYL_ASSIGN(const execute::ResultSet result, run_statement(call.engine, call.login(), request));
  const auto elapsed = std::chrono::steady_clock::now() - started;
  json::object out = result_json(result);
  out["elapsed_us"] = std::chrono::duration_cast<std::chrono::microseconds>(elapsed).count();
  if (trace) out["trace"] = trace_json(*trace);
  return out;
}

Answer cancel_query(const Call& call) {
  return json::object{{"cancelled", call.running.cancel(call.session.id, call.text("id"))}};
}

}  // namespace sibyl::cli::console
