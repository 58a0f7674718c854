// Failed logins, remembered so that guessing gets slow.
//
// After a few failures from an address its further attempts are let through one by one, each later than the
// one before by a delay that grows; others are not touched. Failures on a role, from wherever, delay attempts
// on that role by a moment that stays short, so that nobody can be locked out by a stranger. Nor by a
// neighbour behind the same address: a role that has logged in from there lately does not stand in the
// address's line until it has failed a few times itself. Addresses are counted as networks (network.h).
// Memory is bounded: tables of fixed size where new entries push out those with less to remember.
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
  static constexpr std::chrono::hours known_for{24};  // a role at the address that it has logged in from

  explicit Attempts(size_t entries = 4096);

  struct Turn {
    Duration wait{0};         // before the password is looked at
    bool by_address = false;  // it stands in the address's line
    bool operator==(const Turn&) const = default;
  };
  // When an attempt may go on; nullopt: too many are waiting already. Each call takes a turn.
  std::optional<Turn> take_turn(std::string_view address, std::string_view role, Clock::time_point now);
  // Whether attempts on the role from the address have to stand in its line: asked again when the turn has
  // come of one that did not have to, for others may have failed meanwhile.
  bool is_slowed(std::string_view address, std::string_view role, Clock::time_point now);
  void failed(std::string_view address, std::string_view role, Clock::time_point now);
  // The role's own failures are forgotten; those from the address are not, for whoever is there may know one
  // password and guess others.
  void succeeded(std::string_view address, std::string_view role, Clock::time_point now);

 private:
  struct Entry {
    uint64_t key = 0;
    uint32_t failures = 0;
    Clock::time_point last{};       // failure, or since then partly forgotten
    Clock::time_point next_turn{};  // addresses: when the next attempt may go
    Clock::time_point logged_in{};  // roles at addresses: when last
  };
  using Entries = std::vector<Entry>;  // in groups of four that share a place

  uint64_t key_of(char kind, std::string_view name) const;
  uint64_t key_of_address(std::string_view address) const;
  uint64_t key_of_pair(std::string_view address, std::string_view role) const;
  static Entry* place_of(Entries& entries, uint64_t key);
  static Entry* find(Entries& entries, uint64_t key, Clock::time_point now);
  Entry& find_or_make(uint64_t key, Clock::time_point now);
  bool is_known(std::string_view address, std::string_view role, Clock::time_point now);
  static void forget(Entry& entry, Clock::time_point now);
  static Duration delay_of(const Entry& entry, Duration longest);

  std::array<uint64_t, 2> seed_;
  std::mutex mutex_;
  Entries entries_;  // addresses and roles that failed
  Entries known_;    // roles at addresses that they have logged in from
};

}  // namespace sibyl::auth
