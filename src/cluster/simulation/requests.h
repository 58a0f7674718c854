// Requests of simulated clients, and their responses.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace sibyl::cluster::simulation {

// Faults of the implementation that the checks must find.
enum class Weakness : uint8_t {
  none,
  no_fencing,            // former owners can still write logs and shards
  seal_existing_only,    // a takeover does not prevent the next segment of a log
  remove_ends,           // nothing remains of a log that is removed
  trust_clock,           // timestamps are taken from the clock, even if they are below the shard's highest
  acknowledge_early,     // a write is acknowledged before it is in the log
  answer_without_lease,  // a read is answered although the lease may have expired
  remove_early,          // members are removed before their leases have expired
  no_replay,             // a new owner ignores the logs of the former one
  hand_over_unflushed,   // a moved shard is not flushed before it is handed over
  lose_intents,          // view rows of writes that were interrupted are not renewed
  put_late,              // an old or repeated message replaces a view row that has been renewed since
};

using Key = uint32_t;
using Value = std::optional<int64_t>;

// Some keys are base rows of a view. Each has two view rows, in other shards: for even and for odd values.
// One of them has the value of the base row, and the other one none.
inline constexpr Key first_view_row = 1 << 16, first_intent = 1 << 24;
inline constexpr int64_t no_view_row = -1;  // the value of a view row that was erased
inline bool has_view(Key key) {
  return key < first_view_row && key % 4 == 0;
}
inline Key view_row_of(Key base, bool is_odd) {
  return first_view_row + 3 * base + (is_odd ? 2 : 1);
}
inline Value view_value(Value base, bool is_odd) {
  return base && *base % 2 == (is_odd ? 1 : 0) ? base : std::nullopt;
}
// A record in the shard of the base row: 1 while its view rows must be renewed.
inline Key intent_of(Key base) {
  return first_intent + base;
}

struct Request {
  enum class Kind : uint8_t { read, write, exchange, add, put_view_row };
  Kind kind = Kind::read;
  Key key = 0;
  Value expected;       // exchange
  int64_t value = 0;    // written, or added
  uint64_t ticket = 0;  // put_view_row
};

struct Response {
  enum class Status : uint8_t {
    done,     // for an exchange: see `applied`
    moved,    // nothing was executed: this server does not own the key
    unknown,  // it may have been applied, or may be applied later
  };
  Status status = Status::done;
  bool applied = false;
  Value seen;             // before the change
  int64_t timestamp = 0;  // of the change
};

using Respond = std::move_only_function<void(Response)>;

}  // namespace sibyl::cluster::simulation
