#include "cli/serve/cluster_member.h"

#include <fmt/format.h>

#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "cli/cluster/storage.h"
#include "cluster/routed/routed_store.h"
#include "engine/catalogue/open_shards.h"

namespace sibyl::cli {
namespace {

using cluster::MemberId;

constexpr size_t read_threads = 8;
constexpr std::chrono::milliseconds announce_pause{20};
// A member whose lease has expired is removed soon.
constexpr std::chrono::seconds announce_patience{60}, receive_timeout{10};

std::string with_port(const std::string& host, uint16_t port) {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

// Calls all members at once. Returns the members that have not received the message.
std::set<MemberId> pass_to_all(cluster::Peers& peers, const std::set<MemberId>& members,
                               const base::Bytes& message) {
  struct Calls {
    base::Mutex mutex;
    base::CondVar changed;
    std::set<MemberId> failed SIBYL_GUARDED_BY(mutex);
    size_t missing SIBYL_GUARDED_BY(mutex) = 0;
  };
  const auto calls = std::make_shared<Calls>();
  {
    const base::MutexLock lock(calls->mutex);
    calls->missing = members.size();
  }
  for (const MemberId& member : members)
    peers.call(member, cluster::Method::reload, message, std::chrono::steady_clock::now() + receive_timeout,
               [calls, member](cluster::CallResult result) {
                 const base::MutexLock lock(calls->mutex);
                 if (!result.is_answered() || !result.answer.empty()) calls->failed.insert(member);
                 --calls->missing;
                 calls->changed.notify_one();
               });
  const base::MutexLock lock(calls->mutex);
  while (calls->missing > 0) calls->changed.wait(calls->mutex);
  return calls->failed;
}

}  // namespace

base::Result<std::unique_ptr<ClusterMember>> ClusterMember::create(Options options) {
  std::unique_ptr<ClusterMember> created(new ClusterMember(std::move(options)));
  SIBYL_TRY(created->open());
  return created;
}

base::Status ClusterMember::open() {
  const MemberId id{options_.member.name, options_.member.incarnation};
  SIBYL_ASSIGN(auto member_storage, options_.connect());
  SIBYL_ASSIGN(objects_, options_.connect());
  shard_map_ = std::make_shared<storage::TokenShards>(options_.settings.shards);
  SIBYL_ASSIGN(shards_, engine::open_shards(options_.engine, {.objects = objects_.get(),
                                                              .shards = shard_map_,
                                                              .log = to_string(id),
                                                              .on_lost = options_.on_lost}));
  SIBYL_ASSIGN(network_, cluster::PeerNetwork::start({.host = options_.listen_host,
                                                      .port = options_.listen_port,
                                                      .own = id,
                                                      .secret = options_.settings.secret,
                                                      .is_encrypted = options_.is_encrypted}));
  routing_ = std::make_unique<cluster::StateRouting>(
      id, options_.settings.shards, [this] { member_->refresh(); },
      [this] { return member_->holds_lease(); });
  service_ = std::make_unique<cluster::StoreService>(*shards_, *shard_map_, *routing_);
  owner_calls_ = std::make_unique<cluster::OwnerCalls>(
      cluster::OwnerCalls::Parts{*shards_, shard_map_, *routing_, *network_});
  host_ = std::make_unique<cluster::StoreShardHost>(*shards_, timers_);
  cluster::Membership::Options member = options_.member;
  member.peer_address = with_port(options_.peer_host, network_->port());
  member.has_log = true;
  cluster::ServerMember::Events events;
  events.on_state = [this](const cluster::State& state) {
    network_->follow(state);
    routing_->follow(state);
    options_.on_state(state);
  };
  events.on_removed = options_.on_removed;
  events.on_free = options_.on_free;
  events.on_left = options_.on_left;
  member_ = std::make_unique<cluster::ServerMember>(
      std::move(member_storage), std::move(member), *host_, std::move(events),
      [this](const MemberId& log) { return shards_->remove_former_log(to_string(log)); });
  network_->handle(cluster::Method::read, service_->handler(), read_threads);
  return {};
}

// Handlers end first, because they use the member. The network ends after the member, whose events use the
// network.
ClusterMember::~ClusterMember() {
  if (network_) network_->handle(cluster::Method::read, {}, 0);
  member_.reset();
  host_.reset();
  network_.reset();
  timers_.stop();
  if (!shards_) return;
  for (uint32_t shard = 0; shard < shard_map_->count(); ++shard) shards_->drop_shard(shard);
}

std::unique_ptr<storage::Store> ClusterMember::make_store() {
  return std::make_unique<cluster::RoutedStore>(
      cluster::RoutedStore::Parts{*shards_, shard_map_, *routing_, *network_});
}

// The state is read after the change has become durable: a server that joins later finds it.
base::Status ClusterMember::announce(const base::Bytes& message) {
  const auto deadline = std::chrono::steady_clock::now() + announce_patience;
  const MemberId own{options_.member.name, options_.member.incarnation};
  std::set<MemberId> received = {own};
  for (;;) {
    SIBYL_ASSIGN(const cluster::State state, read_cluster_state(*objects_));
    std::set<MemberId> missing;
    for (const auto& [name, member] : state.members)
      if (const MemberId id{name, member.incarnation}; !received.contains(id)) missing.insert(id);
    if (missing.empty()) return {};
    member_->refresh();  // the network must learn of new members
    const std::set<MemberId> failed = pass_to_all(*network_, missing, message);
    for (const MemberId& member : missing)
      if (!failed.contains(member)) received.insert(member);
    if (failed.empty()) return {};
    if (std::chrono::steady_clock::now() > deadline)
      return base::fail(
          base::Error(base::ErrorCode::server, fmt::format("{} does not answer", failed.begin()->name))
              .with_hint("the change is durable, but not all servers use it yet"));
    std::this_thread::sleep_for(announce_pause);
  }
}

}  // namespace sibyl::cli
