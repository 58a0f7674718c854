#include "auth/attempts.h"

#include <algorithm>
#include <functional>
#include <random>
#include <string>

#include "auth/network.h"

namespace sibyl::auth {
namespace {

constexpr size_t ways = 4;

}  // namespace

Attempts::Attempts(size_t entries)
    : entries_(std::max<size_t>(ways, entries / ways * ways)), known_(entries_.size()) {
  // A random seed, so that an attacker cannot choose names that share a slot.
  std::random_device random;
  for (uint64_t& word : seed_) word = (uint64_t{random()} << 32) | random();
}

uint64_t Attempts::key_of(char kind, std::string_view name) const {
  std::string text(reinterpret_cast<const char*>(seed_.data()), sizeof(seed_));
  text.push_back(kind);
  text.append(name);
  return std::hash<std::string>{}(text) | 1;  // never zero, which marks an empty entry
}

uint64_t Attempts::key_of_address(std::string_view address) const {
  return key_of('a', network_of(address));
}

uint64_t Attempts::key_of_pair(std::string_view address, std::string_view role) const {
  return key_of('p', network_of(address) + '\0' + std::string(role));
}

void Attempts::expire_failures(Entry& entry, Clock::time_point now) {
  if (now <= entry.last) return;
  const auto times = static_cast<uint64_t>((now - entry.last) / failure_lifetime);
  if (times == 0) return;
  entry.failures -= static_cast<uint32_t>(std::min<uint64_t>(times, entry.failures));
  entry.last += times * failure_lifetime;
}

Attempts::Entry* Attempts::place_of(Entries& entries, uint64_t key) {
  return &entries[key / 2 % (entries.size() / ways) * ways];
}

Attempts::Entry* Attempts::find(Entries& entries, uint64_t key, Clock::time_point now) {
  Entry* const place = place_of(entries, key);
  for (Entry* entry = place; entry != place + ways; ++entry) {
    if (entry->key != key) continue;
    expire_failures(*entry, now);
    return entry;
  }
  return nullptr;
}

Attempts::Entry& Attempts::find_or_make(uint64_t key, Clock::time_point now) {
  if (Entry* found = find(entries_, key, now)) return *found;
  Entry* const place = place_of(entries_, key);
  for (Entry* entry = place; entry != place + ways; ++entry) expire_failures(*entry, now);
  Entry& least = *std::min_element(place, place + ways, [](const Entry& left, const Entry& right) {
    return left.failures < right.failures;
  });
  least = Entry{.key = key, .last = now};
  return least;
}

Attempts::Duration Attempts::delay_of(const Entry& entry, Duration longest) {
  if (entry.failures <= free_failures) return Duration(0);
  const unsigned doublings = std::min(entry.failures - free_failures - 1, 16u);
  return std::min(longest, first_delay * (1 << doublings));
}

bool Attempts::is_known(std::string_view address, std::string_view role, Clock::time_point now) {
  const Entry* pair = find(known_, key_of_pair(address, role), now);
  return pair != nullptr && pair->failures < free_failures && now - pair->logged_in < known_lifetime;
}

std::optional<Attempts::Turn> Attempts::take_turn(std::string_view address, std::string_view role,
                                                  Clock::time_point now) {
  const base::MutexLock lock(mutex_);
  Turn turn;
  if (const Entry* entry = find(entries_, key_of('r', role), now))
    turn.wait = delay_of(*entry, max_role_delay);
  Entry* entry = find(entries_, key_of_address(address), now);
  if (entry == nullptr) return turn;
  const Duration delay = delay_of(*entry, max_address_delay);
  if (delay.count() == 0 || is_known(address, role, now)) return turn;
  const Clock::time_point next = std::max(now, entry->next_turn) + delay;
  const auto until = std::chrono::duration_cast<Duration>(next - now);
  if (until > max_wait) return std::nullopt;
  entry->next_turn = next;
  return Turn{std::max(turn.wait, until), true};
}

bool Attempts::must_queue(std::string_view address, std::string_view role, Clock::time_point now) {
  const base::MutexLock lock(mutex_);
  const Entry* entry = find(entries_, key_of_address(address), now);
  return entry != nullptr && delay_of(*entry, max_address_delay).count() > 0 && !is_known(address, role, now);
}

void Attempts::record_failure(std::string_view address, std::string_view role, Clock::time_point now) {
  const base::MutexLock lock(mutex_);
  const auto count = [&](Entry& entry) {
    entry.failures = std::min(entry.failures + 1, 64u);
    entry.last = now;
  };
  count(find_or_make(key_of_address(address), now));
  count(find_or_make(key_of('r', role), now));
  if (Entry* pair = find(known_, key_of_pair(address, role), now)) count(*pair);
}

void Attempts::record_success(std::string_view address, std::string_view role, Clock::time_point now) {
  const base::MutexLock lock(mutex_);
  if (Entry* entry = find(entries_, key_of('r', role), now)) *entry = Entry{};
  const uint64_t key = key_of_pair(address, role);
  Entry* pair = find(known_, key, now);
  if (pair == nullptr) {
    Entry* const place = place_of(known_, key);
    pair = std::min_element(place, place + ways, [](const Entry& left, const Entry& right) {
      return left.logged_in < right.logged_in;
    });
    *pair = Entry{.key = key, .last = now};
  }
  pair->logged_in = now;
}

}  // namespace sibyl::auth
