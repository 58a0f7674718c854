// Orders the writes of view rows at the owner of their shard.
//
// A server that renews a view row takes a ticket from the owner, then reads the base row, then puts the view
// row that follows from it.
//
//  1. A put is accepted only if no put with a later ticket was accepted before, and the shard has stayed here
//     since the ticket was issued. So once a put is accepted, all later ones are derived from base rows that
//     were read after its ticket was issued.
//  2. A put that is refused changes nothing. Its sender takes another ticket and reads again.
//
// Therefore a put that arrives late or twice never undoes a change of the base row that the view row already
// shows. Nothing of this is durable: the next owner knows no tickets, and refuses all of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/mutex.h"
#include "base/result.h"
#include "storage/store.h"

namespace sibyl::engine {

// Thread-safe.
class ViewTickets {
 public:
  struct Record {
    base::Bytes key;
    std::optional<base::Bytes> value;  // nullopt: the view does not have the row
  };

  // Borrows the store.
  explicit ViewTickets(storage::Store& store) : store_(store) {}

  // The keys must be of one shard. If the shard is not here, the error is storage::is_not_here().
  base::Result<uint64_t> issue(const std::vector<base::Bytes>& keys);
  // Blocks until the accepted records are durable. Returns the places of the refused ones. Errors as issue().
  base::Result<std::vector<size_t>> put(uint64_t ticket, std::vector<Record> records);

  size_t size() const;  // rows with tickets

 private:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr size_t min_size_to_forget = 4096;
  struct Ticket {
    uint64_t number = 0;
    uint64_t tenure = 0;  // Store::tenure_of()
    Time issued;
  };

  // Keeps the shard of the keys here.
  base::Result<std::shared_ptr<const void>> hold(std::span<const base::Bytes> keys) const;
  // True if another call is writing one of the keys.
  bool is_being_put(const std::vector<base::Bytes>& keys) const SIBYL_REQUIRES(mutex_);
  bool accepts(const base::Bytes& key, uint64_t ticket, uint64_t tenure) const SIBYL_REQUIRES(mutex_);
  void end_tickets(const base::Bytes& key, uint64_t last) SIBYL_REQUIRES(mutex_);
  void forget_old(Time now) SIBYL_REQUIRES(mutex_);

  storage::Store& store_;
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  uint64_t last_ticket_ SIBYL_GUARDED_BY(mutex_) = 0;
  std::unordered_map<base::Bytes, std::vector<Ticket>> tickets_ SIBYL_GUARDED_BY(mutex_);
  size_t size_to_forget_ SIBYL_GUARDED_BY(mutex_) = min_size_to_forget;
  std::set<base::Bytes> being_put_ SIBYL_GUARDED_BY(mutex_);
};

}  // namespace sibyl::engine
