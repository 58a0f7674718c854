// A thread with its connections.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <vector>

#include "auth/attempts.h"
#include "base/log_limit.h"
#include "engine/engine.h"
#include "server/blocking_pool.h"
#include "server/call.h"
#include "server/client_list.h"
#include "server/connection_counts.h"
#include "server/pressure.h"
#include "server/request_log.h"
#include "server/request_metrics.h"
#include "server/server.h"
#include "server/tls_context.h"

namespace sibyl::server {

class Reactor;

// Messages that have not come whole. A length that is claimed is not believed at once: of the first part of a
// message what is here counts. Who has sent more gets room for all of it, so that it can end whatever the
// others do.
struct Incoming {
  size_t begun = 0, whole = 0;  // bytes

  size_t bytes() const { return begun + whole; }
};

// What all reactors share.
struct Shared {
  engine::Engine& engine;
  const Limits limits;
  std::unique_ptr<BlockingPool> pool;
  std::unique_ptr<BlockingPool> login_pool;  // on servers where clients log in
  auth::Attempts attempts;
  std::vector<std::unique_ptr<Reactor>> reactors;
  std::unique_ptr<TlsContexts> tls;  // nullptr: plain connections alone
  std::atomic<size_t> connections{0};
  std::atomic<uint64_t> connections_accepted{0}, connections_refused{0};
  ConnectionCounts per_address;
  ConnectionCounts logins_per_address;  // in the pool for logins
  ClientList clients;
  RequestLog request_log;
  std::chrono::steady_clock::duration slow_query{0};  // 0: none are told of
  RateLimiter rate{limits.requests_per_second};
  base::LogLimit refusals_told{1};
  std::string node_address;  // as clients are told of it: 4 or 16 bytes

  // Stopping: told when a connection or a call has gone.
  std::atomic<bool> is_stopping{false};
  std::mutex mutex;
  std::condition_variable gone;

  size_t bytes_in_flight() const;
  size_t calls() const;
  // Answers that wait for their clients or for their reactor.
  size_t unsent_bytes() const;
  Incoming incoming() const;
  // All connections together hold as much as they may.
  bool is_full() const;
  void tell_gone();
  // A connection that was admitted has gone.
  void discount_connection(const std::string& address);
};

class Reactor {
 public:
  explicit Reactor(Shared& shared, unsigned number);
  ~Reactor();

  boost::asio::io_context& context() { return context_; }
  Shared& shared() { return shared_; }
  // The reactor whose thread this is, or nullptr.
  static Reactor* current();

  // --- Any thread.
  // `address`: the client's.
  void adopt(boost::asio::ip::tcp::socket socket, std::string address);
  void publish(const schema::Change& change);
  // Connections that have not logged in, and closing the one that has been so for longest, if any.
  size_t strangers() const { return stranger_count_.load(std::memory_order_relaxed); }
  void close_oldest_stranger();
  // Refuses the requests that wait until their clients have taken earlier results.
  void refuse_held();
  // Reads nothing more; connections close as their requests are answered.
  void begin_drain();
  // Closes every connection at once.
  void abandon();
  // Ends the thread. REQUIRES: no calls are in flight.
  void join();
  // A call has its result: it is finished on this reactor's thread, with others that completed meanwhile.
  void completed(Call& call);

  // Requests started and not finished, and the bytes of their frames.
  size_t calls() const { return calls_.load(std::memory_order_relaxed); }
  size_t bytes_in_flight() const { return bytes_in_flight_.load(std::memory_order_relaxed); }
  size_t unsent_bytes() const {
    return unsent_bytes_.load(std::memory_order_relaxed) + result_bytes_.load(std::memory_order_relaxed);
  }

  Incoming incoming() const {
    return {begun_bytes_.load(std::memory_order_relaxed), whole_bytes_.load(std::memory_order_relaxed)};
  }

  // Calls that wait in the pool until their client has taken earlier results.
  size_t held_calls() const { return held_calls_.load(std::memory_order_relaxed); }
  void count_held(ptrdiff_t change) {
    held_calls_.fetch_add(static_cast<size_t>(change), std::memory_order_relaxed);
  }

