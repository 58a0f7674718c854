#include "server/http/http.h"

#include <fmt/format.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <list>
#include <thread>

#include "base/contain.h"
#include "base/log_limit.h"
#include "server/listen.h"
#include "server/server.h"

namespace sibyl::server {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

namespace {

constexpr size_t max_request_bytes = 8 << 10;
constexpr size_t max_connections = 32;
constexpr std::chrono::seconds request_timeout{5};

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
    case 421:
      return "Misdirected Request";
    case 503:
      return "Service Unavailable";
    default:
      return "Internal Server Error";
  }
}

// The first line of a request, such as "GET /metrics?x=y HTTP/1.1", and its Host header.
struct Request {
  std::string_view method, path;
  std::string_view host;  // empty: none was sent; browsers always send one
  bool is_valid = false;
};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

std::string_view trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Returns false if there are several Host headers, which makes the request invalid.
bool find_host(std::string_view headers, std::string_view& host) {
  bool is_found = false;
  while (!headers.empty()) {
    const size_t end = std::min(headers.find("\r\n"), headers.size());
    const std::string_view line = headers.substr(0, end);
    headers.remove_prefix(std::min(end + 2, headers.size()));
    const size_t colon = line.find(':');
    if (colon == line.npos || lower(line.substr(0, colon)) != "host") continue;
    if (std::exchange(is_found, true)) return false;
    host = trim(line.substr(colon + 1));
  }
  return true;
}

Request parse_request(std::string_view text) {
  Request line;
  const std::string_view first = text.substr(0, text.find("\r\n"));
  const size_t space = first.find(' ');
  const size_t second = first.find(' ', space + 1);
  if (space == first.npos || second == first.npos || !first.substr(second + 1).starts_with("HTTP/1."))
    return line;
  line.method = first.substr(0, space);
  line.path = first.substr(space + 1, second - space - 1);
  line.path = line.path.substr(0, line.path.find('?'));
  line.is_valid = line.path.starts_with('/') && find_host(text.substr(first.size()), line.host);
  return line;
}

// The names of this machine that are always accepted.
std::vector<std::string> own_names() {
  char name[256] = {};
  std::vector<std::string> names = {"localhost"};
  if (::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0') names.push_back(lower(name));
  return names;
}

}  // namespace

bool is_own_host(std::string_view host, const std::vector<std::string>& names) {
  std::string name = lower(host);
  const size_t colon = name.rfind(':');
  const bool is_bracketed = name.starts_with('[');
  if (colon != name.npos && (is_bracketed ? name.find(']') < colon : name.find(':') == colon)) {
    if (name.find_first_not_of("0123456789", colon + 1) != name.npos) return false;
    name.resize(colon);
  }
  if (name.ends_with('.')) name.pop_back();
  if (is_bracketed && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  error_code no_address;
  asio::ip::make_address(name, no_address);
  if (!no_address) return true;
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& known) { return known == "*" || known == name; });
}

struct Http::Impl {
  // One request and its response. Lives until its last asynchronous operation has ended.
  struct Exchange : std::enable_shared_from_this<Exchange> {
    Exchange(Impl& owner, tcp::socket connection)
        : http(owner), socket(std::move(connection)), timer(owner.context), in(max_request_bytes) {
      error_code ignored;
      address = socket.remote_endpoint(ignored).address();
      place = http.exchanges.insert(http.exchanges.end(), this);
    }
    ~Exchange() { http.exchanges.erase(place); }

    void start() {
      timer.expires_after(request_timeout);
      timer.async_wait([self = shared_from_this()](const error_code& cancelled) {
        if (!cancelled) self->close();
      });
      asio::async_read_until(socket, in, "\r\n\r\n",
                             [self = shared_from_this()](const error_code& error, size_t size) {
                               if (error) return self->close();
                               const auto answered = base::contain([&] { self->answer(size); });
                               if (!answered) self->close();
                             });
    }

    void answer(size_t size) {
      const std::string text(asio::buffers_begin(in.data()),
                             asio::buffers_begin(in.data()) + static_cast<ptrdiff_t>(size));
      const Request line = parse_request(text);
      const HttpAnswer answer = http.answer_safely(line);
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
    std::list<Exchange*>::iterator place;
    asio::ip::address address;
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
    base::retry_until_success([this] { accept_next(); });
  }

  void accept_next() {
    acceptor.async_accept(context, [this](const error_code& error, tcp::socket socket) {
      if (!acceptor.is_open()) return;
      if (!error) {
        (void)base::contain([&] { std::make_shared<Exchange>(*this, std::move(socket))->start(); });
        if (exchanges.size() > max_connections) close_one();
        return accept();
      }
      // The process is probably out of descriptors. An immediate retry would spin.
      retry.expires_after(std::chrono::milliseconds(100));
      retry.async_wait([this](const error_code& cancelled) {
        if (!cancelled) accept();
      });
    });
  }

  // Closes the oldest connection of the address that has most. The newest connection is always served.
  void close_one() {
    std::map<asio::ip::address, size_t> counts;
    for (const Exchange* exchange : exchanges)
      if (exchange->socket.is_open()) ++counts[exchange->address];
    if (counts.empty()) return;
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto oldest = std::find_if(exchanges.begin(), exchanges.end(), [&](const Exchange* exchange) {
      return exchange->socket.is_open() && exchange->address == most->first;
    });
    (*oldest)->close();
  }

  HttpAnswer answer_safely(const Request& request) {
    base::Result<HttpAnswer> answered = base::contain([&] { return answer(request); });
    if (answered) return std::move(*answered);
    if (thrown.admit(std::chrono::steady_clock::now()))
      spdlog::error("cannot serve a monitoring page: {}", answered.error().message());
    return {500, "text/plain", answered.error().message() + "\n"};
  }

  HttpAnswer answer(const Request& request) const {
    if (!request.is_valid) return {400, "text/plain", "not an HTTP/1 request\n"};
    if (!request.host.empty() && !is_own_host(request.host, host_names))
      return {421, "text/plain",
              fmt::format("'{}' is not a name of this server; use its address, or add the name to "
                          "metrics_host_names\n",
                          request.host)};
    if (request.method != "GET" && request.method != "HEAD")
      return {405, "text/plain", "only GET and HEAD are supported\n"};
    const auto page = pages.find(std::string(request.path));
    if (page != pages.end()) return page->second();
    std::string known;
    for (const auto& [name, ignored] : pages) known += name + "\n";
    return {404, "text/plain", "no such page; the pages are\n" + known};
  }

  std::map<std::string, Page> pages;
  std::vector<std::string> host_names;
  base::LogLimit thrown{1};
  // Oldest first. Must outlive the context, whose destructor ends the remaining ones.
  std::list<Exchange*> exchanges;
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

base::Result<std::unique_ptr<Http>> Http::start(const std::string& address, std::map<std::string, Page> pages,
                                                std::vector<std::string> host_names) {
  auto impl = std::make_unique<Impl>();
  impl->pages = std::move(pages);
  impl->host_names = own_names();
  for (const std::string& name : host_names) impl->host_names.push_back(lower(name));
  SIBYL_TRY(impl->listen(address));
  impl->accept();
  impl->thread = std::thread([context = &impl->context] {
    while (!base::contain([&] { context->run(); })) base::pause_for_memory();
  });
  pthread_setname_np(impl->thread.native_handle(), "sibyl-http");
  return std::unique_ptr<Http>(new Http(std::move(impl)));
}

std::string Http::address() const {
  return to_text(impl_->endpoint);
}

}  // namespace sibyl::server
