#include "server/connection/incoming_reservation.h"

#include <algorithm>
#include <utility>

namespace sibyl::server {

namespace {

// A message up to this size is not counted: every connection has a receive buffer of that size.
constexpr size_t uncounted_bytes = 4096;
// Clients that have not logged in may use a quarter of Limits::total_incoming_bytes.
constexpr size_t unauthenticated_share = 4;
// A claimed length is trusted once 1/16 of it has been received.
constexpr size_t trusted_divisor = 16;

}  // namespace

bool IncomingReservation::reserve(size_t held, size_t size, bool has_logged_in) {
  const size_t taken = std::min(size, 2 * held);
  if (taken <= std::max(uncounted_bytes, reserved_.bytes())) return true;
  const size_t limit = limits_.total_incoming_bytes / (has_logged_in ? 1 : unauthenticated_share);
  Incoming others = server_.incoming();  // includes reserved_
  others.begun -= reserved_.begun;
  others.whole -= reserved_.whole;
  Incoming wanted{taken, 0};
  if (held * trusted_divisor >= size || others.begun + taken > limit / 4) {
    wanted = {0, size};
    if (others.whole > 0 && others.whole + size > limit) return false;
  }
  own_.count_incoming(std::exchange(reserved_, wanted), wanted);
  return true;
}

void IncomingReservation::release() {
  if (!is_empty()) own_.count_incoming(std::exchange(reserved_, {}), {});
}

bool IncomingReservation::is_contended() const {
  return !is_empty() && server_.incoming().bytes() + limits_.frame_body_bytes > limits_.total_incoming_bytes;
}

}  // namespace sibyl::server
