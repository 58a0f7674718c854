// Decides whether a connection may handle its next request now. Used only on the reactor's thread.
//
// A connection stops, and its reactor resumes it later, when
//
// 1. the connection itself is at a limit: requests in flight, or results that its client has not read;
// 2. others come first: all connections together are at a limit. A connection with nothing in flight waits
//    only for the limits of the whole server, so a single small request is answered quickly while other
//    clients send floods;
// 3. its turn is over. Within a round of the reactor each connection has a turn of limited length.
//
// While it is stopped nothing is read from its socket, so TCP slows the client down. Clients that asked for
// OVERLOADED errors are not stopped for 1 and 2; refusal() returns the errors instead.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "server/connection/result_backlog.h"
#include "server/connection/waiting_time.h"
#include "server/limits.h"
#include "server/scheduling/load.h"
#include "server/scheduling/pressure.h"

namespace sibyl::server {

class FlowControl {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  enum class Verdict : uint8_t {
    proceed,
    at_limit,      // resumes once responses were sent
    others_first,  // wait; Reactor::mark_starved() makes the reactor try again later
    turn_over,     // wait; Reactor::mark_yielded() makes it resume after the other connections
  };
  // The reactor's present round.
  struct Round {
    Duration turn;             // the length of one connection's turn
    bool has_starved = false;  // connections wait because a limit for all connections was reached
  };

  // The arguments must outlive this object. `own` is the load of the connection's reactor.
  FlowControl(const Limits& limits, const ServerLoad& server, const ReactorLoad& own,
              const ResultBacklog& backlog, RateLimiter& rate)
      : limits_(limits), server_(server), own_(own), backlog_(backlog), rate_(rate) {}
  FlowControl(const FlowControl&) = delete;
  FlowControl& operator=(const FlowControl&) = delete;

  // Count the requests in flight.
  void add_request(size_t frame_bytes) {
    ++requests_;
    request_bytes_ += frame_bytes;
  }
  void remove_request(size_t frame_bytes) {
    --requests_;
    request_bytes_ -= frame_bytes;
  }
  size_t requests() const { return requests_; }

  // Begins the connection's turn. taken() returns the number of frames handled in this turn so far.
  void begin_turn(TimePoint now) {
    taken_ = 0;
    turn_began_ = now;
  }
  void end_turn();
  uint32_t taken() const { return taken_; }

  // Decides about the next frame. `unsent`: bytes of responses that are to be sent. `position`: where the frame
  // begins in the stream of received bytes. Anything but `proceed` stops the connection.
  Verdict check(size_t unsent, uint64_t position, const Round& round);
  // Stops the connection for a reason that check() does not know. A later check() may let it proceed.
  void stop() { is_stopped_ = true; }
  // Clears the stop, because the connection will handle no more frames.
  void clear_stop() { is_stopped_ = false; }
  bool is_stopped() const { return is_stopped_; }

  // The error for a request that must not start now, because it has waited too long or a limit was crossed.
  // `is_late`: events have waited too long for the reactor.
  std::optional<base::Error> refusal(bool is_late, uint64_t position);

  // How long the bytes from the client have waited. Set a mark when check() has stopped the connection.
  WaitingTime& waiting() { return waiting_; }

 private:
  bool is_over_limit(size_t unsent, size_t divisor);
  bool must_wait(const Round& round) const;
  bool is_turn_over(const Round& round) const;
  bool is_stale(uint64_t position);

  const Limits& limits_;
  const ServerLoad& server_;
  const ReactorLoad& own_;
  const ResultBacklog& backlog_;
  RateLimiter& rate_;
  size_t requests_ = 0, request_bytes_ = 0;
  bool is_stopped_ = false;
  bool is_at_limit_ = false;  // the connection has stopped at one of its own limits
  uint32_t taken_ = 0;
  TimePoint turn_began_;
  TimePoint paused_until_;  // set by the limit on requests per second
  WaitingTime waiting_;
};

}  // namespace sibyl::server
