// One client. Lives on its reactor's thread.
//
// It is destroyed when the reactor has removed it and its last call and socket operation have finished.
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
#include "server/call.h"
#include "server/reactor.h"
#include "server/receive_buffer.h"
#include "server/redefined_statements.h"
#include "server/tls_stream.h"

namespace sibyl::server {

class Connection {
 public:
  // `address`: the client's, numeric.
  Connection(Reactor& reactor, boost::asio::ip::tcp::socket socket, std::string address);
  ~Connection();

  void start();
  // The reactor's tick: closes connections that took too long to say hello, to read what we say or to ask
  // anything, and takes the memory of those that rest.
  void check_deadline(std::chrono::steady_clock::time_point now);
  void publish(const protocol::SchemaChange& change);
  void begin_drain();
  void close();
  // Goes on parsing and reading where a limit stopped it.
  void resume();

  // A call has its result: appends the answer. The reactor sends at the end of the round.
  void finish(Call* call);
  // For a thread of the pool that found that a call takes long: it waits there again, among such calls.
  void submit_again(Call& call);
  void send();

  // Its client is gone, or has not taken so much that nothing more should be produced for it. Thread-safe.
  bool is_overloaded() const;
  // Whether a thread of the pool may start the call: its client takes its results. Then it is counted until
  // finish(). Called by one thread at a time.
  bool try_start(Call& call);
  // STARTUP asked for OVERLOADED instead of back-pressure. Does not change while calls are in flight.
  bool throws_on_overload() const { return throws_on_overload_; }
  // Refuses the requests that wait until the client has taken earlier results.
  void refuse_held();
  // Its client has gone. Any thread.
  bool is_closed() const { return is_closed_.load(std::memory_order_relaxed); }
  // A result waits for the reactor, or no longer. Any thread.
  void add_waiting(size_t bytes) { waiting_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  void remove_waiting(size_t bytes) { waiting_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
  // Numeric, without the port.
  const std::string& address() const { return client_.description.address; }
  RedefinedStatements& redefined_statements() { return redefined_statements_; }
  // Who the client's certificate says it is; empty without one.
  const PeerCertificate& peer_certificate() const { return peer_; }

  friend void intrusive_ptr_add_ref(Connection* connection) { ++connection->references_; }
  friend void intrusive_ptr_release(Connection* connection) {
    if (--connection->references_ == 0) delete connection;
  }

 private:
  enum class Stage : uint8_t { expecting_startup, authenticating, ready, lingering, closed };

  // connection.cc: bytes.
  void read();
  void received(size_t size);
  void parse();
  // Each takes one step; false: more bytes are needed, or a limit was reached.
  bool parse_frame();
  bool parse_payload();
  bool parse_segment();
  void take_large(protocol::BytesView payload);
  void take_frame(const protocol::FrameStep& step, const ChunkPtr& chunk);
  void skip_discarded();
  // Last words: the connection ends.
  void fail(int16_t stream, const base::Error& error);
  void wrap_frames();
  // How long a message's body may be.
  size_t frame_limit() const;
  bool is_over(size_t divisor);
  bool must_stop();
  bool must_wait() const;
  void begin_turn();
  bool is_turn_over() const;
  void yield();
  void wait_writable();
  enum class Sent { some, would_block, failed };
  Sent write_some(size_t& size);
  void sent_all();
  void linger();
  // Where answers are appended.
  base::Bytes& output() {
    if (out_.size() >= chunk_bytes) set_aside();
    base::Bytes& out = has_segments_ ? frames_ : out_;
    if (out.empty()) out = reactor_.take_buffer();
    return out;
  }
  void set_aside();
  size_t unsent() const { return full_bytes_ + out_.size() - out_sent_ + frames_.size(); }

  // connection_tls.cc: the encrypted way in and out.
  void look_for_tls();
  void choose_tls();
  void refuse_plain(std::string_view start);
  void shake_hands();
  void begin_encrypted();
  void read_encrypted();
  void receive_encrypted();

  // connection_watch.cc: who takes too long.
  // `held` of a message's `size` bytes have come: what they take is counted until it is here. Where all that
  // have begun would take too much, nothing more is read until others are done: false.
  bool reserve(size_t held, size_t size);
  void release_reserved();
  // For large_, of which there is some.
  bool has_room_for_large();
  void watch_incoming(std::chrono::steady_clock::time_point now);
  void watch(std::chrono::steady_clock::time_point now);
  // Results of this connection, in bytes, that the client has not taken. Thread-safe.
  size_t held_bytes() const {
    return counted_unsent_.load(std::memory_order_relaxed) + waiting_bytes_.load(std::memory_order_relaxed);
  }
  // How many of them there may be before nothing more is produced.
  size_t held_limit() const;
  // All together hold too many answers, and this one has so many of them. Any thread.
  bool holds_too_much(size_t unsent) const;
  void watch_unsent(std::chrono::steady_clock::time_point now);
  // Requests wait because the client takes its results slowly, or no longer. That time does not count as
  // waiting for the server, nor does the time that the server spends on this connection.
  void mark_client_behind(bool is_behind);
  void end_turn();
  void excuse(std::chrono::steady_clock::duration time);
  // Lets the pool start the connection's calls again once the client has taken enough.
  void release_line();
  void leave_pool(const Call& call);
  void rest();
  void wait_readable();
  // Once something has come, without room for it until then.
  void when_readable(void (Connection::*then)());
  void count_unsent();
  // Bytes wait for their turn: remembers since when.
  void mark_waiting();
  // What comes next has waited longer than is tolerated.
  bool is_stale();
  // Why a request must not start now: a limit was crossed and the client prefers to be told.
  std::optional<base::Error> refusal();

  // session.cc: messages.
  void handle(const protocol::FrameStep& step, const ChunkPtr& chunk);
  base::Status check_stage(const protocol::Header& header);
  base::Status open_body(const protocol::Header& header, protocol::BytesView& body,
                         base::Bytes& decompressed) const;
  void handle_startup(const protocol::Header& header, protocol::BytesView body);
  base::Status apply_startup(protocol::BytesView body);
  void handle_options(const protocol::Header& header);
  void handle_register(const protocol::Header& header, protocol::BytesView body);
  // A call that is counted from now on.
  Call* take_call(const protocol::FrameStep& step, const ChunkPtr& chunk);
  void start_call(const protocol::FrameStep& step, const ChunkPtr& chunk);
  enum class NextStep : uint8_t { finish, run, run_blocking };
  // Decodes and plans. An error is the call's result.
  base::Result<NextStep> begin_call(Call& call, const protocol::FrameStep& step);
  void begin_trace(Call& call);
  void run(Call* call, bool may_block);
  void record_finished(const Call& call);
  void answer_finished(const Call& call);
  bool submit(Call& call);  // to the pool; false when too many wait
  static base::Error no_thread();

  // login.cc: who the client is.
  void handle_auth_response(const protocol::FrameStep& step, protocol::BytesView body);
  void submit_login(Call* call);
  void submit_login_after(auth::Attempts::Duration wait, Call* call);
  void fail_login(Call* call, base::Error why);
  void finish_login(const Call& call);
  // Of a statement, which has a result; a login has none.
  void count_finished(const Call& call);
  void logged_in(int16_t stream, std::string_view who, const base::Result<const auth::Login*>& login);
  void refuse_login(int16_t stream, std::string_view who, const base::Error& why);
  void answer_authenticate(int16_t stream);
  void answer_auth_success(int16_t stream);

  // What `answer` throws becomes an error for that stream: nothing of what it had written is sent.
  template <typename Answer>
  void answer_or_fail(int16_t stream, Answer&& answer);
  // Runs what is not one request's; if it throws, the connection ends.
  template <typename Work>
  void run_or_close(Work&& work);
  void close_after(const base::Error& thrown);
  // How much has been written by now. Nothing is sent in between.
  struct OutputMark {
    size_t chunks, size;
  };
  OutputMark mark_output() const { return {full_.size(), (has_segments_ ? frames_ : out_).size()}; }
  void answer_thrown(int16_t stream, const base::Error& thrown, OutputMark before);

  // answer.cc: results to bytes.
  void answer_error(int16_t stream, const base::Error& error, const engine::RequestTrace* trace = nullptr);
  // The same for a call that ran, with what the protocol tells of failures.
  void answer_failure(const Call& call, const base::Error& error);
  void answer_error(int16_t stream, const protocol::ErrorMessage& message, const engine::RequestTrace* trace);
  void answer_empty(int16_t stream, protocol::Opcode opcode);
  void answer_result(const Call& call, const execute::ResultSet& result);
  void answer_prepared(const Call& call);

  Reactor& reactor_;
  boost::asio::ip::tcp::socket socket_;
  uint32_t references_ = 0;

  ReceiveBuffer in_;
  size_t discard_ = 0;                          // bytes of a refused frame still to come
  size_t frame_wanted_ = 0;                     // size of the incomplete frame or segment at the front
  static constexpr size_t free_message = 4096;  // no more than a connection has anyway
  Incoming reserved_;                           // for a message that has begun to come
  // What has begun to come, by where it began; watched from then on, unless zero.
  std::chrono::steady_clock::time_point incoming_since_;
  uint64_t incoming_began_ = 0, received_before_ = 0;
  uint64_t large_began_ = 0;  // where large_ did
  // v5, once STARTUP is answered: what is left of the segment that is being read, and the frame that the
  // segments before it have begun.
  ChunkPtr payload_chunk_;
  protocol::BytesView payload_;
  protocol::LargeFrame large_;
  base::Bytes frames_;  // answers that are not in segments yet
  // Answers to send: first those set aside, so that what waits is not copied again and again as more comes.
  static constexpr size_t chunk_bytes = 256u << 10;
  std::deque<base::Bytes> full_;
  size_t full_bytes_ = 0;
  base::Bytes out_;
  size_t out_sent_ = 0;  // of the first of them
  size_t calls_ = 0;
  size_t call_bytes_ = 0;
  BlockingPool::Line line_, login_line_;  // for a thread of the pool, and of that for logins
  bool is_reading_ = false;
  bool is_stopped_ = false;   // a limit was reached, or others have their turn: neither parse nor read
  bool is_at_limit_ = false;  // its own; stopped for another reason it is not
  bool is_waiting_writable_ = false;
  bool is_marked_unsent_ = false;
  bool is_marked_starved_ = false;
  bool is_draining_ = false;
  bool is_resting_ = false;             // waits without spare memory to receive into
  std::atomic<bool> is_closed_{false};  // for other threads
  std::chrono::steady_clock::time_point deadline_;
  std::chrono::steady_clock::time_point heard_;         // when bytes last came
  std::chrono::steady_clock::time_point paused_until_;  // by the limit of requests per second
  std::chrono::steady_clock::time_point unsent_since_;  // watched from then on, unless zero
  uint64_t acknowledged_before_ = 0;                    // by then
  std::chrono::steady_clock::time_point behind_since_;  // mark_client_behind(); zero: it is not
  // What the reactor's sum holds of this connection. Written by the reactor's thread alone.
  std::atomic<size_t> counted_unsent_{0};
  std::atomic<size_t> waiting_bytes_{0};  // of results that wait for the reactor
  // Calls that threads of the pool have started and that are not finished, and how large such a result is
  // expected to be.
  std::atomic<size_t> producing_{0}, expected_bytes_{0};
  size_t pool_calls_ = 0;  // submitted to the pool for requests and not finished
  // A moment, and how many bytes had come by then, those in the kernel included: what is parsed before that
  // many has waited since then at least.
  struct Mark {
    std::chrono::steady_clock::time_point at;
    uint64_t position;
  };
  std::deque<Mark> marks_;
  uint64_t received_ = 0;  // bytes taken from the socket, decrypted
  // This connection's turn: when it began, and how many frames were taken since.
  std::chrono::steady_clock::time_point turn_began_;
  uint32_t taken_ = 0;
  bool is_yielded_ = false;  // the turn was long: it goes on when others have had theirs

  std::unique_ptr<TlsStream> tls_;  // nullptr: plain
  bool tls_has_more_ = false;       // it may hold bytes that it has taken from the socket already
  PeerCertificate peer_;

  Stage stage_ = Stage::expecting_startup;
  bool wants_schema_events_ = false;
  bool throws_on_overload_ = false;  // STARTUP said so: errors instead of back-pressure
  protocol::Version version_ = protocol::newest_version;
  bool has_segments_ = false;
  protocol::Compression compression_ = protocol::Compression::none;          // of bodies
  protocol::Compression segment_compression_ = protocol::Compression::none;  // of segments
  std::string keyspace_;
  const auth::Login* login_ = nullptr;  // nullptr on servers without logins, and before
  bool is_logging_in_ = false;
  bool is_stranger_ = false;  // in the reactor's list of those that have not logged in
  std::list<Connection*>::iterator stranger_;
  std::unique_ptr<boost::asio::steady_timer> login_timer_;  // while an attempt has to wait
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

// On a thread of the pool: runs a call that may block.
void run_blocking(Call& call);
// For that pool: nothing is produced far ahead of what its client takes.
BlockingPool::Admission results_admission();
// On a thread of the pool for logins.
void run_login(Call& call);

}  // namespace sibyl::server
