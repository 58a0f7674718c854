#include "server/connection/connection.h"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>

namespace sibyl::server {

namespace asio = boost::asio;
using boost::system::error_code;
using protocol::Direction;
using protocol::FrameStep;
using protocol::SegmentStep;

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
      deadline_(std::chrono::steady_clock::now() + reactor.shared().limits.handshake_timeout),
      last_received_(coarse_now()) {
  client_.description.address = std::move(address);
}

Connection::~Connection() {
  reactor_.shared().clients.remove(client_);
}

void Connection::start() {
  error_code ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  enable_keepalive(socket_, reactor_.shared().limits.unsent_timeout);
  error_code disconnected;
  const auto peer = socket_.remote_endpoint(disconnected);
  if (disconnected) return close();
  client_.description.port = peer.port();
  client_.description.stage = "established";
  reactor_.shared().clients.add(client_);
  reactor_.arm_timer(deadline_);
  if (reactor_.shared().tls) return detect_tls();
  read();
}

void Connection::read() {
  if (is_reading_ || is_stopped_ || stage_ == Stage::closed) return;
  if (tls_) return read_encrypted();
  in_.prepare(frame_wanted_);
  is_reading_ = true;
  socket_.async_read_some(asio::buffer(in_.free_space(), in_.free_size()),
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
  in_.commit(size);
  received_ += size;
  begin_turn();
  last_received_ = coarse_now();
  reactor_.on_bytes_received(last_received_);
  parse();
  end_turn();
  reactor_.mark_unsent(*this);
  reactor_.send_marked();
  read();
}

void Connection::parse() {
  frame_wanted_ = 0;
  while (stage_ != Stage::closed) {
    skip_discarded();
    if (discard_ > 0) return;
    const bool has_progressed = !payload_.empty() ? parse_payload()
                                : has_segments_   ? parse_segment()
                                                  : parse_frame();
    if (!has_progressed) return;
  }
}

void Connection::skip_discarded() {
  if (stage_ == Stage::lingering || is_draining_) {
    discard_ = in_.unread().size();
    payload_ = {};
  }
  const size_t skipped = std::min(discard_, in_.unread().size());
  in_.consume(skipped);
  discard_ -= skipped;
}

bool Connection::parse_frame() {
  if (in_.unread().empty()) return false;
  const FrameStep step = protocol::next_frame(in_.unread(), Direction::request, frame_limit());
  if (step.kind == FrameStep::Kind::incomplete) {
    frame_wanted_ = step.size;
    reserve(in_.unread().size(), step.size);
    return false;
  }
  if (must_stop()) return false;
  if (reserved_.bytes() > 0) release_reserved();
  take_frame(step, in_.chunk());
  discard_ = step.kind == FrameStep::Kind::fatal ? 0 : step.size;
  return true;
}

bool Connection::parse_segment() {
  if (large_.is_begun() && !has_room_for_large()) return false;
  const SegmentStep step = protocol::next_segment(in_.unread(), segment_compression_);
  if (step.kind == SegmentStep::Kind::incomplete) {
    frame_wanted_ = in_.unread().empty() ? 0 : step.size;
    if (frame_wanted_ > 0) reserve(in_.unread().size(), frame_wanted_);
    return false;
  }
  if (step.kind == SegmentStep::Kind::corrupt) {
    fail(0, *step.error);
    return true;
  }
  if (must_stop()) return false;
  ChunkPtr chunk = in_.chunk();
  protocol::BytesView payload = step.payload;
  if (step.plain_size > 0) {
    chunk = new Chunk(step.plain_size);
    if (const auto status = protocol::open_payload(step, chunk->data()); !status) {
      fail(0, status.error());
      return true;
    }
    payload = {chunk->data(), step.plain_size};
  }
  if (step.is_self_contained) {
    payload_chunk_ = std::move(chunk);
    payload_ = payload;
  } else {
    take_large(payload);
  }
  in_.consume(step.size);
  if (reserved_.bytes() > 0 && !large_.is_begun()) release_reserved();
  return true;
}

void Connection::take_large(protocol::BytesView payload) {
  using Progress = protocol::LargeFrame::Progress;
  if (!large_.is_begun()) large_began_ = received_ - in_.unread().size();
  const Progress progress = large_.add(payload, Direction::request, frame_limit());
  if (progress == Progress::complete) {
    payload_chunk_ = new Chunk(large_.take());
    payload_ = {payload_chunk_->data(), payload_chunk_->capacity()};
  } else if (progress == Progress::refused) {
    answer_error(large_.step().header.stream, *large_.step().error);
  } else if (progress == Progress::fatal) {
    fail(large_.step().header.stream, *large_.step().error);
  }
}

// Parses the frames of one segment in place. The requests hold references to its chunk.
bool Connection::parse_payload() {
  const FrameStep step = protocol::next_frame(payload_, Direction::request, frame_limit());
  if (step.kind == FrameStep::Kind::incomplete) {
    fail(step.header.stream,
         protocol::protocol_error(fmt::format("Invalid segment, a message of {} bytes is cut off after {}",
                                              step.size, payload_.size())));
    return true;
  }
  if (must_stop()) return false;
  take_frame(step, payload_chunk_);
  payload_.remove_prefix(std::min(step.size, payload_.size()));
  if (payload_.empty()) payload_chunk_.reset();
  return true;
}

void Connection::take_frame(const FrameStep& step, const ChunkPtr& chunk) {
  switch (step.kind) {
    case FrameStep::Kind::incomplete:
      break;
    case FrameStep::Kind::frame:
      answer_or_fail(step.header.stream, [&] { handle(step, chunk); });
      break;
    case FrameStep::Kind::refused:
      answer_error(step.header.stream, *step.error);
      break;
    case FrameStep::Kind::fatal:
      if (has_segments_) return fail(step.header.stream, *step.error);
      reactor_.metrics().count_error(step.error->code());
      protocol::append_refusal(output(), step.answer_version, step.header.stream, *step.error);
      linger();
      break;
  }
}

void Connection::fail(int16_t stream, const base::Error& error) {
  answer_error(stream, error);
  linger();
}

size_t Connection::frame_limit() const {
  constexpr size_t before_login = 64u << 10;
  const size_t limit = reactor_.shared().limits.frame_body_bytes;
  return stage_ == Stage::expecting_startup || stage_ == Stage::authenticating ? std::min(limit, before_login)
                                                                               : limit;
}

bool Connection::is_over_limit(size_t divisor) {
  const Limits& limits = reactor_.shared().limits;
  const size_t held = unsent() + waiting_bytes_.load(std::memory_order_relaxed);
  bool is_behind = held >= limits.unsent_bytes / divisor || holds_too_much(held);
  const bool has_many =
      requests_ >= limits.requests_in_flight / divisor || request_bytes_ >= limits.bytes_in_flight / divisor;
  if (!is_behind && !has_many) [[likely]] {
    if (behind_since_ != std::chrono::steady_clock::time_point{}) mark_client_behind(false);
    return false;
  }
  if (throws_on_overload_) return is_behind;
  if (has_many && pool_requests_ > 0) is_behind |= line_.is_held();
  mark_client_behind(is_behind);
  return true;
}

// A connection that has stopped at a limit resumes at half of it, so that it does not stop and resume for
// every request. A request that has waited too long is not held back, because it is refused, which takes no
// time.
bool Connection::must_stop() {
  is_at_limit_ = is_over_limit(is_at_limit_ ? 2 : 1);
  if (is_at_limit_) {
    is_stopped_ = true;
  } else if (!throws_on_overload_ && must_wait() && !is_stale()) {
    is_stopped_ = true;
    reactor_.mark_starved(*this);
  } else if (is_turn_over()) {
    is_stopped_ = true;
    yield();
    return true;
  } else {
    is_stopped_ = false;
    ++taken_;
  }
  if (is_stopped_) mark_waiting();
  return is_stopped_;
}

void Connection::begin_turn() {
  taken_ = 0;
  turn_began_ = reactor_.now();
}

void Connection::end_turn() {
  if (!marks_.empty()) exclude_from_waiting(std::chrono::steady_clock::now() - turn_began_);
}

bool Connection::is_turn_over() const {
  constexpr uint32_t frames_per_check = 4;
  return taken_ > 0 && taken_ % frames_per_check == 0 &&
         std::chrono::steady_clock::now() - turn_began_ >= reactor_.turn();
}

// True if other connections come first. A connection with nothing in flight waits only for the limits of all
// connections together, so a single small request is answered quickly while other clients send floods.
bool Connection::must_wait() const {
  constexpr uint32_t quantum = 16;
  if (requests_ == 0 ? reactor_.shared().is_full() : reactor_.is_full()) return true;
  if (taken_ >= quantum && reactor_.has_starved()) return true;
  return paused_until_ != std::chrono::steady_clock::time_point{} &&
         paused_until_ > std::chrono::steady_clock::now();
}

// Lets the other connections have their turns first.
void Connection::yield() {
  if (is_yielded_) return;
  is_yielded_ = true;
  reactor_.mark_yielded(*this);
}

void Connection::resume() {
  if (!is_stopped_ || is_yielded_ || stage_ == Stage::closed) return;
  reactor_.update_now();
  begin_turn();
  if (must_stop()) return;
  parse();
  end_turn();
  reactor_.mark_unsent(*this);
  read();
}

void Connection::send() {
  if (stage_ == Stage::closed) return;
  if (is_waiting_writable_) {
    if (frames_.size() >= chunk_bytes) wrap_frames();
    count_unsent();
    return release_line();
  }
  if (!frames_.empty()) wrap_frames();
  while (unsent() > 0) {
    size_t size = 0;
    const Sent sent = write_some(size);
    if (sent == Sent::would_block) {
      wait_writable();
      break;
    }
    if (sent == Sent::failed) {
      close();
      return;
    }
    out_sent_ += size;
    reactor_.metrics().count_sent(size);
    if (!full_.empty() && out_sent_ == full_.front().size()) {
      full_bytes_ -= out_sent_;
      out_sent_ = 0;
      full_.pop_front();
    }
  }
  if (unsent() != counted_unsent_) count_unsent();
  if (unsent() == 0) on_all_sent();
  release_line();
  // A starved connection is resumed by the reactor. Others resume in a later round: resuming here would
  // prolong this round for as long as one client sends requests and reads the responses.
  if (is_stopped_ && !is_marked_starved_) yield();
}

Connection::Sent Connection::write_some(size_t& size) {
  const base::Bytes& first = full_.empty() ? out_ : full_.front();
  const char* from = first.data() + out_sent_;
  const size_t length = first.size() - out_sent_;
  if (tls_) {
    const TlsStream::Outcome outcome = tls_->write(from, length, size);
    if (outcome == TlsStream::Outcome::done) return Sent::some;
    return outcome == TlsStream::Outcome::wants_write ? Sent::would_block : Sent::failed;
  }
  error_code error;
  size = socket_.write_some(asio::buffer(from, length), error);
  if (!error) return Sent::some;
  return error == asio::error::would_block ? Sent::would_block : Sent::failed;
}

// The responses of one round share segments.
void Connection::wrap_frames() {
  if (out_.size() >= chunk_bytes) set_aside();
  if (out_.empty()) out_ = reactor_.take_buffer();
  if (frames_.size() >= chunk_bytes) out_.reserve(out_.size() + frames_.size() + frames_.size() / 64);
  protocol::append_segments(out_, frames_, segment_compression_);
  reactor_.give_buffer(std::exchange(frames_, {}));
}

void Connection::set_aside() {
  full_bytes_ += out_.size();
  full_.push_back(std::exchange(out_, {}));
}

void Connection::on_all_sent() {
  out_sent_ = 0;
  if (!out_.empty()) reactor_.give_buffer(std::exchange(out_, {}));
  if (is_draining_ && requests_ == 0 && stage_ != Stage::lingering) linger();
  if (stage_ == Stage::lingering) {
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
    self->run_or_close([&] {
      self->reactor_.mark_unsent(*self);
      self->reactor_.send_marked();
    });
  });
}

// Closing immediately could lose the last message: if bytes from the client are unread, the kernel resets the
// connection, and the client may not see the message. So further bytes are read and discarded until the
// client closes or linger_timeout passes.
void Connection::linger() {
  stage_ = Stage::lingering;
  is_stopped_ = false;
  deadline_ = std::chrono::steady_clock::now() + reactor_.shared().limits.linger_timeout;
  reactor_.arm_timer(deadline_);
}

void Connection::begin_drain() {
  is_draining_ = true;
  reactor_.mark_unsent(*this);
}

void Connection::close() {
  if (stage_ == Stage::closed) return;
  stage_ = Stage::closed;
  reactor_.shared().clients.remove(client_);
  is_closed_.store(true, std::memory_order_relaxed);
  reactor_.count_unsent(counted_unsent_, 0);
  counted_unsent_ = 0;
  release_line();
  release_reserved();
  if (tls_) tls_->shut_down();
  error_code ignored;
  socket_.close(ignored);
  if (login_timer_) login_timer_->cancel();
  const ConnectionPtr keep(this);
  reactor_.remove(*this);
}

void Connection::publish(const protocol::SchemaChange& change) {
  if (!wants_schema_events_ || stage_ != Stage::ready) return;
  base::Bytes& out = output();
  protocol::FrameWriter frame(out, protocol::Direction::response, {version_, 0, -1, protocol::Opcode::event});
  protocol::append_event(out, version_, change);
  frame.finish(compression_);
  reactor_.mark_unsent(*this);
}

}  // namespace sibyl::server
