// The commit log of a simulated server: a chain in segments, which successors seal.
//
// A segment is an object, "log/ID/NUMBER", with the attributes "sequence" and "sealed". The rules are those
// of the real log (storage/rocksdb/shared/log_chain.h), with few appends in a segment.
#pragma once

#include <functional>
#include <memory>
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
  int64_t timestamp = 0;  // assigned by the owner of the shard, and increasing
  Key key = 0;
  int64_t value = 0;
};
void append_record(base::Bytes& out, const Record& record);
std::vector<Record> decode_records(base::BytesView bytes);

std::string log_object(const MemberId& id, uint64_t segment);

class NodeLog {
 public:
  // true: durable. false: the outcome stays unknown, and the log accepts no more records.
  using Done = std::move_only_function<void(bool)>;

  // All arguments must outlive this object.
  NodeLog(storage::objects::ObjectStore& store, base::Executor& executor, const MemberId& id,
          Weakness weakness)
      : store_(store), executor_(executor), id_(id), weakness_(weakness) {}

  // Records that wait at the same time are appended together. The records of one call are always appended
  // together. `done` may run within this call.
  void append(const std::vector<Record>& records, Done done);

 private:
  void send();
  void repeat();
  void check();
  void finish(bool durable);

  storage::objects::ObjectStore& store_;
  base::Executor& executor_;
  const MemberId id_;
  const Weakness weakness_;
  base::Bytes waiting_;
  std::vector<Done> waiting_done_, sent_done_;
  storage::objects::Mutation sent_;
  uint64_t sequence_ = 0, segment_ = 0, appends_ = 0;  // appends_: number of appends in this segment
  bool is_sending_ = false, is_sealed_ = false;
};

// Makes further appends to the log impossible. Repeats its requests until this is done, then calls `done`
// with the records.
void seal_and_read(storage::objects::ObjectStore& store, base::Executor& executor, const MemberId& log,
                   Weakness weakness, std::move_only_function<void(std::vector<Record>)> done);

// Seals the log and removes all segments, the last one first, except two: the end, and the last one before
// it, which loses its data. Without the end, a removed server that still runs could create that segment and
// append to it. Without the segment before the end, a late copy of the mutation that created it could create
// it again, unsealed. Repeats requests that are not answered.
void remove_log(storage::objects::ObjectStore& store, base::Executor& executor, const MemberId& log,
                Weakness weakness, std::move_only_function<void()> done);

}  // namespace sibyl::cluster::simulation
