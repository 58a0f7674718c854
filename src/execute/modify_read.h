// Reading rows before writing them, under the partition's lock. Private to this room.
#pragma once

#include <memory>
#include <unordered_map>

#include "execute/modify_moment.h"
#include "storage/store.h"

namespace sibyl::execute {

// The rows that one request reads before it writes, as they were before it: statements of a batch do not see
// each other's writes.
class ReadBefore {
 public:
  ReadBefore(const storage::Store& store, int64_t now_seconds) : store_(store), now_seconds_(now_seconds) {}

  // The row as a reader sees it; an empty fragment when there is none. The reference and its views stay
  // valid.
  base::Result<const row::Fragment*> row(BytesView partition_prefix, BytesView clustering);
  // The static row.
  base::Result<const row::Fragment*> static_row(BytesView partition_prefix);

 private:
  struct Record {
    Bytes bytes;
    row::Fragment fragment;
  };
  struct Partition {
    row::Deletion deletion;
    bool has_range_deletions = false;
    Record statics;
  };

  base::Result<Partition*> partition(BytesView partition_prefix);
  // The latest deletion that covers a row.
  base::Result<row::Deletion> covering(BytesView partition_prefix, const Partition& partition,
                                       BytesView clustering);

  const storage::Store& store_;
  int64_t now_seconds_;
  std::unordered_map<Bytes, std::unique_ptr<Partition>> partitions_;
  std::unordered_map<Bytes, std::unique_ptr<Record>> rows_;
};

}  // namespace sibyl::execute
