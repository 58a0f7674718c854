// Timeouts for idle and slow clients.
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

namespace {

// The timeout for unsent results, Limits::unsent_timeout, is divided by this number while unsent results hold
// too much memory.
constexpr int overload_timeout_divisor = 6;

}  // namespace

void Connection::check_deadline(std::chrono::steady_clock::time_point now) {
  if (state_ == State::closed) return;
  if (state_ == State::open && handler_.session().is_ready()) return watch(now);
  if (now >= deadline_) {
    close();
  } else {
    reactor_.arm_timer(deadline_);
  }
}

void Connection::watch(TimePoint now) {
  const Limits& limits = reactor_.shared().limits;
  if (unsent_watch_.is_active()) watch_unsent(now);
  if (state_ == State::open) watch_incoming(now);
  if (state_ == State::closed || flow_.requests() > 0 || writer_.unsent() > 0) return;
  if (limits.idle_timeout.count() > 0) {
    if (now - last_received_ >= limits.idle_timeout) return close();
    reactor_.arm_sweep(now);
  }
  if (!reader_.has_spare() || is_resting_) return;
  if (now - last_received_ >= limits.rest_after) {
    rest();
  } else {
    reactor_.arm_sweep(now);
  }
}

// A client that reads slowly is not disconnected. The timeout for a client that reads nothing is shorter
// while all unsent results together hold too much memory. When they hold twice as much, clients that read
// almost nothing are disconnected as well.
void Connection::watch_unsent(TimePoint now) {
  const Shared& shared = reactor_.shared();
  const milliseconds timeout = shared.limits.unsent_timeout;
  const size_t unsent = writer_.unsent();
  const milliseconds effective_timeout =
      backlog_.holds_too_much(unsent) ? timeout / overload_timeout_divisor : timeout;
  if (unsent == 0) return unsent_watch_.stop();
  if (unsent_watch_.is_due(now, effective_timeout)) {
    const uint64_t acknowledged = bytes_acknowledged(socket_.native_handle());
    const uint64_t read = unsent_watch_.since_start(acknowledged);
    const bool is_scarce = shared.load.unsent_bytes() / 2 >= shared.limits.total_unsent_bytes;
    if (read < (is_scarce ? min_progress_bytes : 1)) {
      if (const auto more = reactor_.shared().refusal_log_limit.admit(now))
        spdlog::warn(
            "closed a connection from {}: it had {} bytes of responses pending and read {} bytes in {} ms{}",
            address(), unsent, read, effective_timeout.count(), base::suppressed_note(*more));
      return close();
    }
    unsent_watch_.start(now, acknowledged);
  }
  reactor_.arm_timer(unsent_watch_.since() + effective_timeout);
}

// Other clients may wait for the memory of an incomplete message. So a client that does not send the rest is
// disconnected.
void Connection::watch_incoming(TimePoint now) {
  if (flow_.is_stopped() || !reader_.has_begun()) return message_watch_.stop();
  const Limits& limits = reactor_.shared().limits;
  const milliseconds effective_timeout =
      reservation_.is_contended() ? std::min(limits.unsent_timeout, limits.contended_message_timeout)
                                  : limits.unsent_timeout;
  const bool is_watched = message_watch_.is_active() && reader_.begun_position() == watched_message_;
  if (is_watched && !message_watch_.is_due(now, effective_timeout)) return reactor_.arm_sweep(now);
  const uint64_t sent = message_watch_.since_start(reader_.received());
  if (is_watched && sent < min_progress_bytes) {
    if (const auto more = reactor_.shared().refusal_log_limit.admit(now))
      spdlog::warn("closed a connection from {}: it sent only {} bytes of an incomplete message in {} ms{}",
                   address(), sent, effective_timeout.count(), base::suppressed_note(*more));
    return close();
  }
  message_watch_.start(now, reader_.received());
  watched_message_ = reader_.begun_position();
  reactor_.arm_sweep(now);
}

// A pending read uses the receive memory, so it is cancelled. Then wait_readable() waits without memory. An
// encrypted connection never holds memory while it waits.
void Connection::rest() {
  if (!is_reading_ || tls_) return;
  is_resting_ = true;
  error_code ignored;
  socket_.cancel(ignored);
}

void Connection::wait_readable() {
  if (state_ == State::closed) return;
  reader_.shrink();
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
  const size_t size = writer_.unsent();
  backlog_.set_unsent(size);
  if (size == 0) return;
  const TimePoint now = coarse_now();
  if (!unsent_watch_.is_active()) {
    unsent_watch_.start(now, bytes_acknowledged(socket_.native_handle()));
    reactor_.arm_timer(now + limits.unsent_timeout);
  }
  if (backlog_.holds_too_much(size))
    reactor_.arm_timer(now + limits.unsent_timeout / overload_timeout_divisor);
}

void Connection::mark_waiting() {
  const TimePoint now = coarse_now();
  if (!flow_.waiting().needs_mark(now)) return;
  int waiting = 0;
  ::ioctl(socket_.native_handle(), FIONREAD, &waiting);
  flow_.waiting().mark(now,
                       (tls_ ? tls_->bytes_read() : reader_.received()) + static_cast<uint64_t>(waiting));
}

}  // namespace sibyl::server
