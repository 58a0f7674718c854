// Reads single shards, and answers such reads of other servers (RoutedStore).
#pragma once

#include "cluster/peers.h"
#include "cluster/routed/store_messages.h"
#include "cluster/routing.h"
#include "storage/shard_map.h"
#include "storage/sharded_store.h"

namespace sibyl::cluster {

// Reads a shard that is open here. Otherwise the error is is_not_here().
base::Result<StoreAnswer> read_shard(const storage::ShardedStore& store, const StoreRequest& request);

// Thread-safe.
class StoreService {
 public:
  // All arguments must outlive this object.
  StoreService(storage::ShardedStore& store, const storage::ShardMap& shards, const Routing& routing)
      : store_(store), shards_(shards), routing_(routing) {}

  // A handler of Method::read. Blocks while it reads.
  PeerService::Handler handler();
  // The answer to an encoded request.
  Bytes answer(BytesView request) const;

 private:
  storage::ShardedStore& store_;
  const storage::ShardMap& shards_;
  const Routing& routing_;
};

}  // namespace sibyl::cluster
