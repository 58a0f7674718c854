#include "engine/catalogue/open_shards.h"

#include <utility>

#include "engine/catalogue/open_store.h"
#include "storage/rocksdb/shared/open_sharded_store.h"

namespace sibyl::engine {

base::Result<std::unique_ptr<storage::ShardedStore>> open_shards(const Options& options, ShardsData data) {
  static base::SystemClock system_clock;
  storage::rocksdb::ShardedStoreOptions opened;
  opened.objects = data.objects;
  opened.shards = std::move(data.shards);
  opened.log = std::move(data.log);
  opened.memory_tables_bytes = options.memtable_bytes;
  opened.store = store_options(options, options.clock != nullptr ? *options.clock : system_clock);
  opened.on_lost = std::move(data.on_lost);
  return storage::rocksdb::open_sharded_store(std::move(opened));
}

}  // namespace sibyl::engine
