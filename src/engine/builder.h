// Fills new indexes and views with the rows that were there before them, in the background.
//
// From the moment an index or a view is defined every write keeps it; what older rows have in it is added by
// one thread, step by step: a few partitions under their locks, one commit, and in the same commit how far it
// has come. So a crash costs one step, and no step can meet a write halfway. Whoever has begun to write
// without knowing of the new definition is waited for before the first step.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
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
  std::thread thread_;  // last: it uses the others
};

// The schema with an index or a view of this storage id built; nullptr when there is none.
schema::SnapshotPtr with_built(const schema::Snapshot& schema, uint32_t storage_id);

}  // namespace sibyl::engine
