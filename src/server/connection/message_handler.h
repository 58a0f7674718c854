// Handles the messages of one connection: each is answered at once, or becomes a request that is answered
// when it finishes. Used only on the reactor's thread.
//
//   frame ─ handle() ─▶ InFlightRequest ─ engine ─▶ finish() ─▶ ResponseWriter
//
// 1. Each request is answered exactly once, unless the connection has closed. Responses are written in the
//    order in which requests finish.
// 2. An exception while a message is handled or answered becomes an error response on its stream, and leaves
//    no partial response.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/contain.h"
#include "base/result.h"
#include "protocol/error_message.h"
#include "protocol/frame.h"
#include "protocol/response.h"
#include "server/connection/authentication.h"
#include "server/connection/encode_response.h"
#include "server/connection/flow_control.h"
#include "server/connection/redefined_statements.h"
#include "server/connection/response_writer.h"
#include "server/connection/result_backlog.h"
#include "server/connection/session.h"
#include "server/in_flight_request.h"
#include "server/monitoring/client_list.h"

namespace sibyl::server {

class MessageHandler {
 public:
  // `address` is the client's numeric address. The connection owns this object and all the arguments, except
  // the reactor.
  MessageHandler(Connection& connection, Reactor& reactor, ResponseWriter& writer, FlowControl& flow,
                 ResultBacklog& backlog, std::string address);
  ~MessageHandler();

  // Handles a complete frame. Its body points into `chunk`. `position`: where the frame begins in the stream
  // of received bytes.
  void handle(const protocol::FrameStep& step, const ChunkPtr& chunk, uint64_t position);
  // Called when a request has its result, or was refused. The request may be reused afterwards.
  void finish(InFlightRequest* request);
  // Sends the event, if the client wants it.
  void publish(const protocol::Event& event);
  // Answers `requests`, which are linked by InFlightRequest::next, with OVERLOADED.
  void refuse(InFlightRequest* requests);
  void answer_error(int16_t stream, const base::Error& error) {
    answer_error(stream, protocol::to_message(error), nullptr);
  }
  void answer_auth_success(int16_t stream);

  // Returns a request that is counted as in flight until finish().
  InFlightRequest* take_request(const protocol::FrameStep& step, const ChunkPtr& chunk);
  // The client has logged in.
  void log_in(const auth::Login* login);

  const Session& session() const { return session_; }
  Authentication& authentication() { return authentication_; }
  RedefinedStatements& redefined_statements() { return redefined_statements_; }

  // --- The connection's row in system_views.clients.

  // The address is numeric, without the port.
  const std::string& address() const { return client_.description.address; }
  void show_connected(uint16_t port);
  // Records that the connection comes from the relay `host_id`, and that its client has this address.
  void show_relayed(const std::string& address, uint16_t port, base::Bytes host_id);
  // The host_id of the relay, or nullptr if the client is connected directly.
  const base::Bytes* relay() const { return relay_.empty() ? nullptr : &relay_; }
  void show_encrypted(const TlsStream& tls);
  void hide();

 private:
  void handle_now(const protocol::FrameStep& step, const ChunkPtr& chunk, uint64_t position);
  void handle_startup(const protocol::Header& header, protocol::BytesView body);
  void show_started(const protocol::Startup& message, bool must_log_in);
  void handle_register(const protocol::Header& header, protocol::BytesView body);
  void start_request(const protocol::FrameStep& step, const ChunkPtr& chunk, uint64_t position);
  enum class NextStep : uint8_t { finish, run, run_blocking };
  // Decodes and plans. The caller stores an error as the request's result.
  base::Result<NextStep> decode_and_plan(InFlightRequest& request, const protocol::FrameStep& step);
  NextStep decode_on_pool(InFlightRequest& request, protocol::BytesView body);
  void begin_trace(InFlightRequest& request);
  void run(InFlightRequest* request);
  void run_on_pool(InFlightRequest* request);
  void record_finished(const InFlightRequest& request);
  // Counts and logs a finished statement. Not called for logins, because they have no result.
  void count_finished(const InFlightRequest& request);
  void answer_finished(const InFlightRequest& request);
  void answer_result(const InFlightRequest& request, const execute::ResultSet& result);
  // Sends the error of a request that ran. Failures have extra fields in the protocol.
  void answer_failure(const InFlightRequest& request, const base::Error& error);
  void answer_error(int16_t stream, const protocol::ErrorMessage& message, const engine::RequestTrace* trace);
  ResponseFormat format() const { return {session_.version(), session_.compression()}; }
  // Calls `answer`. If it throws, discards its partial output and sends an error on that stream instead.
  template <typename Answer>
  void answer_or_fail(int16_t stream, Answer&& answer) {
    const ResponseWriter::Mark before = writer_.mark();
    if (const base::Status status = base::contain(std::forward<Answer>(answer)); !status)
      answer_thrown(stream, status.error(), before);
  }
  void answer_thrown(int16_t stream, const base::Error& thrown, ResponseWriter::Mark before);

  Connection& connection_;
  Reactor& reactor_;
  ResponseWriter& writer_;
  FlowControl& flow_;
  ResultBacklog& backlog_;
  Session session_;
  base::Bytes relay_;
  Authentication authentication_;
  RedefinedStatements redefined_statements_;
  ClientList::Entry client_;
};

}  // namespace sibyl::server
