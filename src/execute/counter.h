// Counter increments: gathered while statements are built, written once per cell. Private to this room.
#pragma once

#include <map>

#include "execute/modify_read.h"
#include "storage/store.h"

namespace sibyl::execute {

// The increments of one request. Several of one counter add up.
class CounterTally {
 public:
  // `clustering` is nullptr for the static row. Unset values count nothing.
  base::Status add(const plan::Operation& operation, BytesView partition_prefix,
                   const plan::Restrictions::NamedRow* row, const plan::Bindings& bindings,
                   plan::Scratch& scratch);

  bool empty() const { return rows_.empty(); }
  // Reads what the counters are and adds what they become. REQUIRES: the partitions are locked.
  base::Status write(ReadBefore& reads, int64_t now_micros, storage::WriteSet& writes);

 private:
  struct Row {
    Bytes prefix;
    plan::Restrictions::NamedRow named;
    bool is_static = false;
    std::map<uint32_t, int64_t> deltas;  // by column id
  };
  static base::Result<int64_t> after_deletions(ReadBefore& reads, const Row& row, int64_t now_micros);

  std::map<Bytes, Row> rows_;  // by record key
};

}  // namespace sibyl::execute
