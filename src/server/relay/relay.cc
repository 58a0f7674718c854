#include "server/relay/relay.h"

#include <spdlog/spdlog.h>

#include <array>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "server/listen.h"
#include "server/relay/relay_header.h"

namespace sibyl::server {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

// How long a client waits for a server that opens the database, and the pause between two checks. Drivers
// give up a connection after about five seconds.
constexpr std::chrono::milliseconds max_wait_for_target{4'000}, target_pause{50};

}  // namespace

class Relay::Impl {
 public:
  explicit Impl(Options options) : options_(std::move(options)) {}
  ~Impl();

  base::Status start();
  size_t connections() const { return count_.load(std::memory_order_relaxed); }

 private:
  // A pair of connections. Its operations keep it alive. Both connections are closed together.
  class Link;

  void accept();

  const Options options_;
  asio::io_context context_{1};
  tcp::acceptor acceptor_{context_};
  asio::steady_timer accept_retry_{context_};
  std::set<Link*> links_;  // used on the thread only
  std::atomic<size_t> count_ = 0;
  std::thread thread_;
};

class Relay::Impl::Link final : public std::enable_shared_from_this<Link> {
 public:
  Link(Impl& relay, tcp::socket client)
      : relay_(relay), client_(std::move(client)), server_(relay.context_), timer_(relay.context_) {
    relay_.links_.insert(this);
    relay_.count_.fetch_add(1, std::memory_order_relaxed);
  }
  ~Link() {
    relay_.links_.erase(this);
    relay_.count_.fetch_sub(1, std::memory_order_relaxed);
  }

  void start() {
    error_code gone;
    const tcp::endpoint peer = client_.remote_endpoint(gone);
    if (gone) return;
    header_ = encode(RelayHeader{relay_.options_.host_id, peer});
    client_.set_option(tcp::no_delay(true), gone);
    connect();
  }

  void close() {
    error_code ignored;
    timer_.cancel();
    client_.close(ignored);
    server_.close(ignored);
  }

 private:
  struct Direction {
    tcp::socket& from;
    tcp::socket& to;
    std::array<char, 16 << 10> buffer;
  };

  void connect() {
    const auto target = relay_.options_.target();
    if (!target) return wait();
    server_.async_connect(*target, [self = shared_from_this()](const error_code& error) {
      if (error) return self->wait();
      self->send_header();
    });
  }

  void wait() {
    error_code ignored;
    server_.close(ignored);
    if (!client_.is_open() || std::chrono::steady_clock::now() > deadline_) return close();
    timer_.expires_after(target_pause);
    timer_.async_wait([self = shared_from_this()](const error_code& cancelled) {
      if (!cancelled) self->connect();
    });
  }

  void send_header() {
    error_code ignored;
    server_.set_option(tcp::no_delay(true), ignored);
    asio::async_write(server_, asio::buffer(header_),
                      [self = shared_from_this()](const error_code& error, size_t) {
                        if (error) return self->close();
                        self->copy(self->up_);
                        self->copy(self->down_);
                      });
  }

  void copy(Direction& way) {
    way.from.async_read_some(asio::buffer(way.buffer),
                             [self = shared_from_this(), &way](const error_code& error, size_t size) {
                               if (error) return self->close();
                               asio::async_write(way.to, asio::buffer(way.buffer.data(), size),
                                                 [self, &way](const error_code& failed, size_t) {
                                                   if (failed) return self->close();
                                                   self->copy(way);
                                                 });
                             });
  }

  Impl& relay_;
  tcp::socket client_, server_;
  asio::steady_timer timer_;
  const std::chrono::steady_clock::time_point deadline_ =
      std::chrono::steady_clock::now() + max_wait_for_target;
  base::Bytes header_;
  Direction up_{client_, server_, {}}, down_{server_, client_, {}};
};

base::Status Relay::Impl::start() {
  SIBYL_TRY(listen(acceptor_, options_.host, options_.port, 1024));
  accept();
  thread_ = std::thread([this] { context_.run(); });
  return {};
}

// Closing the sockets completes every operation, so the context runs out of work.
Relay::Impl::~Impl() {
  if (!thread_.joinable()) return;
  asio::post(context_, [this] {
    error_code ignored;
    acceptor_.close(ignored);
    accept_retry_.cancel();
    for (Link* link : std::set<Link*>(links_)) link->close();
  });
  thread_.join();
}

void Relay::Impl::accept() {
  acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
    if (!acceptor_.is_open()) return;
    // The process probably has no descriptors left; an immediate retry would repeat without a pause.
    if (error) {
      accept_retry_.expires_after(std::chrono::milliseconds(100));
      accept_retry_.async_wait([this](const error_code& cancelled) {
        if (!cancelled) accept();
      });
      return;
    }
    if (links_.size() < options_.connections) std::make_shared<Link>(*this, std::move(socket))->start();
    accept();
  });
}

base::Result<std::unique_ptr<Relay>> Relay::start(Options options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  SIBYL_TRY(impl->start());
  return std::unique_ptr<Relay>(new Relay(std::move(impl)));
}

Relay::Relay(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Relay::~Relay() = default;

size_t Relay::connections() const {
  return impl_->connections();
}

}  // namespace sibyl::server
