// Iterators over several shards.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "storage/shard_map.h"
#include "storage/store.h"

namespace sibyl::storage {

// A shard that an iterator visits, as of the moment of the snapshot. `owned` is kept alive until the
// iterators are destroyed.
struct ShardPart {
  uint32_t shard = 0;
  std::shared_ptr<const Snapshot> snapshot;
  std::shared_ptr<const void> owned;
};

// Visits [begin, end) of the parts. `is_in_order`: they are consecutive shards whose records follow each
// other in this range (ShardMap::Range). Then only the shards that are reached are read.
std::unique_ptr<Iterator> iterate_parts(std::vector<ShardPart> parts, bool is_in_order, const ShardMap& map,
                                        base::BytesView begin, base::BytesView end);

// Returns an iterator that is never valid.
std::unique_ptr<Iterator> failed_iterator(base::Error error);

// Returns the same iterator, which now keeps `owned` alive.
std::unique_ptr<Iterator> owning_iterator(std::unique_ptr<Iterator> iterator,
                                          std::shared_ptr<const void> owned);

}  // namespace sibyl::storage
