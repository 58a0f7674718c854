#include "server/http/http_connection.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <cctype>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "base/contain.h"
#include "server/http/http_stream.h"

namespace sibyl::server {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using tcp = asio::ip::tcp;

namespace {

constexpr uint32_t max_header_bytes = 8 << 10;
constexpr uint64_t max_body_bytes = 1 << 20;
constexpr std::chrono::seconds header_timeout{5}, body_timeout{10}, write_timeout{30}, idle_timeout{60};

using Parser = http::request_parser<http::string_body>;
using Answer = http::response<http::span_body<const char>>;

HttpRequest take_request(Parser::value_type& message) {
  HttpRequest request;
  request.method = std::string(message.method_string());
  const auto target = message.target();
  const size_t mark = target.find('?');
  request.path = std::string(target.substr(0, mark));
  if (mark != target.npos) request.query = std::string(target.substr(mark + 1));
  for (const auto& field : message) {
    std::string name(field.name_string());
    for (char& c : name) c = base::ascii_lower(c);
    std::string& value = request.headers[std::move(name)];
    if (!value.empty()) value += ", ";
    value += std::string_view(field.value().data(), field.value().size());
  }
  request.body = std::move(message.body());
  return request;
}

bool is_malformed(const error_code& error) {
  return error.category() == make_error_code(http::error::bad_method).category() &&
         error != http::error::end_of_stream && error != http::error::partial_message;
}

HttpAnswer refusal_of(const error_code& error) {
  if (error == http::error::header_limit) return {431, "text/plain", "the headers are longer than 8 KiB\n"};
  if (error == http::error::body_limit) return {413, "text/plain", "the body is longer than 1 MiB\n"};
  return {400, "text/plain", "not an HTTP/1 request\n"};
}

}  // namespace

struct HttpConnection::State {
  State(HttpOwner& its_owner, tcp::socket connection, const std::shared_ptr<const TlsContext>& tls)
      : owner(its_owner), stream(std::move(connection), tls), timer(stream.get_executor()) {
    error_code ignored;
    address = stream.socket().remote_endpoint(ignored).address();
  }

  void set_timeout(HttpConnection& connection, std::chrono::seconds timeout) {
    timer.expires_after(timeout);
    timer.async_wait([self = connection.weak_from_this()](const error_code& cancelled) {
      if (cancelled) return;
      if (const HttpConnectionPtr open = self.lock()) open->close();
    });
  }
  void shake_hands(HttpConnection& connection);
  void wait_for_request(HttpConnection& connection);
  void read_request(HttpConnection& connection);
  void read_header(HttpConnection& connection);
  void read_body(HttpConnection& connection);
  void handle(HttpConnection& connection);
  std::shared_ptr<const std::atomic<bool>> watch(HttpConnection& connection);
  void refuse(HttpConnection& connection, HttpAnswer why);
  void write(HttpConnection& connection);
  void end(HttpConnection& connection);

