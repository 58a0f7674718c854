#include "server/connection/flow_control.h"

#include <fmt/format.h>

#include <utility>

#include "server/connection/overloaded.h"

namespace sibyl::server {

bool FlowControl::is_over_limit(size_t unsent, size_t divisor) {
  const size_t held = unsent + backlog_.waiting();
  bool is_behind = held >= limits_.unsent_bytes / divisor || backlog_.holds_too_much(held);
  const bool has_many = requests_ >= limits_.requests_in_flight / divisor ||
                        request_bytes_ >= limits_.bytes_in_flight / divisor;
  if (!is_behind && !has_many) [[likely]] {
    if (waiting_.is_client_behind()) waiting_.set_client_behind(false, coarse_now());
    return false;
  }
  if (backlog_.throws_on_overload()) return is_behind;
  if (has_many) is_behind |= backlog_.is_held();
  waiting_.set_client_behind(is_behind, coarse_now());
  return true;
}

// A connection that has stopped at a limit resumes at half of the limit, so that it does not stop and resume
// for every request. A request that has waited too long proceeds, because refusing it takes no time.
FlowControl::Verdict FlowControl::check(size_t unsent, uint64_t position, const Round& round) {
  is_at_limit_ = is_over_limit(unsent, is_at_limit_ ? 2 : 1);
  is_stopped_ = true;
  if (is_at_limit_) return Verdict::at_limit;
  if (!backlog_.throws_on_overload() && must_wait(round) && !is_stale(position)) return Verdict::others_first;
  if (is_turn_over(round)) return Verdict::turn_over;
  is_stopped_ = false;
  ++taken_;
  return Verdict::proceed;
}

void FlowControl::end_turn() {
  if (waiting_.has_marks()) waiting_.exclude(coarse_now(), std::chrono::steady_clock::now() - turn_began_);
}

bool FlowControl::is_turn_over(const Round& round) const {
  constexpr uint32_t frames_per_check = 4;
  return taken_ > 0 && taken_ % frames_per_check == 0 &&
         std::chrono::steady_clock::now() - turn_began_ >= round.turn;
}

bool FlowControl::must_wait(const Round& round) const {
  constexpr uint32_t quantum = 16;
  if (server_.is_full() || (requests_ > 0 && own_.is_full())) return true;
  if (taken_ >= quantum && round.has_starved) return true;
  return paused_until_ != TimePoint{} && paused_until_ > std::chrono::steady_clock::now();
}

bool FlowControl::is_stale(uint64_t position) {
  return waiting_.has_marks() && waiting_.has_waited(coarse_now(), position, limits_.queue_timeout);
}

std::optional<base::Error> FlowControl::refusal(bool is_late, uint64_t position) {
  const bool throws_on_overload = backlog_.throws_on_overload();
  if (is_late || is_stale(position)) return overloaded("Query timed out before it could start");
  if (throws_on_overload && (requests_ >= limits_.requests_in_flight ||
                             request_bytes_ >= limits_.bytes_in_flight || server_.is_full()))
    return overloaded(fmt::format(
        "Request breached limit on bytes in flight. (Endpoint: {}/{} bytes, Global: {}/{} bytes.)"
        "Server is currently in an overloaded state and cannot accept more requests.",
        request_bytes_, limits_.bytes_in_flight, server_.request_bytes(), limits_.total_bytes_in_flight));
  if (limits_.requests_per_second == 0) return std::nullopt;
  const TimePoint now = std::chrono::steady_clock::now();
  if (!throws_on_overload) {
    // This request runs; the following ones wait.
    paused_until_ = now + rate_.reserve(now);
  } else if (!rate_.try_reserve(now)) {
    return overloaded(
        fmt::format("Request breached global limit of {} requests/second. Server is currently "
                    "in an overloaded state and cannot accept more requests.",
                    limits_.requests_per_second));
  }
  return std::nullopt;
}

}  // namespace sibyl::server
