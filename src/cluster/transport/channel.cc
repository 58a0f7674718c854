#include "cluster/transport/channel.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <cstring>
#include <utility>

#include "base/contain.h"

namespace sibyl::cluster {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr size_t min_read_room = 16 << 10;
// Buffers that have grown beyond this size are released when they are empty.
constexpr size_t max_kept_buffer = 1 << 20;
// A machine that vanishes does not close its connections. They end when sent bytes are not acknowledged for
// this time.
constexpr unsigned unacknowledged_ms = 5'000;

}  // namespace

Channel::Channel(asio::ip::tcp::socket socket, asio::ssl::context* tls)
    : socket_(std::move(socket)), handshake_timer_(socket_.get_executor()) {
  if (tls != nullptr) tls_ = std::make_unique<asio::ssl::stream<asio::ip::tcp::socket&>>(socket_, *tls);
}

// An exception closes the connection.
template <typename Done>
auto Channel::contained(Done done) {
  return [self = shared_from_this(), done = std::move(done)](const error_code& error, auto... values) {
    if (self->is_closed_) return;
    if (error) return self->close(error.message());
    const base::Status status = base::contain([&] { done(values...); });
    if (!status) self->close(status.error().message());
  };
}

void Channel::open(Side side) {
  error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  ::setsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged_ms,
               sizeof unacknowledged_ms);
  const auto begin = [this] {
    is_open_ = true;
    on_ready();
    flush();
    read();
  };
  if (!tls_) return begin();
  // There are no certificates: a session that does not use the pre-shared key fails.
  if (side == Side::caller) tls_->set_verify_mode(asio::ssl::verify_peer);
  tls_->async_handshake(
      side == Side::caller ? asio::ssl::stream_base::client : asio::ssl::stream_base::server,
      contained(begin));
}

void Channel::limit_handshake(std::chrono::milliseconds time) {
  handshake_timer_.expires_after(time);
  handshake_timer_.async_wait([self = shared_from_this()](const error_code& cancelled) {
    if (!cancelled && !self->is_authenticated_) self->close("no answer in time");
  });
}

void Channel::set_authenticated() {
  is_authenticated_ = true;
  max_frame_ = peer_frame_header + call_header_size + max_peer_message_bytes;
  handshake_timer_.cancel();
}

void Channel::close(const std::string& why) {
  if (std::exchange(is_closed_, true)) return;
  handshake_timer_.cancel();
  error_code ignored;
  socket_.close(ignored);
  on_closed(why);
}

void Channel::flush() {
  if (is_sending_ || is_receiving_ || !is_open_ || is_closed_ || queued_.empty()) return;
  is_sending_ = true;
  sending_.swap(queued_);
  const auto sent = contained([this](size_t) {
    is_sending_ = false;
    sending_.clear();
    if (sending_.capacity() > max_kept_buffer) sending_ = {};
    flush();
  });
  if (tls_) {
    asio::async_write(*tls_, asio::buffer(sending_), sent);
  } else {
    asio::async_write(socket_, asio::buffer(sending_), sent);
  }
}

void Channel::read() {
  if (is_closed_) return;
  if (buffer_.size() - filled_ < min_read_room)
    buffer_.resize(std::max(buffer_.size() * 2, filled_ + 4 * min_read_room));
  const auto room = asio::buffer(buffer_.data() + filled_, buffer_.size() - filled_);
  const auto done = contained([this](size_t size) { received(size); });
  if (tls_) {
    tls_->async_read_some(room, done);
  } else {
    socket_.async_read_some(room, done);
  }
}

void Channel::received(size_t size) {
  filled_ += size;
  size_t begin = 0;
  is_receiving_ = true;  // frames that are appended while frames are received leave together
  while (!is_closed_) {
    const PeerFrameStep step =
        next_peer_frame(base::BytesView(buffer_).substr(begin, filled_ - begin), max_frame_);
    if (step.outcome == PeerFrameStep::Outcome::incomplete) {
      if (step.size > buffer_.size() - begin) buffer_.resize(std::max(buffer_.size(), begin + step.size));
      break;
    }
    if (step.outcome == PeerFrameStep::Outcome::invalid || !on_frame(step.frame))
      return close("invalid bytes have arrived");
    begin += step.size;
  }
  is_receiving_ = false;
  if (is_closed_) return;
  filled_ -= begin;
  std::memmove(buffer_.data(), buffer_.data() + begin, filled_);
  if (filled_ == 0 && buffer_.capacity() > max_kept_buffer) buffer_ = {};
  flush();
  read();
}

}  // namespace sibyl::cluster
