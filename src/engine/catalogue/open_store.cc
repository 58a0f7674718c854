#include "engine/catalogue/open_store.h"

#include "storage/memory/memory_store.h"
#include "storage/objects/object_store.h"
#include "storage/rocksdb/rocksdb_store.h"
#include "storage/rocksdb/shared/shared_store.h"

namespace sibyl::engine {
namespace {

base::Result<std::unique_ptr<storage::Store>> open_shared(const SharedData& shared,
                                                          const storage::rocksdb::Options& store) {
  SIBYL_ASSIGN(auto objects, shared.connect());
  storage::rocksdb::SharedStoreOptions options;
  options.name = shared.name;
  options.store = store;
  options.on_lost = shared.on_lost;
  return storage::rocksdb::open_shared_store(std::move(objects), options);
}

}  // namespace

base::Status check_clock(base::Clock& clock) {
  if (clock.now_micros() >= 0) return {};
  return base::fail(base::Error(base::ErrorCode::config, "The system clock shows a time before 1970")
                        .with_hint("set the clock"));
}

base::Result<std::unique_ptr<storage::Store>> open_store(const Options& options, base::Clock& clock) {
  if (options.data == ":memory:") return storage::memory::make_store({.clock = &clock});
  if (options.data.empty() && !options.shared)
    return base::fail(base::Error(base::ErrorCode::config, "No data directory is given")
                          .with_hint("use :memory: for a database in memory"));
  if (options.is_in_cluster()) return options.shared->open_store();
  const storage::rocksdb::Options store = store_options(options, clock);
  if (options.shared) return open_shared(*options.shared, store);
  return storage::rocksdb::open_store(options.data, store);
}

storage::rocksdb::Options store_options(const Options& options, base::Clock& clock) {
  storage::rocksdb::Options store;
  store.durability = options.commitlog_sync == Options::Sync::group ? storage::rocksdb::Durability::synced
                                                                    : storage::rocksdb::Durability::periodic;
  store.sync_interval = options.commitlog_sync_period;
  store.block_cache_bytes = options.block_cache_bytes;
  store.row_cache_bytes = options.row_cache_bytes;
  store.gives_back_memory = options.gives_back_memory;
  // While one memory table is filled, up to two others are flushed.
  store.write_buffer_bytes = options.memtable_bytes / 3;
  store.queue_bytes = options.commit_queue_bytes;
  store.log_segment_bytes = options.commitlog_segment_bytes;
  store.clock = &clock;
  return store;
}

std::unique_ptr<storage::Store> make_system_store(base::Clock& clock) {
  return storage::memory::make_store({.clock = &clock});
}

}  // namespace sibyl::engine
