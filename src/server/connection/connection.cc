#include "server/connection/connection.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/buffer.hpp>

#include "protocol/frame.h"
#include "server/connection/tcp_progress.h"

namespace sibyl::server {

namespace asio = boost::asio;
using boost::system::error_code;
using protocol::FrameStep;

namespace {

// Detects clients that have vanished without closing the connection. Keep-alive probes start after a minute
// of silence. A client that acknowledges nothing for `give_up` is disconnected.
void enable_keepalive(asio::ip::tcp::socket& socket, std::chrono::milliseconds give_up) {
  const int file = socket.native_handle();
  const auto set = [file](int level, int name, int value) {
    ::setsockopt(file, level, name, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 15);
  set(IPPROTO_TCP, TCP_KEEPCNT, 4);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(give_up.count()));
}

}  // namespace

Connection::Connection(Reactor& reactor, asio::ip::tcp::socket socket, std::string address)
    : reactor_(reactor),
      socket_(std::move(socket)),
      peer_address_(address),
      reservation_(reactor.shared().limits, reactor.shared().load, reactor.load()),
      writer_(reactor.buffers()),
      backlog_(reactor.shared().limits, reactor.shared().load, reactor.load(), *reactor.shared().pool),
      flow_(reactor.shared().limits, reactor.shared().load, reactor.load(), backlog_, reactor.shared().rate),
      handler_(*this, reactor, writer_, flow_, backlog_, std::move(address)),
      deadline_(std::chrono::steady_clock::now() + reactor.shared().limits.handshake_timeout),
      last_received_(coarse_now()) {}

Connection::~Connection() = default;

void Connection::start() {
  error_code ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  enable_keepalive(socket_, reactor_.shared().limits.unsent_timeout);
  error_code disconnected;
  const auto peer = socket_.remote_endpoint(disconnected);
  if (disconnected) return close();
  handler_.show_connected(peer.port());
  reactor_.arm_timer(deadline_);
  if (reactor_.shared().is_relay && reactor_.shared().is_relay(peer_address_)) return detect_relay();
  begin();
}

void Connection::begin() {
  if (reactor_.shared().tls) return detect_tls();
  read();
}

// --- Reading.

void Connection::read() {
  if (is_reading_ || flow_.is_stopped() || state_ == State::closed) return;
  if (tls_) return read_encrypted();
  reader_.prepare();
  is_reading_ = true;
  socket_.async_read_some(asio::buffer(reader_.free_space(), reader_.free_size()),
                          [self = ConnectionPtr(this)](const error_code& error, size_t size) {
                            self->is_reading_ = false;
                            const bool is_resting = std::exchange(self->is_resting_, false);
                            if (is_resting && error == asio::error::operation_aborted) {
                              self->run_or_close([&] { self->wait_readable(); });
                            } else if (error) {
                              self->close();
                            } else {
                              self->run_or_close([&] { self->on_received(size); });
                            }
                          });
}

void Connection::on_received(size_t size) {
  reactor_.update_now();
  reactor_.metrics().count_received(size);
  reader_.commit(size);
  flow_.begin_turn(reactor_.now());
  last_received_ = coarse_now();
  reactor_.on_bytes_received(last_received_);
  parse();
  flow_.end_turn();
  end_round();
  read();
}

void Connection::resume() {
  if (!flow_.is_stopped() || is_yielded_ || state_ == State::closed) return;
  reactor_.update_now();
  flow_.begin_turn(reactor_.now());
  if (!may_proceed()) return;
  parse();
  flow_.end_turn();
  reactor_.mark_unsent(*this);
  read();
}

// --- Parsing.

void Connection::parse() {
  while (state_ != State::closed)
    if (!parse_next()) return;
}

bool Connection::parse_next() {
  if (state_ == State::lingering || is_draining_) {
    reader_.discard_all();
    return false;
  }
  if (reader_.has_split_frame() && !reserve(reader_.split_frame())) return false;
  switch (reader_.peek(body_limit())) {
    case FrameReader::Next::incomplete:
      if (reader_.has_begun()) acknowledge_now(socket_.native_handle());
      reserve(reader_.front());
      return false;
    case FrameReader::Next::segment:
      return take_segment();
    case FrameReader::Next::frame:
      return take_frame();
  }
  return false;
}

bool Connection::take_segment() {
  if (!may_proceed()) return false;
  if (!reader_.open_segment(body_limit())) refuse_frame(reader_.frame());
  if (!reader_.has_split_frame()) reservation_.release();
  return true;
}

bool Connection::take_frame() {
  const FrameStep& step = reader_.frame();
  if (!may_proceed()) return false;
  if (!reader_.has_split_frame()) reservation_.release();
  if (step.kind == FrameStep::Kind::frame) {
    handler_.handle(step, reader_.chunk(), parsed_position());
  } else {
    refuse_frame(step);
  }
  if (step.kind != FrameStep::Kind::fatal) reader_.pop();
  return true;
}

void Connection::refuse_frame(const FrameStep& step) {
  const bool is_fatal = step.kind == FrameStep::Kind::fatal;
  if (is_fatal && !writer_.has_segments()) {
    // The version of the frame may be unknown, so the response does not have the session's version.
    reactor_.metrics().count_error(step.error->code());
    protocol::append_refusal(writer_.buffer(), step.answer_version, step.header.stream, *step.error);
  } else {
    handler_.answer_error(step.header.stream, *step.error);
  }
  if (is_fatal) linger();
}

bool Connection::reserve(FrameReader::Progress message) {
  if (reservation_.reserve(message.held, message.size, handler_.session().is_ready())) return true;
  flow_.stop();
  reactor_.mark_starved(*this);
  return false;
}

bool Connection::may_proceed() {
  switch (flow_.check(writer_.unsent(), parsed_position(), reactor_.round())) {
    case FlowControl::Verdict::proceed:
      return true;
    case FlowControl::Verdict::turn_over:
      yield();
      return false;
    case FlowControl::Verdict::others_first:
      reactor_.mark_starved(*this);
      break;
    case FlowControl::Verdict::at_limit:
      break;
  }
  mark_waiting();
  return false;
}

uint64_t Connection::parsed_position() const {
  return tls_ ? tls_->bytes_read() - reader_.unread_size() : reader_.unread_position();
}

size_t Connection::body_limit() const {
  return handler_.session().body_limit(reactor_.shared().limits.frame_body_bytes);
}

// Ends this connection's turn. The connection resumes after the turns of the others.
void Connection::yield() {
  if (is_yielded_) return;
  is_yielded_ = true;
  reactor_.mark_yielded(*this);
}

void Connection::use_segments(protocol::Compression compression) {
  reader_.use_segments(compression);
  writer_.use_segments(compression);
}

// --- Writing.

void Connection::end_round() {
  reactor_.mark_unsent(*this);
  reactor_.send_marked();
}

void Connection::send() {
  if (state_ == State::closed) return;
  if (is_waiting_writable_) {
    writer_.seal_full();
    count_unsent();
    return backlog_.release_if_read();
  }
  writer_.seal();
  if (!write_all()) return close();
  if (writer_.unsent() != backlog_.unsent()) count_unsent();
  if (writer_.unsent() == 0) on_all_sent();
  backlog_.release_if_read();
  // A starved connection is resumed by the reactor. Other connections resume in a later round. If they
  // resumed here, one fast client could keep this round from ending.
  if (flow_.is_stopped() && !is_marked_starved_) yield();
}

bool Connection::write_all() {
  while (writer_.unsent() > 0) {
    size_t size = 0;
    switch (write_some(writer_.front(), size)) {
      case Sent::would_block:
        wait_writable();
        return true;
      case Sent::failed:
        return false;
      case Sent::some:
        break;
    }
    writer_.consume(size);
    reactor_.metrics().count_sent(size);
  }
  return true;
}

Connection::Sent Connection::write_some(base::BytesView bytes, size_t& size) {
  if (tls_) {
    const TlsStream::Outcome outcome = tls_->write(bytes.data(), bytes.size(), size);
    if (outcome == TlsStream::Outcome::done) return Sent::some;
    return outcome == TlsStream::Outcome::wants_write ? Sent::would_block : Sent::failed;
  }
  error_code error;
  size = socket_.write_some(asio::buffer(bytes), error);
  if (!error) return Sent::some;
  return error == asio::error::would_block ? Sent::would_block : Sent::failed;
}

void Connection::on_all_sent() {
  writer_.release();
  if (is_draining_ && flow_.requests() == 0 && state_ != State::lingering) linger();
  if (state_ == State::lingering) {
    if (tls_) tls_->shut_down();
    error_code ignored;
    socket_.shutdown(asio::socket_base::shutdown_send, ignored);
    read();
  }
}

void Connection::wait_writable() {
  is_waiting_writable_ = true;
  socket_.async_wait(asio::socket_base::wait_write, [self = ConnectionPtr(this)](const error_code& error) {
    self->is_waiting_writable_ = false;
    if (error) return self->close();
    self->run_or_close([&] { self->end_round(); });
  });
}

// --- Closing.

// Closing immediately could lose the last message: if bytes from the client are unread, the kernel resets the
// connection, and the client may not see the message. So further bytes are read and discarded until the
// client closes or linger_timeout passes.
void Connection::linger() {
  state_ = State::lingering;
  flow_.clear_stop();
  deadline_ = std::chrono::steady_clock::now() + reactor_.shared().limits.linger_timeout;
  reactor_.arm_timer(deadline_);
}

void Connection::begin_drain() {
  is_draining_ = true;
  reactor_.mark_unsent(*this);
}

void Connection::close() {
  if (state_ == State::closed) return;
  state_ = State::closed;
  handler_.hide();
  backlog_.close();
  reservation_.release();
  if (tls_) tls_->shut_down();
  error_code ignored;
  socket_.close(ignored);
  handler_.authentication().cancel();
  const ConnectionPtr keep(this);
  reactor_.remove(*this);
}

void Connection::close_after(const base::Error& thrown) {
  reactor_.shared().request_log.log_exception(thrown);
  close();
}

void Connection::publish(const protocol::Event& event) {
  if (state_ == State::open) handler_.publish(event);
}

void Connection::refuse_held() {
  if (state_ == State::closed) return;
  InFlightRequest* const held = backlog_.take_held();
  if (held == nullptr) return;
  base::retry_until_success([&] { reactor_.mark_unsent(*this); });
  handler_.refuse(held);
}

}  // namespace sibyl::server
