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
  trust_clock,           // timestamps are those of the clock, even below the shard's highest
  acknowledge_early,     // a write is acknowledged before it is in the log
  answer_without_lease,  // a read is answered although the lease may have expired
  remove_early,          // members are removed before their leases have expired
  no_replay,             // a new owner ignores the logs of the former one
  hand_over_unflushed,   // a moved shard is not flushed before it is handed over
};

using Key = uint32_t;
using Value = std::optional<int64_t>;

struct Request {
  enum class Kind : uint8_t { read, write, exchange, add };
  Kind kind = Kind::read;
  Key key = 0;
  Value expected;     // exchange
  int64_t value = 0;  // written, or added
};

struct Response {
  enum class Status : uint8_t {
    done,     // for an exchange: see `applied`
    moved,    // nothing was executed: this server does not own the key
    unknown,  // it may have been applied, or may be applied later
  };
  Status status = Status::done;
  bool applied = false;
  Value seen;  // before the change
};

using Respond = std::move_only_function<void(Response)>;

}  // namespace sibyl::cluster::simulation
