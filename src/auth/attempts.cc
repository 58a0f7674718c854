#include "auth/attempts.h"

#include <algorithm>
#include <functional>
#include <random>
#include <string>

namespace sibyl::auth {
namespace {

constexpr size_t ways = 4;

}  // namespace

Attempts::Attempts(size_t entries) : entries_(std::max<size_t>(ways, entries / ways * ways)) {
  // Nobody can choose names that meet in one place.
  std::random_device random;
  for (uint64_t& word : seed_) word = (uint64_t{random()} << 32) | random();
}

uint64_t Attempts::key_of(char kind, std::string_view name) const {
  std::string text(reinterpret_cast<const char*>(seed_.data()), sizeof(seed_));
  text.push_back(kind);
  text.append(name);
  return std::hash<std::string>{}(text) | 1;  // never an empty entry's zero
}

void Attempts::forget(Entry& entry, Clock::time_point now) {
  if (now <= entry.last) return;
  const auto times = static_cast<uint64_t>((now - entry.last) / forgotten_after);
  if (times == 0) return;
  entry.failures -= static_cast<uint32_t>(std::min<uint64_t>(times, entry.failures));
  entry.last += times * forgotten_after;
}

Attempts::Entry* Attempts::find(uint64_t key, Clock::time_point now) {
  Entry* const place = &entries_[key / 2 % (entries_.size() / ways) * ways];
  for (Entry* entry = place; entry != place + ways; ++entry) {
    if (entry->key != key) continue;
    forget(*entry, now);
    return entry;
  }
  return nullptr;
}

Attempts::Entry& Attempts::find_or_make(uint64_t key, Clock::time_point now) {
  if (Entry* found = find(key, now)) return *found;
  Entry* const place = &entries_[key / 2 % (entries_.size() / ways) * ways];
  for (Entry* entry = place; entry != place + ways; ++entry) forget(*entry, now);
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

std::optional<Attempts::Duration> Attempts::wait_before(std::string_view address, std::string_view role,
                                                        Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  Duration wait(0);
  if (const Entry* entry = find(key_of('r', role), now)) wait = delay_of(*entry, longest_role_delay);
  Entry* entry = find(key_of('a', address), now);
  if (entry == nullptr) return wait;
  const Duration delay = delay_of(*entry, longest_address_delay);
  if (delay.count() == 0) return wait;
  const Clock::time_point turn = std::max(now, entry->next_turn) + delay;
  const auto until = std::chrono::duration_cast<Duration>(turn - now);
  if (until > longest_wait) return std::nullopt;
  entry->next_turn = turn;
  return std::max(wait, until);
}

bool Attempts::is_slowed(std::string_view address, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const Entry* entry = find(key_of('a', address), now);
  return entry != nullptr && delay_of(*entry, longest_address_delay).count() > 0;
}

void Attempts::failed(std::string_view address, std::string_view role, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  for (const uint64_t key : {key_of('a', address), key_of('r', role)}) {
    Entry& entry = find_or_make(key, now);
    entry.failures = std::min(entry.failures + 1, 64u);
    entry.last = now;
  }
}

void Attempts::succeeded(std::string_view role) {
  const std::lock_guard lock(mutex_);
  const uint64_t key = key_of('r', role);
  Entry* const place = &entries_[key / 2 % (entries_.size() / ways) * ways];
  for (Entry* entry = place; entry != place + ways; ++entry)
    if (entry->key == key) *entry = Entry{};
}

}  // namespace sibyl::auth
