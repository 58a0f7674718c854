#include "cluster/transport/peer_network.h"

#include <fmt/format.h>
#include <pthread.h>
#include <spdlog/spdlog.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/contain.h"
#include "cluster/transport/inbox.h"
#include "cluster/transport/incoming.h"
#include "cluster/transport/outgoing.h"
#include "cluster/transport/peer_tls.h"
#include "cluster/transport/workers.h"

namespace sibyl::cluster {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Outcome = CallResult::Outcome;

namespace {

constexpr std::chrono::milliseconds accept_pause{100};
constexpr size_t max_incoming = 4096;

// HOST:PORT or [HOST]:PORT, with a numeric host.
std::optional<tcp::endpoint> parse_endpoint(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::string_view digits = text.substr(colon + 1);
  uint16_t port = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size() || port == 0)
    return std::nullopt;
  error_code error;
  const asio::ip::address address = asio::ip::make_address(std::string(host), error);
  if (error) return std::nullopt;
  return tcp::endpoint(address, port);
}

}  // namespace

// Everything but the inbox and the workers is used on the thread of the context only.
class PeerNetwork::Impl {
 public:
  explicit Impl(Options options)
      : options_(std::move(options)),
        tls_(options_.is_encrypted ? make_peer_tls(options_.secret) : nullptr) {}
  ~Impl() { stop(); }

  base::Status start();
  uint16_t port() const { return port_; }
  void handle(Method method, Handler handler, size_t threads) {
    workers_.handle(method, std::move(handler), threads);
  }
  void add(Inbox::Task task) { inbox_->add(std::move(task)); }
  void follow(std::map<MemberId, std::string> addresses);
  void call(const MemberId& member, Method method, base::Bytes message, Time deadline, Reply reply);

 private:
  void run();
  void stop();
  void close_all();
  void accept();
  void admit(tcp::socket socket);
  std::shared_ptr<Outgoing> connection_to(const MemberId& member, std::string& why);
  void wake_at(Time time);
  void expire();

  const Options options_;
  const std::unique_ptr<asio::ssl::context> tls_;  // nullptr: not encrypted
  Workers workers_;
  asio::io_context context_{1};
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_{context_.get_executor()};
  const std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>(context_);
  tcp::acceptor acceptor_{context_};
  asio::steady_timer accept_timer_{context_}, timer_{context_};
  std::optional<Time> wakes_at_;  // of timer_
  uint16_t port_ = 0;
  std::map<MemberId, std::string> addresses_;  // of the members
  std::map<MemberId, std::shared_ptr<Outgoing>> outgoing_;
  std::map<Incoming*, std::shared_ptr<Incoming>> incoming_;
  bool is_closing_ = false;
  std::thread thread_;
};

base::Status PeerNetwork::Impl::start() {
  error_code error;
  const asio::ip::address address = asio::ip::make_address(options_.host, error);
  const tcp::endpoint endpoint(address, options_.port);
  if (!error) acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error)
    return base::fail(
        base::Error(base::ErrorCode::server, fmt::format("Cannot listen for other servers on {}:{}: {}",
                                                         options_.host, options_.port, error.message()))
            .with_hint("storage_port sets the port"));
  port_ = acceptor_.local_endpoint().port();
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "sibyl-peers");
  add([this] { accept(); });
  return {};
}

void PeerNetwork::Impl::run() {
  inbox_->set_thread();
  for (;;) {
    const base::Status status = base::contain([&] { context_.run(); });
    if (status) return;
    spdlog::error("calls between servers: {}", status.error().text());
  }
}

// Handlers may wait for calls of their own, which end here. The handlers' answers are then discarded.
void PeerNetwork::Impl::stop() {
  if (!thread_.joinable()) return;
  add([this] { close_all(); });
  for (size_t method = 0; method < method_count; ++method) handle(static_cast<Method>(method), {}, 0);
  add([this] { work_.reset(); });
  thread_.join();
  inbox_->close();
}

void PeerNetwork::Impl::close_all() {
  is_closing_ = true;
  error_code ignored;
  acceptor_.close(ignored);
  accept_timer_.cancel();
  timer_.cancel();
  addresses_.clear();
  while (!outgoing_.empty()) std::shared_ptr(outgoing_.begin()->second)->close("this server stops");
  while (!incoming_.empty()) std::shared_ptr(incoming_.begin()->second)->close("this server stops");
}

// --- Connections of others

