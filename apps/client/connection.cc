#include "client/connection.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "protocol/error_message.h"

namespace sibyl::client {

using protocol::Opcode;
using protocol::TlsSession;
using protocol::WireReader;
using Clock = std::chrono::steady_clock;

bool Result::next(Row& row) {
  if (position_ >= rows_.size()) return false;
  WireReader reader(BytesView(rows_).substr(position_));
  row.clear();
  for (uint32_t i = 0; i < column_count_; ++i) row.push_back(reader.bytes());
  position_ = rows_.size() - reader.rest().size();
  return reader.ok();
}

base::Result<std::unique_ptr<Connection>> Connection::connect(const Options& options) {
  std::unique_ptr<Connection> connection(new Connection(options));
  const Deadline deadline = Clock::now() + options.connect_timeout;
  SIBYL_TRY(connection->open(deadline));
  if (options.tls.enabled) SIBYL_TRY(connection->encrypt(deadline));
  SIBYL_TRY(connection->handshake(deadline));
  return connection;
}

Connection::~Connection() {
  if (tls_) tls_->shut_down();
  if (socket_ >= 0) ::close(socket_);
}

base::Error Connection::lost(std::string why) {
  if (tls_ && !tls_->error().empty()) why = "TLS: " + tls_->error();
  tls_.reset();
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  return base::Error(base::ErrorCode::server, fmt::format("{}: {}", server_, why));
}

Connection::Deadline Connection::request_deadline() const {
  if (options_.request_timeout.count() == 0) return std::nullopt;
  return Clock::now() + options_.request_timeout;
}

base::Status Connection::open(Deadline deadline) {
  server_ = fmt::format("{}:{}", options_.host, options_.port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error =
          ::getaddrinfo(options_.host.c_str(), std::to_string(options_.port).c_str(), &hints, &found))
    return base::fail(lost(::gai_strerror(error)));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, ::freeaddrinfo);
  base::Error error = lost("the host name has no address");
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    socket_ = ::socket(at->ai_family, at->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, at->ai_protocol);
    if (socket_ < 0) continue;
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    int result = ::connect(socket_, at->ai_addr, at->ai_addrlen) == 0 ? 0 : errno;
    if (result == EINPROGRESS) {
      if (const auto waited = wait_for(POLLOUT, deadline); !waited) return waited;
      socklen_t size = sizeof result;
      ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &result, &size);
    }
    if (result == 0) return {};
    error = lost(std::strerror(result));
  }
  return base::fail(std::move(error));
}

base::Status Connection::encrypt(Deadline deadline) {
  auto stream = start_tls(options_.tls, options_.host, socket_);
  if (!stream) return base::fail(lost(stream.error().message()));
  tls_ = std::move(*stream);
  while (true) {
    switch (tls_->handshake()) {
      case TlsSession::Outcome::done:
        return {};
      case TlsSession::Outcome::wants_read:
        SIBYL_TRY(wait_for(POLLIN, deadline));
        break;
      case TlsSession::Outcome::wants_write:
        SIBYL_TRY(wait_for(POLLOUT, deadline));
        break;
      default:
        return base::fail(lost("the server does not answer in TLS"));
    }
  }
}

base::Status Connection::handshake(Deadline deadline) {
  protocol::StringMap startup = {{"CQL_VERSION", "3.0.0"}, {"DRIVER_NAME", "sibyl"}};
  if (options_.compression == protocol::Compression::lz4) startup.emplace_back("COMPRESSION", "lz4");
  if (options_.compression == protocol::Compression::snappy) startup.emplace_back("COMPRESSION", "snappy");
  if (options_.error_positions) startup.emplace_back("ERROR_POSITIONS", "1");
  Bytes body;
  protocol::append_startup(body, startup);
  SIBYL_ASSIGN(const Answer answer, ask(Opcode::startup, body, deadline));
  compression_ = options_.compression;
  has_segments_ = protocol::has_segments(options_.version);
  if (answer.header.opcode == Opcode::ready) return {};
  if (answer.header.opcode == Opcode::authenticate) return authenticate(deadline);
  return base::fail(lost("unexpected response to STARTUP"));
}

