// A copy of the shards of a server as of one moment: ShardedStore::Checkpoint.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "storage/objects/object_store.h"
#include "storage/rocksdb/checkpoint.h"
#include "storage/rocksdb/shared/open_shards.h"
#include "storage/sharded_store.h"

namespace sibyl::storage::rocksdb {

class ShardsCheckpoint final : public ShardedStore::Checkpoint {
 public:
  // All parts must outlive this object.
  struct Parts {
    OpenShards& open;
    uint32_t shards = 0;
    objects::ObjectStore& objects;
    // Runs the task on the thread that commits, between two groups. Does not wait.
    std::function<void(std::function<void()> task)> post_to_committer;
    std::chrono::milliseconds patience;
  };
  explicit ShardsCheckpoint(Parts parts) : of_(std::move(parts)) {}
  ~ShardsCheckpoint() override;

  base::Status stop(std::chrono::milliseconds limit) override;
  base::Result<std::vector<ShardFiles>> cut() override;
  base::Result<std::vector<ShardFiles>> link(
      const std::function<std::string(uint32_t shard)>& directory_of) override;

 private:
  // The gate at which the thread that commits waits.
  struct Gate {
    enum class State : uint8_t { waiting, stopped, resumed };
    base::Mutex mutex;
    base::CondVar changed;
    State state SIBYL_GUARDED_BY(mutex) = State::waiting;
  };
  struct Shard {
    OpenShards::Use use;
    std::vector<HeldFile> files;
    bool is_held = false;
  };

  bool is_stopped() const;
  void resume();
  void release();
  static base::Status hold(Shard& shard);
  base::Result<ShardFiles> link_shard(const Shard& shard, const std::string& directory) const;

  const Parts of_;
  std::shared_ptr<Gate> gate_;  // nullptr: not stopped yet
  std::vector<Shard> shards_;
};

}  // namespace sibyl::storage::rocksdb
