// Messages to the owner of a shard (Method::commit). The owner may change meanwhile.
//
//   message   shard u32, then the caller's message
//   answer    0 and the answer; 1 if the shard is not here: nothing was done; 2 and an error: code u32, sized message and hint
#pragma once

#include <chrono>
#include <functional>

#include "base/bytes.h"
#include "base/result.h"
#include "cluster/peers.h"
#include "cluster/routing.h"
#include "storage/shard_map.h"
#include "storage/sharded_store.h"

namespace sibyl::cluster {

// Thread-safe.
class OwnerCalls {
 public:
  // Handles a message at the owner. Blocks. An error that is_not_here() means that nothing was done.
  using Receive = std::function<base::Result<base::Bytes>(base::BytesView message)>;
  struct Parts {
    storage::ShardedStore& here;
    std::shared_ptr<const storage::ShardMap> shards;
    Routing& routing;
    Peers& peers;
    std::chrono::milliseconds patience{10'000};
  };
  // All parts must outlive this object.
  explicit OwnerCalls(Parts parts) : of_(std::move(parts)) {}

  // Passes the message to the server that has the shard of the key, and returns its answer. The message may
  // be received several times, also when the result is a write timeout. If this server has the shard, the
  // error is is_not_here(), because no other server has it.
  base::Result<base::Bytes> ask(base::BytesView key, const base::Bytes& message);

  // A handler of Method::commit, which calls `receive` while the shard is kept open.
  PeerService::Handler handler(Receive receive);
  // Returns the answer to an encoded message.
  base::Bytes answer(base::BytesView message, const Receive& receive);

 private:
  const Parts of_;
};

}  // namespace sibyl::cluster
