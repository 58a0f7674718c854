#include "cli/serve/cluster_server.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <random>
#include <utility>

#include "cli/cluster/storage.h"
#include "server/listen.h"
#include "server/tls/tls_context.h"

namespace sibyl::cli {
namespace {

namespace asio = boost::asio;
using storage::objects::ObjectStore;

constexpr int max_failures = 3;

uint64_t random_incarnation() {
  std::random_device device;
  return (uint64_t{device()} << 32 | device()) | 1;
}

base::Status check_configuration(const server::Options& options) {
  if (options.port == 0)
    return base::fail(base::Error(base::ErrorCode::config, "A server of a cluster needs a fixed port")
                          .with_hint("--listen HOST:PORT"));
  return {};
}

// A standby must not discover only at a takeover that it cannot serve.
base::Status check_can_serve(const server::Options& options) {
  asio::io_context context;
  asio::ip::tcp::acceptor acceptor(context);
  SIBYL_TRY(server::listen(acceptor, options.host, options.port, 1));
  if (options.tls.mode != server::TlsOptions::Mode::off) SIBYL_TRY(server::TlsContext::load(options.tls));
  return {};
}

base::Result<std::string> address_for_clients(const server::Options& options) {
  SIBYL_ASSIGN(const asio::ip::address address,
               server::reachable_address(options.host, options.broadcast_host));
  return server::to_text({address, options.port});
}

base::Status check_cluster(ObjectStore& store, const std::string& storage) {
  auto state = read_cluster_state(store);
  if (!state)
    return base::fail(
        base::Error(base::ErrorCode::server, fmt::format("{}: {}", storage, state.error().message()))
            .with_hint("`sibyl cluster create` makes one"));
  if (state->shards.size() != 1)
    return base::fail(base::ErrorCode::server,
                      fmt::format("{} has {} shards, and this version serves clusters with one", storage,
                                  state->shards.size()));
  return {};
}

}  // namespace

base::Result<std::unique_ptr<ClusterServer>> ClusterServer::prepare(Options options) {
  const server::Options& server = options.configuration.server;
  const std::string& storage = options.configuration.cluster.storage;
  SIBYL_TRY(check_configuration(server));
  SIBYL_ASSIGN(std::unique_ptr<ObjectStore> store, options.connect());
  SIBYL_TRY(check_cluster(*store, storage));
  SIBYL_ASSIGN(ServerName name,
               ServerName::take(storage, options.configuration.cluster.server_name, server.port));
  SIBYL_TRY(check_can_serve(server));
  SIBYL_ASSIGN(std::string address, address_for_clients(server));
  return std::unique_ptr<ClusterServer>(
      new ClusterServer(std::move(options), std::move(name), std::move(address), std::move(store)));
}

ClusterServer::ClusterServer(Options options, ServerName name, std::string address,
                             std::unique_ptr<ObjectStore> store)
    : options_(std::move(options)),
      name_(std::move(name)),
      address_(std::move(address)),
      store_(std::move(store)) {}

ClusterServer::~ClusterServer() {
  jobs_.stop();  // they use the member
  member_.reset();
  running_.reset();
}

void ClusterServer::join() {
  cluster::Membership::Options member;
  member.name = name_.unique();
  member.incarnation = random_incarnation();
  member.address = address_;
  member.data_center = options_.configuration.engine.data_center;
  member.rack = options_.configuration.engine.rack;
  member.version = SIBYL_VERSION;
  cluster::ServerMember::Events events;
  events.on_removed = [this] { lose("its lease has expired, so another server may have taken over"); };
  events.on_left = [this] { options_.events.on_left(); };
  member_ =
      std::make_unique<cluster::ServerMember>(std::move(store_), std::move(member), *this, std::move(events));
  member_->start();
}

void ClusterServer::leave() {
  member_->leave();
}

void ClusterServer::lose(const std::string& why) {
  options_.events.on_lost(why);
}

void ClusterServer::reload_tls() {
  jobs_.run_after(0, [this] {
    if (!running_) return;
    if (const auto reloaded = running_->server().reload_tls(); !reloaded)
      spdlog::error("{}; the previous certificate stays in use", reloaded.error().text());
  });
}

// --- The shard, which is the whole database

void ClusterServer::open(uint32_t shard, uint64_t epoch, const std::vector<cluster::LogPart>& logs,
                         Done done) {
  spdlog::info("this server owns the database now (epoch {}); {}", epoch,
               logs.empty() ? "opening it" : "taking it over from a server that has stopped");
  jobs_.run_after(0, [this, shard, done = std::move(done)]() mutable { done(open_now(shard)); });
}

Configuration ClusterServer::configuration_for(uint32_t shard) {
  Configuration configuration = options_.configuration;
  configuration.engine.data = configuration.cluster.storage;
  engine::SharedData& shared = configuration.engine.shared.emplace();
  shared.connect = options_.connect;
  shared.name = cluster::shard_directory(shard);
  shared.on_lost = [this](const std::string& why) {
    lose("another server has taken the database over, or the storage does not answer: " + why);
  };
  shared.may_answer = [this] { return member_->holds_lease(); };
  shared.host_id = host_id_of(name_.unique());
  return configuration;
}

base::Status ClusterServer::open_now(uint32_t shard) {
  auto started = RunningServer::start(configuration_for(shard), options_.settings);
  if (!started) {
    base::Error& error = started.error().error;
    spdlog::error("the database cannot be served here: {}", error.text());
    // Another server may do better.
    if (++failures_ == max_failures) lose(error.text());
    return base::fail(std::move(error));
  }
  failures_ = 0;
  running_ = std::move(*started);
  is_serving_ = true;
  options_.events.on_serving(running_->server().address());
  running_->begin_observing();
  return {};
}

void ClusterServer::flush(uint32_t, Done done) {
  jobs_.run_after(0, [this, done = std::move(done)]() mutable { done(running_->engine().flush()); });
}

// What cannot be flushed now is in the log, which the next owner replays.
void ClusterServer::close(uint32_t, Done done) {
  jobs_.run_after(0, [this, done = std::move(done)]() mutable {
    is_serving_ = false;
    running_.reset();
    done({});
  });
}

// Only a planned move gives a shard away, after close(). Otherwise another server has it.
void ClusterServer::drop(uint32_t) {
  if (is_serving_) lose("the cluster has given the database to another server");
}

}  // namespace sibyl::cli
