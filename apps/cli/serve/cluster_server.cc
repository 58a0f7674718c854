#include "cli/serve/cluster_server.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cli/cluster/storage.h"
#include "server/listen.h"
#include "server/tls/tls_context.h"

namespace sibyl::cli {
namespace {

namespace asio = boost::asio;
using storage::objects::ObjectStore;

constexpr int max_failures = 3;
constexpr int64_t join_pause_micros = 100'000;

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

std::optional<asio::ip::tcp::endpoint> endpoint_of(const std::string& address) {
  server::Options parsed;
  boost::system::error_code error;
  if (!server::parse_listen_address(address, parsed)) return std::nullopt;
  const asio::ip::address host = asio::ip::make_address(parsed.host, error);
  if (error) return std::nullopt;
  return asio::ip::tcp::endpoint(host, parsed.port);
}

// The owner has the token 0, and the others those after it: each owns the range that ends with its token, so the owner has
// all but a few of 2^64.
std::vector<engine::ClusterNode> nodes_of(const cluster::State& state) {
  std::vector<engine::ClusterNode> nodes;
  int64_t next_token = 1;
  for (const auto& [name, member] : state.members) {
    const auto endpoint = endpoint_of(member.address);
    if (!endpoint) continue;
    const bool is_owner = state.shards[0].owner == cluster::MemberId{name, member.incarnation};
    nodes.push_back({.host_id = host_id_of(name),
                     .data_center = member.data_center,
                     .rack = member.rack,
                     .address = endpoint->address().to_string(),
                     .port = endpoint->port(),
                     .token = std::to_string(is_owner ? 0 : next_token++)});
  }
  return nodes;
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
  std::unique_ptr<ClusterServer> prepared(
      new ClusterServer(std::move(options), std::move(name), std::move(address), std::move(store)));
  prepared->start_relay();
  return prepared;
}

ClusterServer::ClusterServer(Options options, ServerName name, std::string address,
                             std::unique_ptr<ObjectStore> store)
    : options_(std::move(options)),
      name_(std::move(name)),
      address_(std::move(address)),
      store_(std::move(store)) {}

ClusterServer::~ClusterServer() {
  jobs_.stop();  // they use the member
  relay_.reset();
  member_.reset();
  running_.reset();
}

void ClusterServer::join() {
  const base::MutexLock lock(mutex_);
  start_member(std::move(store_));
}

void ClusterServer::start_member(std::unique_ptr<ObjectStore> store) {
  cluster::Membership::Options member;
  member.name = name_.unique();
  member.incarnation = random_incarnation();
  member.address = address_;
  member.data_center = options_.configuration.engine.data_center;
  member.rack = options_.configuration.engine.rack;
  member.version = SIBYL_VERSION;
  cluster::ServerMember::Events events;
  events.on_state = [this](const cluster::State& state) { follow(state); };
  events.on_removed = [this] { on_removed(); };
  events.on_left = [this] { options_.events.on_left(); };
  member_ =
      std::make_unique<cluster::ServerMember>(std::move(store), std::move(member), *this, std::move(events));
  member_->start();
}

// A member that tries to join while the cluster changes is refused, and may try again with another incarnation.
void ClusterServer::on_removed() {
  if (has_joined_) return lose("its lease has expired, so another server may have taken over");
  jobs_.run_after(join_pause_micros, [this] { join_again(); });
}

void ClusterServer::join_again() {
  {
    const base::MutexLock lock(mutex_);
    if (is_leaving_) return options_.events.on_left();
  }
  auto store = options_.connect();
  if (!store) {
    spdlog::warn("cannot join the cluster yet: {}", store.error().text());
    jobs_.run_after(join_pause_micros, [this] { join_again(); });
    return;
  }
  const base::MutexLock lock(mutex_);
  start_member(std::move(*store));
  if (is_leaving_) member_->leave();
}

// --- The other servers

void ClusterServer::follow(const cluster::State& state) {
  has_joined_ = true;
  std::vector<engine::ClusterNode> nodes = nodes_of(state);
  std::optional<asio::ip::tcp::endpoint> owner;
  const cluster::MemberId& id = state.shards[0].owner;
  if (id.name != name_.unique() && state.is_member(id))
    owner = endpoint_of(state.members.at(id.name).address);
  const base::MutexLock lock(mutex_);
  owner_ = owner;
  if (nodes == nodes_) return;
  nodes_ = std::move(nodes);
  jobs_.run_after(0, [this] { show_nodes(); });
}

bool ClusterServer::is_server(const std::string& address) {
  const base::MutexLock lock(mutex_);
  return std::ranges::any_of(nodes_, [&](const auto& node) { return node.address == address; });
}

void ClusterServer::start_relay() {
  const server::Options& listen = options_.configuration.server;
  auto relay = server::Relay::start({.host = listen.host,
                                     .port = listen.port,
                                     .connections = listen.limits.connections,
                                     .host_id = host_id_of(name_.unique()),
                                     .target = [this] {
                                       const base::MutexLock lock(mutex_);
                                       return owner_;
                                     }});
  if (!relay) return spdlog::error("clients cannot connect to this standby: {}", relay.error().text());
  relay_ = std::move(*relay);
}

// Clients that have registered for events learn of servers that have joined or left.
void ClusterServer::show_nodes() {
  if (!running_) return;
  std::vector<engine::ClusterNode> nodes;
  {
    const base::MutexLock lock(mutex_);
    nodes = nodes_;
  }
  if (const auto shown = running_->engine().show_cluster(nodes); !shown)
    spdlog::error("the servers of the cluster cannot be shown: {}", shown.error().text());
  const auto knows = [](const std::vector<engine::ClusterNode>& list, const engine::ClusterNode& node) {
    return std::ranges::any_of(list, [&](const auto& one) { return one.host_id == node.host_id; });
  };
  using Event = server::Server::NodeEvent;
  for (const engine::ClusterNode& node : nodes)
    if (!knows(shown_, node)) running_->server().notify_node(Event::joined, node.address, node.port);
  for (const engine::ClusterNode& node : shown_)
    if (!knows(nodes, node)) running_->server().notify_node(Event::left, node.address, node.port);
  shown_ = std::move(nodes);
}

void ClusterServer::leave() {
  const base::MutexLock lock(mutex_);
  is_leaving_ = true;
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
  configuration.server.is_relay = [this](const std::string& address) { return is_server(address); };
  return configuration;
}

base::Status ClusterServer::open_now(uint32_t shard) {
  relay_.reset();  // the server listens there now
  const auto show = [this](engine::Engine& engine) {
    const base::MutexLock lock(mutex_);
    shown_ = nodes_;
    return engine.show_cluster(nodes_);
  };
  auto started = RunningServer::start(configuration_for(shard), options_.settings, show);
  if (!started) {
    start_relay();
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
    start_relay();
    done({});
  });
}

// Only a planned move gives a shard away, after close(). Otherwise another server has it.
void ClusterServer::drop(uint32_t) {
  if (is_serving_) lose("the cluster has given the database to another server");
}

}  // namespace sibyl::cli
