// Measures how long the requests of a client have waited to be parsed. Used only on the reactor's thread.
//
// The server does not know when bytes arrived in the kernel's buffer. So it sets marks whenever it stops
// reading: by the time of the mark, all bytes up to its position had arrived. Two times do not count: when
// the client caused the wait by reading its results slowly, and when the server worked for this
// connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>

namespace sibyl::server {

class WaitingTime {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  // True if the last mark is old enough for another one.
  bool needs_mark(TimePoint now) const;
  // `position`: how many bytes have arrived in total. REQUIRES: needs_mark(now).
  void mark(TimePoint now, uint64_t position) { marks_.push_back({now, position}); }
  // True if the byte at `position` has waited for `timeout` or longer. Marks before that position are dropped.
  bool has_waited(TimePoint now, uint64_t position, Duration timeout);
  // Excludes this time from the waiting time of everything that has arrived.
  void exclude(TimePoint now, Duration time);
  // Between set_client_behind(true) and set_client_behind(false) the client is the cause of the waiting.
  void set_client_behind(bool is_behind, TimePoint now);
  bool is_client_behind() const { return behind_since_ != TimePoint{}; }
  bool has_marks() const { return !marks_.empty(); }

 private:
  // Bytes before `position` have waited at least since `at`.
  struct Mark {
    TimePoint at;
    uint64_t position;
  };
  std::deque<Mark> marks_;
  TimePoint behind_since_;  // zero: not behind
};

}  // namespace sibyl::server
