// Limits how far the results of one connection are produced ahead of what its client reads.
//
// Requests that run on the pool wait in the connection's line. While the client holds too many unread results
// the line is held, so its requests do not start. A result that is being produced counts with an expected
// size. When nothing is held and nothing runs, a request may always start, whatever the size of its result.
//
// Clients whose STARTUP asked for OVERLOADED errors are not held: their requests are refused when they start
// (run_request.h).
#pragma once

#include <atomic>
#include <cstddef>

#include "server/limits.h"
#include "server/scheduling/blocking_pool.h"
#include "server/scheduling/load.h"

namespace sibyl::server {

class ResultBacklog {
 public:
  // The arguments must outlive this object. `own` is the load of the connection's reactor.
  ResultBacklog(const Limits& limits, const ServerLoad& server, ReactorLoad& own, BlockingPool& pool)
      : limits_(limits), server_(server), own_(own), pool_(pool) {}
  ResultBacklog(const ResultBacklog&) = delete;
  ResultBacklog& operator=(const ResultBacklog&) = delete;

  // --- Thread-safe.

  // Bytes of results that the client has not read.
  size_t held() const {
    return unsent_.load(std::memory_order_relaxed) + waiting_.load(std::memory_order_relaxed);
  }
  // Count the bytes of results that wait for the reactor's thread.
  void add_waiting(size_t bytes) {
    waiting_.fetch_add(bytes, std::memory_order_relaxed);
    own_.add_waiting(bytes);
  }
  void remove_waiting(size_t bytes) {
    waiting_.fetch_sub(bytes, std::memory_order_relaxed);
    own_.remove_waiting(bytes);
  }
  size_t waiting() const { return waiting_.load(std::memory_order_relaxed); }
  // True if the client has disconnected, or no more results should be produced for it.
  bool is_full() const;
  // True if all connections together hold too many unread bytes, and `bytes` of one connection are a large
  // share of them.
  bool holds_too_much(size_t bytes) const;
  // True once the client has disconnected.
  bool is_closed() const { return is_closed_.load(std::memory_order_relaxed); }
  // True if the client asked for OVERLOADED errors. Does not change while requests are in flight.
  bool throws_on_overload() const { return throws_on_overload_; }

  // --- For the pool. Called by one thread at a time.

  // Returns true if the request may start. Then it counts until leave().
  bool try_start(InFlightRequest& request);
  // Puts a request in the line. Returns false if the pool's queue is full.
  bool submit(InFlightRequest& request) { return pool_.submit(line_, request); }

  // --- Only on the reactor's thread.

  void set_throws_on_overload(bool throws) { throws_on_overload_ = throws; }
  // Called for each request before its first submit(), and once it has finished or was refused.
  void enter() { ++pool_requests_; }
  void leave(const InFlightRequest& request);
  // True while requests wait because the client reads its results slowly.
  bool is_held() const { return pool_requests_ > 0 && line_.is_held(); }
  // Lets the line's requests start again once the client has read enough.
  void release_if_read();
  // Removes the requests of a held line; see BlockingPool::take_held().
  InFlightRequest* take_held() { return pool_requests_ == 0 ? nullptr : pool_.take_held(line_); }
  // Sets the bytes of responses that are to be sent.
  void set_unsent(size_t bytes) {
    own_.count_unsent(unsent(), bytes);
    unsent_.store(bytes, std::memory_order_relaxed);
  }
  size_t unsent() const { return unsent_.load(std::memory_order_relaxed); }
  // Called when the client has disconnected. Releases all held requests, which then start and are
  // cancelled.
  void close();

 private:
  // The number of bytes held at which no more results are produced.
  size_t limit() const;
  size_t expected() const { return producing_ * expected_bytes_; }

  const Limits& limits_;
  const ServerLoad& server_;
  ReactorLoad& own_;
  BlockingPool& pool_;
  BlockingPool::Line line_;
  size_t pool_requests_ = 0;  // requests that have entered and not left
  bool throws_on_overload_ = false;
  std::atomic<bool> is_closed_{false};
  std::atomic<size_t> unsent_{0};  // written only by the reactor's thread
  std::atomic<size_t> waiting_{0};
  // The number of requests that pool threads have started and not finished, and the expected size of one
  // result.
  std::atomic<size_t> producing_{0}, expected_bytes_{0};
};

}  // namespace sibyl::server
