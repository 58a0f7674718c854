// Persists the counts of usage.h across restarts, as records under a storage id of their own. Each server of
// a cluster has records of its own on the storage that they share.
//
// Changed counts are saved every minute and at a clean shutdown, so a crash loses at most the last minute.
// Records that cannot be read (damaged, or of another version) are ignored and never prevent a start.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "base/result.h"
#include "engine/statistics/usage.h"
#include "engine/statistics/usage_records.h"
#include "engine/statistics/usage_totals.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::engine {

inline constexpr uint32_t usage_table_id = 1023;  // the last id of system tables

// Reads the saved counts of tables in this schema. Must be called before anything is counted.
base::Status load_usage(UsageRecords& records, const schema::Snapshot& schema, Usage& usage);
base::Status load_usage(storage::Store& store, const schema::Snapshot& schema, Usage& usage);
// The counts that another server had saved last, for tables in this schema. nullopt: it has saved none.
std::optional<UsageTotals> saved_totals(const UsageRecords::Records& records, const schema::Snapshot& schema);

class UsageKeeper {
 public:
  // Borrows `usage`, and starts saving. `every_minute` is called each minute on the same thread.
  UsageKeeper(
      std::shared_ptr<UsageRecords> records, Usage& usage, std::function<schema::SnapshotPtr()> schema,
      std::function<void()> every_minute = [] {});
  // Keeps the records in a store, which must outlive the keeper.
  UsageKeeper(
      storage::Store& store, Usage& usage, std::function<schema::SnapshotPtr()> schema,
      std::function<void()> every_minute = [] {})
      : UsageKeeper(make_usage_records(store), usage, std::move(schema), std::move(every_minute)) {}
  // Saves once more.
  ~UsageKeeper();

  base::Status save();

 private:
  void run();

  const std::shared_ptr<UsageRecords> records_;
  Usage& usage_;
  const std::function<schema::SnapshotPtr()> schema_;
  const std::function<void()> every_minute_;
  base::Mutex saving_;  // serialises save()
  // For each record in the store, the change number of its contents.
  std::map<base::Bytes, uint64_t> saved_ SIBYL_GUARDED_BY(saving_);
  uint64_t saves_ SIBYL_GUARDED_BY(saving_) = 0;
  base::Mutex mutex_;
  base::CondVar wake_;
  bool stopping_ SIBYL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace sibyl::engine
