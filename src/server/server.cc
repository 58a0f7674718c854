#include "server/server.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <charconv>
#include <future>

#include "base/contain.h"
#include "server/connection/authentication.h"
#include "server/connection/run_request.h"
#include "server/http/http.h"
#include "server/listen.h"
#include "server/monitoring/monitor.h"
#include "server/reactor.h"
#include "server/scheduling/default_threads.h"

namespace sibyl::server {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

namespace {

constexpr std::chrono::milliseconds accept_retry{100};
constexpr size_t login_queue = 1024;  // logins that wait for a thread

// An IP address as the 4 or 16 bytes of the protocol.
std::string address_bytes(const asio::ip::address& address) {
  const auto bytes_of = [](const auto& bytes) { return std::string(bytes.begin(), bytes.end()); };
  return address.is_v4() ? bytes_of(address.to_v4().to_bytes()) : bytes_of(address.to_v6().to_bytes());
}

Limits within_descriptors(Limits limits) {
  const size_t descriptors = descriptor_limit();
  const size_t connections = connections_within(limits.connections, descriptors);
  if (connections < std::min(limits.connections, Limits().connections))
    spdlog::warn("connections are limited to {}, because the limit of open files is {}", connections,
                 descriptors);
  limits.connections = connections;
  return limits;
}

}  // namespace

struct Server::Impl {
  Impl(const engine::Services& engine, const Options& options)
      : shared{engine, within_descriptors(options.limits)} {}

  base::Status listen_and_start(const Options& options);
  base::Status listen(const Options& options);
  void start(const Options& options);
  void accept();
  void on_accept(const error_code& error, tcp::socket socket);
  void admit(tcp::socket socket);
  bool make_room();
  void limit_unauthenticated();
  void stop(std::chrono::milliseconds timeout);
  void await_idle(std::optional<std::chrono::steady_clock::time_point> deadline);

