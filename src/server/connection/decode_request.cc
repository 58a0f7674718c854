#include "server/connection/decode_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <string_view>
#include <unordered_map>

#include "base/consistency.h"
#include "engine/prepared/unprepared.h"
#include "execute/interruptible.h"
#include "execute/write/batch.h"
#include "protocol/request.h"
#include "server/connection/connection.h"
#include "server/reactor.h"
#include "server/scheduling/pressure.h"
#include "types/print_value.h"
#include "types/text.h"
#include "types/validate.h"
#include "types/value.h"

namespace sibyl::server {

using protocol::BytesView;
using protocol::Opcode;
using protocol::protocol_error;
using protocol::Version;

namespace {

// Sets the parameters of the request in system_traces.sessions.
void trace_parameters(const protocol::QueryParameters& parameters, std::string_view text,
                      engine::RequestTrace& trace) {
  if (parameters.page_size.value_or(0) > 0)
    trace.set_parameter("page_size", std::to_string(*parameters.page_size));
  trace.set_parameter("consistency_level", base::consistency_name(parameters.consistency));
  trace.set_parameter("serial_consistency_level", base::consistency_name(parameters.serial_consistency));
  if (!text.empty()) trace.set_parameter("query", auth::redact_passwords(text));
}

// REQUIRES: as many values as markers.
void trace_values(const plan::Prepared& plan, std::span<const types::ValueView> values,
                  engine::RequestTrace& trace) {
  constexpr size_t max_shown = 1000;
  constexpr size_t max_printed = 4096;  // printing more would block the reactor for too long
  for (size_t i = 0; i < values.size(); ++i) {
    std::string text = values[i].is_unset() ? "<unset>" : "null";
    if (values[i].is_present()) {
      const types::Type& type = *plan.markers[i].type;
      const BytesView bytes = values[i].bytes;
      if (bytes.size() > max_printed) {
        text = fmt::format("<{} bytes>", bytes.size());
      } else {
        text = types::validate(type, bytes) ? types::to_literal(type, bytes) : "<invalid>";
      }
    }
    if (text.size() > max_shown) {
      text.resize(types::whole_characters(text, max_shown).size());
      text += "...'";
    }
    trace.set_parameter(fmt::format("bound_var_{}_{}", i, plan.markers[i].name), std::move(text));
  }
}

// The keyspace that the request names (protocol v5), or the connection's.
base::Result<std::string> keyspace_for(const InFlightRequest& request,
                                       const std::optional<std::string_view>& named,
                                       const std::string& keyspace) {
  if (!named) return keyspace;
  if (request.reactor->shared().engine.schema_source.schema()->find_keyspace(*named) == nullptr)
    return base::invalid(fmt::format("Keyspace '{}' does not exist", *named));
  return std::string(*named);
}

// Puts named values in the order of the markers. Values without a marker are ignored. If a name occurs more
// than once, the first value is used.
void put_in_order(const protocol::QueryParameters& parameters, const std::vector<plan::ColumnSpec>& markers,
                  std::vector<types::ValueView>& ordered) {
  constexpr size_t few = 16;
  const auto& names = parameters.names;
  if (names.size() <= few) {
    for (const plan::ColumnSpec& marker : markers)
      if (const auto found = std::find(names.begin(), names.end(), marker.name); found != names.end())
        ordered.push_back(parameters.values[static_cast<size_t>(found - names.begin())]);
    return;
  }
  std::unordered_map<std::string_view, size_t> places;
  places.reserve(names.size());
  for (size_t i = 0; i < names.size(); ++i) places.try_emplace(names[i], i);
  for (const plan::ColumnSpec& marker : markers)
    if (const auto found = places.find(marker.name); found != places.end())
      ordered.push_back(parameters.values[found->second]);
}

base::Status fill_request(InFlightRequest& request, const protocol::QueryParameters& parameters) {
  if (parameters.page_size == 0) return base::fail(protocol_error("The page size cannot be 0"));
  request.skip_metadata = parameters.skip_metadata;
  execute::Request& engine_request = request.engine_request;
  engine_request.page_size = parameters.page_size.value_or(0);
  if (parameters.paging_state) engine_request.paging_state.emplace(*parameters.paging_state);
  engine_request.timestamp_micros = parameters.timestamp_micros;
  engine_request.now_seconds = parameters.now_seconds;
  engine_request.consistency = parameters.consistency;
  engine_request.serial_consistency = parameters.serial_consistency;
  engine_request.values = parameters.values;
  if (parameters.names.empty()) return {};
  put_in_order(parameters, request.plan->markers, request.ordered_values);
  engine_request.values = request.ordered_values;
  return {};
}

// `there` is the first word of the message. Cassandra capitalizes it only in batches.
base::Status check_marker_count(const plan::Prepared& plan, size_t values, const char* there) {
  if (plan.markers.size() == values) return {};
  return base::invalid(
      fmt::format("{} were {} markers(?) in CQL but {} bound variables", there, plan.markers.size(), values));
}

// Finds the plan of an id, unless the client must prepare it again first (redefined_statements.h).
base::Result<plan::PreparedPtr> find_prepared(const InFlightRequest& request, std::string_view id) {
  SIBYL_ASSIGN(plan::PreparedPtr plan, request.reactor->shared().engine.planner.find_prepared(id));
  if (plan->redefinition && !request.connection->handler().redefined_statements().admits(*plan))
    return base::fail(engine::unprepared_error(id));
  return plan;
}

base::Status begin_query(InFlightRequest& request, BytesView body, Version version,
                         const std::string& keyspace) {
  SIBYL_TRY(protocol::decode_query(body, version, request.query));
  if (request.trace) trace_parameters(request.query.parameters, request.query.text, *request.trace);
  const engine::Services& engine = request.reactor->shared().engine;
  if (request.query.parameters.keyspace) {
    SIBYL_ASSIGN(const std::string named, keyspace_for(request, request.query.parameters.keyspace, keyspace));
    SIBYL_ASSIGN(request.plan, engine.planner.plan_query(request.query.text, named, request.trace.get()));
  } else {
    SIBYL_ASSIGN(request.plan, engine.planner.plan_query(request.query.text, keyspace, request.trace.get()));
  }
  SIBYL_TRY(fill_request(request, request.query.parameters));
  if (request.engine_request.values.size() != request.plan->markers.size())
    return base::invalid("Invalid amount of bind variables");
  return {};
}

base::Status begin_prepare(InFlightRequest& request, BytesView body, Version version,
                           const std::string& keyspace) {
  protocol::Prepare message;
  SIBYL_TRY(protocol::decode_prepare(body, version, message));
  if (request.trace) request.trace->set_parameter("query", auth::redact_passwords(message.text));
  const auto named = keyspace_for(request, message.keyspace, keyspace);
  auto prepared = named ? request.reactor->shared().engine.planner.prepare(message.text, *named)
                        : base::fail(named.error());
  if (request.trace) {
    // The text of a syntax error quotes the statement, which may contain a password.
    const bool is_syntax = !prepared && prepared.error().code() == base::ErrorCode::syntax;
    request.trace->step(prepared    ? "Prepared statement"
                        : is_syntax ? "Failed: syntax error"
                                    : "Failed: " + prepared.error().message());
  }
  if (!prepared) return base::fail(std::move(prepared.error()));
  request.prepared_id = std::move(prepared->id);
  request.plan = std::move(prepared->plan);
  request.connection->handler().redefined_statements().prepared(*request.plan);
  return {};
}

base::Status begin_execute(InFlightRequest& request, BytesView body, Version version) {
  SIBYL_TRY(protocol::decode_execute(body, version, request.execute));
  request.is_execute = true;
  SIBYL_ASSIGN(request.plan, find_prepared(request, request.execute.id));
  SIBYL_TRY(fill_request(request, request.execute.parameters));
  SIBYL_TRY(check_marker_count(*request.plan, request.engine_request.values.size(), "there"));
  if (request.trace) {
    trace_parameters(request.execute.parameters, request.plan->text, *request.trace);
    trace_values(*request.plan, request.engine_request.values, *request.trace);
  }
  return {};
}

base::Status begin_batch(InFlightRequest& request, BytesView body, Version version,
                         const std::string& keyspace) {
  const engine::Services& engine = request.reactor->shared().engine;
  SIBYL_TRY(protocol::decode_batch(body, version, request.batch));
  if (request.trace) trace_parameters(request.batch.parameters, "", *request.trace);
  SIBYL_ASSIGN(const std::string named, keyspace_for(request, request.batch.parameters.keyspace, keyspace));
  for (const auto& statement : request.batch.statements) {
    auto plan = statement.is_prepared
                    ? find_prepared(request, statement.text_or_id)
                    : engine.planner.plan_query(statement.text_or_id, named, request.trace.get());
    if (!plan) return base::fail(plan.error());
    SIBYL_TRY(check_marker_count(**plan, statement.value_count, "There"));
    request.is_conditional_batch |= (*plan)->profile.is_conditional;
    for (const schema::TablePtr& table : (*plan)->tables)
      if (std::find(request.batch_tables.begin(), request.batch_tables.end(), table->storage_id) ==
          request.batch_tables.end())
        request.batch_tables.push_back(table->storage_id);
    const std::span<const types::ValueView> values(request.batch.values);
    request.items.push_back({std::move(*plan), values.subspan(statement.first_value, statement.value_count)});
  }
  request.batch.parameters.values.clear();
  request.batch.parameters.names.clear();
  return fill_request(request, request.batch.parameters);
}

base::Status decode(InFlightRequest& request, BytesView body, Version version, const std::string& keyspace) {
  switch (request.opcode) {
    case Opcode::query:
      return begin_query(request, body, version, keyspace);
    case Opcode::prepare:
      return begin_prepare(request, body, version, keyspace);
    case Opcode::execute:
      return begin_execute(request, body, version);
    default:
      return begin_batch(request, body, version, keyspace);
  }
}

// True for a read of many rows without paging, or with large pages.
bool reads_many(const InFlightRequest& request) {
  constexpr int32_t quick_page = 5000;  // this is the default of drivers
  if (request.engine_request.page_size > 0 && request.engine_request.page_size <= quick_page) return false;
  return request.plan->profile.is_read() && request.plan->profile.reads_slice;
}

}  // namespace

std::string request_name(Opcode opcode) {
  switch (opcode) {
    case Opcode::query:
      return "Execute CQL3 query";
    case Opcode::execute:
      return "Execute CQL3 prepared query";
    case Opcode::batch:
      return "Execute batch of CQL3 queries";
    default:
      return "Preparing CQL3 query";
  }
}

base::Status decode_request(InFlightRequest& request, BytesView body, Version version,
                            const std::string& keyspace) {
  // An earlier attempt on the reactor may have been interrupted.
  request.plan.reset();
  request.items.clear();
  request.batch_tables.clear();
  request.ordered_values.clear();
  return execute::run_interruptible(&request, [&] { return decode(request, body, version, keyspace); });
}

bool is_long(const InFlightRequest& request, BytesView body) {
  constexpr size_t quick_text = 64u << 10;  // takes a few milliseconds to parse if it consists of short words
  return body.size() > quick_text && request.opcode != Opcode::execute;
}

namespace {

// Plans that ran too long on a reactor, in slots by hash of their address. Collisions and reused addresses
// are harmless: a request may only start on the wrong kind of thread.
struct SlowPlan {
  std::atomic<const plan::Prepared*> plan{nullptr};
  std::atomic<std::chrono::steady_clock::time_point> until{};
};
std::array<SlowPlan, 256> slow_plans;

SlowPlan& place_of(const plan::Prepared& plan) {
  return slow_plans[std::hash<const void*>{}(&plan) / alignof(plan::Prepared) % slow_plans.size()];
}

bool is_slow(const plan::Prepared& plan) {
  const SlowPlan& place = place_of(plan);
  return place.plan.load(std::memory_order_relaxed) == &plan &&
         coarse_now() < place.until.load(std::memory_order_relaxed);
}

}  // namespace

// The next execution may be fast, because it reads other rows or finds them in caches. Then the pool would
// only add two context switches.
void remember_slow_plan(const plan::Prepared& plan) {
  constexpr std::chrono::seconds period{10};
  SlowPlan& place = place_of(plan);
  place.until.store(coarse_now() + period, std::memory_order_relaxed);
  place.plan.store(&plan, std::memory_order_relaxed);
}

bool may_take_long(const InFlightRequest& request, size_t body_bytes) {
  constexpr size_t quick_values = 256u << 10;  // Larger values, such as long collections, take long to check.
  if (body_bytes > quick_values) return true;
  const auto is_long = [](const plan::Prepared& plan) {
    return plan.profile.may_block || plan.profile.is_compute_heavy || is_slow(plan);
  };
  if (request.plan) return is_long(*request.plan) || reads_many(request);
  return request.items.size() > plan::max_quick_batch_statements ||
         std::any_of(request.items.begin(), request.items.end(),
                     [&](const execute::BatchItem& item) { return is_long(*item.statement); });
}

}  // namespace sibyl::server
