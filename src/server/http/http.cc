#include "server/http/http.h"

#include <fmt/format.h>
#include <pthread.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <list>
#include <set>
#include <thread>

#include "base/contain.h"
#include "base/log_limit.h"
#include "server/http/http_connection.h"
#include "server/listen.h"
#include "server/server.h"

namespace sibyl::server {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

namespace {

constexpr size_t max_connections = 32;

}  // namespace

struct Http::Impl final : HttpOwner, std::enable_shared_from_this<Impl> {
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
  void accept_next();
  void admit(tcp::socket socket);
  void close_one();

  bool is_for_handler(std::string_view path) const override {
    return handler != nullptr && !pages.contains(std::string(path));
  }
  void handle(const HttpConnectionPtr& connection, uint64_t number, HttpRequest request) override;
  void forget(HttpConnection& connection) override { connections.remove(&connection); }
  void hand_over(const HttpConnectionPtr& connection, uint64_t number, HttpRequest request);
  HttpAnswer answer_safely(const HttpRequest& request);
  HttpAnswer answer(const HttpRequest& request) const;
  bool is_own(const HttpRequest& request) const {
    const std::string_view host = request.header("host");
    return host.empty() || is_own_host(host, host_names);
  }

  std::map<std::string, Page> pages;
  std::vector<std::string> host_names;
  HttpHandler* handler = nullptr;
  TlsContexts* tls = nullptr;
  base::LogLimit thrown{1};
  // Oldest first. Must outlive the context, whose destructor ends the remaining ones.
  std::list<HttpConnection*> connections;
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer retry{context};
  tcp::endpoint endpoint;
  std::set<HttpConnectionPtr> handled;  // connections whose request the handler has
  std::thread thread;
};

void Http::Impl::accept_next() {
  acceptor.async_accept(context, [this](const error_code& error, tcp::socket socket) {
    if (!acceptor.is_open()) return;
    if (!error) {
      (void)base::contain([&] { admit(std::move(socket)); });
      return accept();
    }
    // The process probably has no descriptors left. An immediate retry would repeat without a pause.
    retry.expires_after(std::chrono::milliseconds(100));
    retry.async_wait([this](const error_code& cancelled) {
      if (!cancelled) accept();
    });
  });
}

void Http::Impl::admit(tcp::socket socket) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  const auto connection =
      std::make_shared<HttpConnection>(*this, std::move(socket), tls ? tls->current() : nullptr);
  connections.push_back(connection.get());
  connection->start();
  if (connections.size() > max_connections) close_one();
}

// Closes a connection of the address with the most connections: the oldest one that waits for a request, or
// else the oldest. The newest connection is always served.
void Http::Impl::close_one() {
  std::map<asio::ip::address, size_t> counts;
  for (const HttpConnection* one : connections)
    if (one->is_open()) ++counts[one->address()];
  if (counts.empty()) return;
  const auto most = std::max_element(counts.begin(), counts.end(), [](const auto& left, const auto& right) {
    return left.second < right.second;
  });
  HttpConnection* oldest = nullptr;
  for (HttpConnection* one : connections) {
    if (!one->is_open() || one->address() != most->first || one == connections.back()) continue;
    if (one->is_waiting()) return one->close();
    if (oldest == nullptr) oldest = one;
  }
  if (oldest != nullptr) oldest->close();
}

void Http::Impl::handle(const HttpConnectionPtr& connection, uint64_t number, HttpRequest request) {
  if (!is_for_handler(request.path) || !is_own(request))
    return connection->answer(number, answer_safely(request));
  handled.insert(connection);
  const base::Status begun = base::contain([&] { hand_over(connection, number, std::move(request)); });
  if (begun) return;
  handled.erase(connection);
  connection->answer(number, {500, "text/plain", begun.error().message() + "\n"});
}

// The answer arrives on any thread, perhaps when this object no longer exists.
void Http::Impl::hand_over(const HttpConnectionPtr& connection, uint64_t number, HttpRequest request) {
  handler->handle(std::move(request), [http = weak_from_this(), waiting = std::weak_ptr(connection),
                                       number](HttpAnswer answer) {
    const std::shared_ptr<Impl> alive = http.lock();
    if (!alive) return;
    asio::post(alive->context, [impl = alive.get(), waiting, number, given = std::move(answer)]() mutable {
      const HttpConnectionPtr open = waiting.lock();
      if (!open) return;
      impl->handled.erase(open);
      open->answer(number, std::move(given));
    });
  });
}

HttpAnswer Http::Impl::answer_safely(const HttpRequest& request) {
  base::Result<HttpAnswer> answered = base::contain([&] { return answer(request); });
  if (answered) return std::move(*answered);
  if (thrown.admit(std::chrono::steady_clock::now()))
    spdlog::error("cannot serve a monitoring page: {}", answered.error().message());
  return {500, "text/plain", answered.error().message() + "\n"};
}

HttpAnswer Http::Impl::answer(const HttpRequest& request) const {
  if (!is_own(request))
    return {421, "text/plain",
            fmt::format("'{}' is not a name of this server; use its address, or add the name to "
                        "metrics_host_names\n",
                        request.header("host"))};
  if (request.method != "GET" && request.method != "HEAD")
    return {405, "text/plain", "only GET and HEAD are supported\n"};
  const auto page = pages.find(request.path);
  if (page != pages.end()) return page->second();
  std::string known;
  for (const auto& [name, ignored] : pages) known += name + "\n";
  return {404, "text/plain", "no such page; the pages are\n" + known};
}

Http::Http(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Http::~Http() {
  impl_->context.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
}

base::Result<std::unique_ptr<Http>> Http::start(const std::string& address, std::map<std::string, Page> pages,
                                                std::vector<std::string> host_names, HttpHandler* handler,
                                                TlsContexts* tls) {
  auto impl = std::make_shared<Impl>();
  impl->pages = std::move(pages);
  impl->host_names = own_host_names(host_names);
  impl->handler = handler;
  impl->tls = tls;
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
