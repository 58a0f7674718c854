#include "cluster/membership.h"

#include <fmt/format.h>

#include <utility>

#include "cluster/leader.h"

namespace sibyl::cluster {

using storage::objects::Mutation;
using storage::objects::Outcome;
using storage::objects::Read;
using storage::objects::ReadReply;
using storage::objects::Reason;
using storage::objects::Reply;

namespace {
// In the duration of a lease, how often the lease is renewed, how often an unanswered request is sent again,
// and how often the state is read.
constexpr int renewals_per_lease = 4;
constexpr int repeats_per_lease = 10;
constexpr int polls_per_lease = 10;

// Compares only the flags that matter to other members.
bool has_other_flags(const Member& one, const Member& other) {
  return one.is_leaving != other.is_leaving || one.is_preparing != other.is_preparing;
}
}  // namespace

Membership::Membership(storage::objects::ObjectStore& store, base::Executor& executor, Options options,
                       Events events)
    : store_(store),
      executor_(executor),
      options_(std::move(options)),
      id_{options_.name, options_.incarnation},
      events_(std::move(events)),
      is_preparing_(options_.is_preparing) {}

Membership::~Membership() {
  *alive_ = false;
}

template <typename Function>
auto Membership::guarded(Function function) {
  return [this, alive = alive_, function = std::move(function)](auto&&... values) mutable {
    if (*alive && !has_ended_) function(std::forward<decltype(values)>(values)...);
  };
}

int64_t Membership::lease_micros() const {
  const auto lease = state_ ? state_->settings.lease : Settings().lease;
  return std::chrono::microseconds(lease).count();
}

bool Membership::holds_lease() const {
  return executor_.now_micros() < lease_until_.load(std::memory_order_acquire);
}

std::string Membership::next_tag() {
  return fmt::format("{}/{}", to_string(id_), ++tags_);
}

void Membership::start() {
  read_state(store_, guarded([this](base::Result<State> state) {
               if (!state) {
                 executor_.run_after(lease_micros() / repeats_per_lease, guarded([this] { start(); }));
                 return;
               }
               state_ = std::move(*state);
               join();
             }));
}

// The guard on the tag makes sure that no copy of the mutation is applied after this member was removed.
void Membership::join() {
  std::optional<Member> predecessor;
  if (const auto found = state_->members.find(id_.name); found != state_->members.end())
    predecessor = found->second;
  Mutation mutation;
  mutation.if_attribute("tag", state_->tag).set_attribute("tag", next_tag());
  if (options_.has_log) mutation.set_entry(log_entry(id_), id_.encode());
  begin_attempt(std::move(mutation), predecessor,
                {.incarnation = id_.incarnation,
                 .is_leaving = is_leaving_,
                 .is_preparing = is_preparing_,
                 .address = options_.address,
                 .data_center = options_.data_center,
                 .rack = options_.rack,
                 .version = options_.version,
                 .peer_address = options_.peer_address});
}

void Membership::leave() {
  if (is_leaving_) return;
  is_leaving_ = true;
  if (current_ && !attempt_) renew();
}

void Membership::finish_leaving() {
  may_remove_self_ = true;
  refresh();
}

void Membership::finish_preparing() {
  if (!is_preparing_) return;
  is_preparing_ = false;
  if (current_ && !attempt_) renew();
}

// --- This member's entry: joining and renewing

void Membership::begin_attempt(Mutation mutation, const std::optional<Member>& expected, Member value) {
  mutation.if_entry(member_entry(id_.name), expected ? expected->encode() : std::string());
  mutation.set_entry(member_entry(id_.name), value.encode()).allow_when_full();
  attempt_ = Attempt{std::move(mutation), std::move(value), executor_.now_micros(), ++attempts_};
  send_attempt();
}

// The mutation's guard lets it be applied once, so it is sent again without waiting for the first answer.
void Membership::send_attempt() {
  const uint64_t number = attempt_->number;
  store_.mutate(state_object, attempt_->mutation, guarded([this, number](Reply reply) {
                  if (!attempt_ || attempt_->number != number) return;
                  if (reply.is_done()) return finish_attempt();
                  if (reply.is_fenced()) return end(events_.on_removed);
                  if (reply.is_refused(Reason::mismatch) || reply.is_refused(Reason::missing))
                    check_attempt();
                }));
  executor_.run_after(lease_micros() / repeats_per_lease, guarded([this, number] {
                        if (attempt_ && attempt_->number == number) send_attempt();
                      }));
}

void Membership::finish_attempt() {
  const bool joined = !current_;
  const bool is_news = joined || has_other_flags(*current_, attempt_->value);
  current_ = attempt_->value;
  lease_until_ = attempt_->first_sent + lease_micros();
  const int64_t next = attempt_->first_sent + lease_micros() / renewals_per_lease - executor_.now_micros();
  attempt_.reset();
  if (is_news) store_.notify(state_object, "", [](Reply) {});
  if (joined) poll();
  if (is_leaving_ != current_->is_leaving || is_preparing_ != current_->is_preparing) return renew();
  executor_.run_after(next, guarded([this] {
                        if (!attempt_) renew();
                      }));
}

// The guard refused the attempt: either an earlier copy of it was applied, or another member changed the
// state.
void Membership::check_attempt() {
  Read entry;
  entry.named_entries = {member_entry(id_.name)};
  store_.read(state_object, std::move(entry), guarded([this, number = attempt_->number](ReadReply found) {
                if (!attempt_ || attempt_->number != number || !found.reply.is_done()) return;
                const auto value = found.entries.find(member_entry(id_.name));
                if (value != found.entries.end() && value->second == attempt_->value.encode())
                  return finish_attempt();
                end(events_.on_removed);
              }));
}

void Membership::renew() {
  Member value = *current_;
  ++value.renewal;
  value.is_leaving = is_leaving_;
  value.is_preparing = is_preparing_;
  Mutation mutation;
  if (has_other_flags(value, *current_)) mutation.set_attribute("tag", next_tag());
  begin_attempt(std::move(mutation), current_, std::move(value));
}

// --- The state of the cluster

void Membership::watch() {
  if (is_watching_) return;
  is_watching_ = true;
  store_.watch(state_object,
               {.on_notify = guarded([this](const std::string&) { refresh(); }),
                .on_error = guarded([this] { is_watching_ = false; })},
               guarded([this](Reply reply, std::unique_ptr<storage::objects::Watch> watch) {
                 is_watching_ = reply.is_done();
                 if (watch) replace_watch(std::move(watch));
               }));
}

// A watch must not be destroyed in a callback of the store.
void Membership::replace_watch(std::unique_ptr<storage::objects::Watch> watch) {
  executor_.run_after(0, [old = std::exchange(watch_, std::move(watch))]() mutable { old.reset(); });
}

void Membership::refresh() {
  executor_.run_after(0, guarded([this] { poll(); }));
}

void Membership::poll() {
  if (is_polling_) {
    poll_again_ = true;
    return;
  }
  is_polling_ = true;
  watch();
  read_state(store_, guarded([this](base::Result<State> state) {
               is_polling_ = false;
               receive(std::move(state));
               if (has_ended_) return;
               if (std::exchange(poll_again_, false))
                 poll();
               else
                 schedule_poll();
             }));
}

void Membership::schedule_poll() {
  executor_.run_after(lease_micros() / polls_per_lease, guarded([this, number = ++poll_number_] {
                        if (number == poll_number_) poll();
                      }));
}

void Membership::receive(base::Result<State> state) {
  if (!state) return;
  state_ = std::move(*state);
  const int64_t now = executor_.now_micros();
  std::erase_if(observed_, [&](const auto& entry) { return !state_->members.contains(entry.first); });
  for (const auto& [name, member] : state_->members) {
    const auto [seen, is_new] = observed_.try_emplace(name, Observed{member, now});
    if (!is_new && seen->second.member != member) seen->second = {member, now};
  }
  if (!state_->is_member(id_)) return end(has_sent_removal_ ? events_.on_left : events_.on_removed);
  events_.on_state(*state_);
  lead();
  leave_if_free();
}

std::set<std::string> Membership::expired_members() const {
  const double allowed = static_cast<double>(lease_micros()) * (1 + options_.max_drift);
  std::set<std::string> expired;
  for (const auto& [name, seen] : observed_)
    if (name != id_.name && static_cast<double>(executor_.now_micros() - seen.since) > allowed)
      expired.insert(name);
  return expired;
}

void Membership::lead() {
  if (is_changing_) return;
  auto change = plan_change(*state_, id_, expired_members(), next_tag());
  if (!change) return;
  is_changing_ = true;
  store_.mutate(state_object, std::move(*change), guarded([this](Reply reply) {
                  is_changing_ = false;
                  if (reply.is_fenced()) return end(events_.on_removed);
                  if (reply.is_done()) store_.notify(state_object, "", [](Reply) {});
                  if (reply.outcome != Outcome::unknown) poll();
                }));
}

// --- Leaving

void Membership::leave_if_free() {
  if (!current_ || !current_->is_leaving || is_changing_) return;
  for (const Shard& shard : state_->shards)
    if (shard.owner == id_) return;
  if (events_.on_free && !std::exchange(is_free_, true)) events_.on_free();
  if (!events_.on_free || may_remove_self_) remove_self();
}

void Membership::remove_self() {
  Mutation mutation;
  mutation.if_attribute("tag", state_->tag).erase_entry(member_entry(id_.name));
  mutation.if_entry(member_entry(id_.name), current_->encode());
  if (state_->leader == id_) mutation.set_attribute("leader", MemberId().encode());
  mutation.set_attribute("tag", next_tag()).allow_when_full();
  is_changing_ = has_sent_removal_ = true;
  store_.mutate(state_object, std::move(mutation), guarded([this](Reply reply) {
                  is_changing_ = false;
                  if (!reply.is_done()) return poll();
                  store_.notify(state_object, "", [](Reply) {});
                  end(events_.on_left);
                }));
}

void Membership::end(std::function<void()> notify) {
  has_ended_ = true;
  lease_until_ = 0;
  if (notify) notify();
}

}  // namespace sibyl::cluster