  Shared shared;
  std::unique_ptr<tcp::acceptor> acceptor;
  std::unique_ptr<asio::steady_timer> retry;
  tcp::endpoint endpoint;
  size_t next_reactor = 0;
  uint64_t subscription = 0;
  bool is_stopped = false;
  asio::ip::address reachable;  // for clients
  ServerMonitor monitor{shared};
  std::unique_ptr<Http> http;  // nullptr: off
};

base::Status Server::Impl::listen(const Options& options) {
  shared.reactors.push_back(std::make_unique<Reactor>(shared, 0));
  asio::io_context& context = shared.reactors[0]->context();
  acceptor = std::make_unique<tcp::acceptor>(context);
  retry = std::make_unique<asio::steady_timer>(context);
  SIBYL_ASSIGN(endpoint, server::listen(*acceptor, options.host, options.port, 1024));
  SIBYL_ASSIGN(reachable, reachable_address(options.host, options.broadcast_host));
  return {};
}

// Asio and the standard library throw if there are no descriptors or threads for a reactor.
base::Status Server::Impl::listen_and_start(const Options& options) {
  try {
    SIBYL_TRY(listen(options));
    start(options);
  } catch (const std::exception& error) {
    return base::fail(base::ErrorCode::server, fmt::format("The server cannot start: {}", error.what()));
  }
  return {};
}

void Server::Impl::start(const Options& options) {
  const unsigned threads = options.threads == 0 ? default_threads() : options.threads;
  for (unsigned i = 1; i < threads; ++i) shared.reactors.push_back(std::make_unique<Reactor>(shared, i));
  shared.pool = std::make_unique<BlockingPool>("Blocking-Requests", std::max(options.blocking_threads, 1u),
                                               options.limits.blocking_queue, run_blocking,
                                               options.limits.queue_timeout, results_admission());
  if (shared.engine.authenticator.options().authenticator != auth::Authenticator::allow_all)
    shared.login_pool = std::make_unique<BlockingPool>(
        "Logins", std::clamp(std::thread::hardware_concurrency() / 2, 1u, 4u), login_queue, run_login);
  shared.node_address = address_bytes(reachable);
  shared.engine.server_tables.set_endpoint(reachable.to_string(), endpoint.port());
  subscription = shared.engine.schema_source.subscribe([this](const schema::Change& change) {
    for (auto& reactor : shared.reactors) reactor->publish(change);
  });
  shared.engine.server_tables.set_clients([this] { return shared.clients.list(); });
  shared.engine.server_tables.set_monitor(&monitor);
  shared.slow_query = options.slow_query;
  shared.is_relay = options.is_relay;
  asio::post(acceptor->get_executor(), [this] { accept(); });
}

void Server::Impl::accept() {
  if (!acceptor->is_open()) return;
  Reactor& reactor = *shared.reactors[next_reactor % shared.reactors.size()];
  base::retry_until_success([&] {
    acceptor->async_accept(reactor.context(), [this](const error_code& error, tcp::socket socket) {
      on_accept(error, std::move(socket));
    });
  });
}

void Server::Impl::on_accept(const error_code& error, tcp::socket socket) {
  if (error == asio::error::operation_aborted) return;
  if (error) {
    // The process probably has no descriptors left. An immediate retry would repeat without a pause.
    spdlog::warn("cannot accept a connection: {}", error.message());
    retry->expires_after(accept_retry);
    retry->async_wait([this](const error_code& cancelled) {
      if (!cancelled) accept();
    });
    return;
  }
  if (const auto status = base::contain([&] { admit(std::move(socket)); }); !status)
    shared.request_log.log_exception(status.error());
  accept();
}

void Server::Impl::admit(tcp::socket socket) {
  const Limits& limits = shared.limits;
  error_code disconnected;
  const tcp::endpoint peer = socket.remote_endpoint(disconnected);
  if (disconnected) return;
  std::string address = peer.address().to_string();
  // Connections that make_room() closes count until their reactor has closed them. A burst must not use up
  // the store's descriptors meanwhile.
  constexpr size_t max_closing = 16;
  const size_t open = shared.connections.load();
  const bool is_full =
      open >= limits.connections + max_closing || (open >= limits.connections && !make_room());
  const size_t of_one = limits.connections_per_address;
  if (is_full || (of_one > 0 && !shared.per_address.enter(address, of_one))) {
    shared.connections_refused.fetch_add(1, std::memory_order_relaxed);
    if (const auto more = shared.refusal_log_limit.admit(std::chrono::steady_clock::now()))
      spdlog::warn("refused a connection from {}: {} connections are open{}{}", address,
                   is_full ? limits.connections : of_one, is_full ? "" : " from that address",
                   base::suppressed_note(*more));
    return;
  }
  limit_unauthenticated();
  shared.connections.fetch_add(1);
  shared.connections_accepted.fetch_add(1, std::memory_order_relaxed);
  Reactor& reactor = *shared.reactors[next_reactor++ % shared.reactors.size()];
  if (const auto status = base::contain([&] { reactor.adopt(std::move(socket), address); }); !status) {
    shared.request_log.log_exception(status.error());
    shared.release_connection_slot(address);
  }
}

// At most a quarter of the connections may be without a login, so that they do not keep others out.
void Server::Impl::limit_unauthenticated() {
  constexpr size_t part = 4, few = 8;
  size_t unauthenticated_connections = 0;
  for (const auto& reactor : shared.reactors)
    unauthenticated_connections += reactor->unauthenticated_connections();
  if (unauthenticated_connections > std::max(shared.limits.connections / part, few)) (void)make_room();
}

// Closes an unauthenticated connection. Returns false if every connection has logged in.
bool Server::Impl::make_room() {
  const auto& most = *std::max_element(
      shared.reactors.begin(), shared.reactors.end(), [](const auto& one, const auto& other) {
        return one->unauthenticated_connections() < other->unauthenticated_connections();
      });
  if (most->unauthenticated_connections() == 0) return false;
  most->close_oldest_unauthenticated();
  return true;
}

// Blocks until no connection is open and no request is in flight, at most until the deadline.
void Server::Impl::await_idle(std::optional<std::chrono::steady_clock::time_point> deadline) {
  const base::MutexLock lock(shared.shutdown_mutex);
  while (shared.connections != 0 || shared.load.requests() != 0) {
    if (!deadline) {
      shared.shutdown_progress.wait(shared.shutdown_mutex);
    } else if (!shared.shutdown_progress.wait_until(shared.shutdown_mutex, *deadline)) {
      return;
    }
  }
}

void Server::Impl::stop(std::chrono::milliseconds timeout) {
  if (is_stopped) return;
  is_stopped = true;
  shared.is_stopping = true;
  if (shared.pool) {
    shared.engine.schema_source.unsubscribe(subscription);
    shared.engine.server_tables.set_clients({});
    shared.engine.server_tables.set_monitor(nullptr);
  }
  http.reset();
  if (acceptor) {
    std::promise<void> closed;
    asio::post(acceptor->get_executor(), [&] {
      error_code ignored;
      acceptor->close(ignored);
      retry->cancel();
      closed.set_value();
    });
    closed.get_future().wait();
  }
  for (auto& reactor : shared.reactors) reactor->begin_drain();
  await_idle(std::chrono::steady_clock::now() + timeout);
  for (auto& reactor : shared.reactors) reactor->abandon();
  if (shared.pool) shared.pool->stop();
  // The engine completes every request; until then its completions need the reactors.
  await_idle(std::nullopt);
  for (auto& reactor : shared.reactors) reactor->join();
  shared.pool.reset();
  shared.login_pool.reset();
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  impl_->stop(std::chrono::milliseconds(0));
}

base::Result<std::unique_ptr<Server>> Server::start(const engine::Services& engine, const Options& options) {
  auto impl = std::make_unique<Impl>(engine, options);
  if (options.tls.mode != TlsOptions::Mode::off) {
    SIBYL_ASSIGN(impl->shared.tls, TlsContexts::open(options.tls));
  }
  if (const auto listening = impl->listen_and_start(options); !listening) {
    impl->stop(std::chrono::milliseconds(0));
    return base::fail(listening.error());
  }
  if (!options.http_address.empty()) {
    auto http = Http::start(options.http_address, impl->monitor.pages(to_text(impl->endpoint)),
                            options.http_host_names, options.http_handler,
                            options.http_encrypted ? impl->shared.tls.get() : nullptr);
    if (http) {
      impl->http = std::move(*http);
    } else if (options.http_required) {
      impl->stop(std::chrono::milliseconds(0));
      return base::fail(http.error());
    } else {
      spdlog::warn("metrics are not served: {}", http.error().message());
    }
  }
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

void Server::notify_node(NodeEvent event, const std::string& address, uint16_t port) {
  error_code failed;
  const asio::ip::address parsed = asio::ip::make_address(address, failed);
  if (failed) return;
  const bool joined = event == NodeEvent::joined;
  const auto change = [&](const char* kind, const char* what) {
    return protocol::NodeChange{kind, what, address_bytes(parsed), port};
  };
  const protocol::NodeChange topology = change("TOPOLOGY_CHANGE", joined ? "NEW_NODE" : "REMOVED_NODE");
  const protocol::NodeChange status = change("STATUS_CHANGE", joined ? "UP" : "DOWN");
  for (auto& reactor : impl_->shared.reactors) {
    reactor->publish(joined ? topology : status);
    reactor->publish(joined ? status : topology);
  }
}

std::string Server::http_address() const {
  return impl_->http ? impl_->http->address() : std::string();
}

const engine::Monitor& Server::monitor() const {
  return impl_->monitor;
}

std::string Server::status() const {
  return impl_->monitor.pages(address()).at("/status")().body;
}

std::string Server::address() const {
  return to_text(impl_->endpoint);
}

uint16_t Server::port() const {
  return impl_->endpoint.port();
}

void Server::stop(std::chrono::milliseconds timeout) {
  impl_->stop(timeout);
}

base::Status Server::reload_tls() {
  if (!impl_->shared.tls) return {};
  return impl_->shared.tls->reload();
}

base::Status parse_listen_address(const std::string& text, Options& options) {
  const auto is_digit = [](char c) { return '0' <= c && c <= '9'; };
  const bool is_port = !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
  std::string host = is_port ? "" : text;
  std::string port = is_port ? text : "";
  const size_t bracket = text.find(']');
  const size_t colon = text.rfind(':');
  if (colon != std::string::npos &&
      (bracket == std::string::npos ? text.find(':') == colon : colon > bracket)) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  if (!host.empty()) options.host = host;
  if (port.empty()) return {};
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), options.port);
  if (error != std::errc() || end != port.data() + port.size())
    return base::fail(base::ErrorCode::server, fmt::format("Invalid port '{}' in '{}'", port, text));
  return {};
}

}  // namespace sibyl::server
