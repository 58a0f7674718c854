// Encrypted connections: detection of TLS, handshake, reading.
#include <spdlog/spdlog.h>

#include <boost/asio/post.hpp>

#include "server/connection/connection.h"

namespace sibyl::server {

namespace asio = boost::asio;
using boost::system::error_code;
using Outcome = TlsStream::Outcome;

// The first byte decides: the first byte of a ClientHello is not a version of the native protocol.
void Connection::detect_tls() {
  when_readable(&Connection::choose_tls);
}

void Connection::choose_tls() {
  constexpr char handshake_record = 0x16;
  Shared& shared = reactor_.shared();
  char start[4];
  error_code error;
  const size_t size = socket_.receive(asio::buffer(start), asio::socket_base::message_peek, error);
  if (error == asio::error::would_block) return detect_tls();
  if (error || size == 0 || stage_ == Stage::closed) return close();
  if (start[0] == handshake_record) {
    tls_ = std::make_unique<TlsStream>(shared.tls->current(), socket_.native_handle());
    return continue_handshake();
  }
  if (shared.tls->options().mode == TlsOptions::Mode::optional) return read();
  if (const auto more = shared.refusal_log_limit.admit(last_received_))
    spdlog::warn("closed a connection from {}: it is not encrypted, and TLS is required ({} more not logged)",
                 address(), *more);
  refuse_plain({start, size});
}

// Answers on the stream of the first frame, so that drivers show the error.
void Connection::refuse_plain(std::string_view start) {
  const auto version = static_cast<uint8_t>(start[0]);
  if (start.size() == 4 && protocol::is_supported(version)) {
    const auto stream =
        static_cast<int16_t>(static_cast<uint8_t>(start[2]) << 8 | static_cast<uint8_t>(start[3]));
    protocol::append_refusal(output(), version, stream,
                             protocol::protocol_error("This server requires encrypted connections (TLS)"));
  }
  linger();
  reactor_.mark_unsent(*this);
  reactor_.send_marked();
}

void Connection::continue_handshake() {
  if (stage_ == Stage::closed) return;
  const Outcome outcome = tls_->handshake();
  if (outcome == Outcome::done) return begin_encrypted();
  if (outcome == Outcome::closed || outcome == Outcome::failed) {
    if (const auto more = reactor_.shared().refusal_log_limit.admit(coarse_now()))
      spdlog::warn("TLS handshake with {} failed: {} ({} more not logged)", address(), tls_->error(), *more);
    return close();
  }
  is_reading_ = true;
  socket_.async_wait(
      outcome == Outcome::wants_read ? asio::socket_base::wait_read : asio::socket_base::wait_write,
      [self = ConnectionPtr(this)](const error_code& error) {
        self->is_reading_ = false;
        if (error) return self->close();
        self->run_or_close([&] { self->continue_handshake(); });
      });
}

void Connection::begin_encrypted() {
  peer_ = tls_->peer();
  reactor_.shared().clients.update(client_, [&](engine::Client& client) {
    client.tls_protocol = tls_->protocol();
    client.tls_cipher_suite = tls_->cipher_suite();
  });
  tls_has_more_ = true;
  read();
}

// Holds no receive memory while it waits for bytes.
void Connection::read_encrypted() {
  is_reading_ = true;
  const auto receive = [self = ConnectionPtr(this)](const error_code& error) {
    self->is_reading_ = false;
    if (error) return self->close();
    self->run_or_close([&] { self->receive_encrypted(); });
  };
  if (tls_has_more_) {
    asio::post(socket_.get_executor(), [receive] { receive({}); });
    return;
  }
  if (in_.unread().empty()) in_.release();
  socket_.async_wait(asio::socket_base::wait_read, receive);
}

void Connection::receive_encrypted() {
  constexpr int max_records = 16;  // per turn
  reactor_.update_now();
  last_received_ = coarse_now();
  reactor_.on_bytes_received(last_received_);
  tls_has_more_ = true;
  begin_turn();
  for (int i = 0; i < max_records && tls_has_more_ && !is_stopped_ && stage_ != Stage::closed; ++i) {
    in_.prepare(frame_wanted_);
    size_t size = 0;
    const Outcome outcome = tls_->read(in_.free_space(), in_.free_size(), size);
    if (outcome == Outcome::done) {
      reactor_.metrics().count_received(size);
      in_.commit(size);
      received_ += size;
      parse();
    } else if (outcome == Outcome::wants_read) {
      tls_has_more_ = false;
    } else {
      return close();
    }
  }
  end_turn();
  reactor_.mark_unsent(*this);
  reactor_.send_marked();
  read();
}

}  // namespace sibyl::server
