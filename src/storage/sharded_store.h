// One store over the shards that a server owns.
//
// A server is stateless: another one opens its shards from the storage that they share. Besides the contract
// of store.h:
//
//  1. A record belongs to one shard. Operations on a shard that is not open here execute nothing and return
//     an error that is_not_here() recognises.
//  2. A write set over several shards is atomic and durable like any other if all of them are open here, and
//     no snapshot, iterator or get_many() sees a part of it. Otherwise it is refused. This store has no
//     intents.
//  3. An iterator over several shards visits keys in their order.
//  4. A shard is opened for an epoch that increases with every owner. An open with a lower epoch than before
//     is refused, so a slow former owner cannot take a shard back.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/partition_sample.h"
#include "storage/store.h"

namespace sibyl::storage {

// Writes of a shard that are in the log of a former owner and perhaps nowhere else.
struct FormerLog {
  std::string log;
  uint64_t epoch = 0;  // only groups of this epoch of the shard
};

class ShardedStore : public Store {
 public:
  // --- Shards. These block, and are thread-safe. Calls for one shard must not overlap, except that drop_shard() may
  // be called at any time.

  // Makes former owners unable to write the shard, replays its groups in `logs`, in this order, and flushes
  // them. An error leaves the shard closed. Waits for uses of an earlier opening of it.
  virtual base::Status open_shard(uint32_t shard, uint64_t epoch, const std::vector<FormerLog>& logs) = 0;
  // Flushes while requests continue, so that close_shard() will be short.
  virtual base::Status flush_shard(uint32_t shard) = 0;
  // Refuses new uses, waits for existing ones, flushes, and closes. After an error the shard stays closed to
  // requests, and this function must be called again.
  virtual base::Status close_shard(uint32_t shard) = 0;
  // Gives the shard up at once, without writing. Does not block.
  virtual void drop_shard(uint32_t shard) = 0;

  // While a Use exists, close_shard() waits, and the shard is not opened again after drop_shard(). A request
  // holds a Use from before its first read until its commit is done. So it never reads from one opening of
  // the shard and writes to a later one.
  class Use {
   public:
    virtual ~Use() = default;
  };
  // Returns nullptr if the shard is not open here.
  virtual std::unique_ptr<Use> use(uint32_t shard) = 0;
  virtual std::optional<uint64_t> open_epoch(uint32_t shard) const = 0;

  // Returns the records of one shard as of now; nullptr if it is not open here.
  virtual std::shared_ptr<const Snapshot> shard_snapshot(uint32_t shard) const = 0;
  // Like approximate_size(), for one shard; 0 if it is not open here.
  virtual uint64_t shard_size(uint32_t shard, BytesView begin, BytesView end) const = 0;
  // Like compact(), for the shards that are open here.
  virtual base::Status compact_here(BytesView begin, BytesView end) = 0;
  // Like compact(), for one shard. If the shard is closed, the call ends with the error is_not_here().
  virtual base::Status compact_shard(uint32_t shard, BytesView begin, BytesView end) = 0;
  // Ends running compactions of the functions above and refuses new ones.
  virtual void stop_compacting() = 0;

  // Copies the shards that are open here into directories of links, as of one moment, which may be the same
  // on several servers:
  //
  //  1. stop() has returned on all of them. Commits wait from now on, and reads continue.
  //  2. cut() has returned on all of them. All cuts are of one moment, whether or not some server has resumed
  //     after its own cut.
  //  3. link() on all of them.
  //
  // Used by one thread at a time. Must not outlive the store. While shards are cut and not linked, they
  // cannot be closed.
  class Checkpoint {
   public:
    struct ShardFiles {
      uint32_t shard = 0;
      uint64_t epoch = 0;
      std::vector<CheckpointFile> files;
    };
    virtual ~Checkpoint() = default;
    // Returns when no commit is made any more. Commits resume by themselves after `limit`.
    virtual base::Status stop(std::chrono::milliseconds limit) = 0;
    // Writes data that is only in memory to files, and keeps the files. Fails if commits have resumed
    // meanwhile. Returns the shards, without files.
    virtual base::Result<std::vector<ShardFiles>> cut() = 0;
    // Resumes commits. Links the files of each shard into a directory, whose former content is removed.
    virtual base::Result<std::vector<ShardFiles>> link(
        const std::function<std::string(uint32_t shard)>& directory_of) = 0;
  };
  virtual std::unique_ptr<Checkpoint> make_checkpoint() = 0;

  // Removes the log of a server that is gone, when no shard names it any more. Blocks.
  virtual base::Status remove_former_log(const std::string& log) = 0;

  struct LogState {
    std::string name;
    uint64_t bytes = 0;
    uint64_t shards = 0;  // number of shards with groups that are not in their tables
  };
  virtual LogState log_state() const = 0;
  // The statistics of one shard; nullopt if it is not open. Caches and commits are counted for the whole
  // server.
  virtual std::optional<StoreStatistics> shard_statistics(uint32_t shard) const = 0;
  // Like partition_samples(), for one shard; nullopt if it is not open.
  virtual std::optional<std::map<uint32_t, PartitionSample>> shard_samples(uint32_t shard,
                                                                           std::span<const uint32_t> tables,
                                                                           size_t max_records) const = 0;
};

// not_here() returns the error for operations on a shard that is not open here, and is_not_here() recognises
// it. After this error, nothing was executed.
base::Error not_here(uint32_t shard);
bool is_not_here(const base::Error& error);

}  // namespace sibyl::storage
