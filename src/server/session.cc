// Messages: what a connection may ask, and starting it.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/contain.h"
#include "plan/modify.h"
#include "plan/select.h"
#include "server/begin.h"
#include "server/connection.h"

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
    reactor_.remove_stranger(*this);
    answer_empty(header.stream, Opcode::ready);
  } else {
    stage_ = Stage::authenticating;
    answer_authenticate(header.stream);
  }
  has_segments_ = protocol::has_segments(version_);
}

namespace {

// They are kept for as long as the connection lives, whoever it is.
base::Status check_options(const protocol::StringMap& options) {
  constexpr size_t most = 32, most_bytes = 4096;
  size_t bytes = 0;
  for (const auto& [key, value] : options) bytes += key.size() + value.size();
  if (options.size() <= most && bytes <= most_bytes) return {};
  return base::fail(protocol_error(
      fmt::format("Too many options in STARTUP: {} of {} bytes; at most {} of {} bytes are accepted",
                  options.size(), bytes, most, most_bytes)));
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
  // One node has no topology: only schema changes are ever sent.
  wants_schema_events_ = schema_events;
  answer_empty(header.stream, Opcode::ready);
}

Call* Connection::take_call(const FrameStep& step, const ChunkPtr& chunk) {
  Call* call = reactor_.take_call();
  call->connection = ConnectionPtr(this);
  call->chunk = chunk;
  call->stream = step.header.stream;
  call->opcode = step.header.opcode;
  call->who = login_;
  call->frame_bytes = step.size;
  call->arrived = call->started = reactor_.now();
  client_.count_request();
  ++calls_;
  call_bytes_ += step.size;
  reactor_.count_call(step.size);
  return call;
}

namespace {

// Whatever takes longer leaves the reactor, which others wait for.
void set_reactor_deadline(Call& call) {
  constexpr std::chrono::milliseconds longest{20};
  call.is_on_reactor = true;
  call.deadline = coarse_now() + longest;
}

}  // namespace

void Connection::start_call(const FrameStep& step, const ChunkPtr& chunk) {
  if (const auto refused = refusal()) return answer_error(step.header.stream, *refused);
  Call* call = take_call(step, chunk);
  const base::Result<NextStep> next = base::contain([&] { return begin_call(*call, step); });
  if (!next) call->result = base::fail(next.error());
  if (!next || *next == NextStep::finish) return finish(call);
  run(call, *next == NextStep::run_blocking);
}

base::Result<Connection::NextStep> Connection::begin_call(Call& call, const FrameStep& step) {
  if ((step.header.flags & protocol::flag::tracing) != 0) begin_trace(call);
  BytesView body = step.body;
  SIBYL_TRY(open_body(step.header, body, call.decompressed));
  if (is_long(call, body)) {
    call.unread = std::make_unique<UnreadMessage>(UnreadMessage{body, version_, keyspace_});
    return NextStep::run_blocking;
  }
  set_reactor_deadline(call);
  const base::Status begun = begin(call, body, version_, keyspace_);
  if (!begun && std::exchange(call.must_leave, false)) {
    call.computes = true;
    call.unread = std::make_unique<UnreadMessage>(UnreadMessage{body, version_, keyspace_});
    return NextStep::run_blocking;
  }
  SIBYL_TRY(begun);
  if (call.opcode == Opcode::prepare) {
    call.result = execute::ResultSet();
    return NextStep::finish;
  }
  return may_take_long(call, body.size()) ? NextStep::run_blocking : NextStep::run;
}

void Connection::begin_trace(Call& call) {
  call.trace = std::make_unique<engine::RequestTrace>(
      engine::RequestTrace::Start{request_name(call.opcode), client_.description.address, {}},
      reactor_.shared().engine.clock());
  call.request.trace = call.trace.get();
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

// The call that this thread has given to the engine.
struct StartingCall {
  const Call* call;
  bool was_dropped = false;  // its completion was destroyed without being called
};
thread_local StartingCall* starting_call = nullptr;

// Made before it is needed: then there may be no memory to make it.
const base::Error dropped =
    base::Error(base::ErrorCode::server, "The request was given up after an error of the server")
        .with_hint("if it writes, it may have been applied; the server's log has the error");

// An exception that passes through the engine destroys the completion, wherever it has got to: on this thread
// execute_now() completes the call, with what was thrown, and on another the completion does itself.
class CallCompletion {
 public:
  explicit CallCompletion(Call& call) : call_(&call) {}
  CallCompletion(CallCompletion&& other) noexcept : call_(std::exchange(other.call_, nullptr)) {}
  CallCompletion& operator=(CallCompletion&&) = delete;
  ~CallCompletion() {
    if (call_ == nullptr) return;
    if (starting_call != nullptr && starting_call->call == call_) {
      starting_call->was_dropped = true;
    } else {
      complete(call_, base::fail(dropped));
    }
  }
  void operator()(base::Result<execute::ResultSet> result) {
    complete(std::exchange(call_, nullptr), std::move(result));
  }

 private:
  Call* call_;
};

void give_to_engine(Call& call) {
  engine::Engine& engine = call.reactor->shared().engine;
  CallCompletion done(call);
  if (call.plan) {
    engine.execute_as(call.who, call.plan, call.request, std::move(done));
  } else {
    static constexpr std::array kinds = {cql::Batch::Kind::logged, cql::Batch::Kind::unlogged,
                                         cql::Batch::Kind::counter};
    engine.execute_batch_as(call.who, kinds[static_cast<size_t>(call.batch.kind)], std::move(call.items),
                            call.request, std::move(done));
  }
}

// The call is completed exactly once, whatever the engine throws. It may be finished and gone when this
// returns.
void execute_now(Call& call) {
  Shared& shared = call.reactor->shared();
  StartingCall here{&call};
  StartingCall* const outer = std::exchange(starting_call, &here);
  const base::Status status = base::contain([&] { give_to_engine(call); });
  starting_call = outer;
  if (here.was_dropped) {
    complete(&call, base::fail(status ? dropped : status.error()));
  } else if (!status) {
    shared.request_log.tell_thrown(status.error());
  }
}

base::Error overloaded(std::string why) {
  return base::Error(base::ErrorCode::overloaded, std::move(why));
}

// System tables are small, and drivers read them before anything else.
bool may_last(const Call& call) {
  if (call.computes) return true;
  const auto* select =
      call.plan ? std::get_if<std::shared_ptr<const plan::Select>>(&call.plan->plan) : nullptr;
  return select != nullptr && !(*select)->table->keyspace.starts_with("system");
}

// Cassandra's: each page has the time, and an aggregate is read page by page, without an end of its own. What
// is not a read has it to be planned, and to evaluate what it writes.
std::chrono::steady_clock::time_point deadline_of(const Call& call) {
  const auto* select =
      call.plan ? std::get_if<std::shared_ptr<const plan::Select>>(&call.plan->plan) : nullptr;
  if (select != nullptr && (*select)->aggregates()) return Call::never;
  if (select == nullptr) return call.started + call.reactor->shared().limits.read_timeout;
  const Limits& limits = call.reactor->shared().limits;
  const bool is_range = (*select)->where->partitions() == plan::Restrictions::Partitions::range;
  return call.started + (is_range ? limits.range_timeout : limits.read_timeout);
}

}  // namespace

BlockingPool::Admission results_admission() {
  return {[](Call& call) { return call.connection->try_start(call); },
          [](const Call& call, ptrdiff_t change) { call.reactor->count_held(change); }};
}

void run_blocking(Call& call) {
  const Shared& shared = call.reactor->shared();
  const Connection& connection = *call.connection;
  if (connection.is_closed() || (connection.throws_on_overload() && connection.is_overloaded()))
    return complete(&call,
                    base::fail(overloaded("Request refused: the connection does not read its answers")));
  if (coarse_now() - call.queued > shared.limits.queue_timeout)
    return complete(&call, base::fail(overloaded("Query timed out before it could start")));
  call.started = std::chrono::steady_clock::now();
  if (const UnreadMessage* unread = call.unread.get()) {
    call.deadline = deadline_of(call);
    const base::Status status =
        base::contain([&] { return begin(call, unread->body, unread->version, unread->keyspace); });
    if (!status) return complete(&call, base::fail(status.error()));
    call.unread.reset();
    if (call.opcode == Opcode::prepare) return complete(&call, execute::ResultSet());
    // What turns out to take long waits for its turn among such statements.
    if (!call.computes && call.plan && computes(*call.plan)) return call.connection->submit_again(call);
  }
  call.deadline = deadline_of(call);
  call.request.interrupt = &call;
  execute_now(call);
}

base::Status Call::check() const {
  if (connection->is_closed()) return base::fail(overloaded("Request ended: its client has gone"));
  if (coarse_now() <= deadline) return {};
  must_leave = is_on_reactor;
  if (plan && !std::holds_alternative<std::shared_ptr<const plan::Select>>(plan->plan))
    return base::fail(
        base::Error(base::ErrorCode::write_timeout, "Operation timed out - received only 0 responses.")
            .with_hint("evaluating what is written took longer than read_request_timeout allows"));
  return base::fail(
      base::Error(base::ErrorCode::read_timeout, "Operation timed out - received only 0 responses.")
          .with_hint("a page took longer to read than range_request_timeout (read_request_timeout, where the "
                     "partitions are named) allows; read fewer rows for it: by key, or smaller pages"));
}

bool Connection::submit(Call& call) {
  call.queued = coarse_now();
  if (call.plan) call.computes = call.computes || computes(*call.plan);
  call.may_last = may_last(call);
  return reactor_.shared().pool->submit(line_, call);
}

base::Error Connection::no_thread() {
  return overloaded("Request refused: too many requests wait for a thread");
}

void Connection::submit_again(Call& call) {
  if (!submit(call)) complete(&call, base::fail(no_thread()));
}

void Connection::run(Call* call, bool may_block) {
  if (may_block) {
    if (call->trace) call->trace->step("Handed to a thread that may wait");
    call->is_on_reactor = false;
    ++pool_calls_;
    call->is_pooled = true;
    if (submit(*call)) return;
    call->result = base::fail(no_thread());
    finish(call);
    return;
  }
  // Many rows may lie under deletions, or on a slow device; functions may take long. Writes are asked about
  // it only until they are committed. A batch has given its statements away, and is not begun again.
  call->is_on_reactor = call->plan != nullptr;
  if (call->is_on_reactor) call->request.interrupt = call;
  reactor_.starting = call;
  execute_now(*call);
  reactor_.starting = nullptr;
  // Completed elsewhere, the call is finished by this thread too, but not before this returns.
  if (!call->completed_inline) return;
  if (std::exchange(call->must_leave, false) && !call->result->has_value()) {
    call->completed_inline = false;
    call->computes = !may_last(*call);
    remember_long(*call->plan);
    call->result.reset();
    return run(call, true);
  }
  reactor_.look_at_clock();
  finish(call);
}

void Connection::count_finished(const Call& call) {
  if (call.opcode == Opcode::prepare)
    return reactor_.metrics().count_prepare(call.arrived, std::chrono::steady_clock::now());
  const auto now = reactor_.now();
  reactor_.metrics().count(call, now);
  Shared& shared = reactor_.shared();
  if (shared.slow_query.count() > 0 && now - call.arrived > shared.slow_query) {
    reactor_.metrics().count_slow();
    shared.request_log.tell_slow(call, client_.description, now);
  }
  if (call.result->has_value()) {
    shared.request_log.tell_change(call, client_.description);
  } else if (is_servers_fault(call.result->error().code())) {
    shared.request_log.tell_failed(call, client_.description, call.result->error(), now);
  }
}

void Connection::record_finished(const Call& call) {
  if (!call.login) count_finished(call);
  if (!call.trace) return;
  call.trace->stop();
  reactor_.shared().engine.show_trace(*call.trace);
}

void Connection::answer_finished(const Call& call) {
  if (call.login) return finish_login(call);
  if (stage_ == Stage::closed) return;
  if (!call.result->has_value()) {
    answer_failure(call, call.result->error());
  } else if (call.opcode == Opcode::prepare) {
    answer_prepared(call);
  } else {
    answer_result(call, **call.result);
  }
}

void Connection::finish(Call* call) {
  if (const base::Status status = base::contain([&] { record_finished(*call); }); !status)
    reactor_.shared().request_log.tell_thrown(status.error());
  answer_or_fail(call->stream, [&] { answer_finished(*call); });
  if (call->is_pooled) leave_pool(*call);
  --calls_;
  call_bytes_ -= call->frame_bytes;
  const size_t bytes = call->frame_bytes;
  const ConnectionPtr keep = std::move(call->connection);
  Reactor& reactor = reactor_;
  reactor.give_back(call);
  reactor.discount_call(bytes);
}

}  // namespace sibyl::server
