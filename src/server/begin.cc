#include "server/begin.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <string_view>
#include <unordered_map>

#include "base/consistency.h"
#include "engine/unprepared.h"
#include "execute/interruptible.h"
#include "execute/quick.h"
#include "plan/long_numbers.h"
#include "plan/modify.h"
#include "plan/select.h"
#include "protocol/request.h"
#include "server/connection.h"
#include "server/reactor.h"
#include "types/print.h"
#include "types/text.h"
#include "types/value.h"

namespace sibyl::server {

using protocol::BytesView;
using protocol::Opcode;
using protocol::protocol_error;
using protocol::Version;

namespace {

// What system_traces.sessions says of a request.
void tell_parameters(const protocol::QueryParameters& parameters, std::string_view text,
                     engine::RequestTrace& trace) {
  if (parameters.page_size.value_or(0) > 0)
    trace.set_parameter("page_size", std::to_string(*parameters.page_size));
  trace.set_parameter("consistency_level", base::consistency_name(parameters.consistency));
  trace.set_parameter("serial_consistency_level", base::consistency_name(parameters.serial_consistency));
  if (!text.empty()) trace.set_parameter("query", auth::without_passwords(text));
}

// REQUIRES: as many values as markers.
void tell_values(const plan::Prepared& plan, std::span<const types::ValueView> values,
                 engine::RequestTrace& trace) {
  constexpr size_t most_shown = 1000;
  constexpr size_t most_printed = 4096;  // printing more would hold up the reactor
  for (size_t i = 0; i < values.size(); ++i) {
    std::string text = values[i].is_unset() ? "<unset>" : "null";
    if (values[i].is_present()) {
      const types::Type& type = *plan.markers[i].type;
      const BytesView bytes = values[i].bytes;
      if (bytes.size() > most_printed) {
        text = fmt::format("<{} bytes>", bytes.size());
      } else {
        text = types::validate(type, bytes) ? types::to_literal(type, bytes) : "<invalid>";
      }
    }
    if (text.size() > most_shown) {
      text.resize(types::whole_characters(text, most_shown).size());
      text += "...'";
    }
    trace.set_parameter(fmt::format("bound_var_{}_{}", i, plan.markers[i].name), std::move(text));
  }
}

// The keyspace of one request: that which it names (v5), or the connection's.
base::Result<std::string> keyspace_for(const Call& call, const std::optional<std::string_view>& named,
                                       const std::string& keyspace) {
  if (!named) return keyspace;
  if (call.reactor->shared().engine.schema()->find_keyspace(*named) == nullptr)
    return base::invalid(fmt::format("Keyspace '{}' does not exist", *named));
  return std::string(*named);
}

// Named values are put in the order of the markers; what no marker asks for is left out. Of several with one
// name it is the first.
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

base::Status fill_request(Call& call, const protocol::QueryParameters& parameters) {
  if (parameters.page_size == 0) return base::fail(protocol_error("The page size cannot be 0"));
  call.skip_metadata = parameters.skip_metadata;
  execute::Request& request = call.request;
  request.page_size = parameters.page_size.value_or(0);
  if (parameters.paging_state) request.paging_state.emplace(*parameters.paging_state);
  request.timestamp_micros = parameters.timestamp_micros;
  request.now_seconds = parameters.now_seconds;
  request.consistency = static_cast<execute::Consistency>(parameters.consistency);
  request.serial_consistency = static_cast<execute::Consistency>(parameters.serial_consistency);
  request.values = parameters.values;
  if (parameters.names.empty()) return {};
  put_in_order(parameters, call.plan->markers, call.ordered_values);
  request.values = call.ordered_values;
  return {};
}

bool is_conditional(const plan::Prepared& plan) {
  const auto* one = std::get_if<std::shared_ptr<const plan::Modification>>(&plan.plan);
  return one != nullptr && (*one)->conditional != nullptr;
}

// Cassandra writes its first word small, but large in a batch.
base::Status check_marker_count(const plan::Prepared& plan, size_t values, const char* there) {
  if (plan.markers.size() == values) return {};
  return base::invalid(
      fmt::format("{} were {} markers(?) in CQL but {} bound variables", there, plan.markers.size(), values));
}

// The plan of an id that the client may execute: see redefined_statements.h.
base::Result<plan::PreparedPtr> find_prepared(const Call& call, std::string_view id) {
  SIBYL_ASSIGN(plan::PreparedPtr plan, call.reactor->shared().engine.find_prepared(id));
  if (plan->redefinition && !call.connection->redefined_statements().admits(*plan))
    return base::fail(engine::unprepared_error(id));
  return plan;
}

base::Status begin_query(Call& call, BytesView body, Version version, const std::string& keyspace) {
  SIBYL_TRY(protocol::decode_query(body, version, call.query));
  if (call.trace) tell_parameters(call.query.parameters, call.query.text, *call.trace);
  engine::Engine& engine = call.reactor->shared().engine;
  if (call.query.parameters.keyspace) {
    SIBYL_ASSIGN(const std::string named, keyspace_for(call, call.query.parameters.keyspace, keyspace));
    SIBYL_ASSIGN(call.plan, engine.plan_query(call.query.text, named, call.trace.get()));
  } else {
    SIBYL_ASSIGN(call.plan, engine.plan_query(call.query.text, keyspace, call.trace.get()));
  }
  SIBYL_TRY(fill_request(call, call.query.parameters));
  if (call.request.values.size() != call.plan->markers.size())
    return base::invalid("Invalid amount of bind variables");
  return {};
}

base::Status begin_prepare(Call& call, BytesView body, Version version, const std::string& keyspace) {
  protocol::Prepare message;
  SIBYL_TRY(protocol::decode_prepare(body, version, message));
  if (call.trace) call.trace->set_parameter("query", auth::without_passwords(message.text));
  const auto named = keyspace_for(call, message.keyspace, keyspace);
  auto prepared =
      named ? call.reactor->shared().engine.prepare(message.text, *named) : base::fail(named.error());
  if (call.trace) {
    // The text of a syntax error quotes the statement, whatever secret stands there.
    const bool is_syntax = !prepared && prepared.error().code() == base::ErrorCode::syntax;
    call.trace->step(prepared    ? "Prepared statement"
                     : is_syntax ? "Failed: syntax error"
                                 : "Failed: " + prepared.error().message());
  }
  if (!prepared) return base::fail(std::move(prepared.error()));
  call.prepared_id = std::move(prepared->id);
  call.plan = std::move(prepared->plan);
  call.connection->redefined_statements().prepared(*call.plan);
  return {};
}

base::Status begin_execute(Call& call, BytesView body, Version version) {
  SIBYL_TRY(protocol::decode_execute(body, version, call.execute));
  call.is_execute = true;
  SIBYL_ASSIGN(call.plan, find_prepared(call, call.execute.id));
  SIBYL_TRY(fill_request(call, call.execute.parameters));
  SIBYL_TRY(check_marker_count(*call.plan, call.request.values.size(), "there"));
  if (call.trace) {
    tell_parameters(call.execute.parameters, call.plan->text, *call.trace);
    tell_values(*call.plan, call.request.values, *call.trace);
  }
  return {};
}

base::Status begin_batch(Call& call, BytesView body, Version version, const std::string& keyspace) {
  engine::Engine& engine = call.reactor->shared().engine;
  SIBYL_TRY(protocol::decode_batch(body, version, call.batch));
  if (call.trace) tell_parameters(call.batch.parameters, "", *call.trace);
  SIBYL_ASSIGN(const std::string named, keyspace_for(call, call.batch.parameters.keyspace, keyspace));
  for (const auto& statement : call.batch.statements) {
    auto plan = statement.is_prepared ? find_prepared(call, statement.text_or_id)
                                      : engine.plan_query(statement.text_or_id, named, call.trace.get());
    if (!plan) return base::fail(plan.error());
    SIBYL_TRY(check_marker_count(**plan, statement.value_count, "There"));
    call.is_conditional_batch |= is_conditional(**plan);
    for (const schema::TablePtr& table : (*plan)->tables)
      if (std::find(call.batch_tables.begin(), call.batch_tables.end(), table->storage_id) ==
          call.batch_tables.end())
        call.batch_tables.push_back(table->storage_id);
    const std::span<const types::ValueView> values(call.batch.values);
    call.items.push_back({std::move(*plan), values.subspan(statement.first_value, statement.value_count)});
  }
  call.batch.parameters.values.clear();
  call.batch.parameters.names.clear();
  return fill_request(call, call.batch.parameters);
}

base::Status decode(Call& call, BytesView body, Version version, const std::string& keyspace) {
  switch (call.opcode) {
    case Opcode::query:
      return begin_query(call, body, version, keyspace);
    case Opcode::prepare:
      return begin_prepare(call, body, version, keyspace);
    case Opcode::execute:
      return begin_execute(call, body, version);
    default:
      return begin_batch(call, body, version, keyspace);
  }
}

// A run of rows without pages, or with large ones.
bool reads_many(const Call& call) {
  constexpr int32_t quick_page = 5000;  // what drivers ask for
  if (call.request.page_size > 0 && call.request.page_size <= quick_page) return false;
  const auto* select = std::get_if<std::shared_ptr<const plan::Select>>(&call.plan->plan);
  return select != nullptr && !(*select)->where->names_whole_row();
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

base::Status begin(Call& call, BytesView body, Version version, const std::string& keyspace) {
  // It may have begun before, on its reactor.
  call.plan.reset();
  call.items.clear();
  call.batch_tables.clear();
  call.ordered_values.clear();
  return execute::run_interruptible(&call, [&] { return decode(call, body, version, keyspace); });
}

bool is_long(const Call& call, BytesView body) {
  constexpr size_t quick_text = 64u << 10;  // some milliseconds, if it is full of short words
  return body.size() > quick_text && call.opcode != Opcode::execute;
}

namespace {

// Plans that reactors gave away, by their addresses. One that is forgotten, or has the address of another, is
// only started on the wrong kind of thread.
std::array<std::atomic<const plan::Prepared*>, 256> long_plans;

std::atomic<const plan::Prepared*>& place_of(const plan::Prepared& plan) {
  return long_plans[std::hash<const void*>{}(&plan) / alignof(plan::Prepared) % long_plans.size()];
}

}  // namespace

void remember_long(const plan::Prepared& plan) {
  place_of(plan).store(&plan, std::memory_order_relaxed);
}

bool computes(const plan::Prepared& plan) {
  return plan::uses_long_numbers(plan);
}

bool may_take_long(const Call& call, size_t body_bytes) {
  constexpr size_t quick_values = 256u << 10;  // a collection's elements, say
  if (body_bytes > quick_values) return true;
  const auto is_long = [](const plan::Prepared& plan) {
    return execute::may_block(plan) || computes(plan) ||
           place_of(plan).load(std::memory_order_relaxed) == &plan;
  };
  if (call.plan) return is_long(*call.plan) || reads_many(call);
  return call.items.size() > execute::quick_batch ||
         std::any_of(call.items.begin(), call.items.end(),
                     [&](const execute::BatchItem& item) { return is_long(*item.statement); });
}

}  // namespace sibyl::server
