// The commit log of a simulated server: one object, appended in a chain, sealed by successors.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "base/executor.h"
#include "cluster/simulation/requests.h"
#include "cluster/state.h"
#include "storage/objects/object_store.h"

namespace sibyl::cluster::simulation {

struct Record {
  uint32_t shard = 0;
  uint64_t epoch = 0;
  uint64_t number = 0;  // of the shard's records in this epoch
  Key key = 0;
  int64_t value = 0;
};
void append_record(base::Bytes& out, const Record& record);
std::vector<Record> decode_records(base::BytesView bytes);

std::string log_object(const MemberId& id);

class NodeLog {
 public:
  // true: durable. false: the outcome will stay unknown, and the log accepts nothing any more.
  using Done = std::move_only_function<void(bool)>;

  // All must outlive this object.
  NodeLog(storage::objects::ObjectStore& store, base::Executor& executor, const MemberId& id,
          Weakness weakness)
      : store_(store), executor_(executor), object_(log_object(id)), weakness_(weakness) {}

  // Records that wait together are appended together. The callback may run within the call.
  void append(const Record& record, Done done);

 private:
  void send();
  void repeat();
  void check();
  void finish(bool durable);

  storage::objects::ObjectStore& store_;
  base::Executor& executor_;
  const std::string object_;
  const Weakness weakness_;
  base::Bytes waiting_;
  std::vector<Done> waiting_done_, sent_done_;
  storage::objects::Mutation sent_;
  uint64_t sequence_ = 0;
  bool is_sending_ = false, is_sealed_ = false;
};

// Makes further appends impossible. Repeats until it is done, then reads the records.
void seal_and_read(storage::objects::ObjectStore& store, base::Executor& executor, const MemberId& log,
                   Weakness weakness, std::move_only_function<void(std::vector<Record>)> done);

}  // namespace sibyl::cluster::simulation
