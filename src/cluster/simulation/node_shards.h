// The shards of a simulated server: small maps that are flushed to one object each.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/executor.h"
#include "cluster/ownership.h"
#include "cluster/simulation/node_log.h"
#include "cluster/simulation/requests.h"

namespace sibyl::cluster::simulation {

class NodeShards final : public ShardHost {
 public:
  // All must outlive this object. `wall_clock`: microseconds that may jump.
  NodeShards(storage::objects::ObjectStore& store, base::Executor& executor, NodeLog& log,
             std::function<int64_t()> wall_clock, Weakness weakness)
      : store_(store),
        executor_(executor),
        log_(log),
        wall_clock_(std::move(wall_clock)),
        weakness_(weakness) {}

  void open(uint32_t shard, uint64_t epoch, const std::vector<LogPart>& logs, Done done) override;
  void flush(uint32_t shard, Done done) override;
  void close(uint32_t shard, Done done) override;
  void drop(uint32_t shard) override { shards_.erase(shard); }

  // Runs a request on an open shard. Requests for one key run one after another. A read's response must be
  // checked against the lease before it is sent.
  void execute(uint32_t shard, Request request, Respond respond);

  // --- Views. The shard must be open. A change of a base row opens its intent, in the same append.
  Value value_of(uint32_t shard, Key key) const;
  // A view row may be put with this ticket until it is put with a later one, or the shard is opened again.
  uint64_t issue_ticket(uint32_t shard, Key row);
  // The base rows with open intents, and the timestamps of their last changes.
  std::vector<std::pair<Key, int64_t>> open_intents(uint32_t shard) const;
  // Does nothing if the base row has been changed since.
  void close_intent(uint32_t shard, Key base, int64_t timestamp);

 private:
  struct Cell {
    int64_t timestamp = 0;  // the newer one wins
    int64_t value = 0;
  };
  struct Waiting {
    Request request;
    Respond respond;
  };
  struct Shard {
    uint64_t epoch = 0, flushes = 0;
    int64_t highest = 0;  // timestamp
    std::map<Key, Cell> cells;
    std::map<Key, std::deque<Waiting>> queues;  // the first request of each queue is running
    std::map<Key, std::set<uint64_t>> tickets;  // of view rows
    uint64_t last_ticket = 0;
    Done closing;
  };
  struct Opening;
  struct Flush;

  static void add(Shard& shard, const Record& record);
  int64_t next_timestamp(Shard& shard) const;
  template <typename Function>
  auto guarded(uint32_t shard, const std::shared_ptr<Shard>& opened, Function function);
  void fence(std::shared_ptr<Opening> opening);
  void raise_epoch(std::shared_ptr<Opening> opening, const storage::objects::ReadReply& found);
  void load(std::shared_ptr<Opening> opening);
  void replay(std::shared_ptr<Opening> opening);
  void write_cells(uint32_t number, const std::shared_ptr<Shard>& shard, Done done);
  void send_flush(std::shared_ptr<Flush> flush);
  void check_flush(std::shared_ptr<Flush> flush);
  void run(uint32_t number, const std::shared_ptr<Shard>& shard, Key key);
  bool applies(const Shard& shard, const Request& request, Value seen) const;
  void finish(uint32_t number, const std::shared_ptr<Shard>& shard, Key key, Response response);
  void close_if_idle(uint32_t number, const std::shared_ptr<Shard>& shard);

  storage::objects::ObjectStore& store_;
  base::Executor& executor_;
  NodeLog& log_;
  const std::function<int64_t()> wall_clock_;
  const Weakness weakness_;
  std::map<uint32_t, std::shared_ptr<Shard>> shards_;
};

}  // namespace sibyl::cluster::simulation
