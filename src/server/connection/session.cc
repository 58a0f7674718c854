// Handles the messages of a connection, and runs its requests.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/contain.h"
#include "server/connection/connection.h"
#include "server/connection/decode_request.h"

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
    case Opcode::prepare:
      return start_request(step, chunk);
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
  // The flag is ignored in v5, which compresses segments, and when no compression was agreed on.
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
    reactor_.remove_unauthenticated(*this);
    answer_empty(header.stream, Opcode::ready);
  } else {
    stage_ = Stage::authenticating;
    answer_authenticate(header.stream);
  }
  has_segments_ = protocol::has_segments(version_);
}

namespace {

// The options are kept for the lifetime of the connection, even of an unauthenticated one. So their size is
// limited.
base::Status check_options(const protocol::StringMap& options) {
  constexpr size_t max_options = 32, max_bytes = 4096;
  size_t bytes = 0;
  for (const auto& [key, value] : options) bytes += key.size() + value.size();
  if (options.size() <= max_options && bytes <= max_bytes) return {};
  return base::fail(protocol_error(
      fmt::format("Too many options in STARTUP: {} of {} bytes; at most {} of {} bytes are accepted",
                  options.size(), bytes, max_options, max_bytes)));
}

}  // namespace

base::Status Connection::apply_startup(BytesView body) {
  protocol::Startup startup;
  SIBYL_TRY(protocol::decode_startup(body, startup));
  SIBYL_TRY(check_options(startup.options));
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
  // With a single node there are no topology or status events. Only schema changes are sent.
  wants_schema_events_ = schema_events;
  answer_empty(header.stream, Opcode::ready);
}

InFlightRequest* Connection::take_request(const FrameStep& step, const ChunkPtr& chunk) {
  InFlightRequest* request = reactor_.take_request();
  request->connection = ConnectionPtr(this);
  request->chunk = chunk;
  request->stream = step.header.stream;
  request->opcode = step.header.opcode;
  request->user = login_;
  request->frame_bytes = step.size;
  request->arrived = request->started = reactor_.now();
  client_.count_request();
  ++requests_;
  request_bytes_ += step.size;
  reactor_.add_in_flight(step.size);
  return request;
}

namespace {

// A request that takes longer must leave the reactor, because other connections wait for it.
void set_reactor_deadline(InFlightRequest& request) {
  constexpr std::chrono::milliseconds max_time{20};
  request.is_on_reactor = true;
  request.deadline = coarse_now() + max_time;
}

}  // namespace

void Connection::start_request(const FrameStep& step, const ChunkPtr& chunk) {
  if (const auto refused = refusal()) return answer_error(step.header.stream, *refused);
  InFlightRequest* request = take_request(step, chunk);
  const base::Result<NextStep> next = base::contain([&] { return decode_and_plan(*request, step); });
  if (!next) request->result = base::fail(next.error());
  if (!next || *next == NextStep::finish) return finish(request);
  run(request, *next == NextStep::run_blocking);
}

base::Result<Connection::NextStep> Connection::decode_and_plan(InFlightRequest& request,
                                                               const FrameStep& step) {
  if ((step.header.flags & protocol::flag::tracing) != 0) begin_trace(request);
  BytesView body = step.body;
  SIBYL_TRY(open_body(step.header, body, request.decompressed));
  if (is_long(request, body)) {
    request.undecoded = std::make_unique<UndecodedMessage>(UndecodedMessage{body, version_, keyspace_});
    return NextStep::run_blocking;
  }
  set_reactor_deadline(request);
  const base::Status begun = decode_request(request, body, version_, keyspace_);
  if (!begun && std::exchange(request.must_leave_reactor, false)) {
    request.is_compute_heavy = true;
    request.undecoded = std::make_unique<UndecodedMessage>(UndecodedMessage{body, version_, keyspace_});
    return NextStep::run_blocking;
  }
  SIBYL_TRY(begun);
  if (request.opcode == Opcode::prepare) {
    request.result = execute::ResultSet();
    return NextStep::finish;
  }
  return may_take_long(request, body.size()) ? NextStep::run_blocking : NextStep::run;
}

void Connection::begin_trace(InFlightRequest& request) {
  request.trace = std::make_unique<engine::RequestTrace>(
      engine::RequestTrace::Start{request_name(request.opcode), client_.description.address, {}},
      reactor_.shared().engine.clock());
  request.engine_request.trace = request.trace.get();
}

