#include "engine/intents/view_tickets.h"

#include <algorithm>
#include <utility>

#include "row/record_key.h"
#include "storage/sharded_store.h"

namespace sibyl::engine {
namespace {

using base::Bytes;

// Older tickets belong to senders that failed, because a sender gives up long before.
constexpr std::chrono::seconds max_ticket_age{60};

base::Error different_shards() {
  return base::Error(base::ErrorCode::server, "A message of another server names rows of several shards")
      .with_hint("all servers of a cluster need the same version");
}

}  // namespace

base::Result<std::shared_ptr<const void>> ViewTickets::hold(std::span<const Bytes> keys) const {
  const auto run_of = [&](const Bytes& key) -> std::optional<int64_t> {
    row::RecordKey parsed;
    if (!row::parse_record_key(key, parsed)) return std::nullopt;
    return storage::Store::run_of(store_.entry_runs(), parsed.token).token;
  };
  if (keys.empty()) return base::fail(different_shards());
  const auto run = run_of(keys[0]);
  const auto is_of_run = [&](const Bytes& key) { return run && run_of(key) == run; };
  if (!std::ranges::all_of(keys, is_of_run)) return base::fail(different_shards());
  auto held = store_.hold(keys[0]);
  if (!held) return base::fail(storage::not_here(0));
  return held;
}

base::Result<uint64_t> ViewTickets::issue(const std::vector<Bytes>& keys) {
  SIBYL_ASSIGN(const std::shared_ptr<const void> held, hold(keys));
  const uint64_t tenure = store_.tenure_of(keys[0]);
  const Time now = std::chrono::steady_clock::now();
  const base::MutexLock lock(mutex_);
  if (tickets_.size() >= size_to_forget_) forget_old(now);
  const uint64_t ticket = ++last_ticket_;
  for (const Bytes& key : keys) tickets_[key].push_back({ticket, tenure, now});
  return ticket;
}

bool ViewTickets::is_being_put(const std::vector<Bytes>& keys) const {
  for (const Bytes& key : keys)
    if (being_put_.contains(key)) return true;
  return false;
}

base::Result<std::vector<size_t>> ViewTickets::put(uint64_t ticket, std::vector<Record> records) {
  std::vector<Bytes> keys;
  for (const Record& record : records) keys.push_back(record.key);
  SIBYL_ASSIGN(const std::shared_ptr<const void> held, hold(keys));
  const uint64_t tenure = store_.tenure_of(keys[0]);
  std::vector<size_t> refused;
  std::set<Bytes> accepted;
  storage::WriteSet writes;
  {
    const base::MutexLock lock(mutex_);
    // Wait for earlier puts. Only after these is it known whether the ticket is the last one.
    while (is_being_put(keys)) changed_.wait(mutex_);
    for (size_t i = 0; i < records.size(); ++i) {
      if (!accepts(keys[i], ticket, tenure) || !accepted.insert(keys[i]).second) {
        refused.push_back(i);
      } else if (records[i].value) {
        writes.put(keys[i], std::move(*records[i].value));
      } else {
        writes.erase(keys[i]);
      }
    }
    being_put_.insert(accepted.begin(), accepted.end());
  }
  const base::Status status = accepted.empty() ? base::Status() : store_.commit(std::move(writes));
  {
    const base::MutexLock lock(mutex_);
    for (const Bytes& key : accepted) {
      being_put_.erase(key);
      if (status) end_tickets(key, ticket);
    }
  }
  changed_.notify_all();
  if (!status) return base::fail(status.error());
  return refused;
}

size_t ViewTickets::size() const {
  const base::MutexLock lock(mutex_);
  return tickets_.size();
}

bool ViewTickets::accepts(const Bytes& key, uint64_t ticket, uint64_t tenure) const {
  const auto found = tickets_.find(key);
  return found != tickets_.end() && std::ranges::any_of(found->second, [&](const Ticket& one) {
           return one.number == ticket && one.tenure == tenure;
         });
}

// Tickets up to `last` are refused from now on.
void ViewTickets::end_tickets(const Bytes& key, uint64_t last) {
  const auto found = tickets_.find(key);
  if (found == tickets_.end()) return;
  std::erase_if(found->second, [&](const Ticket& one) { return one.number <= last; });
  if (found->second.empty()) tickets_.erase(found);
}

void ViewTickets::forget_old(Time now) {
  for (auto& [key, tickets] : tickets_)
    std::erase_if(tickets, [&](const Ticket& one) { return now - one.issued > max_ticket_age; });
  std::erase_if(tickets_, [](const auto& entry) { return entry.second.empty(); });
  size_to_forget_ = std::max(min_size_to_forget, 2 * tickets_.size());
}

}  // namespace sibyl::engine
