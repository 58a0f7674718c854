// A reactor: one thread, the connections that it owns, and the state that all reactors share.
//
//   acceptor ──▶ Reactor::adopt() ──▶ Connection ──▶ InFlightRequest ──▶ inline, or Shared::pool
//                                          ▲                                    │
//                                          └── finish() ◀── enqueue_completed() ◀─┘   (any thread)
//
// A round handles the events that are ready, then sends the responses of all connections that have some
// (send_marked). Within a round each connection has a turn of limited length, so that one client with many
// requests does not delay the others.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <thread>
#include <unordered_set>
#include <vector>

#include "auth/attempts.h"
#include "base/log_limit.h"
#include "base/mutex.h"
#include "engine/services.h"
#include "protocol/response.h"
#include "server/connection/buffer_pool.h"
#include "server/connection/flow_control.h"
#include "server/in_flight_request.h"
#include "server/monitoring/client_list.h"
#include "server/monitoring/request_log.h"
#include "server/monitoring/request_metrics.h"
#include "server/scheduling/blocking_pool.h"
#include "server/scheduling/connection_counts.h"
#include "server/scheduling/load.h"
#include "server/scheduling/pressure.h"
#include "server/scheduling/wake_event.h"
#include "server/server.h"
#include "server/tls/tls_context.h"

namespace sibyl::server {

// State shared by all reactors.
struct Shared {
  const engine::Services engine;
  const Limits limits;
  ServerLoad load{limits};
  std::unique_ptr<BlockingPool> pool{};
  std::unique_ptr<BlockingPool> login_pool{};  // on servers where clients log in
  auth::Attempts attempts{};
  std::vector<std::unique_ptr<Reactor>> reactors;
  std::unique_ptr<TlsContexts> tls;  // nullptr: TLS is off
  std::atomic<size_t> connections{0};
  std::atomic<uint64_t> connections_accepted{0}, connections_refused{0};
  ConnectionCounts per_address;
  ConnectionCounts logins_per_address;  // logins that are queued or running in login_pool
  ClientList clients;
  RequestLog request_log;
  std::chrono::steady_clock::duration slow_query{0};  // log requests that take longer; 0: log none
  RateLimiter rate{limits.requests_per_second};
  base::LogLimit refusal_log_limit{1};
  std::string node_address;                                  // the address that clients see: 4 or 16 bytes
  std::function<bool(const std::string& address)> is_relay;  // empty: no server relays

  std::atomic<bool> is_stopping{false};
  // During shutdown, signalled whenever a connection closes or a request finishes. The mutex guards no data.
  // It only prevents missed signals.
  base::Mutex shutdown_mutex;
  base::CondVar shutdown_progress;

  void notify_closed();
  // Called when an admitted connection has closed.
  void release_connection_slot(const std::string& address);
};

class Reactor {
 public:
  explicit Reactor(Shared& shared, unsigned number);
  ~Reactor();

  boost::asio::io_context& context() { return context_; }
  Shared& shared() { return shared_; }
  // Returns the reactor of the current thread, or nullptr.
  static Reactor* current();

  // --- Thread-safe.

  // Takes over an accepted connection. `address` is the client's.
  void adopt(boost::asio::ip::tcp::socket socket, std::string address);
  void publish(const schema::Change& change);
  void publish(const protocol::NodeChange& change);
  // The number of connections that have not logged in.
  size_t unauthenticated_connections() const {
    return unauthenticated_count_.load(std::memory_order_relaxed);
  }
  // Closes the oldest connection that has not logged in, if there is one.
  void close_oldest_unauthenticated();
  // Refuses the requests that are held until their clients have read earlier results.
  void refuse_held();
  // Stops reading. Connections close once their requests are answered.
  void begin_drain();
  // Closes every connection immediately.
  void abandon();
  // Ends the thread and waits for it. REQUIRES: no requests are in flight.
  void join();
  // Called when a request has its result. Queues it to be finished on this reactor's thread.
  void enqueue_completed(InFlightRequest& request);

  // See ReactorLoad for which of its methods are thread-safe.
  ReactorLoad& load() { return load_; }
  // See RequestMetrics for which of its methods are thread-safe.
  RequestMetrics& metrics() { return metrics_; }

  // --- Only on this reactor's thread.

  // The time of the last event. Requests that are read or answered together share one clock read.
  std::chrono::steady_clock::time_point now() const { return now_; }
  std::chrono::steady_clock::time_point update_now() { return now_ = std::chrono::steady_clock::now(); }
  InFlightRequest* take_request();
  void recycle(InFlightRequest* request);
  BufferPool& buffers() { return buffers_; }
  // The request that the executor is running on this thread, or nullptr.
  InFlightRequest* starting = nullptr;
  // Called when a request has finished. `bytes` is the size of its frame.
  void count_finished(size_t bytes);
  // Called when a connection has received bytes.
  void on_bytes_received(std::chrono::steady_clock::time_point now);
  // True if events have waited too long for this thread. New requests are then refused.
  bool is_late() const { return probe_.is_late(); }
  void remove(Connection& connection);
  void add_unauthenticated(Connection& connection);
  void remove_unauthenticated(Connection& connection);
  // Marks a connection that has responses to send at the end of this round.
  void mark_unsent(Connection& connection);
  // Ends a round: sends the responses of all marked connections.
  void send_marked();
  // Marks a connection that waits because a limit of all connections together was reached. It is retried
  // later.
  void mark_starved(Connection& connection);
  // Marks a connection whose turn has ended with work left. It resumes after the others.
  void mark_yielded(Connection& connection);
  FlowControl::Round round() const { return {turn_, !starved_.empty()}; }
  // Checks all connections at `deadline` or earlier.
  void arm_timer(std::chrono::steady_clock::time_point deadline);
  // Checks all connections within the shorter of Limits::rest_after and Limits::idle_timeout.
  void arm_sweep(std::chrono::steady_clock::time_point now);

 private:
  static constexpr std::chrono::microseconds max_turn{2'000}, min_turn{50};

  void run();
  void drain_completed();
  void retry_starved();
  void resume_after_yield();
  void measure(std::chrono::steady_clock::time_point now);
  void tick();

  Shared& shared_;
  ReactorLoad& load_;
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::steady_timer timer_;
  LagProbe probe_;
  std::atomic<InFlightRequest*> completed_{nullptr};
  WakeEvent completed_event_;                     // notified after a request was added to an empty completed_
  std::unordered_set<Connection*> connections_;   // the set holds one reference to each connection
  std::list<Connection*> unauthenticated_;        // connections that have not logged in, oldest first
  std::atomic<size_t> unauthenticated_count_{0};  // the size of unauthenticated_, which other threads read
  std::vector<ConnectionPtr> unsent_, scratch_;
  // Connections that mark_starved() was called for. Those that were served during a retry go to served_,
  // which becomes the end of the list.
  std::vector<ConnectionPtr> starved_, served_;
  bool is_retrying_ = false;
  std::vector<ConnectionPtr> yielded_;
  // The length of a turn. It shrinks when many connections have work, which bounds the length of a round.
  std::chrono::steady_clock::duration turn_ = max_turn;
  std::vector<std::unique_ptr<InFlightRequest>> free_requests_;
  BufferPool buffers_;
  bool is_draining_ = false;
  bool is_timer_armed_ = false;
  size_t finished_ = 0;  // requests since measured_
  std::chrono::steady_clock::time_point measured_;
  std::chrono::steady_clock::time_point now_ = std::chrono::steady_clock::now();
  RequestMetrics metrics_;
  std::thread thread_;
};

}  // namespace sibyl::server
