#include "engine/tracing/traces.h"

#include <pthread.h>

#include <algorithm>
#include <limits>

#include "engine/inet.h"
#include "types/text.h"
#include "types/uuid.h"
#include "types/value.h"

namespace sibyl::engine {
namespace {

void cut(std::string& text) {
  if (text.size() <= RequestTrace::max_text) return;
  text.resize(types::whole_characters(text, RequestTrace::max_text).size());
  text += "...";
}

std::string thread_name() {
  char name[16] = {};
  pthread_getname_np(pthread_self(), name, sizeof name);
  return name;
}

size_t size_of(const std::vector<SystemRow>& rows) {
  size_t bytes = 0;
  for (const SystemRow& row : rows)
    for (const auto& entry : row) bytes += entry.second.size();
  return bytes;
}

SystemRow session_row(const RequestTrace& trace, const Node& node) {
  return {{"session_id", trace.id()},
          {"client", inet(trace.start().client)},
          {"command", "QUERY"},
          {"coordinator", inet(node.address)},
          {"coordinator_port", types::encode_int32(storage_port)},
          {"duration", types::encode_int32(trace.duration_micros())},
          {"request", trace.start().request},
          {"started_at", types::encode_int64(trace.started_micros() / 1000)},
          {"parameters", text_map(trace.start().parameters)}};
}

std::vector<SystemRow> event_rows(const RequestTrace& trace, const Node& node) {
  std::vector<SystemRow> rows;
  for (const RequestTrace::Step& step : trace.steps())
    rows.push_back({{"session_id", trace.id()},
                    {"event_id", step.id},
                    {"activity", step.activity},
                    {"source", inet(node.address)},
                    {"source_elapsed", types::encode_int32(step.elapsed_micros)},
                    {"source_port", types::encode_int32(storage_port)},
                    {"thread", step.thread}});
  return rows;
}

}  // namespace

RequestTrace::RequestTrace(Start start, base::Clock& clock)
    : start_(std::move(start)),
      clock_(clock),
      id_(types::next_time_uuid(clock.now_micros())),
      started_micros_(clock.now_micros()),
      started_(std::chrono::steady_clock::now()) {
  for (auto& [name, value] : start_.parameters) cut(value);
}

int32_t RequestTrace::elapsed() const {
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - started_);
  return static_cast<int32_t>(std::min<int64_t>(micros.count(), std::numeric_limits<int32_t>::max()));
}

void RequestTrace::step(std::string activity) {
  if (steps_.size() == max_steps) return;
  if (steps_.size() + 1 == max_steps) activity = "Further steps are omitted";
  cut(activity);
  steps_.push_back(
      {types::next_time_uuid(clock_.now_micros()), std::move(activity), thread_name(), elapsed()});
}

void RequestTrace::set_parameter(const std::string& name, std::string value) {
  cut(value);
  start_.parameters[name] = std::move(value);
}

void RequestTrace::stop() {
  duration_micros_ = elapsed();
}

void Traces::publish(const RequestTrace& trace) {
  const Node node = tables_.node();
  std::vector<SystemRow> rows = event_rows(trace, node);
  std::vector<SystemRow> session = {session_row(trace, node)};
  const size_t bytes = size_of(rows) + size_of(session);
  // The lock is held until the end, so that a session is not evicted before it is shown.
  const base::MutexLock lock(mutex_);
  std::vector<Bytes> evicted;
  shown_.push_back({trace.id(), bytes});
  bytes_ += bytes;
  while (shown_.size() > max_sessions || (bytes_ > max_bytes && shown_.size() > 1)) {
    bytes_ -= shown_.front().bytes;
    evicted.push_back(std::move(shown_.front().id));
    shown_.pop_front();
  }
  tables_.publish_trace(session[0], rows, evicted);
}

}  // namespace sibyl::engine
