// Messages: what a connection may ask, and starting it.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "plan/select.h"
#include "server/connection.h"
#include "types/print.h"
#include "types/value.h"

namespace sibyl::server {

using protocol::BytesView;
using protocol::Direction;
using protocol::FrameStep;
using protocol::Header;
using protocol::Opcode;
using protocol::protocol_error;

void Connection::handle(const FrameStep& step, const ChunkPtr& chunk) {
  if (const auto status = check_stage(step.header); !status)
    return answer_error(step.header.stream, status.error());
  switch (step.header.opcode) {
    case Opcode::query:
    case Opcode::execute:
    case Opcode::batch:
      return start_call(step, chunk);
    default:
      break;
  }
  base::Bytes decompressed;
  BytesView body = step.body;
  if (const auto status = open_body(step.header, body, decompressed); !status)
    return answer_error(step.header.stream, status.error());
  switch (step.header.opcode) {
    case Opcode::startup:
      return handle_startup(step.header, body);
    case Opcode::options:
      return handle_options(step.header);
    case Opcode::register_:
      return handle_register(step.header, body);
    case Opcode::prepare:
      return handle_prepare(step.header, body);
    case Opcode::auth_response:
      return handle_auth_response(step, body);
    default:
      return answer_error(step.header.stream, protocol_error(fmt::format(
                                                  "Unexpected message {}, no authentication is in progress",
                                                  protocol::opcode_name(step.header.opcode))));
  }
}

base::Status Connection::check_stage(const Header& header) {
  if (stage_ == Stage::expecting_startup) {
    version_ = header.version;
    if (header.opcode == Opcode::startup || header.opcode == Opcode::options) return {};
    return base::fail(protocol_error(fmt::format("Unexpected message {}, expecting STARTUP or OPTIONS",
                                                 protocol::opcode_name(header.opcode))));
  }
  if (stage_ == Stage::authenticating && header.opcode != Opcode::auth_response)
    return base::fail(protocol_error(
        fmt::format("Unexpected message {}, expecting SASL_RESPONSE", protocol::opcode_name(header.opcode))));
  if (header.opcode == Opcode::startup)
    return base::fail(protocol_error("Unexpected message STARTUP, the connection is already initialized"));
  if (header.version != version_)
    return base::fail(protocol_error(
        fmt::format("Invalid message version. Got {} but previous messages on this connection had version {}",
                    protocol::version_name(header.version), protocol::version_name(version_))));
  return {};
}

base::Status Connection::open_body(const Header& header, BytesView& body, base::Bytes& decompressed) const {
  // v5 compresses segments; the flag means nothing there, nor where no compression was agreed on.
  if ((header.flags & protocol::flag::compression) != 0 && compression_ != protocol::Compression::none) {
    SIBYL_ASSIGN(decompressed, protocol::decompress(compression_, body, frame_limit()));
    body = decompressed;
  }
  if ((header.flags & protocol::flag::custom_payload) == 0) return {};
  protocol::Envelope ignored;
  return protocol::take_envelope(header, Direction::request, body, ignored);
}

void Connection::handle_startup(const Header& header, BytesView body) {
  if (const auto status = apply_startup(body); !status) return answer_error(header.stream, status.error());
  if (reactor_.shared().engine.auth_options().authenticator == auth::Authenticator::allow_all) {
    stage_ = Stage::ready;
    answer_empty(header.stream, Opcode::ready);
  } else {
    stage_ = Stage::authenticating;
    answer_authenticate(header.stream);
  }
  has_segments_ = protocol::has_segments(version_);
}

base::Status Connection::apply_startup(BytesView body) {
  protocol::Startup startup;
  SIBYL_TRY(protocol::decode_startup(body, startup));
  const std::string* cql_version = startup.find("CQL_VERSION");
  if (cql_version == nullptr)
    return base::fail(protocol_error("Missing value CQL_VERSION in STARTUP message"));
  int major = 0;
  const auto [end, error] =
      std::from_chars(cql_version->data(), cql_version->data() + cql_version->size(), major);
  if (error != std::errc() || (end != cql_version->data() + cql_version->size() && *end != '.'))
    return base::fail(protocol_error("Invalid version value: " + *cql_version));
  if (major < 3)
    return base::fail(protocol_error(
        fmt::format("CQL version {} is not supported by the binary protocol (supported version are >= 3.0.0)",
                    *cql_version)));
  if (const std::string* name = startup.find("COMPRESSION")) {
    auto& compression = protocol::has_segments(version_) ? segment_compression_ : compression_;
    SIBYL_ASSIGN(compression, protocol::compression_by_name(*name, version_));
  }
  if (const std::string* wanted = startup.find("THROW_ON_OVERLOAD")) throws_on_overload_ = *wanted == "1";
  const auto option = [&](const char* key) { return startup.find(key) ? *startup.find(key) : std::string(); };
  reactor_.shared().clients.update(client_, [&](engine::Client& client) {
    const bool must_log_in =
        reactor_.shared().engine.auth_options().authenticator != auth::Authenticator::allow_all;
    client.stage = must_log_in ? "authenticating" : "ready";
    client.driver_name = option("DRIVER_NAME");
    client.driver_version = option("DRIVER_VERSION");
    client.protocol_version = static_cast<int32_t>(version_);
    client.options.insert(startup.options.begin(), startup.options.end());
  });
  return {};
}

void Connection::handle_options(const Header& header) {
  protocol::StringMultimap options = {
      {"PROTOCOL_VERSIONS", {}}, {"COMPRESSION", {"snappy", "lz4"}}, {"CQL_VERSION", {engine::cql_version}}};
  for (auto v = static_cast<uint8_t>(protocol::oldest_version); protocol::is_supported(v); ++v)
    options[0].second.push_back(protocol::version_name(static_cast<protocol::Version>(v)));
  base::Bytes& out = output();
  protocol::FrameWriter frame(out, Direction::response, {version_, 0, header.stream, Opcode::supported});
  protocol::append_supported(out, options);
  frame.finish(compression_);
}

void Connection::handle_register(const Header& header, BytesView body) {
  const auto names = protocol::decode_register(body);
  if (!names) return answer_error(header.stream, names.error());
  bool schema_events = wants_schema_events_;
  for (std::string name : *names) {
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
    if (name == "SCHEMA_CHANGE") {
      schema_events = true;
    } else if (name != "TOPOLOGY_CHANGE" && name != "STATUS_CHANGE") {
      return answer_error(header.stream, protocol_error(fmt::format("Invalid value '{}' for Type", name)));
    }
  }
  // One node has no topology: only schema changes are ever sent.
  wants_schema_events_ = schema_events;
  answer_empty(header.stream, Opcode::ready);
}

// The keyspace of one request: that which it names (v5), or the connection's.
base::Result<std::string> Connection::keyspace_for(const std::optional<std::string_view>& named) const {
  if (!named) return keyspace_;
  if (reactor_.shared().engine.schema()->find_keyspace(*named) == nullptr)
    return base::invalid(fmt::format("Keyspace '{}' does not exist", *named));
  return std::string(*named);
}

namespace {

constexpr std::string_view consistency_names[] = {"ANY",    "ONE",          "TWO",          "THREE",
                                                  "QUORUM", "ALL",          "LOCAL_QUORUM", "EACH_QUORUM",
                                                  "SERIAL", "LOCAL_SERIAL", "LOCAL_ONE"};

std::string name_of(protocol::Consistency consistency) {
  return std::string(consistency_names[static_cast<size_t>(consistency)]);
}

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

// What system_traces.sessions says of a request.
void tell_parameters(const protocol::QueryParameters& parameters, std::string_view text,
                     engine::RequestTrace& trace) {
  if (parameters.page_size.value_or(0) > 0)
    trace.set_parameter("page_size", std::to_string(*parameters.page_size));
  trace.set_parameter("consistency_level", name_of(parameters.consistency));
  trace.set_parameter("serial_consistency_level", name_of(parameters.serial_consistency));
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
      size_t size = most_shown;
      while ((static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;  // a character stays whole
      text = text.substr(0, size) + "...'";
    }
    trace.set_parameter(fmt::format("bound_var_{}_{}", i, plan.markers[i].name), std::move(text));
  }
}

// A run of rows without pages, or with large ones, would hold up the reactor's other connections.
bool may_take_long(const Call& call) {
  constexpr int32_t quick_page = 5000;  // what drivers ask for
  if (call.request.page_size > 0 && call.request.page_size <= quick_page) return false;
  const auto* select = std::get_if<std::shared_ptr<const plan::Select>>(&call.plan->plan);
  return select != nullptr && !(*select)->where->names_whole_row();
}

}  // namespace

Call* Connection::take_call(const FrameStep& step, const ChunkPtr& chunk) {
  Call* call = reactor_.take_call();
  call->connection = ConnectionPtr(this);
  call->chunk = chunk;
  call->stream = step.header.stream;
  call->who = login_;
  call->frame_bytes = step.size;
  call->arrived = call->started = reactor_.now();
  client_.count_request();
  ++calls_;
  call_bytes_ += step.size;
  reactor_.count_call(step.size);
  return call;
}

void Connection::start_call(const FrameStep& step, const ChunkPtr& chunk) {
  if (const auto refused = refusal()) return answer_error(step.header.stream, *refused);
  Call* call = take_call(step, chunk);
  if ((step.header.flags & protocol::flag::tracing) != 0) begin_trace(*call, step.header.opcode);
  BytesView body = step.body;
  auto status = open_body(step.header, body, call->decompressed);
  bool may_block = false;
  if (status) {
    switch (step.header.opcode) {
      case Opcode::query:
        status = begin_query(*call, body);
        break;
      case Opcode::execute:
        status = begin_execute(*call, body);
        break;
      default:
        status = begin_batch(*call, body, may_block);
        break;
    }
  }
  if (!status) {
    call->result = base::fail(status.error());
    finish(call);
    return;
  }
  if (call->plan) may_block = execute::may_block(*call->plan) || may_take_long(*call);
  run(call, may_block);
}

void Connection::handle_prepare(const Header& header, BytesView body) {
  protocol::Prepare message;
  if (const auto status = protocol::decode_prepare(body, version_, message); !status)
    return answer_error(header.stream, status.error());
  engine::Engine& engine = reactor_.shared().engine;
  std::unique_ptr<engine::RequestTrace> trace;
  if ((header.flags & protocol::flag::tracing) != 0)
    trace = std::make_unique<engine::RequestTrace>(
        engine::RequestTrace::Start{request_name(header.opcode),
                                    client_.description.address,
                                    {{"query", auth::without_passwords(message.text)}}},
        engine.clock());
  const auto keyspace = keyspace_for(message.keyspace);
  const auto prepared = keyspace ? engine.prepare(message.text, *keyspace) : base::fail(keyspace.error());
  if (trace) {
    // The text of a syntax error quotes the statement, whatever secret stands there.
    const bool is_syntax = !prepared && prepared.error().code() == base::ErrorCode::syntax;
    trace->step(prepared    ? "Prepared statement"
                : is_syntax ? "Failed: syntax error"
                            : "Failed: " + prepared.error().message());
    trace->stop();
    engine.show_trace(*trace);
  }
  reactor_.metrics().count_prepare(reactor_.now(), std::chrono::steady_clock::now());
  if (!prepared) return answer_error(header.stream, prepared.error(), trace.get());
  answer_prepared(header.stream, *prepared, trace.get());
}

void Connection::begin_trace(Call& call, Opcode opcode) {
  call.trace = std::make_unique<engine::RequestTrace>(
      engine::RequestTrace::Start{request_name(opcode), client_.description.address, {}},
      reactor_.shared().engine.clock());
  call.request.trace = call.trace.get();
}

base::Status Connection::fill_request(Call& call, const protocol::QueryParameters& parameters) {
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
  // Named values are put in the order of the markers; what no marker asks for is left out.
  for (const auto& marker : call.plan->markers) {
    const auto found = std::find(parameters.names.begin(), parameters.names.end(), marker.name);
    if (found != parameters.names.end())
      call.ordered_values.push_back(parameters.values[static_cast<size_t>(found - parameters.names.begin())]);
  }
  request.values = call.ordered_values;
  return {};
}

base::Status Connection::begin_query(Call& call, BytesView body) {
  SIBYL_TRY(protocol::decode_query(body, version_, call.query));
  if (call.trace) tell_parameters(call.query.parameters, call.query.text, *call.trace);
  engine::Engine& engine = reactor_.shared().engine;
  if (call.query.parameters.keyspace) {
    SIBYL_ASSIGN(const std::string keyspace, keyspace_for(call.query.parameters.keyspace));
    SIBYL_ASSIGN(call.plan, engine.plan_query(call.query.text, keyspace, call.trace.get()));
  } else {
    SIBYL_ASSIGN(call.plan, engine.plan_query(call.query.text, keyspace_, call.trace.get()));
  }
  SIBYL_TRY(fill_request(call, call.query.parameters));
  if (call.request.values.size() != call.plan->markers.size())
    return base::invalid("Invalid amount of bind variables");
  return {};
}

namespace {

// Cassandra writes its first word small, but large in a batch.
base::Status check_marker_count(const plan::Prepared& plan, size_t values, const char* there) {
  if (plan.markers.size() == values) return {};
  return base::invalid(
      fmt::format("{} were {} markers(?) in CQL but {} bound variables", there, plan.markers.size(), values));
}

}  // namespace

base::Status Connection::begin_execute(Call& call, BytesView body) {
  SIBYL_TRY(protocol::decode_execute(body, version_, call.execute));
  call.is_execute = true;
  SIBYL_ASSIGN(call.plan, reactor_.shared().engine.find_prepared(call.execute.id));
  SIBYL_TRY(fill_request(call, call.execute.parameters));
  SIBYL_TRY(check_marker_count(*call.plan, call.request.values.size(), "there"));
  if (call.trace) {
    tell_parameters(call.execute.parameters, call.plan->text, *call.trace);
    tell_values(*call.plan, call.request.values, *call.trace);
  }
  return {};
}

base::Status Connection::begin_batch(Call& call, BytesView body, bool& may_block) {
  engine::Engine& engine = reactor_.shared().engine;
  SIBYL_TRY(protocol::decode_batch(body, version_, call.batch));
  if (call.trace) tell_parameters(call.batch.parameters, "", *call.trace);
  SIBYL_ASSIGN(const std::string keyspace, keyspace_for(call.batch.parameters.keyspace));
  for (const auto& statement : call.batch.statements) {
    auto plan = statement.is_prepared ? engine.find_prepared(statement.text_or_id)
                                      : engine.plan_query(statement.text_or_id, keyspace, call.trace.get());
    if (!plan) return base::fail(plan.error());
    SIBYL_TRY(check_marker_count(**plan, statement.value_count, "There"));
    may_block |= execute::may_block(**plan);
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

namespace {

void complete(Call* call, base::Result<execute::ResultSet> result) {
  call->result.emplace(std::move(result));
  Reactor* here = Reactor::current();
  if (here != nullptr && here->starting == call) {
    call->completed_inline = true;
  } else {
    call->reactor->completed(*call);
  }
}

void execute_now(Call& call) {
  engine::Engine& engine = call.reactor->shared().engine;
  auto done = [&call](base::Result<execute::ResultSet> result) { complete(&call, std::move(result)); };
  if (call.plan) {
    engine.execute_as(call.who, call.plan, call.request, std::move(done));
  } else {
    static constexpr std::array kinds = {cql::Batch::Kind::logged, cql::Batch::Kind::unlogged,
                                         cql::Batch::Kind::counter};
    engine.execute_batch_as(call.who, kinds[static_cast<size_t>(call.batch.kind)], std::move(call.items),
                            call.request, std::move(done));
  }
}

base::Error overloaded(std::string why) {
  return base::Error(base::ErrorCode::overloaded, std::move(why));
}

// Cassandra's: each page has the time, and an aggregate is read page by page, without an end of its own.
std::chrono::steady_clock::time_point deadline_of(const Call& call) {
  const auto* select =
      call.plan ? std::get_if<std::shared_ptr<const plan::Select>>(&call.plan->plan) : nullptr;
  if (select == nullptr || (*select)->aggregates()) return Call::never;
  const Limits& limits = call.reactor->shared().limits;
  const bool is_range = (*select)->where->partitions() == plan::Restrictions::Partitions::range;
  return call.started + (is_range ? limits.range_timeout : limits.read_timeout);
}

}  // namespace

void run_blocking(Call& call) {
  const Shared& shared = call.reactor->shared();
  if (call.connection->is_overloaded())
    return complete(&call,
                    base::fail(overloaded("Request refused: the connection does not read its answers")));
  if (coarse_now() - call.queued > shared.limits.queue_timeout)
    return complete(&call, base::fail(overloaded("Query timed out before it could start")));
  call.started = std::chrono::steady_clock::now();
  call.deadline = deadline_of(call);
  call.request.interrupt = &call;
  execute_now(call);
}

base::Status Call::check() const {
  if (connection->is_closed()) return base::fail(overloaded("Request ended: its client has gone"));
  if (coarse_now() <= deadline) return {};
  return base::fail(
      base::Error(base::ErrorCode::read_timeout, "Operation timed out - received only 0 responses.")
          .with_hint("a page took longer to read than range_request_timeout (read_request_timeout, where the "
                     "partitions are named) allows; read fewer rows for it: by key, or smaller pages"));
}

void Connection::run(Call* call, bool may_block) {
  if (may_block) {
    if (call->trace) call->trace->step("Handed to a thread that may wait");
    call->queued = coarse_now();
    if (reactor_.shared().pool->submit(line_, *call)) return;
    call->result = base::fail(overloaded("Request refused: too many requests wait for a thread"));
    finish(call);
    return;
  }
  reactor_.starting = call;
  execute_now(*call);
  reactor_.starting = nullptr;
  // Completed elsewhere, the call is finished by this thread too, but not before this returns.
  if (!call->completed_inline) return;
  reactor_.look_at_clock();
  finish(call);
}

void Connection::count_finished(const Call& call) {
  const auto now = reactor_.now();
  reactor_.metrics().count(call, now);
  Shared& shared = reactor_.shared();
  if (shared.slow_query.count() > 0 && now - call.arrived > shared.slow_query) {
    reactor_.metrics().count_slow();
    shared.request_log.tell_slow(call, now);
  }
  if (!call.result->has_value() && is_servers_fault(call.result->error().code()))
    shared.request_log.tell_failed(call, call.result->error(), now);
}

void Connection::finish(Call* call) {
  if (!call->login) count_finished(*call);
  if (call->trace) {
    call->trace->stop();
    reactor_.shared().engine.show_trace(*call->trace);
  }
  if (call->login) {
    finish_login(*call);
  } else if (stage_ != Stage::closed) {
    if (call->result->has_value()) {
      answer_result(*call, **call->result);
    } else {
      answer_error(call->stream, call->result->error(), call->trace.get());
    }
  }
  --calls_;
  call_bytes_ -= call->frame_bytes;
  const size_t bytes = call->frame_bytes;
  const ConnectionPtr keep = std::move(call->connection);
  Reactor& reactor = reactor_;
  reactor.give_back(call);
  reactor.discount_call(bytes);
}

}  // namespace sibyl::server
