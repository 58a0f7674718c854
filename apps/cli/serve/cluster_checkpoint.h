// This server's part in a snapshot of a cluster, which `sibyl snapshot take` leads
// (cli/cluster/cluster_snapshots.h). If that program dies in between, it delays this server no longer than
// the limits here.
#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "base/result.h"
#include "cli/serve/cluster_member.h"
#include "engine/engine.h"
#include "schema/schema.h"
#include "storage/sharded_store.h"

namespace sibyl::cli {

// Thread-safe. `id` is chosen by the caller for one attempt.
class ClusterCheckpoint {
 public:
  // Both must outlive this object.
  ClusterCheckpoint(ClusterMember& member, engine::Engine& engine) : member_(member), engine_(engine) {}

  // The steps of ShardedStore::Checkpoint. stop() fails if another snapshot is being taken.
  base::Status stop(const std::string& id);
  base::Result<boost::json::object> cut(const std::string& id);
  // Also returns the tables, as they were when the shards were cut.
  base::Result<boost::json::object> link(const std::string& id, const std::string& snapshot);
  // Ends the attempt, whatever its step was. Does nothing if there is none with this id.
  void drop(const std::string& id);

 private:
  struct Attempt {
    std::string id;
    std::unique_ptr<storage::ShardedStore::Checkpoint> checkpoint;
    schema::SnapshotPtr schema;  // of the cut
  };
  struct Slot {
    base::Mutex mutex;
    std::unique_ptr<Attempt> attempt SIBYL_GUARDED_BY(mutex);  // nullptr: no attempt, or one of its steps is
                                                               // running
    bool is_running SIBYL_GUARDED_BY(mutex) = false;
  };
  // Takes the attempt out of the slot while a step runs.
  std::unique_ptr<Attempt> take(const std::string& id);
  void finish_step(std::unique_ptr<Attempt> attempt);

  ClusterMember& member_;
  engine::Engine& engine_;
  const std::shared_ptr<Slot> slot_ = std::make_shared<Slot>();
};

}  // namespace sibyl::cli