void PeerNetwork::Impl::accept() {
  if (is_closing_) return;
  acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
    if (is_closing_ || error == asio::error::operation_aborted) return;
    if (!error) {
      if (incoming_.size() < max_incoming) admit(std::move(socket));
      return accept();
    }
    accept_timer_.expires_after(accept_pause);  // the process may have no free descriptors
    accept_timer_.async_wait([this](const error_code& cancelled) {
      if (!cancelled) accept();
    });
  });
}

void PeerNetwork::Impl::admit(tcp::socket socket) {
  auto connection = std::make_shared<Incoming>(
      std::move(socket), Incoming::Options{.own = options_.own,
                                           .secret = options_.secret,
                                           .tls = tls_.get(),
                                           .inbox = inbox_,
                                           .workers = &workers_,
                                           .on_closed = [this](Incoming* one) { incoming_.erase(one); }});
  incoming_[connection.get()] = connection;
  connection->start();
}

// --- Connections to others

void PeerNetwork::Impl::follow(std::map<MemberId, std::string> addresses) {
  if (is_closing_) return;
  addresses_ = std::move(addresses);
  std::vector<std::shared_ptr<Outgoing>> gone;
  for (const auto& [member, connection] : outgoing_)
    if (!addresses_.contains(member)) gone.push_back(connection);
  for (const auto& connection : gone) connection->close("it has left the cluster");
}

std::shared_ptr<Outgoing> PeerNetwork::Impl::connection_to(const MemberId& member, std::string& why) {
  if (const auto found = outgoing_.find(member); found != outgoing_.end()) return found->second;
  const auto address = addresses_.find(member);
  if (address == addresses_.end()) {
    why = fmt::format("{} is not a member of the cluster", member.name);
    return nullptr;
  }
  const auto endpoint = parse_endpoint(address->second);
  if (!endpoint) {
    why = fmt::format("{} has no address for other servers", member.name);
    return nullptr;
  }
  auto connection = std::make_shared<Outgoing>(
      context_, Outgoing::Options{.own = options_.own,
                                  .member = member,
                                  .secret = options_.secret,
                                  .tls = tls_.get(),
                                  .on_closed = [this, member] { outgoing_.erase(member); }});
  outgoing_[member] = connection;
  connection->connect(*endpoint);
  return connection;
}

void PeerNetwork::Impl::call(const MemberId& member, Method method, base::Bytes message, Time deadline,
                             Reply reply) {
  std::string why;
  if (message.size() > max_peer_message_bytes)
    why = fmt::format("the message has {} bytes, which is too large", message.size());
  const auto connection = why.empty() ? connection_to(member, why) : nullptr;
  if (!connection) return reply({Outcome::not_sent, {}, std::move(why)});
  connection->call(method, std::move(message), deadline, std::move(reply));
  inbox_->flush_later(connection);
  wake_at(deadline);
}

void PeerNetwork::Impl::wake_at(Time time) {
  if (wakes_at_ && *wakes_at_ <= time) return;
  wakes_at_ = time;
  timer_.expires_at(time);
  timer_.async_wait([this](const error_code& cancelled) {
    if (cancelled) return;
    wakes_at_.reset();
    expire();
  });
}

// A reply's callback may add and remove connections.
void PeerNetwork::Impl::expire() {
  const Time now = std::chrono::steady_clock::now();
  std::vector<std::shared_ptr<Outgoing>> all;
  for (const auto& [member, connection] : outgoing_) all.push_back(connection);
  for (const auto& connection : all)
    if (const auto next = connection->expire(now)) wake_at(*next);
}

// ---

PeerNetwork::PeerNetwork(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PeerNetwork::~PeerNetwork() = default;

base::Result<std::unique_ptr<PeerNetwork>> PeerNetwork::start(Options options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  SIBYL_TRY(impl->start());
  return std::unique_ptr<PeerNetwork>(new PeerNetwork(std::move(impl)));
}

uint16_t PeerNetwork::port() const {
  return impl_->port();
}

void PeerNetwork::follow(const State& state) {
  std::map<MemberId, std::string> addresses;
  for (const auto& [name, member] : state.members)
    addresses.emplace(MemberId{name, member.incarnation}, member.peer_address);
  impl_->add([impl = impl_.get(), addresses = std::move(addresses)]() mutable {
    impl->follow(std::move(addresses));
  });
}

void PeerNetwork::call(const MemberId& member, Method method, base::Bytes message, Time deadline,
                       Reply reply) {
  impl_->add([impl = impl_.get(), member, method, message = std::move(message), deadline,
              reply = std::move(reply)]() mutable {
    impl->call(member, method, std::move(message), deadline, std::move(reply));
  });
}

void PeerNetwork::handle(Method method, Handler handler, size_t threads) {
  impl_->handle(method, std::move(handler), threads);
}

}  // namespace sibyl::cluster
