// The server's current load: requests in flight, and the memory of incomplete messages and of results that
// clients have not read.
//
// Each reactor counts its own share (ReactorLoad), so that counting needs no locked instruction. ServerLoad
// adds the shares up. A sum is not a snapshot: the shares may change while they are added.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "server/limits.h"

namespace sibyl::server {

// Memory of incomplete messages, in bytes. A message first counts by the bytes received, because the length
// that its client claims is not trusted yet. Once enough of it has arrived it counts with its whole length.
// That reservation guarantees that the message can complete, whatever other clients send.
struct Incoming {
  size_t begun = 0;  // messages that count by the bytes received
  size_t whole = 0;  // messages that count with their whole length

  size_t bytes() const { return begun + whole; }
};

// The part of the load that one reactor counts.
class ReactorLoad {
 public:
  explicit ReactorLoad(size_t max_requests) : max_requests_(max_requests) {}

  // --- Thread-safe.

  size_t requests() const { return requests_.load(std::memory_order_relaxed); }
  // The bytes of the frames of these requests.
  size_t request_bytes() const { return request_bytes_.load(std::memory_order_relaxed); }
  // Bytes of results that wait for their clients or for the reactor's thread.
  size_t unsent_bytes() const {
    return unsent_bytes_.load(std::memory_order_relaxed) + waiting_bytes_.load(std::memory_order_relaxed);
  }
  Incoming incoming() const {
    return {begun_bytes_.load(std::memory_order_relaxed), whole_bytes_.load(std::memory_order_relaxed)};
  }
  // The number of requests that are held in the pool until their client has read earlier results.
  size_t held_requests() const { return held_requests_.load(std::memory_order_relaxed); }
  void count_held(ptrdiff_t change) {
    held_requests_.fetch_add(static_cast<size_t>(change), std::memory_order_relaxed);
  }
  // Count the bytes of results that wait for the reactor's thread.
  void add_waiting(size_t bytes) { waiting_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  void remove_waiting(size_t bytes) { waiting_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

  // --- Only on the reactor's thread.

  void add_request(size_t frame_bytes) {
    add(requests_, 1);
    add(request_bytes_, frame_bytes);
  }
  void remove_request(size_t frame_bytes) {
    request_bytes_.store(request_bytes() - frame_bytes, std::memory_order_relaxed);
    requests_.store(requests() - 1, std::memory_order_release);
  }
  // Replaces one connection's share of a sum: subtracts `before` and adds `now`.
  void count_unsent(size_t before, size_t now) { add(unsent_bytes_, now - before); }
  void count_incoming(Incoming before, Incoming now) {
    add(begun_bytes_, now.begun - before.begun);
    add(whole_bytes_, now.whole - before.whole);
  }
  // Above this number of requests, one more would make others wait too long (pressure.h).
  void set_max_requests(size_t max_requests) { max_requests_ = max_requests; }
  // True if the number of requests is at its limit. Held requests do not count, because they delay no others.
  bool is_full() const { return requests() >= max_requests_ + held_requests(); }

 private:
  // `change` may be negative, as a number modulo 2^64.
  static void add(std::atomic<size_t>& count, size_t change) {
    count.store(count.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
  }

  size_t max_requests_;
  // Written only by the reactor's thread.
  alignas(64) std::atomic<size_t> requests_{0};
  std::atomic<size_t> request_bytes_{0};
  std::atomic<size_t> unsent_bytes_{0};
  std::atomic<size_t> begun_bytes_{0}, whole_bytes_{0};
  // These are written by any thread.
  alignas(64) std::atomic<size_t> waiting_bytes_{0};
  std::atomic<size_t> held_requests_{0};
};

// All reactors together. Thread-safe, except for add_reactor().
class ServerLoad {
 public:
  explicit ServerLoad(const Limits& limits) : limits_(limits) {}

  // The result lives as long as this object. REQUIRES: no connection is open.
  ReactorLoad& add_reactor();

  size_t requests() const;
  size_t request_bytes() const;
  size_t unsent_bytes() const;
  size_t held_requests() const;
  Incoming incoming() const;
  // True if the requests of all connections together have reached a limit.
  bool is_full() const;

 private:
  const Limits limits_;
  std::vector<std::unique_ptr<ReactorLoad>> reactors_;
};

}  // namespace sibyl::server