namespace {

void complete(InFlightRequest* request, base::Result<execute::ResultSet> result) {
  request->result.emplace(std::move(result));
  Reactor* here = Reactor::current();
  if (here != nullptr && here->starting == request) {
    request->completed_inline = true;
  } else {
    request->reactor->enqueue_completed(*request);
  }
}

// The request that this thread has passed to the engine.
struct StartingRequest {
  const InFlightRequest* request;
  bool was_dropped = false;  // its completion was destroyed without being called
};
thread_local StartingRequest* starting_request = nullptr;

// Created at startup, because there may be no memory when it is needed.
const base::Error dropped =
    base::Error(base::ErrorCode::server, "The request was abandoned because of an internal error")
        .with_hint("a write may or may not have been applied; see the server's log for the error");

// Completes the request even if an exception in the engine destroys the completion uncalled. On the thread
// that started the request, execute_now() then completes it with the exception. On any other thread the
// destructor completes it.
class RequestCompletion {
 public:
  explicit RequestCompletion(InFlightRequest& request) : request_(&request) {}
  RequestCompletion(RequestCompletion&& other) noexcept : request_(std::exchange(other.request_, nullptr)) {}
  RequestCompletion& operator=(RequestCompletion&&) = delete;
  ~RequestCompletion() {
    if (request_ == nullptr) return;
    if (starting_request != nullptr && starting_request->request == request_) {
      starting_request->was_dropped = true;
    } else {
      complete(request_, base::fail(dropped));
    }
  }
  void operator()(base::Result<execute::ResultSet> result) {
    complete(std::exchange(request_, nullptr), std::move(result));
  }

 private:
  InFlightRequest* request_;
};

void give_to_engine(InFlightRequest& request) {
  engine::Engine& engine = request.reactor->shared().engine;
  RequestCompletion done(request);
  if (request.plan) {
    engine.execute_as(request.user, request.plan, request.engine_request, std::move(done));
  } else {
    static constexpr std::array kinds = {cql::Batch::Kind::logged, cql::Batch::Kind::unlogged,
                                         cql::Batch::Kind::counter};
    engine.execute_batch_as(request.user, kinds[static_cast<size_t>(request.batch.kind)],
                            std::move(request.items), request.engine_request, std::move(done));
  }
}

// Completes the request exactly once, whatever the engine throws. The request may be finished and reused when
// this returns.
void execute_now(InFlightRequest& request) {
  Shared& shared = request.reactor->shared();
  StartingRequest here{&request};
  StartingRequest* const outer = std::exchange(starting_request, &here);
  const base::Status status = base::contain([&] { give_to_engine(request); });
  starting_request = outer;
  if (here.was_dropped) {
    complete(&request, base::fail(status ? dropped : status.error()));
  } else if (!status) {
    shared.request_log.log_exception(status.error());
  }
}

base::Error overloaded(std::string why) {
  return base::Error(base::ErrorCode::overloaded, std::move(why));
}

// Reads of system tables do not count as long: they are small, and drivers read them when they connect.
bool may_run_long(const InFlightRequest& request) {
  if (request.is_compute_heavy) return true;
  return request.plan && request.plan->profile.may_run_long;
}

// Timeouts as in Cassandra: each page of a read has read_timeout or range_timeout. An aggregate reads many
// pages and has no timeout as a whole. Other statements have read_timeout for planning and for evaluating
// their values.
std::chrono::steady_clock::time_point deadline_of(const InFlightRequest& request) {
  using Deadline = plan::ExecutionProfile::Deadline;
  const Limits& limits = request.reactor->shared().limits;
  const Deadline deadline = request.plan ? request.plan->profile.deadline : Deadline::read;
  if (deadline == Deadline::none) return InFlightRequest::never;
  return request.started + (deadline == Deadline::range ? limits.range_timeout : limits.read_timeout);
}

}  // namespace

BlockingPool::Admission results_admission() {
  return {[](InFlightRequest& request) { return request.connection->try_start(request); },
          [](const InFlightRequest& request, ptrdiff_t change) { request.reactor->count_held(change); }};
}

void run_blocking(InFlightRequest& request) {
  const Shared& shared = request.reactor->shared();
  const Connection& connection = *request.connection;
  if (connection.is_closed() || (connection.throws_on_overload() && connection.is_overloaded()))
    return complete(&request,
                    base::fail(overloaded("Request refused: the client does not read its responses")));
  if (coarse_now() - request.queued > shared.limits.queue_timeout)
    return complete(&request, base::fail(overloaded("Query timed out before it could start")));
  request.started = std::chrono::steady_clock::now();
  if (const UndecodedMessage* message = request.undecoded.get()) {
    request.deadline = deadline_of(request);
    const base::Status status = base::contain(
        [&] { return decode_request(request, message->body, message->version, message->keyspace); });
    if (!status) return complete(&request, base::fail(status.error()));
    request.undecoded.reset();
    if (request.opcode == Opcode::prepare) return complete(&request, execute::ResultSet());
    // A statement that turns out to be compute-heavy is queued again, among such statements.
    if (!request.is_compute_heavy && request.plan && request.plan->profile.is_compute_heavy)
      return request.connection->submit_again(request);
  }
  request.deadline = deadline_of(request);
  request.engine_request.interrupt = &request;
  execute_now(request);
}

