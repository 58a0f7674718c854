#include "cluster/ownership.h"

#include <algorithm>
#include <utility>

namespace sibyl::cluster {

using storage::objects::Mutation;
using storage::objects::Outcome;
using storage::objects::Reply;

Ownership::Ownership(storage::objects::ObjectStore& store, base::Executor& executor, Membership& membership,
                     ShardHost& host)
    : store_(store), executor_(executor), membership_(membership), host_(host) {}

Ownership::~Ownership() {
  *alive_ = false;
}

// Returns a function that calls `function`, but only while this object is alive and holds the shard at this
// epoch.
template <typename Function>
auto Ownership::guarded(uint32_t shard, uint64_t epoch, Function function) {
  return [this, alive = alive_, shard, epoch, function = std::move(function)](auto&&... values) mutable {
    if (!*alive) return;
    const auto held = held_.find(shard);
    if (held == held_.end() || held->second.epoch != epoch) return;
    function(held->second, std::forward<decltype(values)>(values)...);
  };
}

std::optional<uint64_t> Ownership::serving_epoch(uint32_t shard) const {
  const auto held = held_.find(shard);
  if (held == held_.end()) return std::nullopt;
  const Phase phase = held->second.phase;
  if (phase != Phase::serving && phase != Phase::flushing) return std::nullopt;
  return held->second.epoch;
}

bool Ownership::may_answer(uint32_t shard, uint64_t epoch) const {
  const auto held = held_.find(shard);
  // While the shard closes, requests that have started are completed.
  if (held == held_.end() || held->second.epoch != epoch || held->second.phase == Phase::closed) return false;
  return membership_.holds_lease();
}

void Ownership::drop_all() {
  while (!held_.empty()) drop(held_.begin()->first);
}

void Ownership::drop(uint32_t shard) {
  held_.erase(shard);
  host_.drop(shard);
}

void Ownership::follow(const State& state) {
  for (uint32_t shard = 0; shard < state.shards.size(); ++shard) follow(shard, state.shards[shard], state);
}

void Ownership::follow(uint32_t shard, const Shard& entry, const State& state) {
  auto held = held_.find(shard);
  if (held != held_.end() && entry.epoch > held->second.epoch) {
    // The shard was handed over by a mutation whose outcome was unknown, or it was reassigned.
    released_[shard] = held->second.epoch;
    drop(shard);
    held = held_.end();
  }
  if (entry.owner != membership_.id()) return;
  if (held == held_.end()) {
    if (entry.epoch > released_[shard]) open(shard, entry);
    return;
  }
  if (entry.epoch < held->second.epoch || held->second.is_changing_entry) return;
  if (held->second.phase == Phase::serving && !entry.logs.empty())
    return forget_logs(shard, held->second, entry);
  if (held->second.phase == Phase::closed) return hand_over(shard, held->second, entry, state);
  if (held->second.phase != Phase::serving) return;
  if (should_move(entry, state))
    prepare_move(shard, held->second);
  else
    held->second.is_flushed = false;
}

bool Ownership::should_move(const Shard& entry, const State& state) const {
  if (state.members.contains(entry.next)) return true;
  // The last member must close its shards, although there is no member to hand them to. `next` may name a
  // member that has left.
  return membership_.is_leaving() &&
         std::ranges::all_of(state.members, [](const auto& member) { return member.second.is_leaving; });
}

void Ownership::open(uint32_t shard, const Shard& entry) {
  held_[shard] = {.epoch = entry.epoch};
  host_.open(shard, entry.epoch, entry.logs,
             guarded(shard, entry.epoch, [this, shard](Held& held, base::Status status) {
               if (status) {
                 held.phase = Phase::serving;
                 membership_.refresh();
               } else {
                 held_.erase(shard);  // the next state opens it again
               }
             }));
}

void Ownership::prepare_move(uint32_t shard, Held& held) {
  if (std::exchange(held.is_flushed, true)) return close(shard, held);
  held.phase = Phase::flushing;
  host_.flush(shard, guarded(shard, held.epoch, [this](Held& flushed, const base::Status&) {
                // If the flush failed, close() has more to flush.
                flushed.phase = Phase::serving;
                membership_.refresh();
              }));
}

void Ownership::close(uint32_t shard, Held& held) {
  held.phase = Phase::closing;
  host_.close(shard, guarded(shard, held.epoch, [this, shard](Held& closed, const base::Status& status) {
                if (!status) return retry(shard, closed.epoch, Phase::closing);
                closed.phase = Phase::closed;
                membership_.refresh();
              }));
}

void Ownership::retry(uint32_t shard, uint64_t epoch, Phase phase) {
  constexpr int64_t pause_micros = 100'000;
  executor_.run_after(pause_micros, guarded(shard, epoch, [this, shard, phase](Held& held) {
                        if (held.phase == phase) close(shard, held);
                      }));
}

// Clears the shard's list of logs: the owner has flushed what it replayed from them.
void Ownership::forget_logs(uint32_t shard, Held& held, const Shard& entry) {
  Shard changed = entry;
  changed.logs.clear();
  change_entry(shard, held, entry, changed);
}

void Ownership::hand_over(uint32_t shard, Held& held, const Shard& entry, const State& state) {
  Shard changed;
  changed.epoch = entry.epoch + 1;
  if (const auto next = state.members.find(entry.next); next != state.members.end())
    changed.owner = {next->first, next->second.incarnation};
  else if (!membership_.is_leaving())
    changed.owner = membership_.id();  // The move was cancelled, so the shard is opened again.
  change_entry(shard, held, entry, changed);
}

// The mutation is guarded by the whole entry, whose epoch never recurs. The next state shows the outcome,
// whatever it is.
void Ownership::change_entry(uint32_t shard, Held& held, const Shard& entry, const Shard& changed) {
  Mutation mutation;
  mutation.if_entry(shard_entry(shard), entry.encode()).set_entry(shard_entry(shard), changed.encode());
  mutation.set_attribute("tag", membership_.next_tag()).allow_when_full();
  held.is_changing_entry = true;
  store_.mutate(state_object, std::move(mutation),
                guarded(shard, held.epoch, [this](Held& found, Reply reply) {
                  found.is_changing_entry = false;
                  if (reply.is_done()) store_.notify(state_object, "", [](Reply) {});
                  membership_.refresh();
                }));
}

}  // namespace sibyl::cluster
