// The store of one server over the shards of all servers of its cluster.
//
// It differs from the contract of store.h:
//
//  1. Shards that are open here are read and written here. Other shards are read at their owners. While a
//     shard moves, the read is repeated until a deadline.
//  2. A write set is committed only if all of its shards are open here. Otherwise nothing is executed: the
//     error is is_not_here(), because statements that write must run at the owner of their shard.
//  3. A snapshot or iterator over shards of several servers is not of one moment as a whole, only within each
//     part of a shard that is read at once.
//  4. Except for approximate_size(), all sizes, files, tasks and samples are those of the shards that are
//     open here.
//
// Reads of other servers' shards block until the answer arrives. Do not read them on a thread that must not
// wait.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/peers.h"
#include "cluster/routed/store_messages.h"
#include "cluster/routing.h"
#include "storage/shard_map.h"
#include "storage/sharded_store.h"

namespace sibyl::cluster {

class RoutedStore final : public storage::Store {
 public:
  struct Parts {
    storage::ShardedStore& here;
    std::shared_ptr<const storage::ShardMap> shards;
    Routing& routing;
    Peers& peers;
    // When this has passed, a read of another server's shard fails with a read timeout.
    std::chrono::milliseconds patience{10'000};
  };
  // All parts must outlive this object.
  explicit RoutedStore(Parts parts) : of_(std::move(parts)) {}

  using Store::commit;
  void commit(storage::WriteSet writes, Done done) override;
  base::Result<bool> get(BytesView key, Bytes& value) const override;
  base::Status get_many(std::span<const Bytes> keys, std::span<std::optional<Bytes>> values) const override;
  bool may_have_partition_records(uint32_t table_id) const override;
  std::unique_ptr<storage::Iterator> iterate(BytesView begin, BytesView end) const override;
  std::shared_ptr<const storage::Snapshot> snapshot() const override;
  std::span<const storage::EntryRun> entry_runs() const override { return of_.shards->entry_runs(); }

  std::shared_ptr<const void> hold(BytesView key) const override { return of_.here.hold(key); }
  uint64_t tenure_of(BytesView key) const override {
    return of_.here.open_epoch(of_.shards->shard_of(key)).value_or(0);
  }

  base::Status flush() override { return of_.here.flush(); }
  base::Status compact(BytesView begin, BytesView end) override { return of_.here.compact_here(begin, end); }
  void set_purge_policy(std::shared_ptr<const storage::PurgePolicy> policy) override {
    of_.here.set_purge_policy(std::move(policy));
  }
  void set_timestamps(storage::Timestamps* timestamps) override { of_.here.set_timestamps(timestamps); }
  base::Result<std::vector<storage::CheckpointFile>> checkpoint(const std::string& directory) override {
    return of_.here.checkpoint(directory);
  }
  void set_key_formatter(std::function<std::string(BytesView key)> format) override {
    of_.here.set_key_formatter(std::move(format));
  }
  void set_large_partition_callback(uint64_t bytes,
                                    std::function<void(BytesView key, uint64_t size)> callback) override {
    of_.here.set_large_partition_callback(bytes, std::move(callback));
  }

  uint64_t approximate_size(BytesView begin, BytesView end) const override;
  storage::StoreStatistics statistics() const override { return of_.here.statistics(); }
  std::chrono::microseconds sync_time() const override { return of_.here.sync_time(); }
  std::vector<storage::StoreFile> files() const override { return of_.here.files(); }
  std::map<uint32_t, uint64_t> largest_partitions() const override { return of_.here.largest_partitions(); }
  std::map<uint32_t, storage::PartitionSample> partition_samples(std::span<const uint32_t> tables,
                                                                 size_t max_records) const override;
  std::vector<storage::StoreTask> tasks() const override { return of_.here.tasks(); }

 private:
  class RoutedSnapshot;
  class ShardView;
  class RemoteIterator;
  using Time = std::chrono::steady_clock::time_point;

  // Reads the shard here or at its owner, and follows the shard if it moves.
  base::Result<StoreAnswer> read(const StoreRequest& request) const;
  // Returns the answer of the shard; nullopt if the shard is not at this server or if the call has failed.
  static std::optional<base::Result<StoreAnswer>> answer_of(const CallResult& called,
                                                            const StoreRequest& request);
  // Asks the owners of all shards at the same time. For each shard whose answer is missing from the result,
  // call read().
  std::map<uint32_t, StoreAnswer> ask_all(const std::map<uint32_t, StoreRequest>& requests) const;
  std::unique_ptr<storage::Iterator> iterate_shard(uint32_t shard, BytesView begin, BytesView end) const;
  std::unique_ptr<storage::Iterator> iterate_shards(const storage::ShardMap::Range& range, BytesView begin,
                                                    BytesView end) const;

  const Parts of_;
};

}  // namespace sibyl::cluster
