#include "cli/serve/cluster_server.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cli/cluster/storage.h"
#include "cli/serve/cluster_statistics.h"
#include "server/listen.h"
#include "server/tls/tls_context.h"

namespace sibyl::cli {
namespace {

namespace asio = boost::asio;
using storage::objects::ObjectStore;

constexpr int64_t retry_micros = 100'000;
constexpr size_t reload_threads = 2;

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

// Checks, before the server joins, whether it can serve.
base::Status check_can_serve(const server::Options& options) {
  asio::io_context context;
  asio::ip::tcp::acceptor acceptor(context);
  SIBYL_TRY(server::listen(acceptor, options.host, options.port, 1));
  if (options.tls.mode != server::TlsOptions::Mode::off) SIBYL_TRY(server::TlsContext::load(options.tls));
  return {};
}

base::Result<cluster::Settings> find_cluster(ObjectStore& store, const std::string& storage) {
  auto state = read_cluster_state(store);
  if (!state)
    return base::fail(
        base::Error(base::ErrorCode::server, fmt::format("{}: {}", storage, state.error().message()))
            .with_hint("`sibyl cluster create` makes one"));
  return state->settings;
}

std::string text_of(const std::string& host, uint16_t port) {
  return server::to_text({asio::ip::make_address(host), port});
}

std::optional<asio::ip::tcp::endpoint> endpoint_of(const std::string& address) {
  server::Options parsed;
  boost::system::error_code error;
  if (!server::parse_listen_address(address, parsed)) return std::nullopt;
  const asio::ip::address host = asio::ip::make_address(parsed.host, error);
  if (error) return std::nullopt;
  return asio::ip::tcp::endpoint(host, parsed.port);
}

// The ends of the token ranges that each member owns.
std::map<cluster::MemberId, std::vector<std::string>> tokens_of(const cluster::State& state) {
  std::map<cluster::MemberId, std::vector<std::string>> tokens;
  const storage::TokenShards map(state.settings.shards);
  const uint32_t first = state.settings.shards == 1 ? 0 : 1;  // the meta shard has no token range
  for (uint32_t shard = first; shard < state.shards.size(); ++shard)
    tokens[state.shards[shard].owner].push_back(std::to_string(map.tokens_of(shard).last));
  return tokens;
}

std::vector<engine::ClusterNode> nodes_of(const cluster::State& state) {
  const auto tokens = tokens_of(state);
  std::vector<engine::ClusterNode> nodes;
  for (const auto& [name, member] : state.members) {
    const auto endpoint = endpoint_of(member.address);
    if (!endpoint || member.is_preparing) continue;
    const auto own = tokens.find({name, member.incarnation});
    if (member.is_leaving && own == tokens.end()) continue;  // the member has handed over all its shards
    nodes.push_back({.host_id = host_id_of(name),
                     .data_center = member.data_center,
                     .rack = member.rack,
                     .address = endpoint->address().to_string(),
                     .port = endpoint->port(),
                     .tokens = own == tokens.end() ? std::vector<std::string>() : own->second});
  }
  return nodes;
}

}  // namespace

base::Result<std::unique_ptr<ClusterServer>> ClusterServer::prepare(Options options) {
  const server::Options& server = options.configuration.server;
  const ClusterOptions& cluster = options.configuration.cluster;
  SIBYL_TRY(check_configuration(server));
  SIBYL_ASSIGN(std::unique_ptr<ObjectStore> store, options.connect());
  SIBYL_ASSIGN(cluster::Settings settings, find_cluster(*store, cluster.storage));
  SIBYL_ASSIGN(ServerName name, ServerName::take(cluster.storage, cluster.server_name, server.port));
  SIBYL_TRY(check_can_serve(server));
  SIBYL_ASSIGN(const asio::ip::address host, server::reachable_address(server.host, server.broadcast_host));
  return std::unique_ptr<ClusterServer>(
      new ClusterServer(std::move(options), std::move(name), host.to_string(), std::move(settings)));
}

ClusterServer::ClusterServer(Options options, ServerName name, std::string host, cluster::Settings settings)
    : options_(std::move(options)),
      name_(std::move(name)),
      host_(std::move(host)),
      address_(text_of(host_, options_.configuration.server.port)),
      settings_(std::move(settings)) {}

ClusterServer::~ClusterServer() {
  is_stopping_ = true;
  jobs_.stop();
  running_.reset();
  statements_.reset();
  std::shared_ptr<ClusterMember> member;
  {
    const base::MutexLock lock(mutex_);
    member.swap(member_);
  }
}

// --- Membership

void ClusterServer::join() {
  jobs_.run_after(0, [this] { begin(); });
}

void ClusterServer::begin() {
  std::shared_ptr<ClusterMember> former;
  {
    const base::MutexLock lock(mutex_);
    if (is_leaving_) return options_.events.on_left();
    former.swap(member_);
  }
  observer_.reset();
  former.reset();
  auto made = make_member();
  if (!made) {
    spdlog::warn("cannot join the cluster yet: {}", made.error().text());
    return jobs_.run_after(retry_micros, [this] { begin(); });
  }
  const base::MutexLock lock(mutex_);
  member_ = std::move(*made);
  observer_ = std::make_unique<ClusterObserver>(member_->objects(), options_.configuration.cluster.storage,
                                                name_.unique());
  member_->start();
  if (is_leaving_) member_->member().leave();
}

base::Result<std::unique_ptr<ClusterMember>> ClusterServer::make_member() {
  const Configuration& configuration = options_.configuration;
  boost::system::error_code not_numeric;
  asio::ip::make_address(configuration.server.host, not_numeric);
  ClusterMember::Options options;
  options.connect = options_.connect;
  options.settings = settings_;
  options.member.name = name_.unique();
  options.member.incarnation = random_incarnation();
  options.member.address = address_;
  options.member.data_center = configuration.engine.data_center;
  options.member.rack = configuration.engine.rack;
  options.member.version = SIBYL_VERSION;
  options.member.is_preparing = true;
  options.peer_host = host_;
  options.listen_host = not_numeric ? host_ : configuration.server.host;
  options.listen_port = configuration.cluster.port;
  options.is_encrypted = configuration.server.tls.mode != server::TlsOptions::Mode::off;
  options.engine = configuration.engine;
  options.on_state = [this](const cluster::State& state) { follow(state); };
  options.on_removed = [this] { on_removed(); };
  options.on_free = [this] { jobs_.run_after(0, [this] { on_free(); }); };
  options.on_left = [this] { jobs_.run_after(0, [this] { options_.events.on_left(); }); };
  options.on_lost = [this](const std::string& why) {
    lose("another server has taken shards over, or the storage does not answer: " + why);
  };
  SIBYL_ASSIGN(auto member, ClusterMember::create(std::move(options)));
  member->network().handle(
      cluster::Method::reload,
      [this](cluster::PeerService::Call call, cluster::PeerService::Answer answer) {
        receive(std::move(call), std::move(answer));
      },
      reload_threads);
  return member;
}

// A member that tries to join while the cluster changes is refused, and may try again with another
// incarnation.
void ClusterServer::on_removed() {
  if (has_joined_) return lose("its lease has expired, so other servers may have taken over");
  jobs_.run_after(retry_micros, [this] { begin(); });
}

void ClusterServer::leave() {
  const base::MutexLock lock(mutex_);
  is_leaving_ = true;
  if (member_) member_->member().leave();
}

// Other servers have the shards now. Earlier requests of clients are answered while this server is still a member: without a lease and newer
// states, they would wait for their timeouts.
void ClusterServer::on_free() {
  has_drained_ = true;
  running_.reset();
  const base::MutexLock lock(mutex_);
  if (member_) member_->member().finish_leaving();
}

void ClusterServer::lose(const std::string& why) {
  if (!is_stopping_) options_.events.on_lost(why);
}

size_t ClusterServer::open_shards() const {
  const base::MutexLock lock(mutex_);
  size_t open = 0;
  for (uint32_t shard = 0; member_ && shard < settings_.shards; ++shard)
    open += member_->shards().open_epoch(shard) ? 1 : 0;
  return open;
}

void ClusterServer::follow(const cluster::State& state) {
  if (!has_joined_.exchange(true)) jobs_.run_after(0, [this] { serve(); });
  std::vector<engine::ClusterNode> nodes = nodes_of(state);
  const base::MutexLock lock(mutex_);
  if (nodes == nodes_) return;
  nodes_ = std::move(nodes);
  jobs_.run_after(0, [this] { show_nodes(); });
}

// --- Serving

// The engine cannot be opened before the server of the meta shard has created the catalogue.
void ClusterServer::serve() {
  if (is_stopping_ || running_ || has_drained_) return;
  RunningServer::Hooks hooks;
  hooks.on_open = [this](engine::Engine& engine) { return on_open(engine); };
  hooks.on_stop = [this] { operations_.reset(); };
  hooks.on_close = [this] { on_close(); };
  hooks.show_cluster = [this] { return observer_->observe(); };
  auto started = RunningServer::start(configuration_for_cluster(), options_.settings, std::move(hooks));
  if (!started) {
    spdlog::warn("the database cannot be served yet: {}", started.error().error.text());
    return jobs_.run_after(retry_micros, [this] { serve(); });
  }
  running_ = std::move(*started);
  options_.events.on_serving(running_->server().address());
  running_->begin_observing();
  show_nodes();
  const base::MutexLock lock(mutex_);
  operations_ = std::make_unique<ClusterOperations>(*member_, running_->engine(), running_->server());
  member_->member().finish_preparing();
}

Configuration ClusterServer::configuration_for_cluster() {
  const base::MutexLock lock(mutex_);
  ClusterMember* const member = member_.get();
  Configuration configuration = options_.configuration;
  configuration.engine.data = configuration.cluster.storage;
  engine::SharedData& shared = configuration.engine.shared.emplace();
  shared.open_store = [member]() -> base::Result<std::unique_ptr<storage::Store>> {
    return member->make_store();
  };
  shared.announce = [member](const base::Bytes& message) { return member->announce(message); };
  shared.ask_owner = [member](base::BytesView key, const base::Bytes& message) {
    return member->owner_calls().ask(key, message);
  };
  shared.may_answer = [member] { return member->routing().may_answer(); };
  shared.host_id = host_id_of(name_.unique());
  shared.usage_records =
      make_cluster_statistics(member->objects(), lasting_name(name_.unique()), member->incarnation());
  return configuration;
}

base::Status ClusterServer::on_open(engine::Engine& engine) {
  std::vector<engine::ClusterNode> nodes;
  ClusterMember* member = nullptr;
  {
    const base::MutexLock lock(mutex_);
    nodes = nodes_;
    member = member_.get();
  }
  {
    // The engine may have read the schema before an announcement that arrived while it was opened.
    const base::MutexLock lock(announcements_mutex_);
    for (const base::Bytes& message : announcements_) SIBYL_TRY(engine.receive(message));
    announcements_.clear();
    engine_ = &engine;
  }
  shown_ = nodes;
  SIBYL_TRY(engine.show_cluster(nodes));
  statements_ = std::make_unique<ClusterStatements>(*member, engine);
  return {};
}

void ClusterServer::on_close() {
  statements_.reset();
  std::shared_ptr<ClusterMember> member;
  {
    const base::MutexLock lock(mutex_);
    member = member_;
  }
  if (is_stopping_ && member) member->network().handle(cluster::Method::reload, {}, 0);
  const base::MutexLock lock(announcements_mutex_);
  engine_ = nullptr;
}

// The answer is empty, or the reason why this server does not use the change yet.
void ClusterServer::receive(cluster::PeerService::Call call, cluster::PeerService::Answer answer) {
  base::MutexLock lock(announcements_mutex_);
  if (engine_ == nullptr) {
    announcements_.push_back(std::move(call.message));
    return answer({});
  }
  const base::Status received = engine_->receive(call.message);
  answer(received ? base::Bytes() : base::Bytes(received.error().text()));
}

// Notifies clients that have registered for events of servers that have joined or left.
void ClusterServer::show_nodes() {
  if (!running_) return;
  std::vector<engine::ClusterNode> nodes;
  {
    const base::MutexLock lock(mutex_);
    nodes = nodes_;
  }
  if (const auto shown = running_->engine().show_cluster(nodes); !shown)
    spdlog::error("the servers of the cluster cannot be shown: {}", shown.error().text());
  // Drivers read the tokens of a new server at the event, so the server must have tokens by then.
  const bool has_ranges = settings_.shards > 1;
  const base::Bytes own = host_id_of(name_.unique());
  const auto knows = [&](const std::vector<engine::ClusterNode>& list, const engine::ClusterNode& node) {
    return node.host_id != own && std::ranges::any_of(list, [&](const auto& one) {
             return one.host_id == node.host_id && (!has_ranges || !one.tokens.empty());
           });
  };
  using Event = server::Server::NodeEvent;
  for (const engine::ClusterNode& node : nodes)
    if (knows(nodes, node) && !knows(shown_, node))
      running_->server().notify_node(Event::joined, node.address, node.port);
  for (const engine::ClusterNode& node : shown_)
    if (knows(shown_, node) && !knows(nodes, node))
      running_->server().notify_node(Event::left, node.address, node.port);
  shown_ = std::move(nodes);
}

void ClusterServer::reload_tls() {
  jobs_.run_after(0, [this] {
    if (!running_) return;
    if (const auto reloaded = running_->server().reload_tls(); !reloaded)
      spdlog::error("{}; the previous certificate stays in use", reloaded.error().text());
  });
}

}  // namespace sibyl::cli