base::Status InFlightRequest::check() const {
  if (connection->is_closed())
    return base::fail(overloaded("Request cancelled: the client has disconnected"));
  if (coarse_now() <= deadline) return {};
  must_leave_reactor = is_on_reactor;
  if (plan && !plan->profile.is_read())
    return base::fail(
        base::Error(base::ErrorCode::write_timeout, "Operation timed out - received only 0 responses.")
            .with_hint("evaluating the values to write took longer than read_request_timeout"));
  return base::fail(
      base::Error(base::ErrorCode::read_timeout, "Operation timed out - received only 0 responses.")
          .with_hint("reading one page took longer than range_request_timeout (read_request_timeout, if the "
                     "statement names its partitions); read fewer rows: by key, or with smaller pages"));
}

bool Connection::submit(InFlightRequest& request) {
  request.queued = coarse_now();
  if (request.plan)
    request.is_compute_heavy = request.is_compute_heavy || request.plan->profile.is_compute_heavy;
  request.may_run_long = may_run_long(request);
  return reactor_.shared().pool->submit(line_, request);
}

base::Error Connection::queue_full_error() {
  return overloaded("Request refused: the queue of blocking requests is full");
}

void Connection::submit_again(InFlightRequest& request) {
  if (!submit(request)) complete(&request, base::fail(queue_full_error()));
}

void Connection::run(InFlightRequest* request, bool may_block) {
  if (may_block) {
    if (request->trace) request->trace->step("Submitted to the blocking pool");
    request->is_on_reactor = false;
    ++pool_requests_;
    request->is_pooled = true;
    if (submit(*request)) return;
    request->result = base::fail(queue_full_error());
    finish(request);
    return;
  }
  // Even a short read may take long: many rows may be deleted, the device may be slow, functions may be slow.
  // So the statement is interrupted at its deadline and moved to the pool. Writes are interrupted only before
  // they are committed. A batch is never interrupted: its items have been moved, so it cannot start again.
  request->is_on_reactor = request->plan != nullptr;
  if (request->is_on_reactor) request->engine_request.interrupt = request;
  reactor_.starting = request;
  execute_now(*request);
  reactor_.starting = nullptr;
  // If another thread completes the request, this thread finishes it later, in drain_completed().
  if (!request->completed_inline) return;
  if (std::exchange(request->must_leave_reactor, false) && !request->result->has_value()) {
    request->completed_inline = false;
    request->is_compute_heavy = !may_run_long(*request);
    remember_slow_plan(*request->plan);
    request->result.reset();
    return run(request, true);
  }
  reactor_.update_now();
  finish(request);
}

void Connection::count_finished(const InFlightRequest& request) {
  if (request.opcode == Opcode::prepare)
    return reactor_.metrics().count_prepare(request.arrived, std::chrono::steady_clock::now());
  const auto now = reactor_.now();
  reactor_.metrics().count(request, now);
  Shared& shared = reactor_.shared();
  if (shared.slow_query.count() > 0 && now - request.arrived > shared.slow_query) {
    reactor_.metrics().count_slow();
    shared.request_log.log_slow_request(request, client_.description, now);
  }
  if (request.result->has_value()) {
    shared.request_log.log_schema_change(request, client_.description);
  } else if (is_server_error(request.result->error().code())) {
    shared.request_log.log_failed_request(request, client_.description, request.result->error(), now);
  }
}

void Connection::record_finished(const InFlightRequest& request) {
  if (!request.login) count_finished(request);
  if (!request.trace) return;
  request.trace->stop();
  reactor_.shared().engine.publish_trace(*request.trace);
}

void Connection::answer_finished(const InFlightRequest& request) {
  if (request.login) return finish_login(request);
  if (stage_ == Stage::closed) return;
  if (!request.result->has_value()) {
    answer_failure(request, request.result->error());
  } else if (request.opcode == Opcode::prepare) {
    answer_prepared(request);
  } else {
    answer_result(request, **request.result);
  }
}

void Connection::finish(InFlightRequest* request) {
  if (const base::Status status = base::contain([&] { record_finished(*request); }); !status)
    reactor_.shared().request_log.log_exception(status.error());
  answer_or_fail(request->stream, [&] { answer_finished(*request); });
  if (request->is_pooled) leave_pool(*request);
  --requests_;
  request_bytes_ -= request->frame_bytes;
  const size_t bytes = request->frame_bytes;
  const ConnectionPtr keep = std::move(request->connection);
  Reactor& reactor = reactor_;
  reactor.recycle(request);
  reactor.remove_in_flight(bytes);
}

}  // namespace sibyl::server
