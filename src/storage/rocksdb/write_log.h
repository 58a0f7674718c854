// The log of a store: makes a group of writes durable before it is in a table file.
//
// commit_log.h implements it on a local device, shared/object_log.h on an object store. Must be used by one
// thread at a time. bytes() is thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace sibyl::storage::rocksdb {

class WriteLog {
 public:
  // Called for each group in order. After the last group of a segment, end_of_segment is called.
  struct Replay {
    std::function<base::Status(base::BytesView group)> group;
    std::function<void(uint64_t segment)> end_of_segment;
  };
  // Statistics of the recovery.
  struct Recovered {
    uint64_t segments = 0, groups = 0;
    uint64_t bytes = 0;  // size of the groups
    // The last group was not written completely and was therefore not replayed.
    struct Incomplete {
      std::string path;
      uint64_t offset = 0;
      uint64_t size = 0;  // the size according to its header
    };
    std::optional<Incomplete> incomplete;
    // The log's directory had no segment, although an earlier run used one. Nothing is lost, because that run
    // stopped cleanly. Empty otherwise.
    std::string missing_directory;
  };

  virtual ~WriteLog() = default;

  // Called once, before the first append. REQUIRES: everything that was replayed is in table files.
  virtual base::Status begin() { return {}; }
  // The position of the next group, which is stored in the tables together with the group. So the tables show
  // which groups they hold. Empty if the log does not need it.
  virtual base::Bytes next_position() const { return {}; }
  // Appends a group and, if `durable`, waits until it is on the device. After an error the group is not in
  // the log, unless its code is write_timeout: then the log is unusable, and only the next opening shows
  // whether it has the group.
  virtual base::Status append(base::BytesView group, bool durable) = 0;
  // Removes the group that was appended last. A log that cannot do that returns an error and is unusable from
  // then on.
  virtual base::Status undo() = 0;
  virtual bool can_undo() const { return true; }
  // Waits until all groups are on the device.
  virtual base::Status sync() = 0;
  // Records how much of the log is on the device. Does not sync and does not report failures. After this,
  // undo() must not be called before the next append.
  virtual void note_synced() = 0;
  // True if the log has groups that may not be on the device although a sync was attempted.
  virtual bool sync_failed() const = 0;

  // The segment that append() last wrote to.
  virtual uint64_t segment() const = 0;
  // Releases the segments up to `number`, whose groups are no longer needed. The current segment stays.
  virtual void release(uint64_t number) = 0;
  // Starts an empty log. REQUIRES: all groups are in table files.
  virtual base::Status release_all() = 0;
  // Frees the space of released segments.
  virtual base::Status trim() = 0;

  virtual const Recovered& recovered() const = 0;
  virtual uint64_t bytes() const = 0;
};

// Opens a store's log and replays the groups after `position`. That is the position in the tables, or empty
// if they have none.
using OpenLog = std::function<base::Result<std::unique_ptr<WriteLog>>(const WriteLog::Replay& replay,
                                                                      base::BytesView position)>;

}  // namespace sibyl::storage::rocksdb
