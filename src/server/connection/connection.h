// One client connection. Belongs to one reactor; used only on its thread unless a method says otherwise.
//
// Reference-counted. A connection is destroyed after the reactor has removed it and its last request and
// socket operation have finished.
//
//   socket ─▶ in_ ─▶ frame ─▶ InFlightRequest ─▶ reactor or pool runs it ─▶ finish() ─▶ out_ ─▶ socket
//
// The methods are implemented in several files, which are named below.
#pragma once

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/contain.h"
#include "protocol/compression.h"
#include "protocol/error_message.h"
#include "protocol/frame.h"
#include "protocol/response.h"
#include "protocol/segment.h"
#include "protocol/version.h"
#include "server/connection/receive_buffer.h"
#include "server/connection/redefined_statements.h"
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
  void publish(const protocol::SchemaChange& change);
  void begin_drain();
  void close();
  // Resumes parsing and reading after a limit has stopped it.
  void resume();

  // Called when a request completes. Appends its response; the reactor sends it at the end of the round.
  void finish(InFlightRequest* request);
  // Queues a request again, among the long-running ones. Called by a pool thread that has found out that the
  // request takes long.
  void submit_again(InFlightRequest& request);
  void send();

  // True if the client has disconnected, or has left so many results unread that no more should be produced.
  // Thread-safe.
  bool is_overloaded() const;
  // Returns true if a pool thread may start the request, because the client reads its results. The request is
  // then counted until finish(). Called by one thread at a time.
  bool try_start(InFlightRequest& request);
  // True if STARTUP asked for OVERLOADED errors instead of back-pressure. Does not change while requests are
  // in flight.
  bool throws_on_overload() const { return throws_on_overload_; }
  // Refuses the requests that are held until the client has read earlier results.
  void refuse_held();
  // True once the client has disconnected. Thread-safe.
  bool is_closed() const { return is_closed_.load(std::memory_order_relaxed); }
  // Count the bytes of results that wait for the reactor. Thread-safe.
  void add_waiting(size_t bytes) { waiting_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  void remove_waiting(size_t bytes) { waiting_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
  // Numeric, without the port.
  const std::string& address() const { return client_.description.address; }
  RedefinedStatements& redefined_statements() { return redefined_statements_; }
  // The identity in the client's certificate; empty if the client sent none.
  const PeerCertificate& peer_certificate() const { return peer_; }

  friend void intrusive_ptr_add_ref(Connection* connection) { ++connection->references_; }
  friend void intrusive_ptr_release(Connection* connection) {
    if (--connection->references_ == 0) delete connection;
  }

 private:
  enum class Stage : uint8_t { expecting_startup, authenticating, ready, lingering, closed };

  // --- connection.cc: bytes.

  void read();
  void on_received(size_t size);
  void parse();
  // Each parses one unit. Returns false if more bytes are needed or a limit was reached.
  bool parse_frame();
  bool parse_payload();
  bool parse_segment();
  void take_large(protocol::BytesView payload);
  void take_frame(const protocol::FrameStep& step, const ChunkPtr& chunk);
  void skip_discarded();
  // Sends the error as the last message and closes the connection.
  void fail(int16_t stream, const base::Error& error);
  void wrap_frames();
  // The maximum length of a message body.
  size_t frame_limit() const;
  bool is_over_limit(size_t divisor);
  bool must_stop();
  bool must_wait() const;
  void begin_turn();
  bool is_turn_over() const;
  void yield();
  void wait_writable();
  enum class Sent { some, would_block, failed };
  Sent write_some(size_t& size);
  void on_all_sent();
  void linger();
  // The buffer to which responses are appended.
  base::Bytes& output() {
    if (out_.size() >= chunk_bytes) set_aside();
    base::Bytes& out = has_segments_ ? frames_ : out_;
    if (out.empty()) out = reactor_.take_buffer();
    return out;
  }
  void set_aside();
  size_t unsent() const { return full_bytes_ + out_.size() - out_sent_ + frames_.size(); }

  // --- connection_tls.cc: encrypted reads and writes.

  void detect_tls();
  void choose_tls();
  void refuse_plain(std::string_view start);
  void continue_handshake();
  void begin_encrypted();
  void read_encrypted();
  void receive_encrypted();

  // --- connection_watch.cc: idle, slow and greedy clients.

  // Reserves memory for an incomplete message of `size` bytes, of which `held` have been received. The
  // reservation is counted until the message is complete. Returns false, and stops reading until other
  // messages are complete, if all incomplete messages together would take too much memory.
  bool reserve(size_t held, size_t size);
  void release_reserved();
  // The same for large_. REQUIRES: large_ has begun.
  bool has_room_for_large();
  void watch_incoming(std::chrono::steady_clock::time_point now);
  void watch(std::chrono::steady_clock::time_point now);
  // Bytes of results that the client has not read. Thread-safe.
  size_t held_bytes() const {
    return counted_unsent_.load(std::memory_order_relaxed) + waiting_bytes_.load(std::memory_order_relaxed);
  }
  // The maximum of held_bytes() at which further results may be produced.
  size_t held_limit() const;
  // True if all connections together hold too many unsent bytes, and this one holds a large share of them.
  // Thread-safe.
  bool holds_too_much(size_t unsent) const;
  void watch_unsent(std::chrono::steady_clock::time_point now);
  // Marks whether requests wait because the client reads its results slowly. That time does not count as time
  // in the server's queue. Neither does the time that the server spends on this connection.
  void mark_client_behind(bool is_behind);
  void end_turn();
  void exclude_from_waiting(std::chrono::steady_clock::duration time);
  // Lets the pool start the connection's requests again once the client has read enough.
  void release_line();
  void leave_pool(const InFlightRequest& request);
  void rest();
  void wait_readable();
  // Calls `then` once the socket is readable. Holds no receive memory until then.
  void when_readable(void (Connection::*then)());
  void count_unsent();
  // Records that the bytes received so far have waited since now or earlier.
  void mark_waiting();
  // True if the next request has waited longer than Limits::queue_timeout.
  bool is_stale();
  // The error for a request that must not start now, because it is late or a limit was crossed.
  std::optional<base::Error> refusal();

  // --- session.cc: messages.

  void handle(const protocol::FrameStep& step, const ChunkPtr& chunk);
  base::Status check_stage(const protocol::Header& header);
  base::Status open_body(const protocol::Header& header, protocol::BytesView& body,
                         base::Bytes& decompressed) const;
  void handle_startup(const protocol::Header& header, protocol::BytesView body);
  base::Status apply_startup(protocol::BytesView body);
  void handle_options(const protocol::Header& header);
  void handle_register(const protocol::Header& header, protocol::BytesView body);
  // Returns a request that is counted as in flight until finish().
  InFlightRequest* take_request(const protocol::FrameStep& step, const ChunkPtr& chunk);
  void start_request(const protocol::FrameStep& step, const ChunkPtr& chunk);
  enum class NextStep : uint8_t { finish, run, run_blocking };
  // Decodes and plans. The caller stores an error as the request's result.
  base::Result<NextStep> decode_and_plan(InFlightRequest& request, const protocol::FrameStep& step);
  void begin_trace(InFlightRequest& request);
  void run(InFlightRequest* request, bool may_block);
  void record_finished(const InFlightRequest& request);
  void answer_finished(const InFlightRequest& request);
  // Submits to the pool. Returns false when its queue is full.
  bool submit(InFlightRequest& request);
  static base::Error queue_full_error();

  // --- login.cc: authentication.

  void handle_auth_response(const protocol::FrameStep& step, protocol::BytesView body);
  void submit_login(InFlightRequest* request);
  void submit_login_after(auth::Attempts::Duration wait, InFlightRequest* request);
  void fail_login(InFlightRequest* request, base::Error why);
  void finish_login(const InFlightRequest& request);
  // Counts and logs a finished statement. Not for logins, which have no result.
  void count_finished(const InFlightRequest& request);
  void on_login_result(int16_t stream, std::string_view identity,
                       const base::Result<const auth::Login*>& login);
  void refuse_login(int16_t stream, std::string_view identity, const base::Error& why);
  void answer_authenticate(int16_t stream);
  void answer_auth_success(int16_t stream);

  // Calls `answer`. If it throws, discards its partial output and sends an error on that stream instead.
  template <typename Answer>
  void answer_or_fail(int16_t stream, Answer&& answer);
  // Runs work that belongs to no single request. If it throws, closes the connection.
  template <typename Work>
  void run_or_close(Work&& work);
  void close_after(const base::Error& thrown);
  // A position in the output, to which answer_thrown() truncates. Nothing is sent in between.
  struct OutputMark {
    size_t chunks, size;
  };
  OutputMark mark_output() const { return {full_.size(), (has_segments_ ? frames_ : out_).size()}; }
  void answer_thrown(int16_t stream, const base::Error& thrown, OutputMark before);

  // --- answer.cc: results to bytes.

  void answer_error(int16_t stream, const base::Error& error, const engine::RequestTrace* trace = nullptr);
  // The same for a request that ran, with the protocol's extra fields for failures.
  void answer_failure(const InFlightRequest& request, const base::Error& error);
  void answer_error(int16_t stream, const protocol::ErrorMessage& message, const engine::RequestTrace* trace);
  void answer_empty(int16_t stream, protocol::Opcode opcode);
  void answer_result(const InFlightRequest& request, const execute::ResultSet& result);
  void answer_prepared(const InFlightRequest& request);

  Reactor& reactor_;
  boost::asio::ip::tcp::socket socket_;
  uint32_t references_ = 0;

  ReceiveBuffer in_;
  size_t discard_ = 0;       // remaining bytes of a refused frame, to be skipped
  size_t frame_wanted_ = 0;  // size of the incomplete frame or segment at the front
  // A message up to this size is not counted: every connection has a receive buffer of that size.
  static constexpr size_t uncounted_message_bytes = 4096;
  Incoming reserved_;  // for the incomplete message
  // The incomplete message whose progress is watched: since when (zero: none), its position in the stream,
  // and how many bytes had been received when the watch began.
  std::chrono::steady_clock::time_point incoming_since_;
  uint64_t incoming_began_ = 0, received_before_ = 0;
  uint64_t large_began_ = 0;  // position of large_ in the stream
  // Protocol v5, after STARTUP: the rest of the segment that is being parsed, and the incomplete frame that
  // earlier segments began.
  ChunkPtr payload_chunk_;
  protocol::BytesView payload_;
  protocol::LargeFrame large_;
  base::Bytes frames_;  // responses that are not in segments yet
  // Responses to send: first the chunks in full_, then out_. A full buffer moves to full_, so that its bytes
  // are not copied again when out_ grows.
  static constexpr size_t chunk_bytes = 256u << 10;
  std::deque<base::Bytes> full_;
  size_t full_bytes_ = 0;
  base::Bytes out_;
  size_t out_sent_ = 0;  // bytes of the first chunk that have been sent
  size_t requests_ = 0;
  size_t request_bytes_ = 0;
  BlockingPool::Line line_, login_line_;  // in Shared::pool and Shared::login_pool
  bool is_reading_ = false;
  bool is_stopped_ = false;   // parsing and reading have stopped: at a limit, or at the end of the turn
  bool is_at_limit_ = false;  // stopped at a limit of this connection, not at a limit of all
  bool is_waiting_writable_ = false;
  bool is_marked_unsent_ = false;
  bool is_marked_starved_ = false;
  bool is_draining_ = false;
  bool is_resting_ = false;             // idle, without spare receive memory
  std::atomic<bool> is_closed_{false};  // stage_ == Stage::closed, for other threads
  std::chrono::steady_clock::time_point deadline_;
  std::chrono::steady_clock::time_point last_received_;  // when bytes were last received
  std::chrono::steady_clock::time_point paused_until_;   // set by the limit on requests per second
  std::chrono::steady_clock::time_point unsent_since_;   // start of the watch on unsent bytes; zero: none
  uint64_t acknowledged_before_ = 0;                     // bytes acknowledged when that watch began
  std::chrono::steady_clock::time_point behind_since_;   // see mark_client_behind(); zero: not behind
  // This connection's part of the reactor's unsent bytes. Written only by the reactor's thread.
  std::atomic<size_t> counted_unsent_{0};
  std::atomic<size_t> waiting_bytes_{0};  // of results that wait for the reactor
  // The number of requests that pool threads have started and not finished, and the expected size of one of
  // their results.
  std::atomic<size_t> producing_{0}, expected_bytes_{0};
  size_t pool_requests_ = 0;  // submitted to Shared::pool and not finished
  // By time `at`, `position` bytes had arrived, including those in the kernel's buffer. So bytes before that
  // position have waited at least since `at`.
  struct Mark {
    std::chrono::steady_clock::time_point at;
    uint64_t position;
  };
  std::deque<Mark> marks_;
  uint64_t received_ = 0;  // bytes read from the socket, after decryption
  // The current turn: when it began, and how many frames it has handled.
  std::chrono::steady_clock::time_point turn_began_;
  uint32_t taken_ = 0;
  bool is_yielded_ = false;  // the turn ended with work left; resumes after the other connections' turns

  std::unique_ptr<TlsStream> tls_;  // nullptr: not encrypted
  bool tls_has_more_ = false;       // tls_ may hold bytes that it has already read from the socket
  PeerCertificate peer_;

  Stage stage_ = Stage::expecting_startup;
  bool wants_schema_events_ = false;
  bool throws_on_overload_ = false;  // STARTUP asked for errors instead of back-pressure
  protocol::Version version_ = protocol::newest_version;
  bool has_segments_ = false;
  protocol::Compression compression_ = protocol::Compression::none;          // of bodies
  protocol::Compression segment_compression_ = protocol::Compression::none;  // of segments
  std::string keyspace_;
  const auth::Login* login_ = nullptr;  // nullptr before the login, and on servers without logins
  bool is_logging_in_ = false;
  bool is_unauthenticated_ = false;  // in the reactor's list of connections that have not logged in
  std::list<Connection*>::iterator unauthenticated_position_;
  std::unique_ptr<boost::asio::steady_timer> login_timer_;  // delays a login attempt
  ClientList::Entry client_;
  RedefinedStatements redefined_statements_;

  friend class Reactor;
};

template <typename Answer>
void Connection::answer_or_fail(int16_t stream, Answer&& answer) {
  const OutputMark before = mark_output();
  if (const base::Status status = base::contain(std::forward<Answer>(answer)); !status)
    answer_thrown(stream, status.error(), before);
}

template <typename Work>
void Connection::run_or_close(Work&& work) {
  if (const base::Status status = base::contain(std::forward<Work>(work)); !status)
    close_after(status.error());
}

// Runs a request that may block. Called on a thread of Shared::pool.
void run_blocking(InFlightRequest& request);
// The admission policy of that pool: limits how far results are produced ahead of what the client reads.
BlockingPool::Admission results_admission();
// Checks a password. Called on a thread of Shared::login_pool.
void run_login(InFlightRequest& request);

}  // namespace sibyl::server