base::Status Connection::authenticate(Deadline deadline) {
  if (options_.user.empty())
    return base::fail(base::ErrorCode::bad_credentials,
                      server_ + ": the server asks for a user and a password");
  Bytes token(1, '\0');
  token += options_.user;
  token.push_back('\0');
  token += options_.password;
  Bytes body;
  protocol::append_auth_response(body, token);
  SIBYL_ASSIGN(const Answer answer, ask(Opcode::auth_response, body, deadline));
  if (answer.header.opcode == Opcode::auth_success) return {};
  return base::fail(lost("the server asks for an authentication that is not supported"));
}

base::Status Connection::wait_for(short events, Deadline deadline) {
  while (true) {
    int milliseconds = -1;
    if (deadline) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
      milliseconds = static_cast<int>(std::max<decltype(left)>(left, 0));
    }
    pollfd entry{socket_, events, 0};
    const int ready = ::poll(&entry, 1, milliseconds);
    if (ready > 0) return {};
    if (ready == 0) return base::fail(lost("no answer in time"));
    if (errno != EINTR) return base::fail(lost(std::strerror(errno)));
  }
}

namespace {

ssize_t as_system_call(TlsSession::Outcome outcome, size_t size) {
  switch (outcome) {
    case TlsSession::Outcome::done:
      return static_cast<ssize_t>(size);
    case TlsSession::Outcome::wants_read:
    case TlsSession::Outcome::wants_write:
      errno = EAGAIN;
      return -1;
    case TlsSession::Outcome::closed:
      return 0;
    default:
      errno = ECONNRESET;
      return -1;
  }
}

}  // namespace

ssize_t Connection::read_bytes(char* to, size_t size) {
  if (!tls_) return ::recv(socket_, to, size, 0);
  size_t got = 0;
  const auto outcome = tls_->read(to, size, got);
  return as_system_call(outcome, got);
}

ssize_t Connection::write_bytes(BytesView bytes) {
  if (!tls_) return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  size_t sent = 0;
  const auto outcome = tls_->write(bytes.data(), bytes.size(), sent);
  if (outcome == TlsSession::Outcome::closed) return as_system_call(TlsSession::Outcome::failed, 0);
  return as_system_call(outcome, sent);
}

bool Connection::is_readable(int milliseconds) const {
  if (tls_ && tls_->has_pending()) return true;
  pollfd entry{socket_, POLLIN, 0};
  return ::poll(&entry, 1, milliseconds) > 0;
}

base::Status Connection::write_all(BytesView bytes) {
  while (!bytes.empty()) {
    const ssize_t size = write_bytes(bytes);
    if (size > 0) {
      bytes.remove_prefix(static_cast<size_t>(size));
    } else if (errno == EAGAIN) {
      // The server may have stopped reading because this client does not read. So responses that have arrived
      // are read here.
      SIBYL_TRY(wait_for(POLLOUT | POLLIN, request_deadline()));
      if (is_readable(0)) SIBYL_TRY(read_frames(request_deadline()));
    } else if (errno != EINTR) {
      return base::fail(lost(std::strerror(errno)));
    }
  }
  return {};
}

base::Result<Connection::Ticket> Connection::send(Opcode opcode, BytesView body, bool trace) {
  if (!is_connected()) return base::fail(lost("not connected"));
  constexpr size_t max_streams = 30'000;
  if (under_way_.size() >= max_streams)
    return base::fail(base::ErrorCode::overloaded, "too many requests in flight on one connection");
  while (under_way_.contains(next_stream_)) next_stream_ = static_cast<int16_t>((next_stream_ + 1) & 0x7fff);
  const Ticket ticket{next_stream_};
  next_stream_ = static_cast<int16_t>((next_stream_ + 1) & 0x7fff);
  Bytes out;
  protocol::FrameWriter frame(
      out, protocol::Direction::request,
      {options_.version, trace ? protocol::flag::tracing : uint8_t{0}, ticket.stream, opcode});
  out.append(body);
  if (has_segments_) {
    frame.finish();
    Bytes segments;
    protocol::append_segments(segments, out, compression_);
    out = std::move(segments);
  } else {
    frame.finish(compression_);
  }
  under_way_.emplace(ticket.stream, std::nullopt);
  SIBYL_TRY(write_all(out));
  return ticket;
}