  HttpOwner& owner;
  HttpStream stream;
  asio::steady_timer timer;
  asio::ip::address address;
  // Holds the headers of one request, and the bytes that the client has sent after these headers.
  boost::beast::flat_buffer buffer{max_header_bytes + (16 << 10)};
  std::optional<Parser> parser;
  uint64_t number = 0;  // number of the current request
  bool is_handled = false, is_for_handler = false, is_head = false, keep_alive = false;
  HttpAnswer answer;  // owns the bytes that `response` refers to
  Answer response;
};

HttpConnection::HttpConnection(HttpOwner& owner, tcp::socket socket,
                               const std::shared_ptr<const TlsContext>& tls)
    : state_(std::make_unique<State>(owner, std::move(socket), tls)) {}

HttpConnection::~HttpConnection() {
  state_->owner.forget(*this);
}

void HttpConnection::start() {
  if (state_->stream.is_encrypted()) return state_->shake_hands(*this);
  state_->read_request(*this);
}

bool HttpConnection::is_open() const {
  return state_->stream.socket().is_open();
}

bool HttpConnection::is_waiting() const {
  return !state_->is_handled;
}

const asio::ip::address& HttpConnection::address() const {
  return state_->address;
}

void HttpConnection::close() {
  error_code ignored;
  state_->stream.socket().close(ignored);
  state_->timer.cancel();
}

void HttpConnection::State::shake_hands(HttpConnection& connection) {
  set_timeout(connection, header_timeout);
  stream.async_handshake([this, self = connection.shared_from_this()](const error_code& error) {
    if (error) return self->close();
    if (!base::contain([&] { read_request(*self); })) self->close();
  });
}

void HttpConnection::State::read_request(HttpConnection& connection) {
  set_timeout(connection, header_timeout);
  read_header(connection);
}

// Between two requests the client may be idle. Once a request begins, its headers must arrive in time.
void HttpConnection::State::wait_for_request(HttpConnection& connection) {
  if (buffer.size() > 0 || stream.has_decrypted()) return read_request(connection);
  set_timeout(connection, idle_timeout);
  stream.socket().async_wait(tcp::socket::wait_read,
                             [this, self = connection.shared_from_this()](const error_code& error) {
                               if (error) return self->close();
                               read_request(*self);
                             });
}

void HttpConnection::State::read_header(HttpConnection& connection) {
  parser.emplace();
  parser->header_limit(max_header_bytes);
  parser->body_limit(max_body_bytes);
  http::async_read_header(stream, buffer, *parser,
                          [this, self = connection.shared_from_this()](const error_code& error, size_t) {
                            if (is_malformed(error)) return refuse(*self, refusal_of(error));
                            if (error) return self->close();
                            if (!base::contain([&] { read_body(*self); })) self->close();
                          });
}

void HttpConnection::State::read_body(HttpConnection& connection) {
  const auto& message = parser->get();
  const std::string_view path(message.target().data(), message.target().size());
  const auto hosts = message.equal_range(http::field::host);
  if (!path.starts_with('/') || (hosts.first != hosts.second && std::next(hosts.first) != hosts.second))
    return refuse(connection, {400, "text/plain", "not an HTTP/1 request\n"});
  is_for_handler = owner.is_for_handler(path.substr(0, path.find('?')));
  keep_alive = message.keep_alive() && is_for_handler;
  is_head = message.method() == http::verb::head;
  if (parser->is_done() || !is_for_handler) return handle(connection);
  set_timeout(connection, body_timeout);
  http::async_read(stream, buffer, *parser,
                   [this, self = connection.shared_from_this()](const error_code& error, size_t) {
                     if (error == http::error::body_limit) return refuse(*self, refusal_of(error));
                     if (error) return self->close();
                     if (!base::contain([&] { handle(*self); })) self->close();
                   });
}

void HttpConnection::State::handle(HttpConnection& connection) {
  timer.cancel();
  HttpRequest request = take_request(parser->get());
  request.address = address.to_string();
  parser.reset();
  is_handled = true;
  if (is_for_handler) request.is_abandoned = watch(connection);
  owner.handle(connection.shared_from_this(), ++number, std::move(request));
}

// Notices when the client disconnects while its request is being handled.
std::shared_ptr<const std::atomic<bool>> HttpConnection::State::watch(HttpConnection& connection) {
  auto is_abandoned = std::make_shared<std::atomic<bool>>(false);
  if (buffer.size() > 0 || stream.has_decrypted()) return is_abandoned;
  stream.socket().async_wait(
      tcp::socket::wait_read,
      [this, is_abandoned, self = connection.shared_from_this()](const error_code& error) {
        if (error || !stream.is_at_end()) return;  // otherwise it is the next request
        *is_abandoned = true;
        self->close();
      });
  return is_abandoned;
}

void HttpConnection::State::refuse(HttpConnection& connection, HttpAnswer why) {
  keep_alive = false;
  is_handled = true;
  connection.answer(++number, std::move(why));
}

void HttpConnection::answer(uint64_t number, HttpAnswer answer) {
  State& state = *state_;
  error_code ignored;
  if (!is_open() || !state.is_handled || number != state.number) return;
  state.stream.socket().cancel(ignored);  // ends the wait of watch()
  state.answer = std::move(answer);
  state.response = Answer(static_cast<http::status>(state.answer.status), 11);
  state.response.set(http::field::content_type, state.answer.type);
  state.response.set("X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : state.answer.headers) state.response.insert(name, value);
  const std::string_view content = state.answer.content();
  state.response.content_length(content.size());
  if (!state.is_head) state.response.body() = {content.data(), content.size()};
  state.response.keep_alive(state.keep_alive);
  // HTTP/1.1 connections are persistent by default; older clients of HTTP/1.0 need the header.
  state.response.set(http::field::connection, state.keep_alive ? "keep-alive" : "close");
  state.write(*this);
}

void HttpConnection::State::write(HttpConnection& connection) {
  set_timeout(connection, write_timeout);
  http::async_write(stream, response,
                    [this, self = connection.shared_from_this()](const error_code& error, size_t) {
                      is_handled = false;
                      answer = HttpAnswer();
                      if (error) return self->close();
                      if (keep_alive) return wait_for_request(*self);
                      end(*self);
                    });
}

void HttpConnection::State::end(HttpConnection& connection) {
  if (stream.is_encrypted())
    return stream.async_shutdown(
        [self = connection.shared_from_this()](const error_code&) { self->close(); });
  error_code ignored;
  stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
  connection.close();
}

}  // namespace sibyl::server
