// Failed logins, remembered so that guessing gets slow.
//
// After a few failures from an address its further attempts are let through one by one, each later than the
// one before by a delay that grows; others are not touched. Failures on a role, from wherever, delay attempts
// on that role by a moment that stays short, so that nobody can be locked out by a stranger. Memory is
// bounded: a table of fixed size where new entries push out those with less to remember.
//
// Threads: all functions may be called by any thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

namespace sibyl::auth {

class Attempts {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = std::chrono::milliseconds;

  static constexpr unsigned free_failures = 3;  // until then nothing is delayed
  static constexpr Duration first_delay{100};   // doubled by each further failure
  static constexpr Duration longest_address_delay{2'000};
  static constexpr Duration longest_role_delay{500};
  static constexpr Duration longest_wait{10'000};     // attempts that would wait longer are refused
  static constexpr Duration forgotten_after{60'000};  // one failure less for each such time without one

  explicit Attempts(size_t entries = 4096);

  // How long an attempt must wait before its password is looked at; nullopt: too many are waiting already.
  // Each call takes a turn.
  std::optional<Duration> wait_before(std::string_view address, std::string_view role, Clock::time_point now);
  // Whether attempts of the address have to wait: asked again when a password's turn has come that did not
  // have to, for others may have failed meanwhile.
  bool is_slowed(std::string_view address, Clock::time_point now);
  void failed(std::string_view address, std::string_view role, Clock::time_point now);
  // The role's own failures are forgotten; the address's are not, for it may know one password and guess
  // others.
  void succeeded(std::string_view role);

 private:
  struct Entry {
    uint64_t key = 0;
    uint32_t failures = 0;
    Clock::time_point last{};       // failure, or since then partly forgotten
    Clock::time_point next_turn{};  // addresses: when the next attempt may go
  };
  uint64_t key_of(char kind, std::string_view name) const;
  Entry* find(uint64_t key, Clock::time_point now);
  Entry& find_or_make(uint64_t key, Clock::time_point now);
  static void forget(Entry& entry, Clock::time_point now);
  static Duration delay_of(const Entry& entry, Duration longest);

  std::array<uint64_t, 2> seed_;
  std::mutex mutex_;
  std::vector<Entry> entries_;  // in groups of four that share a place
};

}  // namespace sibyl::auth