// Reads the available bytes. Blocks until there is at least one.
base::Status Connection::read_some(Deadline deadline) {
  if (!tls_ || !tls_->has_pending()) SIBYL_TRY(wait_for(POLLIN, deadline));
  constexpr size_t read_size = 64u << 10;
  const size_t held = received_.size();
  received_.resize(held + read_size);
  const ssize_t size = read_bytes(received_.data() + held, read_size);
  const int error = errno;
  received_.resize(held + static_cast<size_t>(std::max<ssize_t>(size, 0)));
  if (size == 0) return base::fail(lost("the server closed the connection"));
  if (size < 0) {
    if (error == EINTR || error == EAGAIN) return {};
    return base::fail(lost(std::strerror(error)));
  }
  return {};
}

// Reads bytes, and stores the frames that are complete.
base::Status Connection::read_frames(Deadline deadline) {
  SIBYL_TRY(read_some(deadline));
  SIBYL_ASSIGN(const size_t consumed, has_segments_ ? keep_segments(received_) : keep_frames(received_));
  received_.erase(0, consumed);
  return {};
}

// Returns how many bytes were consumed from the front.
base::Result<size_t> Connection::keep_frames(BytesView bytes) {
  size_t consumed = 0;
  while (true) {
    const auto step =
        protocol::next_frame(bytes.substr(consumed), protocol::Direction::response, protocol::largest_body);
    if (step.kind == protocol::FrameStep::Kind::incomplete) return consumed;
    if (step.kind != protocol::FrameStep::Kind::frame) return base::fail(lost(step.error->message()));
    SIBYL_TRY(keep(step));
    consumed += step.size;
    const bool ends_startup =
        step.header.opcode == Opcode::ready || step.header.opcode == Opcode::authenticate;
    // The following bytes are in segments.
    if (!has_segments_ && ends_startup && protocol::has_segments(step.header.version)) return consumed;
  }
}

base::Result<size_t> Connection::keep_segments(BytesView bytes) {
  size_t consumed = 0;
  while (true) {
    const auto step = protocol::next_segment(bytes.substr(consumed), compression_);
    if (step.kind == protocol::SegmentStep::Kind::incomplete) return consumed;
    if (step.kind == protocol::SegmentStep::Kind::corrupt) return base::fail(lost(step.error->message()));
    Bytes plain(step.plain_size, '\0');
    if (step.plain_size > 0) SIBYL_TRY(protocol::open_payload(step, plain.data()));
    BytesView payload = step.plain_size > 0 ? BytesView(plain) : step.payload;
    consumed += step.size;
    if (!step.is_self_contained) {
      using Progress = protocol::LargeFrame::Progress;
      const Progress progress = large_.add(payload, protocol::Direction::response, protocol::largest_body);
      if (progress == Progress::more) continue;
      if (progress != Progress::complete) return base::fail(lost(large_.step().error->message()));
      plain = large_.take();
      payload = plain;
    }
    SIBYL_ASSIGN(const size_t kept, keep_frames(payload));
    if (kept != payload.size()) return base::fail(lost("a segment ends within a message"));
  }
}

