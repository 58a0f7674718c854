// Slows down password guessing by remembering failed logins.
//
// 1. After a few failures from an address, its further attempts queue. They are admitted one by one, with a
//    delay that grows. Other addresses are not affected.
// 2. Failures for a role, from any address, delay attempts on that role. This delay stays short, so that an
//    attacker cannot lock a role out.
// 3. A role that has recently logged in from an address does not join the queue of that address until it has
//    failed a few times itself. So clients that share an address cannot lock each other out.
//
// Addresses are counted as networks (network.h). Memory is bounded: the tables have a fixed size, and new
// entries replace those with the least history.
//
// Threads: thread-safe.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/mutex.h"

namespace sibyl::auth {

class Attempts {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = std::chrono::milliseconds;

  static constexpr unsigned free_failures = 3;  // failures before attempts are delayed
  static constexpr Duration first_delay{100};   // each further failure doubles the delay
  static constexpr Duration max_address_delay{2'000};
  static constexpr Duration max_role_delay{500};
  static constexpr Duration max_wait{10'000};  // Attempts that would wait longer than this are rejected.
  // The failure count falls by one after each such period without a failure.
  static constexpr Duration failure_lifetime{60'000};
  // The time for which a successful login of a role from an address counts in rule 3.
  static constexpr std::chrono::hours known_lifetime{24};

  explicit Attempts(size_t entries = 4096);

  struct Turn {
    Duration wait{0};               // the wait before the password is checked
    bool in_address_queue = false;  // the attempt is in the queue of the address
    bool operator==(const Turn&) const = default;
  };
  // Reserves the next turn for an attempt. Returns nullopt if too many attempts are waiting.
  std::optional<Turn> take_turn(std::string_view address, std::string_view role, Clock::time_point now);
  // Returns true if attempts on the role from the address must queue. An attempt that did not have to queue
  // checks this again when its turn comes, since other attempts may have failed in the meantime.
  bool must_queue(std::string_view address, std::string_view role, Clock::time_point now);
  void record_failure(std::string_view address, std::string_view role, Clock::time_point now);
  // Resets the failures of the role, but not the failures of the address: a client there may know one
  // password and guess others.
  void record_success(std::string_view address, std::string_view role, Clock::time_point now);

 private:
  struct Entry {
    uint64_t key = 0;
    uint32_t failures = 0;
    Clock::time_point last{};       // time of the last failure, moved forward when failures expire
    Clock::time_point next_turn{};  // addresses: earliest time of the next attempt
    Clock::time_point logged_in{};  // roles at addresses: time of the last login
  };
  using Entries = std::vector<Entry>;  // groups of four entries share a hash slot

  uint64_t key_of(char kind, std::string_view name) const;
  uint64_t key_of_address(std::string_view address) const;
  uint64_t key_of_pair(std::string_view address, std::string_view role) const;
  static Entry* place_of(Entries& entries, uint64_t key);
  static Entry* find(Entries& entries, uint64_t key, Clock::time_point now);
  Entry& find_or_make(uint64_t key, Clock::time_point now) SIBYL_REQUIRES(mutex_);
  bool is_known(std::string_view address, std::string_view role, Clock::time_point now)
      SIBYL_REQUIRES(mutex_);
  static void expire_failures(Entry& entry, Clock::time_point now);
  static Duration delay_of(const Entry& entry, Duration longest);

  std::array<uint64_t, 2> seed_;
  base::Mutex mutex_;
  Entries entries_ SIBYL_GUARDED_BY(mutex_);  // addresses and roles with failures
  Entries known_ SIBYL_GUARDED_BY(mutex_);    // roles at addresses that they have logged in from
};

}  // namespace sibyl::auth
