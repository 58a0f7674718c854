// Fills new indexes and views with the rows that were there before them, in the background.
//
// From the moment an index or a view is defined every write keeps it; what older rows have in it is added by
// one thread, step by step: a few partitions under their locks, one commit, and in the same commit how far it
// has come. So a crash costs one step, and no step can meet a write halfway. Whoever has begun to write
// without knowing of the new definition is waited for before the first step.
//
// What cannot be built for a reason that lies in the data is given up: it is told of, and tried again by the
// next process. When the store fails to write, the device may come back: that is tried again and again.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "execute/environment.h"
#include "execute/upkeep_build.h"
#include "schema/schema.h"

namespace sibyl::engine {

class Builder {
 public:
  struct Hooks {
    std::function<schema::SnapshotPtr()> schema;
    // Returns when every write that does not know the newest schema is with the store.
    std::function<void()> wait_for_writers;
    // The index or view with this storage id is complete: makes that durable and visible.
    std::function<base::Status(uint32_t storage_id)> finish;
  };
  struct Progress {
    std::string keyspace, table, name;
    bool is_view = false;
    base::Bytes task_id;      // timeuuid
    uint64_t partitions = 0;  // done since the start of the process
    int64_t last_token = 0;
    std::string failure;  // why it was given up; empty: it goes on
  };

  Builder(execute::Environment environment, Hooks hooks);
  // Stops between two steps; the next process goes on there.
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  // Something may have to be built.
  void wake();
  // Returns when everything in the newest schema is built, or after so long.
  void wait(std::chrono::milliseconds longest);

  // What is being built now.
  std::optional<Progress> progress() const;
  // What was given up and is still in the schema.
  std::vector<Progress> failures() const;
  // Why an index or view was given up; nullopt: it was not. Costs next to nothing when nothing was.
  std::optional<std::string> failure(uint32_t storage_id) const;

 private:
  struct Job {
    schema::TablePtr table;
    execute::BuildTarget target;
    uint32_t storage_id = 0;
    std::string name;
  };

  void run();
  // One that is not built, of those wanted.
  std::optional<Job> find(const std::function<bool(uint32_t storage_id)>& wanted) const;
  base::Status build(const Job& job);
  // Whether it is no use to try again.
  bool is_final(const Job& job, const base::Error& error);
  void give_up(const Job& job, const base::Error& error);  // REQUIRES: mutex_ is held
  base::Status start(const Job& job);
  base::Status forget(const Job& job);  // how far it had come
  base::Result<base::Bytes> build_step(const Job& job, const base::Bytes& position);
  bool is_stopping() const;

  execute::Environment environment_;
  Hooks hooks_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;                 // all guarded by mutex_
  uint64_t wanted_ = 1, considered_ = 0;  // wake() calls; those after which nothing was left to build
  std::optional<Progress> progress_;
  std::map<uint32_t, Progress> given_up_;  // by storage id
  std::atomic<bool> has_given_up_ = false;

  // Of the thread alone.
  bool is_reading_ = false;               // rows, and not writing
  std::map<uint32_t, int> failed_reads_;  // by storage id: in a row, without a step
  std::thread thread_;                    // last: it uses the others
};

// The schema with an index or a view of this storage id built; nullptr when there is none.
schema::SnapshotPtr with_built(const schema::Snapshot& schema, uint32_t storage_id);

}  // namespace sibyl::engine
