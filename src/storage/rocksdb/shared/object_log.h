// The commit log of one store on an object store: a chain (log_chain.h) that one opening of the store uses.
//
// The tables hold the position of the last group that they contain, because every group sets it. Replay
// applies the groups after that position, and only from the log that the shard names.
//
// The shard's directory names its log, in the file SIBYL_LOG: first the current log, then logs to be removed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "storage/objects/files/object_directory.h"
#include "storage/objects/object_store.h"
#include "storage/rocksdb/shared/log_chain.h"
#include "storage/rocksdb/write_log.h"

namespace sibyl::storage::rocksdb {

// Which groups the tables hold: all up to the group that begins with this record.
struct LogPosition {
  std::string log;
  uint64_t segment = 0;  // the segment of that record, or an earlier one
  uint64_t sequence = 0;
  uint64_t shard_epoch = 0;
  int64_t timestamp = 0;  // at least the highest timestamp that a server assigned to the records; 0: unknown

  bool operator==(const LogPosition&) const = default;
};
base::Bytes encode(const LogPosition& position);
std::optional<LogPosition> parse_log_position(base::BytesView bytes);

class ObjectLog final : public WriteLog {
 public:
  struct Options {
    objects::ObjectDirectory* directory = nullptr;  // the directory of the shard; must outlive the log
    uint64_t segment_bytes = 8 << 20;
    uint64_t record_bytes = 8 << 20;  // larger groups are several records
  };

  // Seals the log that the shard names, and replays what follows `position`.
  static base::Result<std::unique_ptr<ObjectLog>> open(Options options, const Replay& replay,
                                                       base::BytesView position);

  base::Status begin() override;
  base::Bytes next_position() const override;
  base::Status append(base::BytesView group, bool durable) override;
  base::Status undo() override;
  bool can_undo() const override { return false; }
  base::Status sync() override { return {}; }
  void note_synced() override {}
  bool sync_failed() const override { return false; }

  uint64_t segment() const override { return chain_.segment(); }
  void release(uint64_t number) override { chain_.release(number); }
  base::Status release_all() override;
  base::Status trim() override { return {}; }

  const Recovered& recovered() const override { return recovered_; }
  uint64_t bytes() const override { return chain_.bytes(); }

 private:
  struct OldLog {
    std::string name;
    uint64_t first = 1;  // segment
  };

  explicit ObjectLog(Options options);
  objects::ObjectStore& store() const { return options_.directory->store(); }
  base::Status recover(const Replay& replay, base::BytesView position);
  base::Status replay_log(OldLog& old, const std::optional<LogPosition>& position, const Replay& replay);
  base::Status remove_old_logs();

  const Options options_;
  LogChain chain_;
  std::vector<OldLog> old_logs_;
  Recovered recovered_;
  bool is_ended_ = false;  // true after an append without a known outcome, and after a fence
};

}  // namespace sibyl::storage::rocksdb
