#include "server/connection/result_backlog.h"

#include <algorithm>

#include "server/connection/progress_watch.h"
#include "server/in_flight_request.h"

namespace sibyl::server {

bool ResultBacklog::holds_too_much(size_t bytes) const {
  return bytes >= min_progress_bytes && server_.unsent_bytes() >= limits_.total_unsent_bytes;
}

size_t ResultBacklog::limit() const {
  return std::min(limits_.unsent_bytes_overload, limits_.total_unsent_bytes / 4);
}

bool ResultBacklog::is_full() const {
  const size_t bytes = held();
  return is_closed() || bytes >= limit() || holds_too_much(bytes);
}

bool ResultBacklog::try_start(InFlightRequest& request) {
  if (request.is_producing) return true;  // already counted: the request was submitted again
  if (!is_closed() && !throws_on_overload_) {
    const size_t bytes = held();
    if (bytes + expected() >= limit() || holds_too_much(bytes)) return false;
  }
  producing_.fetch_add(1, std::memory_order_relaxed);
  request.is_producing = true;
  return true;
}

void ResultBacklog::leave(const InFlightRequest& request) {
  --pool_requests_;
  if (!request.is_producing) return;
  producing_.fetch_sub(1, std::memory_order_relaxed);
  const size_t before = expected_bytes_.load(std::memory_order_relaxed);
  expected_bytes_.store(std::max(request.result_bytes, before - before / 8), std::memory_order_relaxed);
}

// The line is released at half of the limit, so that it is not held and released for every request.
void ResultBacklog::release_if_read() {
  if (!is_held()) return;
  const size_t bytes = held();
  if (is_closed() || (bytes + expected() < limit() / 2 && !holds_too_much(bytes))) pool_.release(line_);
}

void ResultBacklog::close() {
  is_closed_.store(true, std::memory_order_relaxed);
  set_unsent(0);
  release_if_read();
}

}  // namespace sibyl::server
