#include "server/connection/message_handler.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <utility>

#include "server/connection/connection.h"
#include "server/connection/decode_request.h"
#include "server/connection/failure.h"
#include "server/connection/run_request.h"
#include "server/reactor.h"

namespace sibyl::server {

using protocol::BytesView;
using protocol::FrameStep;
using protocol::Header;
using protocol::Opcode;
using protocol::protocol_error;

MessageHandler::MessageHandler(Connection& connection, Reactor& reactor, ResponseWriter& writer,
                               FlowControl& flow, ResultBacklog& backlog, std::string address)
    : connection_(connection),
      reactor_(reactor),
      writer_(writer),
      flow_(flow),
      backlog_(backlog),
      authentication_(connection, reactor) {
  client_.description.address = std::move(address);
}

MessageHandler::~MessageHandler() {
  hide();
}

void MessageHandler::handle(const FrameStep& step, const ChunkPtr& chunk, uint64_t position) {
  answer_or_fail(step.header.stream, [&] { handle_now(step, chunk, position); });
}

void MessageHandler::handle_now(const FrameStep& step, const ChunkPtr& chunk, uint64_t position) {
  const Header& header = step.header;
  if (const auto status = session_.admit(header); !status) return answer_error(header.stream, status.error());
  switch (header.opcode) {
    case Opcode::query:
    case Opcode::execute:
    case Opcode::batch:
    case Opcode::prepare:
      return start_request(step, chunk, position);
    default:
      break;
  }
  base::Bytes decompressed;
  BytesView body = step.body;
  const size_t body_limit = reactor_.shared().limits.frame_body_bytes;
  if (const auto status = session_.open_body(header, body_limit, body, decompressed); !status)
    return answer_error(header.stream, status.error());
  switch (header.opcode) {
    case Opcode::startup:
      return handle_startup(header, body);
    case Opcode::options:
      return append_supported(writer_.buffer(), format(), header.stream);
    case Opcode::register_:
      return handle_register(header, body);
    case Opcode::auth_response:
      return authentication_.handle_response(step, body);
    default:
      return answer_error(
          header.stream, protocol_error(fmt::format("Unexpected message {}, no authentication is in progress",
                                                    protocol::opcode_name(header.opcode))));
  }
}

void MessageHandler::handle_startup(const Header& header, BytesView body) {
  const auth::Authenticator authenticator = reactor_.shared().engine.authenticator.options().authenticator;
  const bool must_log_in = authenticator != auth::Authenticator::allow_all;
  protocol::Startup message;
  if (const auto status = session_.start_up(body, must_log_in, message); !status)
    return answer_error(header.stream, status.error());
  if (const std::string* wanted = message.find("THROW_ON_OVERLOAD"))
    backlog_.set_throws_on_overload(*wanted == "1");
  show_started(message, must_log_in);
  if (must_log_in) {
    append_authenticate(writer_.buffer(), format(), header.stream, auth::class_name(authenticator));
  } else {
    reactor_.remove_unauthenticated(connection_);
    append_ready(writer_.buffer(), format(), header.stream);
  }
  if (protocol::has_segments(session_.version())) connection_.use_segments(session_.segment_compression());
}

void MessageHandler::show_started(const protocol::Startup& message, bool must_log_in) {
  const auto option = [&](const char* key) { return message.find(key) ? *message.find(key) : std::string(); };
  reactor_.shared().clients.update(client_, [&](engine::Client& client) {
    client.stage = must_log_in ? "authenticating" : "ready";
    client.driver_name = option("DRIVER_NAME");
    client.driver_version = option("DRIVER_VERSION");
    client.protocol_version = static_cast<int32_t>(session_.version());
    client.options.insert(message.options.begin(), message.options.end());
  });
}

void MessageHandler::handle_register(const Header& header, BytesView body) {
  if (const auto status = session_.register_events(body); !status)
    return answer_error(header.stream, status.error());
  append_ready(writer_.buffer(), format(), header.stream);
}

void MessageHandler::publish(const protocol::Event& event) {
  if (!session_.wants(event) || !session_.is_ready()) return;
  append_event(writer_.buffer(), format(), event);
  reactor_.mark_unsent(connection_);
}

void MessageHandler::log_in(const auth::Login* login) {
  session_.log_in(login);
  reactor_.remove_unauthenticated(connection_);
  reactor_.shared().clients.update(client_, [&](engine::Client& client) {
    client.stage = "ready";
    client.role = login->role;
  });
}

void MessageHandler::show_connected(uint16_t port) {
  client_.description.port = port;
  client_.description.stage = "established";
  reactor_.shared().clients.add(client_);
}

void MessageHandler::show_relayed(const std::string& address, uint16_t port, base::Bytes host_id) {
  relay_ = std::move(host_id);
  reactor_.shared().clients.update(client_, [&](engine::Client& client) {
    client.address = address;
    client.port = port;
  });
}

void MessageHandler::show_encrypted(const TlsStream& tls) {
  reactor_.shared().clients.update(client_, [&](engine::Client& client) {
    client.tls_protocol = tls.protocol();
    client.tls_cipher_suite = tls.cipher_suite();
  });
}

void MessageHandler::hide() {
  reactor_.shared().clients.remove(client_);
}

// --- Requests.

InFlightRequest* MessageHandler::take_request(const FrameStep& step, const ChunkPtr& chunk) {
  InFlightRequest* request = reactor_.take_request();
  request->connection = ConnectionPtr(&connection_);
  request->chunk = chunk;
  request->stream = step.header.stream;
  request->opcode = step.header.opcode;
  request->user = session_.login();
  request->frame_bytes = step.size;
  request->arrived = request->started = reactor_.now();
  client_.count_request();
  flow_.add_request(step.size);
  reactor_.load().add_request(step.size);
  return request;
}

void MessageHandler::start_request(const FrameStep& step, const ChunkPtr& chunk, uint64_t position) {
  if (const auto refused = flow_.refusal(reactor_.is_late(), position))
    return answer_error(step.header.stream, *refused);
  InFlightRequest* request = take_request(step, chunk);
  const base::Result<NextStep> next = base::contain([&] { return decode_and_plan(*request, step); });
  if (!next) request->result = base::fail(next.error());
  if (!next || *next == NextStep::finish) return finish(request);
  return *next == NextStep::run ? run(request) : run_on_pool(request);
}

base::Result<MessageHandler::NextStep> MessageHandler::decode_and_plan(InFlightRequest& request,
                                                                       const FrameStep& step) {
  if ((step.header.flags & protocol::flag::tracing) != 0) begin_trace(request);
  BytesView body = step.body;
  const size_t body_limit = reactor_.shared().limits.frame_body_bytes;
  SIBYL_TRY(session_.open_body(step.header, body_limit, body, request.decompressed));
  if (is_long(request, body)) return decode_on_pool(request, body);
  set_reactor_deadline(request);
  const base::Status decoded = decode_request(request, body, session_.version(), session_.keyspace());
  if (!decoded && std::exchange(request.must_leave_reactor, false)) {
    request.is_compute_heavy = true;
    return decode_on_pool(request, body);
  }
  SIBYL_TRY(decoded);
  if (request.opcode == Opcode::prepare) {
    request.result = execute::ResultSet();
    return NextStep::finish;
  }
  return may_take_long(request, body.size()) ? NextStep::run_blocking : NextStep::run;
}

MessageHandler::NextStep MessageHandler::decode_on_pool(InFlightRequest& request, BytesView body) {
  request.undecoded =
      std::make_unique<UndecodedMessage>(UndecodedMessage{body, session_.version(), session_.keyspace()});
  return NextStep::run_blocking;
}

void MessageHandler::begin_trace(InFlightRequest& request) {
  request.trace = std::make_unique<engine::RequestTrace>(
      engine::RequestTrace::Start{request_name(request.opcode), address(), {}},
      reactor_.shared().engine.clock);
  request.engine_request.trace = request.trace.get();
}

void MessageHandler::run(InFlightRequest* request) {
  // If another thread completes the request, this thread finishes it later, in drain_completed().
  if (!run_on_reactor(*request)) return;
  if (take_interrupted(*request)) return run_on_pool(request);
  reactor_.update_now();
  finish(request);
}

void MessageHandler::run_on_pool(InFlightRequest* request) {
  if (request->trace) request->trace->step("Submitted to the blocking pool");
  backlog_.enter();
  request->is_pooled = true;
  if (submit(*request)) return;
  request->result = base::fail(queue_full_error());
  finish(request);
}

void MessageHandler::refuse(InFlightRequest* requests) {
  while (requests != nullptr) {
    InFlightRequest* const next = requests->next;
    requests->result = base::fail(unread_results_error());
    finish(requests);
    requests = next;
  }
}

void MessageHandler::finish(InFlightRequest* request) {
  if (const base::Status status = base::contain([&] { record_finished(*request); }); !status)
    reactor_.shared().request_log.log_exception(status.error());
  answer_or_fail(request->stream, [&] { answer_finished(*request); });
  if (request->is_pooled) backlog_.leave(*request);
  const size_t bytes = request->frame_bytes;
  flow_.remove_request(bytes);
  const ConnectionPtr keep = std::move(request->connection);
  Reactor& reactor = reactor_;
  reactor.recycle(request);
  reactor.count_finished(bytes);
}

void MessageHandler::record_finished(const InFlightRequest& request) {
  if (!request.login) count_finished(request);
  if (!request.trace) return;
  request.trace->stop();
  reactor_.shared().engine.traces.publish(*request.trace);
}

void MessageHandler::count_finished(const InFlightRequest& request) {
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

// --- Responses.

void MessageHandler::answer_finished(const InFlightRequest& request) {
  if (request.login) return authentication_.finish(request);
  if (backlog_.is_closed()) return;
  if (!request.result->has_value()) {
    answer_failure(request, request.result->error());
  } else if (request.opcode == Opcode::prepare) {
    append_prepared(writer_.buffer(), format(), request);
  } else {
    answer_result(request, **request.result);
  }
}

void MessageHandler::answer_result(const InFlightRequest& request, const execute::ResultSet& result) {
  if (const auto status = check_result_size(result, reactor_.shared().limits.result_bytes); !status)
    return answer_error(request.stream, status.error());
  if (result.kind == execute::ResultSet::Kind::set_keyspace) {
    session_.set_keyspace(result.keyspace);
    reactor_.shared().clients.update(client_,
                                     [&](engine::Client& client) { client.keyspace = result.keyspace; });
  }
  append_result(writer_.buffer(), format(), request, result);
}

void MessageHandler::answer_failure(const InFlightRequest& request, const base::Error& error) {
  protocol::ErrorMessage message = protocol::to_message(error);
  if (session_.wants_error_positions()) protocol::append_position(message, error);
  describe_failure(request, reactor_.shared().node_address, message);
  answer_error(request.stream, message, request.trace.get());
}

void MessageHandler::answer_error(int16_t stream, const protocol::ErrorMessage& error,
                                  const engine::RequestTrace* trace) {
  reactor_.metrics().count_error(error.code);
  append_error(writer_.buffer(), format(), stream, error, trace);
}

void MessageHandler::answer_thrown(int16_t stream, const base::Error& thrown, ResponseWriter::Mark before) {
  reactor_.shared().request_log.log_exception(thrown);
  if (backlog_.is_closed()) return;
  writer_.truncate(before);
  connection_.run_or_close([&] { answer_error(stream, thrown); });
}

void MessageHandler::answer_auth_success(int16_t stream) {
  append_auth_success(writer_.buffer(), format(), stream);
}

}  // namespace sibyl::server
