// Timeouts of idle and slow clients, and limits on the memory that a client may hold.
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <utility>

#include "server/connection/connection.h"
#include "server/connection/tcp_progress.h"

namespace sibyl::server {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::milliseconds;
using TimePoint = std::chrono::steady_clock::time_point;

namespace {

// The bytes that a client must send of an incomplete message within Limits::unsent_timeout. Also the size of
// unsent results that a connection may always hold.
constexpr size_t min_progress_bytes = 64u << 10;
// Clients that have not logged in may use a quarter of Limits::total_incoming_bytes.
constexpr size_t unauthenticated_share = 4;
// Replaces Limits::unsent_timeout for messages while incomplete messages hold too much memory.
constexpr milliseconds overload_message_timeout{1'000};
// Shortens Limits::unsent_timeout for results while unsent results hold too much memory.
constexpr int overload_timeout_divisor = 6;
constexpr milliseconds mark_interval{250};

base::Error overloaded(std::string why) {
  return base::Error(base::ErrorCode::overloaded, std::move(why));
}

}  // namespace

void Connection::check_deadline(TimePoint now) {
  if (stage_ == Stage::closed) return;
  if (stage_ == Stage::ready) return watch(now);
  if (now >= deadline_) {
    close();
  } else {
    reactor_.arm_timer(deadline_);
  }
}

void Connection::watch(TimePoint now) {
  const Limits& limits = reactor_.shared().limits;
  if (unsent_since_ != TimePoint{}) watch_unsent(now);
  if (stage_ == Stage::ready) watch_incoming(now);
  if (stage_ == Stage::closed || requests_ > 0 || unsent() > 0) return;
  if (limits.idle_timeout.count() > 0) {
    if (now - last_received_ >= limits.idle_timeout) return close();
    reactor_.arm_sweep(now);
  }
  if (!in_.has_spare() || is_resting_) return;
  if (now - last_received_ >= limits.rest_after) {
    rest();
  } else {
    reactor_.arm_sweep(now);
  }
}

bool Connection::holds_too_much(size_t unsent) const {
  const Shared& shared = reactor_.shared();
  return unsent >= min_progress_bytes && shared.unsent_bytes() >= shared.limits.total_unsent_bytes;
}

size_t Connection::held_limit() const {
  const Limits& limits = reactor_.shared().limits;
  return std::min(limits.unsent_bytes_overload, limits.total_unsent_bytes / 4);
}

bool Connection::is_overloaded() const {
  const size_t held = held_bytes();
  return is_closed() || held >= held_limit() || holds_too_much(held);
}

// The expected results of the connection's running requests are counted as held. When nothing is held and
// nothing runs, a request may always start, whatever the size of its result.
bool Connection::try_start(InFlightRequest& request) {
  if (request.is_producing) return true;  // submitted again: it is already counted
  const size_t producing = producing_.load(std::memory_order_relaxed);
  if (!is_closed() && !throws_on_overload_) {
    const size_t held = held_bytes();
    const size_t expected = producing * expected_bytes_.load(std::memory_order_relaxed);
    if (held + expected >= held_limit() || holds_too_much(held)) return false;
  }
  producing_.fetch_add(1, std::memory_order_relaxed);
  request.is_producing = true;
  return true;
}

// Releases at half of the limit, so that a line is not held and released for every request.
void Connection::release_line() {
  if (pool_requests_ == 0 || !line_.is_held()) return;
  const size_t held = held_bytes();
  const size_t expected = producing_ * expected_bytes_;
  if (is_closed() || (held + expected < held_limit() / 2 && !holds_too_much(held)))
    reactor_.shared().pool->release(line_);
}

void Connection::leave_pool(const InFlightRequest& request) {
  --pool_requests_;
  if (!request.is_producing) return;
  producing_.fetch_sub(1, std::memory_order_relaxed);
  const size_t expected = expected_bytes_.load(std::memory_order_relaxed);
  expected_bytes_.store(std::max(request.result_bytes, expected - expected / 8), std::memory_order_relaxed);
}

void Connection::refuse_held() {
  if (pool_requests_ == 0 || stage_ == Stage::closed) return;
  InFlightRequest* request = reactor_.shared().pool->take_held(line_);
  if (request != nullptr) base::retry_until_success([&] { reactor_.mark_unsent(*this); });
  while (request != nullptr) {
    InFlightRequest* const next = request->next;
    request->result = base::fail(overloaded("Request refused: the client does not read its responses"));
    finish(request);
    request = next;
  }
}

// A client that reads at all, however slowly, is not disconnected. The timeout for a client that reads
// nothing is shorter while all unsent results together hold too much memory. When they hold twice as much,
// clients that read almost nothing are disconnected as well.
void Connection::watch_unsent(TimePoint now) {
  const Shared& shared = reactor_.shared();
  const milliseconds timeout = shared.limits.unsent_timeout;
  const milliseconds effective_timeout =
      holds_too_much(unsent()) ? timeout / overload_timeout_divisor : timeout;
  if (unsent() == 0) {
    unsent_since_ = {};
    return;
  }
  if (now - unsent_since_ >= effective_timeout) {
    const uint64_t acknowledged = bytes_acknowledged(socket_.native_handle());
    const uint64_t taken = acknowledged - acknowledged_before_;
    const bool is_scarce = shared.unsent_bytes() / 2 >= shared.limits.total_unsent_bytes;
    if (taken < (is_scarce ? min_progress_bytes : 1)) {
      if (const auto more = reactor_.shared().refusal_log_limit.admit(now))
        spdlog::warn(
            "closed a connection from {}: it had {} bytes of responses pending and read {} bytes in {} ms "
            "({} more not logged)",
            address(), unsent(), taken, effective_timeout.count(), *more);
      return close();
    }
    unsent_since_ = now;
    acknowledged_before_ = acknowledged;
  }
  reactor_.arm_timer(unsent_since_ + effective_timeout);
}

bool Connection::reserve(size_t held, size_t size) {
  constexpr size_t believed_divisor = 16;  // a claimed length is trusted once 1/16 of it has been received
  const size_t taken = std::min(size, 2 * held);
  if (taken <= std::max(uncounted_message_bytes, reserved_.bytes())) return true;
  const Shared& shared = reactor_.shared();
  const size_t limit =
      shared.limits.total_incoming_bytes / (stage_ == Stage::ready ? 1 : unauthenticated_share);
  Incoming others = shared.incoming();  // includes reserved_
  others.begun -= reserved_.begun;
  others.whole -= reserved_.whole;
  Incoming wanted{taken, 0};
  if (held * believed_divisor >= size || others.begun + taken > limit / 4) {
    wanted = {0, size};
    // A message is always accepted if no other has a reservation.
    if (others.whole > 0 && others.whole + size > limit) {
      is_stopped_ = true;
      reactor_.mark_starved(*this);
      return false;
    }
  }
  reactor_.count_incoming(std::exchange(reserved_, wanted), wanted);
  return true;
}

void Connection::release_reserved() {
  reactor_.count_incoming(std::exchange(reserved_, {}), {});
}

bool Connection::has_room_for_large() {
  return reserve(large_.held() + in_.unread().size(), large_.step().size);
}

// An incomplete message holds memory that others may wait for. So a client that does not send the rest is
// disconnected.
void Connection::watch_incoming(TimePoint now) {
  const bool has_begun = !is_stopped_ && (!in_.unread().empty() || large_.is_begun());
  if (!has_begun) {
    incoming_since_ = {};
    return;
  }
  const Shared& shared = reactor_.shared();
  const Limits& limits = shared.limits;
  const bool is_pressed = reserved_.bytes() > 0 &&
                          shared.incoming().bytes() + limits.frame_body_bytes > limits.total_incoming_bytes;
  const milliseconds effective_timeout =
      is_pressed ? std::min(limits.unsent_timeout, overload_message_timeout) : limits.unsent_timeout;
  const uint64_t began = large_.is_begun() ? large_began_ : received_ - in_.unread().size();
  if (incoming_since_ != TimePoint{} && began == incoming_began_ && now - incoming_since_ < effective_timeout)
    return reactor_.arm_sweep(now);
  if (incoming_since_ != TimePoint{} && began == incoming_began_ &&
      received_ - received_before_ < min_progress_bytes) {
    if (const auto more = reactor_.shared().refusal_log_limit.admit(now))
      spdlog::warn(
          "closed a connection from {}: it sent only {} bytes of an incomplete message in {} ms ({} more not "
          "logged)",
          address(), received_ - received_before_, effective_timeout.count(), *more);
    return close();
  }
  incoming_since_ = now;
  incoming_began_ = began;
  received_before_ = received_;
  reactor_.arm_sweep(now);
}

// A pending read uses the receive memory. So the read is cancelled, and wait_readable() waits without memory.
// An encrypted connection never holds memory while it waits.
void Connection::rest() {
  if (!is_reading_ || tls_) return;
  is_resting_ = true;
  error_code ignored;
  socket_.cancel(ignored);
}

void Connection::wait_readable() {
  if (stage_ == Stage::closed) return;
  in_.shrink();
  reactor_.metrics().count_rest();
  when_readable(&Connection::read);
}

void Connection::when_readable(void (Connection::*then)()) {
  is_reading_ = true;
  socket_.async_wait(asio::socket_base::wait_read,
                     [self = ConnectionPtr(this), then](const error_code& error) {
                       self->is_reading_ = false;
                       if (error) return self->close();
                       self->run_or_close([&] { (self.get()->*then)(); });
                     });
}

void Connection::count_unsent() {
  const Limits& limits = reactor_.shared().limits;
  const size_t size = unsent();
  reactor_.count_unsent(counted_unsent_, size);
  counted_unsent_.store(size, std::memory_order_relaxed);
  if (size == 0) return;
  const TimePoint now = coarse_now();
  if (unsent_since_ == TimePoint{}) {
    unsent_since_ = now;
    acknowledged_before_ = bytes_acknowledged(socket_.native_handle());
    reactor_.arm_timer(now + limits.unsent_timeout);
  }
  if (holds_too_much(size)) reactor_.arm_timer(now + limits.unsent_timeout / overload_timeout_divisor);
}

void Connection::mark_waiting() {
  const TimePoint now = coarse_now();
  if (!marks_.empty() && now - marks_.back().at < mark_interval) return;
  int waiting = 0;
  ::ioctl(socket_.native_handle(), FIONREAD, &waiting);
  marks_.push_back({now, (tls_ ? tls_->bytes_read() : received_) + static_cast<uint64_t>(waiting)});
}

void Connection::mark_client_behind(bool is_behind) {
  if (is_behind == (behind_since_ != TimePoint{})) return;
  const TimePoint now = coarse_now();
  if (!is_behind) exclude_from_waiting(now - behind_since_);
  behind_since_ = is_behind ? now : TimePoint{};
}

void Connection::exclude_from_waiting(std::chrono::steady_clock::duration time) {
  const TimePoint now = coarse_now();
  for (Mark& mark : marks_) mark.at = std::min(now, mark.at + time);
}

bool Connection::is_stale() {
  if (marks_.empty() || behind_since_ != TimePoint{}) return false;
  const uint64_t parsed = (tls_ ? tls_->bytes_read() : received_) - in_.unread().size();
  while (!marks_.empty() && marks_.front().position <= parsed) marks_.pop_front();
  return !marks_.empty() && coarse_now() - marks_.front().at >= reactor_.shared().limits.queue_timeout;
}

std::optional<base::Error> Connection::refusal() {
  Shared& shared = reactor_.shared();
  const Limits& limits = shared.limits;
  if (reactor_.is_late() || is_stale()) return overloaded("Query timed out before it could start");
  if (throws_on_overload_ && (requests_ >= limits.requests_in_flight ||
                              request_bytes_ >= limits.bytes_in_flight || shared.is_full()))
    return overloaded(fmt::format(
        "Request breached limit on bytes in flight. (Endpoint: {}/{} bytes, Global: {}/{} bytes.)"
        "Server is currently in an overloaded state and cannot accept more requests.",
        request_bytes_, limits.bytes_in_flight, shared.bytes_in_flight(), limits.total_bytes_in_flight));
  if (limits.requests_per_second == 0) return std::nullopt;
  const TimePoint now = std::chrono::steady_clock::now();
  if (!throws_on_overload_) {
    // This request runs; the following ones wait.
    paused_until_ = now + shared.rate.reserve(now);
  } else if (!shared.rate.try_reserve(now)) {
    return overloaded(
        fmt::format("Request breached global limit of {} requests/second. Server is currently "
                    "in an overloaded state and cannot accept more requests.",
                    limits.requests_per_second));
  }
  return std::nullopt;
}

}  // namespace sibyl::server
