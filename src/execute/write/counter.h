// Counter increments: collected while statements are built, written once per cell. Internal to
// src/execute/write.
#pragma once

#include <map>

#include "execute/write/modify_read.h"
#include "plan/evaluation/clustering.h"
#include "storage/store.h"

namespace sibyl::execute {

// The increments of one request. Increments of the same counter are added up.
class CounterTally {
 public:
  // `row` is nullptr for the static row. Unset values are ignored.
  base::Status add(const plan::Operation& operation, BytesView partition_prefix, const plan::NamedRow* row,
                   const plan::Bindings& bindings, plan::Scratch& scratch);

  bool empty() const { return rows_.empty(); }
  // Reads the current counters and adds the incremented ones to `writes`. REQUIRES: the partitions are
  // locked.
  base::Status write(ReadBefore& reads, int64_t now_micros, storage::WriteSet& writes);

 private:
  struct Row {
    Bytes prefix;
    plan::NamedRow named;
    bool is_static = false;
    std::map<uint32_t, int64_t> deltas;  // by column id
  };
  static base::Result<int64_t> after_deletions(ReadBefore& reads, const Row& row, int64_t now_micros);

  std::map<Bytes, Row> rows_;  // by record key
};

}  // namespace sibyl::execute
