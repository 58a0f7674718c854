#include "cli/cluster/cluster_calls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/json.hpp>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "cli/cluster/storage.h"
#include "cluster/transport/handshake.h"

namespace sibyl::cli {
namespace {

namespace json = boost::json;
using cluster::CallResult;
using cluster::MemberId;
using cluster::Method;
using cluster::PeerNetwork;
using server::ControlArguments;

constexpr std::chrono::seconds ping_timeout{5}, shard_patience{60}, shard_timeout{24 * 3600};
constexpr std::chrono::milliseconds round_pause{100};

MemberId own_id() {
  uint64_t number = 0;
  for (const char c : cluster::random_bytes(sizeof number)) number = number << 8 | static_cast<uint8_t>(c);
  return {"sibyl (operator)", number};
}

base::Result<std::unique_ptr<PeerNetwork>> start_network(const base::Bytes& secret, bool is_encrypted) {
  return PeerNetwork::start(
      {.host = "127.0.0.1", .own = own_id(), .secret = secret, .is_encrypted = is_encrypted});
}

base::Result<std::string> result_of(const MemberId& member, CallResult called) {
  if (called.is_answered()) return server::control_result(called.answer);
  const bool was_sent = called.outcome == CallResult::Outcome::unknown;
  return base::fail(base::Error(
      was_sent ? base::ErrorCode::write_timeout : base::ErrorCode::unavailable,
      fmt::format("{} {}: {}", member.name, was_sent ? "did not answer" : "cannot be reached", called.why)));
}

// Returns true if the server was not reached, or has died.
bool is_lost_call(const base::Error& error) {
  return error.code() == base::ErrorCode::unavailable || error.code() == base::ErrorCode::write_timeout;
}

std::map<MemberId, std::set<uint32_t>> by_owner(const cluster::State& state,
                                                const std::set<uint32_t>& shards) {
  std::map<MemberId, std::set<uint32_t>> owned;
  for (const uint32_t shard : shards)
    if (const MemberId& owner = state.shards[shard].owner; state.is_member(owner)) owned[owner].insert(shard);
  return owned;
}

}  // namespace

std::set<MemberId> serving_members(const cluster::State& state) {
  std::set<MemberId> serving;
  for (const auto& [name, member] : state.members)
    if (!member.is_preparing) serving.insert({name, member.incarnation});
  return serving;
}

base::Error no_server_runs() {
  return base::Error(base::ErrorCode::unavailable, "No server of the cluster is running")
      .with_hint("`sibyl cluster status` shows the servers");
}

base::Result<std::unique_ptr<ClusterCalls>> ClusterCalls::connect(const ClusterOptions& options) {
  SIBYL_ASSIGN(auto storage, connect_to_storage(options));
  return over(std::move(storage));
}

base::Result<std::unique_ptr<ClusterCalls>> ClusterCalls::over(
    std::unique_ptr<storage::objects::ObjectStore> storage) {
  std::unique_ptr<ClusterCalls> calls(new ClusterCalls(std::move(storage)));
  SIBYL_TRY(calls->open());
  return calls;
}

base::Status ClusterCalls::open() {
  SIBYL_ASSIGN(const cluster::State state, read_cluster_state(*storage_));
  SIBYL_ASSIGN(encrypted_, start_network(state.settings.secret, true));
  SIBYL_ASSIGN(plain_, start_network(state.settings.secret, false));
  return {};
}

base::Result<cluster::State> ClusterCalls::read_state() {
  SIBYL_ASSIGN(cluster::State state, read_cluster_state(*storage_));
  encrypted_->follow(state);
  plain_->follow(state);
  return state;
}

// Servers with encryption refuse unencrypted connections, so an attacker on the network cannot turn it off.
PeerNetwork& ClusterCalls::network_of(const MemberId& member) {
  if (used_ != nullptr) return *used_;
  for (PeerNetwork* network : {encrypted_.get(), plain_.get()}) {
    const auto deadline = std::chrono::steady_clock::now() + ping_timeout;
    if (network->call(member, Method::ping, {}, deadline).is_answered()) return *(used_ = network);
  }
  return *encrypted_;
}

base::Result<std::string> ClusterCalls::call(const MemberId& member, const std::string& command,
                                             const ControlArguments& arguments,
                                             std::chrono::seconds timeout) {
  const auto called =
      network_of(member).call(member, Method::operate, server::control_request(command, arguments),
                              std::chrono::steady_clock::now() + timeout);
  return result_of(member, called);
}

std::map<MemberId, base::Result<std::string>> ClusterCalls::call_all(
    const std::map<MemberId, ControlArguments>& calls, const std::string& command,
    std::chrono::seconds timeout) {
  std::map<MemberId, std::future<CallResult>> called;
  for (const auto& [member, arguments] : calls) {
    auto promise = std::make_shared<std::promise<CallResult>>();
    called.emplace(member, promise->get_future());
    network_of(member).call(member, Method::operate, server::control_request(command, arguments),
                            std::chrono::steady_clock::now() + timeout,
                            [promise](CallResult result) { promise->set_value(std::move(result)); });
  }
  std::map<MemberId, base::Result<std::string>> results;
  for (auto& [member, result] : called) results.emplace(member, result_of(member, result.get()));
  return results;
}

// Returns the shards for which the command has not run.
base::Result<std::set<uint32_t>> ClusterCalls::run_round(const std::set<uint32_t>& shards,
                                                         const std::string& command,
                                                         const ControlArguments& arguments,
                                                         std::string& obstacle) {
  SIBYL_ASSIGN(const cluster::State state, read_state());
  if (state.members.empty()) return base::fail(no_server_runs());
  std::set<uint32_t> left = shards;
  std::map<MemberId, ControlArguments> calls;
  const auto owned = by_owner(state, shards);
  for (const auto& [member, numbers] : owned) {
    calls[member] = arguments;
    calls[member]["shards"] = fmt::format("{}", fmt::join(numbers, ","));
  }
  for (const auto& [member, result] : call_all(calls, command, shard_timeout)) {
    if (!result && is_lost_call(result.error())) {
      obstacle = result.error().text();
      continue;
    }
    if (!result) return base::fail(result.error());
    for (const uint32_t shard : owned.at(member)) left.erase(shard);
    for (const json::value& moved : json::parse(*result).at("moved").as_array())
      left.insert(moved.to_number<uint32_t>());
  }
  return left;
}

base::Status ClusterCalls::run_on_shards(const std::string& command, const ControlArguments& arguments) {
  SIBYL_ASSIGN(const cluster::State state, read_state());
  std::set<uint32_t> shards;
  for (uint32_t shard = 0; shard < state.shards.size(); ++shard) shards.insert(shard);
  std::string obstacle = "they have no owner";
  auto deadline = std::chrono::steady_clock::now() + shard_patience;
  while (true) {
    SIBYL_ASSIGN(std::set<uint32_t> left, run_round(shards, command, arguments, obstacle));
    if (left.empty()) return {};
    const auto now = std::chrono::steady_clock::now();
    if (left.size() < shards.size()) deadline = now + shard_patience;
    if (now > deadline)
      return base::fail(
          base::Error(base::ErrorCode::unavailable,
                      fmt::format("The shards {} cannot be reached: {}", fmt::join(left, ", "), obstacle))
              .with_hint("`sibyl cluster status` shows their owners"));
    shards = std::move(left);
    std::this_thread::sleep_for(round_pause);
  }
}

}  // namespace sibyl::cli
