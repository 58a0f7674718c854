// Keeps what usage.h counts over a restart, as records of a storage id of its own.
//
// It is written every minute and at a clean end, as far as it has changed: a crash loses the last minute at
// most. What cannot be read (of another version, or damaged) is left out, and never a reason not to start.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "base/result.h"
#include "engine/usage.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::engine {

inline constexpr uint32_t usage_table_id = 1023;  // of system tables' ids the last

// Reads what was kept about tables of this schema. Before anything is counted.
base::Status load_usage(const storage::Store& store, const schema::Snapshot& schema, Usage& usage);

class UsageKeeper {
 public:
  // Borrows all of them; begins to save. `besides` is called each minute, too, on the same thread.
  UsageKeeper(
      storage::Store& store, Usage& usage, std::function<schema::SnapshotPtr()> schema,
      std::function<void()> besides = [] {});
  // Saves once more.
  ~UsageKeeper();

  base::Status save();

 private:
  void run();

  storage::Store& store_;
  Usage& usage_;
  const std::function<schema::SnapshotPtr()> schema_;
  const std::function<void()> besides_;
  std::mutex saving_;  // one after another
  // What the store has, by record key: a number that rises with every change. Guarded by saving_.
  std::map<base::Bytes, uint64_t> saved_;
  uint64_t saves_ = 0;  // guarded by saving_
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace sibyl::engine
