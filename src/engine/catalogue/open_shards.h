// Opens the store over the shards that a server of a cluster owns.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "engine/options.h"
#include "storage/objects/object_store.h"
#include "storage/shard_map.h"
#include "storage/sharded_store.h"

namespace sibyl::engine {

struct ShardsData {
  storage::objects::ObjectStore* objects = nullptr;  // must outlive the store
  std::shared_ptr<const storage::ShardMap> shards;
  std::string log;  // the name of the server's log. REQUIRES: never used before
  // Called at most once, on any thread, when another server has taken over this server's shards. Must not
  // block.
  std::function<void(const std::string& why)> on_lost;
};

// Opens the store without any shard. Caches and memory have the sizes in `options`. Blocks.
base::Result<std::unique_ptr<storage::ShardedStore>> open_shards(const Options& options, ShardsData data);

}  // namespace sibyl::engine