base::Status Connection::keep(const protocol::FrameStep& step) {
  Answer answer{step.header, {}};
  if ((step.header.flags & protocol::flag::compression) != 0 && !has_segments_) {
    SIBYL_ASSIGN(answer.body, protocol::decompress(compression_, step.body, protocol::largest_body));
  } else {
    answer.body = Bytes(step.body);
  }
  if (step.header.opcode == Opcode::event) {
    SIBYL_ASSIGN(Event event, protocol::decode_event(answer.body, step.header.version));
    events_.push_back(std::move(event));
    return {};
  }
  const auto found = under_way_.find(step.header.stream);
  if (found == under_way_.end() || found->second)
    return base::fail(lost(fmt::format("a response without a request, on stream {}", step.header.stream)));
  found->second = std::move(answer);
  return {};
}

base::Result<Connection::Answer> Connection::receive(Ticket ticket, Deadline deadline) {
  const auto found = under_way_.find(ticket.stream);
  if (found == under_way_.end()) return base::fail(base::ErrorCode::server, "no such request is in flight");
  while (!found->second) {
    if (!is_connected()) return base::fail(lost("the connection was lost"));
    SIBYL_TRY(read_frames(deadline));
  }
  Answer answer = std::move(*found->second);
  under_way_.erase(found);
  if (answer.header.opcode != Opcode::error) return answer;
  BytesView body = answer.body;
  protocol::Envelope ignored;
  SIBYL_TRY(protocol::take_envelope(answer.header, protocol::Direction::response, body, ignored));
  SIBYL_ASSIGN(const auto error, protocol::decode_error(body, answer.header.version));
  return base::fail(protocol::to_error(error));
}

base::Result<Connection::Answer> Connection::ask(Opcode opcode, BytesView body, Deadline deadline) {
  SIBYL_ASSIGN(const Ticket ticket, send(opcode, body));
  return receive(ticket, deadline);
}

base::Result<Result> Connection::to_result(Answer answer) const {
  BytesView body = answer.body;
  protocol::Envelope envelope;
  SIBYL_TRY(protocol::take_envelope(answer.header, protocol::Direction::response, body, envelope));
  SIBYL_ASSIGN(auto message, protocol::decode_result(body, answer.header.version));
  Result result;
  result.warnings = std::move(envelope.warnings);
  result.trace_id = Bytes(envelope.tracing_id);
  if (auto* rows = std::get_if<protocol::RowsResult>(&message)) {
    result.kind = Result::Kind::rows;
    result.columns = std::move(rows->columns);
    result.paging_state = std::move(rows->paging_state);
    result.rows_ = std::move(rows->rows);
    result.row_count_ = rows->row_count;
    result.column_count_ = rows->column_count;
  } else if (auto* keyspace = std::get_if<protocol::SetKeyspaceResult>(&message)) {
    result.kind = Result::Kind::set_keyspace;
    result.keyspace = std::move(keyspace->keyspace);
  } else if (auto* change = std::get_if<protocol::SchemaChange>(&message)) {
    result.kind = Result::Kind::schema_change;
    result.change = std::move(*change);
  }
  return result;
}

namespace {

void fill(protocol::QueryParameters& parameters, std::span<const ValueView> values,
          const StatementOptions& options) {
  parameters.consistency = options.consistency;
  parameters.serial_consistency = options.serial_consistency;
  parameters.values.assign(values.begin(), values.end());
  parameters.names = options.names;
  if (options.page_size > 0) parameters.page_size = options.page_size;
  if (options.paging_state) parameters.paging_state = *options.paging_state;
  parameters.timestamp_micros = options.timestamp_micros;
  parameters.keyspace = options.keyspace;
  parameters.now_seconds = options.now_seconds;
}

}  // namespace

base::Result<Connection::Ticket> Connection::start_query(std::string_view text,
                                                         std::span<const ValueView> values,
                                                         const StatementOptions& options) {
  protocol::Query message;
  message.text = text;
  fill(message.parameters, values, options);
  Bytes body;
  protocol::append_query(body, options_.version, message);
  return send(Opcode::query, body, options.trace);
}

base::Result<Connection::Ticket> Connection::start_execute(const Prepared& prepared,
                                                           std::span<const ValueView> values,
                                                           const StatementOptions& options) {
  protocol::Execute message;
  message.id = prepared.id;
  message.result_metadata_id = prepared.result_metadata_id;
  fill(message.parameters, values, options);
  Bytes body;
  protocol::append_execute(body, options_.version, message);
  return send(Opcode::execute, body, options.trace);
}

