// Reads rows before they are written, under the partition's lock. Internal to src/execute/write.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>

#include "execute/read/reader.h"
#include "execute/write/write_context.h"
#include "plan/evaluation/intervals.h"
#include "storage/store.h"

namespace sibyl::execute {

// The rows that one request reads before it writes. They do not include the request's own writes: the
// statements of a batch do not see each other's writes.
class ReadBefore {
 public:
  ReadBefore(const storage::Store& store, int64_t now_seconds) : store_(&store), now_seconds_(now_seconds) {}
  // Reads rows of `table` from the snapshot, without the cells of its dropped columns. The table must outlive
  // this object.
  ReadBefore(std::shared_ptr<const storage::Snapshot> snapshot, const schema::Table& table,
             int64_t now_seconds)
      : snapshot_(std::move(snapshot)), table_(&table), now_seconds_(now_seconds) {}

  // The visible row; an empty fragment if there is none. Without a table it may have cells of dropped columns.
  // The pointer and its views stay valid for the lifetime of this object.
  base::Result<const row::Fragment*> row(BytesView partition_prefix, BytesView clustering);
  // Like row(), for the static row.
  base::Result<const row::Fragment*> static_row(BytesView partition_prefix);

  // The latest timestamp of anything that was written to these records or covers them, including deletions
  // and expired data. A later write wins over all of it. Returns row::no_timestamp if there is nothing.
  base::Result<int64_t> latest_of_statics(BytesView partition_prefix);
  base::Result<int64_t> latest_of_row(BytesView partition_prefix, BytesView clustering);
  // Like latest_of_statics(), for all rows in the range. Reads them without caching.
  base::Result<int64_t> latest_of_rows(BytesView partition_prefix, const plan::Interval& range);

 private:
  struct Record {
    Bytes bytes;
    row::Fragment fragment;
    int64_t latest = row::no_timestamp;
  };
  struct Partition {
    row::Deletion deletion;
    bool has_range_deletions = false;
    bool has_loaded_ranges = false;
    RangeDeletions ranges;  // once loaded
    Record statics;
  };

  base::Result<bool> get(BytesView key, Bytes& value) const {
    return snapshot_ ? snapshot_->get(key, value) : store_->get(key, value);
  }
  std::unique_ptr<storage::Iterator> iterate(BytesView begin, BytesView end) const {
    return snapshot_ ? snapshot_->iterate(begin, end) : store_->iterate(begin, end);
  }
  base::Result<bool> read(BytesView key, Record& record);
  void hide(row::Fragment& fragment, const row::Deletion& covering) const;
  base::Result<Partition*> partition(BytesView partition_prefix);
  // The latest deletion that covers a row.
  base::Result<row::Deletion> covering(BytesView partition_prefix, Partition& partition,
                                       BytesView clustering);
  base::Status load_ranges(BytesView partition_prefix, RangeDeletions& ranges);

  const storage::Store* store_ = nullptr;
  std::shared_ptr<const storage::Snapshot> snapshot_;
  const schema::Table* table_ = nullptr;
  int64_t now_seconds_;
  size_t held_bytes_ = 0;  // size of the records below
  std::unordered_map<Bytes, std::unique_ptr<Partition>> partitions_;
  std::unordered_map<Bytes, std::unique_ptr<Record>> rows_;
};

}  // namespace sibyl::execute
