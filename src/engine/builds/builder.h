// Fills new indexes and views with existing rows, in the background.
//
// From the moment an index or a view is defined, every write maintains it. The entries of older rows are
// added by one thread in steps. A step locks a few partitions, adds their entries and commits them together
// with the position it has reached. So a crash loses at most one step, and a step never interleaves with a
// write to the same partition. Writes that started with an older schema finish before the first step.
//
// In a cluster, each server builds the entries of the shards that it owns (shard_build.h), once no server
// uses a schema without the index. The server that holds the catalogue completes the build. The rows of a
// view that follow from a shard are in other shards, where they are renewed (intents/view_updates.h).
//
// A build that fails because of the data is given up. The failure is logged and reported, and the next
// process tries the build again. A build that fails because the store cannot write is retried until it
// succeeds, since the device may recover.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "execute/environment.h"
#include "execute/index/build.h"
#include "schema/schema.h"

namespace sibyl::engine {

class Builder {
 public:
  struct Hooks {
    std::function<schema::SnapshotPtr()> schema;
    // Blocks until all writes that were planned with an older schema have been passed to the store.
    std::function<void()> wait_for_writers;
    // Called when the index or view with this storage id is complete. Makes that durable and visible.
    std::function<base::Status(uint32_t storage_id)> finish;
    // These are set in a cluster.
    std::function<bool()> is_settled;  // every server uses schema() or a newer one
    std::function<base::Status()>
        announce;  // announces the schema to all servers; called on the server that has the catalogue
  };
  struct Progress {
    std::string keyspace, table, name;
    bool is_view = false;
    base::Bytes task_id;      // timeuuid
    uint64_t partitions = 0;  // built since the process started
    int64_t last_token = 0;
    std::string failure;  // why the build was given up; empty while it is running
  };

  Builder(execute::Environment environment, Hooks hooks);
  // Stops between two steps. The next process resumes there.
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  // Called after a schema change: there may be something to build.
  void wake();
  // Blocks until everything in the newest schema is built or given up, or until the timeout.
  void wait(std::chrono::milliseconds timeout);

  // The build that is running now.
  std::optional<Progress> progress() const;
  // Builds that were given up and whose index or view is still in the schema.
  std::vector<Progress> failures() const;
  // Returns why the build of an index or view was given up, or nullopt if it was not. Cheap when there are no
  // failures.
  std::optional<std::string> failure(uint32_t storage_id) const;

 private:
  struct Job {
    schema::TablePtr table;
    execute::BuildTarget target;
    uint32_t storage_id = 0;
    std::string name;
  };

  void run();
  // Returns an index or view that is not built and for which `wanted` is true.
  std::optional<Job> find(const std::function<bool(uint32_t storage_id)>& wanted) const;
  // Returns false if other servers have to build their parts first.
  base::Result<bool> build(const Job& job);
  base::Result<bool> build_in_cluster(const Job& job);
  // Returns false if the shard has to be built again, by this server or another one.
  base::Result<bool> build_shard(const Job& job, const storage::EntryRun& run);
  bool is_spread(const Job& job) const;  // a view whose rows are in other shards than its base table
  base::Result<bool> is_built(const Job& job, const storage::EntryRun& run) const;
  base::Result<bool> build_view_of_shard(const Job& job, const storage::EntryRun& run);
  base::Status renew_view_rows(const Job& job, const execute::BuildStep& step);
  void note_step(const execute::BuildStep& step);
  base::Status erase_old_records();  // erases records of views that are built or were dropped
  bool wait_for_work() SIBYL_REQUIRES(mutex_);
  // Returns true if retries cannot succeed.
  bool is_permanent(const Job& job, const base::Error& error);
  void give_up(const Job& job, const base::Error& error) SIBYL_REQUIRES(mutex_);
  base::Status start(const Job& job);
  base::Status erase_progress(const Job& job);  // deletes the stored position
  base::Result<base::Bytes> build_step(const Job& job, const base::Bytes& position);
  // Adds the entries of a step. `also` is committed with them.
  base::Status add_entries(const Job& job, const execute::BuildStep& step, storage::WriteSet also);
  bool is_stopping() const;
  void wait_unless_stopping(std::chrono::milliseconds pause) SIBYL_REQUIRES(mutex_);

  execute::Environment environment_;
  Hooks hooks_;

  mutable base::Mutex mutex_;
  base::CondVar changed_;
  bool stopping_ SIBYL_GUARDED_BY(mutex_) = false;
  // The number of wake() calls, and how many of them had been made when nothing was left to build.
  uint64_t wanted_ SIBYL_GUARDED_BY(mutex_) = 1;
  uint64_t considered_ SIBYL_GUARDED_BY(mutex_) = 0;
  std::optional<Progress> progress_ SIBYL_GUARDED_BY(mutex_);
  std::map<uint32_t, Progress> given_up_ SIBYL_GUARDED_BY(mutex_);  // by storage id
  std::atomic<bool> has_given_up_ = false;

  // Used by thread_ only.
  bool is_reading_ = false;               // true while reading rows, false while writing
  std::map<uint32_t, int> failed_reads_;  // by storage id: consecutive failures without a completed step
  std::thread thread_;                    // declared last because it uses the other members
};

// Returns the schema with the index or view of this storage id marked as built, or nullptr if there is none.
schema::SnapshotPtr with_built(const schema::Snapshot& schema, uint32_t storage_id);

}  // namespace sibyl::engine