base::Result<Result> Connection::finish(Ticket ticket) {
  SIBYL_ASSIGN(Answer answer, receive(ticket, request_deadline()));
  return to_result(std::move(answer));
}

base::Result<Result> Connection::query(std::string_view text, std::span<const ValueView> values,
                                       const StatementOptions& options) {
  SIBYL_ASSIGN(const Ticket ticket, start_query(text, values, options));
  return finish(ticket);
}

base::Result<Prepared> Connection::prepare(std::string_view text) {
  Bytes body;
  protocol::append_prepare(body, options_.version, {text, std::nullopt});
  SIBYL_ASSIGN(Answer answer, ask(Opcode::prepare, body, request_deadline()));
  BytesView rest = answer.body;
  protocol::Envelope envelope;
  SIBYL_TRY(protocol::take_envelope(answer.header, protocol::Direction::response, rest, envelope));
  SIBYL_ASSIGN(auto message, protocol::decode_result(rest, answer.header.version));
  auto* prepared = std::get_if<protocol::PreparedResult>(&message);
  if (prepared == nullptr) return base::fail(lost("unexpected response to PREPARE"));
  return Prepared{std::string(text),
                  std::move(prepared->id),
                  std::move(prepared->result_metadata_id),
                  std::move(prepared->markers),
                  std::move(prepared->partition_key_markers),
                  std::move(prepared->result)};
}

base::Result<Result> Connection::execute(Prepared& prepared, std::span<const ValueView> values,
                                         const StatementOptions& options) {
  SIBYL_ASSIGN(const Ticket first, start_execute(prepared, values, options));
  auto result = finish(first);
  if (result || result.error().code() != base::ErrorCode::unprepared) return result;
  SIBYL_ASSIGN(prepared, prepare(prepared.text));
  SIBYL_ASSIGN(const Ticket second, start_execute(prepared, values, options));
  return finish(second);
}

base::Result<Connection::Ticket> Connection::start_batch(protocol::Batch::Kind kind,
                                                         std::span<const BatchStatement> statements,
                                                         const StatementOptions& options) {
  protocol::Batch message;
  message.kind = kind;
  for (const auto& statement : statements) {
    message.statements.push_back({statement.prepared != nullptr,
                                  statement.prepared != nullptr ? statement.prepared->id : statement.text,
                                  static_cast<uint32_t>(message.values.size()),
                                  static_cast<uint32_t>(statement.values.size())});
    message.values.insert(message.values.end(), statement.values.begin(), statement.values.end());
  }
  fill(message.parameters, {}, options);
  Bytes body;
  protocol::append_batch(body, options_.version, message);
  return send(Opcode::batch, body, options.trace);
}

base::Result<Result> Connection::batch(protocol::Batch::Kind kind, std::span<const BatchStatement> statements,
                                       const StatementOptions& options) {
  SIBYL_ASSIGN(const Ticket ticket, start_batch(kind, statements, options));
  return finish(ticket);
}

base::Status Connection::register_events(const std::vector<std::string>& types) {
  Bytes body;
  protocol::append_register(body, types);
  SIBYL_TRY(ask(Opcode::register_, body, request_deadline()));
  return {};
}

base::Result<std::optional<Event>> Connection::next_event(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  while (events_.empty()) {
    if (!is_connected()) return base::fail(lost("not connected"));
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (is_readable(static_cast<int>(std::max<decltype(left)>(left, 0)))) {
      SIBYL_TRY(read_frames(deadline));
    } else if (Clock::now() >= deadline) {
      return std::nullopt;
    }
  }
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

base::Result<protocol::StringMultimap> Connection::supported() {
  SIBYL_ASSIGN(const Answer answer, ask(Opcode::options, "", request_deadline()));
  return protocol::decode_supported(answer.body);
}

}  // namespace sibyl::client
