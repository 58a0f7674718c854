// The first steps of a connection: the header of a relay, the detection of TLS and the TLS handshake. Also
// reads of encrypted connections.
#include <spdlog/spdlog.h>

#include <boost/asio/post.hpp>

#include "server/connection/connection.h"
#include "server/relay/relay_header.h"

namespace sibyl::server {

namespace asio = boost::asio;
using boost::system::error_code;
using Outcome = TlsStream::Outcome;

// Detects a relay by the first byte: no frame and no ClientHello begins like the header of a relay.
void Connection::detect_relay() {
  when_readable(&Connection::choose_relay);
}

void Connection::choose_relay() {
  char start[relay_header_size];
  const size_t missing = relay_header_size - relay_header_.size();
  error_code error;
  size_t size = socket_.receive(asio::buffer(start, 1), asio::socket_base::message_peek, error);
  if (error == asio::error::would_block) return detect_relay();
  if (error || size == 0 || state_ == State::closed) return close();
  if (relay_header_.empty() && !may_begin_relay_header(start[0])) return begin();
  size = socket_.receive(asio::buffer(start, missing), 0, error);
  if (error || size == 0) return close();
  relay_header_.append(start, size);
  if (relay_header_.size() < relay_header_size) return detect_relay();
  const auto header = parse_relay_header(relay_header_);
  if (!header) return close();
  handler_.show_relayed(header->client.address().to_string(), header->client.port(), header->host_id);
  begin();
}

// Detects TLS by the first byte: a ClientHello begins with a byte that is not a version of the native
// protocol.
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
  if (error || size == 0 || state_ == State::closed) return close();
  if (start[0] == handshake_record) {
    tls_ = std::make_unique<TlsStream>(shared.tls->current(), socket_.native_handle());
    return continue_handshake();
  }
  if (shared.tls->options().mode == TlsOptions::Mode::optional) return read();
  if (const auto more = shared.refusal_log_limit.admit(last_received_))
    spdlog::warn("closed a connection from {}: it is not encrypted, and TLS is required{}", address(),
                 base::suppressed_note(*more));
  refuse_plain({start, size});
}

// Answers on the stream of the first frame, so that drivers show the error.
void Connection::refuse_plain(std::string_view start) {
  const auto version = static_cast<uint8_t>(start[0]);
  if (start.size() == 4 && protocol::is_supported(version)) {
    const auto stream =
        static_cast<int16_t>(static_cast<uint8_t>(start[2]) << 8 | static_cast<uint8_t>(start[3]));
    protocol::append_refusal(writer_.buffer(), version, stream,
                             protocol::protocol_error("This server requires encrypted connections (TLS)"));
  }
  linger();
  end_round();
}

void Connection::continue_handshake() {
  if (state_ == State::closed) return;
  const Outcome outcome = tls_->handshake();
  if (outcome == Outcome::done) return begin_encrypted();
  if (outcome == Outcome::closed || outcome == Outcome::failed) {
    if (const auto more = reactor_.shared().refusal_log_limit.admit(coarse_now()))
      spdlog::warn("TLS handshake with {} failed: {}{}", address(), tls_->error(),
                   base::suppressed_note(*more));
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
  handler_.authentication().set_peer(tls_->peer());
  handler_.show_encrypted(*tls_);
  tls_has_more_ = true;
  read();
}

// Holds no receive memory while it waits for bytes.
void Connection::read_encrypted() {
  if (!tls_has_more_) {
    reader_.release_if_empty();
    return when_readable(&Connection::receive_encrypted);
  }
  is_reading_ = true;
  asio::post(socket_.get_executor(), [self = ConnectionPtr(this)] {
    self->is_reading_ = false;
    self->run_or_close([&] { self->receive_encrypted(); });
  });
}

void Connection::receive_encrypted() {
  constexpr int max_records = 16;  // per turn
  reactor_.update_now();
  last_received_ = coarse_now();
  reactor_.on_bytes_received(last_received_);
  tls_has_more_ = true;
  flow_.begin_turn(reactor_.now());
  for (int i = 0; i < max_records && tls_has_more_ && !flow_.is_stopped() && state_ != State::closed; ++i) {
    reader_.prepare();
    size_t size = 0;
    const Outcome outcome = tls_->read(reader_.free_space(), reader_.free_size(), size);
    if (outcome == Outcome::done) {
      reactor_.metrics().count_received(size);
      reader_.commit(size);
      parse();
    } else if (outcome == Outcome::wants_read) {
      tls_has_more_ = false;
    } else {
      return close();
    }
  }
  flow_.end_turn();
  end_round();
  read();
}

}  // namespace sibyl::server
