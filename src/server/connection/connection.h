// One client connection: owns the socket, and connects the parts that do the work. Belongs to one reactor;
// used only on its thread unless a method says otherwise.
//
//   socket ─▶ FrameReader ─▶ FlowControl: may it be handled now? ─▶ MessageHandler ─▶ InFlightRequest
//   socket ◀─ ResponseWriter ◀──────────────────────────────────── finish() ◀─ reactor or pool runs it
//
// Reference-counted. A connection is destroyed after the reactor has removed it and its last request and
// socket operation have finished.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/contain.h"
#include "protocol/frame.h"
#include "protocol/response.h"
#include "server/connection/flow_control.h"
#include "server/connection/frame_reader.h"
#include "server/connection/incoming_reservation.h"
#include "server/connection/message_handler.h"
#include "server/connection/progress_watch.h"
#include "server/connection/response_writer.h"
#include "server/connection/result_backlog.h"
#include "server/in_flight_request.h"
#include "server/reactor.h"
#include "server/tls/tls_stream.h"

namespace sibyl::server {

class Connection {
 public:
  // `address` is the client's numeric address.
  Connection(Reactor& reactor, boost::asio::ip::tcp::socket socket, std::string address);
  ~Connection();

  void start();
  // Called periodically by the reactor. Closes the connection if a handshake, unsent-data or idle timeout has
  // expired, and releases the receive memory of an idle connection.
  void check_deadline(std::chrono::steady_clock::time_point now);
  void publish(const protocol::Event& event);
  void begin_drain();
  void close();
  // Resumes parsing and reading after a limit has stopped it.
  void resume();
  // Called when a request completes. Appends its response; the reactor sends it at the end of the round.
  void finish(InFlightRequest* request) { handler_.finish(request); }
  // Sends responses. Called at the end of a round.
  void send();
  // Marks this connection as one that has responses to send, and ends the round.
  void end_round();
  // Refuses the requests that are held until the client has read earlier results.
  void refuse_held();
  // From now on frames are in segments, in both directions.
  void use_segments(protocol::Compression compression);

  // See ResultBacklog for which of its methods are thread-safe.
  ResultBacklog& backlog() { return backlog_; }
  MessageHandler& handler() { return handler_; }
  // True once the client has disconnected. Thread-safe.
  bool is_closed() const { return backlog_.is_closed(); }
  // The client's address: numeric, without the port.
  const std::string& address() const { return handler_.address(); }
  // The address of the socket's other end: the client, or a relay.
  const std::string& peer_address() const { return peer_address_; }

  // Runs work that belongs to no single request. If it throws, closes the connection.
  template <typename Work>
  void run_or_close(Work&& work) {
    if (const base::Status status = base::contain(std::forward<Work>(work)); !status)
      close_after(status.error());
  }

  friend void intrusive_ptr_add_ref(Connection* connection) { ++connection->references_; }
  friend void intrusive_ptr_release(Connection* connection) {
    if (--connection->references_ == 0) delete connection;
  }

 private:
  enum class State : uint8_t { open, lingering, closed };
  using TimePoint = std::chrono::steady_clock::time_point;

  // --- connection.cc: reading, parsing and writing.

  void read();
  void on_received(size_t size);
  void parse();
  // Each of these returns false if parsing must stop: more bytes are needed, or a limit was reached.
  bool parse_next();
  bool take_segment();
  bool take_frame();
  bool may_proceed();
  bool reserve(FrameReader::Progress message);
  // Answers a refused or fatal frame. The connection closes after a fatal one.
  void refuse_frame(const protocol::FrameStep& step);
  // Position of the first unparsed byte in the stream of bytes on the wire.
  uint64_t parsed_position() const;
  size_t body_limit() const;
  void yield();
  enum class Sent { some, would_block, failed };
  Sent write_some(base::BytesView bytes, size_t& size);
  // Sends until everything is sent or the socket is full. Returns false after a failure.
  bool write_all();
  void on_all_sent();
  void wait_writable();
  // Sends pending responses, then closes.
  void linger();
  void close_after(const base::Error& thrown);

  // --- connection_tls.cc: the first bytes, and encrypted reads.

  void detect_relay();
  void choose_relay();
  void begin();
  void detect_tls();
  void choose_tls();
  void refuse_plain(std::string_view start);
  void continue_handshake();
  void begin_encrypted();
  void read_encrypted();
  void receive_encrypted();

  // --- connection_watch.cc: idle and slow clients.

  void watch(TimePoint now);
  void watch_incoming(TimePoint now);
  void watch_unsent(TimePoint now);
  // Counts the unsent bytes, and starts or stops watching them.
  void count_unsent();
  // Records that all bytes received so far had arrived at this time.
  void mark_waiting();
  void rest();
  void wait_readable();
  // Calls `then` once the socket is readable. Holds no receive memory until then.
  void when_readable(void (Connection::*then)());

  Reactor& reactor_;
  boost::asio::ip::tcp::socket socket_;
  const std::string peer_address_;
  base::Bytes relay_header_;        // the part of the header received so far
  std::unique_ptr<TlsStream> tls_;  // nullptr: not encrypted
  uint32_t references_ = 0;

  FrameReader reader_;
  IncomingReservation reservation_;
  ResponseWriter writer_;
  ResultBacklog backlog_;
  FlowControl flow_;
  MessageHandler handler_;

  State state_ = State::open;
  bool is_draining_ = false;
  bool is_reading_ = false;
  bool is_waiting_writable_ = false;
  bool is_resting_ = false;      // idle, without spare receive memory
  bool tls_has_more_ = false;    // tls_ may hold bytes that it has already read from the socket
  TimePoint deadline_;           // deadline of the handshake, or of lingering
  TimePoint last_received_;      // the time when bytes were last received
  ProgressWatch unsent_watch_;   // progress: bytes that the client has acknowledged
  ProgressWatch message_watch_;  // progress: bytes received since watched_message_
  uint64_t watched_message_ = 0;

  // The reactor's bookkeeping.
  friend class Reactor;
  bool is_marked_unsent_ = false;
  bool is_marked_starved_ = false;
  bool is_yielded_ = false;          // the turn ended with work left; the connection resumes after the others
  bool is_unauthenticated_ = false;  // in the reactor's list of connections that have not logged in
  std::list<Connection*>::iterator unauthenticated_position_;
};

}  // namespace sibyl::server
