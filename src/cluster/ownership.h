// The shards that this server owns: it opens those that the state assigns to it and hands over those that
// should move.
//
//  1. A shard is served by one member at a time. Its epoch increases whenever the owner changes.
//  2. A member opens a shard only when the state names it as the owner. The state names another member only
//     after the former owner closed the shard, or was removed because its lease had expired.
//  3. Before a member uses a shard, it prevents writes of former owners: the host raises the epoch that
//     guards the shard's files, and seals the logs that it has to replay.
//  4. A planned move: flush while serving, stop serving, flush the rest, close, and then change the owner.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/executor.h"
#include "cluster/membership.h"
#include "cluster/state.h"
#include "storage/objects/object_store.h"

namespace sibyl::cluster {

// A server implements this interface to hold shards. Calls for one shard do not overlap, except that drop()
// may follow at any time.
class ShardHost {
 public:
  using Done = std::move_only_function<void(base::Status)>;

  virtual ~ShardHost() = default;
  // Fences former owners, replays the records of the shard in `logs`, and flushes the replayed data.
  // Afterwards the shard can be served, and those parts of the logs are not needed any more. An error leaves
  // the shard closed.
  virtual void open(uint32_t shard, uint64_t epoch, const std::vector<LogPart>& logs, Done done) = 0;
  // Flushes an open shard while it serves requests, so that close() will be short.
  virtual void flush(uint32_t shard, Done done) = 0;
  // Waits for requests that have started, flushes the rest, and closes. No request starts after this call. If
  // it fails, the shard stays closed to requests, and close() is called again.
  virtual void close(uint32_t shard, Done done) = 0;
  // Discards an open, opening or closing shard at once, without writing. Callbacks of earlier calls are not
  // called.
  virtual void drop(uint32_t shard) = 0;
};

// Used by one thread, like Membership.
class Ownership {
 public:
  // All arguments must outlive this object.
  Ownership(storage::objects::ObjectStore& store, base::Executor& executor, Membership& membership,
            ShardHost& host);
  ~Ownership();

  // Handles a newer state. Call it in Membership's on_state.
  void follow(const State& state);
  // Drops all shards. Call it when the member was removed.
  void drop_all();

  // The epoch at which this server may start requests of the shard; nullopt if it does not serve it.
  std::optional<uint64_t> serving_epoch(uint32_t shard) const;
  // True if a request that started at this epoch may be answered, because no other member can have served the
  // shard since. Check it after the data was read.
  bool may_answer(uint32_t shard, uint64_t epoch) const;

 private:
  enum class Phase : uint8_t { opening, serving, flushing, closing, closed };
  struct Held {
    uint64_t epoch = 0;
    Phase phase = Phase::opening;
    bool is_flushed = false;         // flushed since the request to move it
    bool is_changing_entry = false;  // true: a mutation of the shard's entry is in progress
  };

  template <typename Function>
  auto guarded(uint32_t shard, uint64_t epoch, Function function);
  void follow(uint32_t shard, const Shard& entry, const State& state);
  void open(uint32_t shard, const Shard& entry);
  void drop(uint32_t shard);
  bool should_move(const Shard& entry, const State& state) const;
  void prepare_move(uint32_t shard, Held& held);
  void close(uint32_t shard, Held& held);
  void forget_logs(uint32_t shard, Held& held, const Shard& entry);
  void hand_over(uint32_t shard, Held& held, const Shard& entry, const State& state);
  void change_entry(uint32_t shard, Held& held, const Shard& entry, const Shard& changed);
  void retry(uint32_t shard, uint64_t epoch, Phase phase);

  storage::objects::ObjectStore& store_;
  base::Executor& executor_;
  Membership& membership_;
  ShardHost& host_;
  std::map<uint32_t, Held> held_;
  // The last epoch that this server handed over. Entries up to it are outdated.
  std::map<uint32_t, uint64_t> released_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sibyl::cluster