  RequestMetrics& metrics() { return metrics_; }  // see there who may do what

  // --- This reactor's thread.
  // The moment of the last event: requests that are read or answered together share a look at the clock.
  std::chrono::steady_clock::time_point now() const { return now_; }
  std::chrono::steady_clock::time_point look_at_clock() { return now_ = std::chrono::steady_clock::now(); }
  Call* take_call();
  void give_back(Call* call);
  // Memory for answers, so that connections with nothing to send hold none.
  base::Bytes take_buffer();
  void give_buffer(base::Bytes buffer);
  // The call that is inside engine.execute() on this thread, or nullptr.
  Call* starting = nullptr;
  void count_call(size_t bytes);
  void discount_call(size_t bytes);
  void count_unsent(size_t before, size_t now);
  void count_incoming(Incoming before, Incoming now);
  // A burst of requests has come.
  void heard(std::chrono::steady_clock::time_point now);
  // As many calls are in flight as can be finished while others may have to wait (pressure.h). Those that
  // wait until their client has taken earlier results hold up no others.
  bool is_full() const { return calls() >= call_limit_ + held_calls() || shared_.is_full(); }
  bool has_starved() const { return !starved_.empty(); }
  // Requests have waited too long for this thread: those that come now are refused.
  bool is_late() const { return probe_.is_late(); }
  void remove(Connection& connection);
  void add_stranger(Connection& connection);
  void remove_stranger(Connection& connection);
  // The connection has answers to send at the end of this round.
  void mark_unsent(Connection& connection);
  // Ends a round.
  void send_marked();
  // All connections together hold too much: try this one again later.
  void mark_starved(Connection& connection);
  // The connection has had its turn, and more to do: it goes on after the others.
  void mark_yielded(Connection& connection);
  // How long a turn is. The more connections have more to do, the shorter, so that nobody waits long.
  std::chrono::steady_clock::duration turn() const { return turn_; }
  // Some connection has a deadline: it is checked then.
  void arm_timer(std::chrono::steady_clock::time_point deadline);
  // All connections are looked at within the time after which they rest.
  void arm_sweep(std::chrono::steady_clock::time_point now);

 private:
  static constexpr std::chrono::microseconds longest_turn{2'000}, shortest_turn{50};

  void run();
  void drain_completed();
  void retry_starved();
  void go_on_yielded();
  void measure(std::chrono::steady_clock::time_point now);
  void tick();

  Shared& shared_;
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::steady_timer timer_;
  LagProbe probe_;
  std::atomic<Call*> completed_{nullptr};
  std::unordered_set<Connection*> connections_;  // each counted once by reference
  std::list<Connection*> strangers_;             // those that have not logged in, oldest first
  std::atomic<size_t> stranger_count_{0};        // of them
  std::vector<ConnectionPtr> unsent_, scratch_;
  // Who waits for others to be served, and who of them has just had its turn.
  std::vector<ConnectionPtr> starved_, served_;
  bool is_retrying_ = false;
  std::vector<ConnectionPtr> yielded_;
  std::chrono::steady_clock::duration turn_ = longest_turn;
  std::vector<std::unique_ptr<Call>> free_calls_;
  std::vector<base::Bytes> spare_buffers_;
  bool is_draining_ = false;
  bool is_timer_armed_ = false;
  size_t call_limit_;
  size_t finished_ = 0;  // calls, since they were last counted
  std::chrono::steady_clock::time_point measured_;
  std::chrono::steady_clock::time_point now_ = std::chrono::steady_clock::now();
  RequestMetrics metrics_;
  // Written by this reactor's thread alone, so that counting costs no locked instruction.
  alignas(64) std::atomic<size_t> calls_{0};
  std::atomic<size_t> bytes_in_flight_{0};
  std::atomic<size_t> unsent_bytes_{0};
  std::atomic<size_t> begun_bytes_{0}, whole_bytes_{0};
  // Of results that wait in completed_. Any thread.
  alignas(64) std::atomic<size_t> result_bytes_{0};
  std::atomic<size_t> held_calls_{0};
  std::thread thread_;
};

}  // namespace sibyl::server
