#include "server/http.h"

#include <fmt/format.h>
#include <pthread.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <thread>

#include "server/listen.h"
#include "server/server.h"

namespace sibyl::server {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

namespace {

constexpr size_t most_request_bytes = 8 << 10;
constexpr size_t most_connections = 32;
constexpr std::chrono::seconds patience{5};

const char* reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 503:
      return "Service Unavailable";
    default:
      return "Internal Server Error";
  }
}

// The first line of a request: "GET /metrics?x=y HTTP/1.1".
struct RequestLine {
  std::string_view method, path;
  bool is_valid = false;
};

RequestLine parse_line(std::string_view text) {
  RequestLine line;
  const std::string_view first = text.substr(0, text.find("\r\n"));
  const size_t space = first.find(' ');
  const size_t second = first.find(' ', space + 1);
  if (space == first.npos || second == first.npos || !first.substr(second + 1).starts_with("HTTP/1."))
    return line;
  line.method = first.substr(0, space);
  line.path = first.substr(space + 1, second - space - 1);
  line.path = line.path.substr(0, line.path.find('?'));
  line.is_valid = line.path.starts_with('/');
  return line;
}

}  // namespace

struct Http::Impl {
  // One request and its answer; lives as long as its operations.
  struct Visit : std::enable_shared_from_this<Visit> {
    Visit(Impl& owner, tcp::socket connection)
        : http(owner), socket(std::move(connection)), timer(owner.context), in(most_request_bytes) {
      ++http.visits;
    }
    ~Visit() { --http.visits; }

    void start() {
      timer.expires_after(patience);
      timer.async_wait([self = shared_from_this()](const error_code& cancelled) {
        if (!cancelled) self->close();
      });
      asio::async_read_until(socket, in, "\r\n\r\n",
                             [self = shared_from_this()](const error_code& error, size_t size) {
                               if (error) return self->close();
                               self->answer(size);
                             });
    }

    void answer(size_t size) {
      const std::string text(asio::buffers_begin(in.data()),
                             asio::buffers_begin(in.data()) + static_cast<ptrdiff_t>(size));
      const RequestLine line = parse_line(text);
      const HttpAnswer answer = http.answer(line.method, line.path, line.is_valid);
      out = fmt::format(
          "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: "
          "close\r\nX-Content-Type-Options: "
          "nosniff\r\n\r\n",
          answer.status, reason_of(answer.status), answer.type, answer.body.size());
      if (line.method != "HEAD") out += answer.body;
      asio::async_write(socket, asio::buffer(out), [self = shared_from_this()](const error_code&, size_t) {
        error_code ignored;
        self->socket.shutdown(tcp::socket::shutdown_send, ignored);
        self->close();
      });
    }

    void close() {
      error_code ignored;
      socket.close(ignored);
      timer.cancel();
    }

    Impl& http;
    tcp::socket socket;
    asio::steady_timer timer;
    asio::streambuf in;
    std::string out;
  };

  base::Status listen(const std::string& address) {
    Options parsed;
    parsed.port = 9180;
    SIBYL_TRY(parse_listen_address(address, parsed));
    SIBYL_ASSIGN(endpoint, server::listen(acceptor, parsed.host, parsed.port, 64));
    return {};
  }

  void accept() {
    acceptor.async_accept(context, [this](const error_code& error, tcp::socket socket) {
      if (!acceptor.is_open()) return;
      if (!error && visits < most_connections) std::make_shared<Visit>(*this, std::move(socket))->start();
      if (!error) return accept();
      // Out of descriptors, most likely: trying again at once would spin.
      retry.expires_after(std::chrono::milliseconds(100));
      retry.async_wait([this](const error_code& cancelled) {
        if (!cancelled) accept();
      });
    });
  }

  HttpAnswer answer(std::string_view method, std::string_view path, bool is_valid) const {
    if (!is_valid) return {400, "text/plain", "not a request of HTTP/1\n"};
    if (method != "GET" && method != "HEAD") return {405, "text/plain", "only GET and HEAD\n"};
    const auto page = pages.find(std::string(path));
    if (page != pages.end()) return page->second();
    std::string known;
    for (const auto& [name, ignored] : pages) known += name + "\n";
    return {404, "text/plain", "there is no such page; there are\n" + known};
  }

  std::map<std::string, Page> pages;
  size_t visits = 0;  // outlives the context, which ends those that are left
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer retry{context};
  tcp::endpoint endpoint;
  std::thread thread;
};

Http::Http(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Http::~Http() {
  impl_->context.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
}

base::Result<std::unique_ptr<Http>> Http::start(const std::string& address,
                                                std::map<std::string, Page> pages) {
  auto impl = std::make_unique<Impl>();
  impl->pages = std::move(pages);
  SIBYL_TRY(impl->listen(address));
  impl->accept();
  impl->thread = std::thread([context = &impl->context] { context->run(); });
  pthread_setname_np(impl->thread.native_handle(), "sibyl-http");
  return std::unique_ptr<Http>(new Http(std::move(impl)));
}

std::string Http::address() const {
  return to_text(impl_->endpoint);
}

}  // namespace sibyl::server
