// Snapshots of the shards of a cluster, on its own storage: named sets of links to files.
//
//   object "snapshots"                      entry NAME: how many shards, and the attempt that made it
//   directory "snapshot-NAME/shard-NUMBER"  the files of a shard (objects/files), linked by its owner: ShardedStore::Checkpoint
//   object "snapshot-NAME"                  its contents, as a line "sibyl snapshot 1 CRC" and JSON; written
//   last
//
// A snapshot takes little time and no space except for data that the database has since rewritten or dropped.
// It does not survive the loss of the pool: restore it into another pool for that.
//
// All functions block, and may be called by any program that can reach the storage.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/objects/object_store.h"
#include "storage/store.h"

namespace sibyl::storage::rocksdb {

struct ObjectSnapshot {
  struct Table {
    std::string keyspace, name;
    uint64_t bytes = 0;  // estimated
  };
  struct Shard {
    uint64_t epoch = 0;
    std::vector<CheckpointFile> files;
  };
  std::string name;
  std::string attempt;  // unique
  // false: the snapshot is being taken, or that has failed; then only `name`, `attempt` and the number of
  // shards are set.
  bool is_complete = false;
  int64_t taken_millis = 0;
  int64_t lease_ms = 0;  // of the cluster
  std::vector<Table> tables;
  std::vector<Shard> shards;  // by number

  uint64_t bytes() const;
  size_t files() const;
};

// A name consists of letters, digits, '.', '_' and '-', and does not begin with '.'.
base::Status check_snapshot_name(const std::string& name);
// The directory of a shard.
std::string snapshot_directory(const std::string& name, uint32_t shard);

// Reserves the name. Fails if it is taken.
base::Result<ObjectSnapshot> begin_object_snapshot(objects::ObjectStore& store, const std::string& name,
                                                   uint32_t shards);
// Makes the snapshot complete. REQUIRES: its directories have the files. Fails if it was cleared meanwhile.
base::Status finish_object_snapshot(objects::ObjectStore& store, const ObjectSnapshot& snapshot);

// Returns all snapshots, sorted by name.
base::Result<std::vector<ObjectSnapshot>> list_object_snapshots(objects::ObjectStore& store);
// Fails if there is no snapshot of this name, or if it is incomplete or damaged.
base::Result<ObjectSnapshot> read_object_snapshot(objects::ObjectStore& store, const std::string& name);
// Reads every file. The error names the first one that is missing or has changed.
base::Status verify_object_snapshot(objects::ObjectStore& store, const ObjectSnapshot& snapshot);
// Removes the snapshot, even if it is not complete. After an error, call it again.
base::Status clear_object_snapshot(objects::ObjectStore& store, const std::string& name);
// Copies the files of all shards to the directories of a new cluster in another storage, by number of the
// shard, and checks the files meanwhile. The former contents of these directories are removed first.
// REQUIRES: no cluster uses them.
base::Status copy_object_snapshot(objects::ObjectStore& from, const ObjectSnapshot& snapshot,
                                  objects::ObjectStore& to,
                                  const std::function<std::string(uint32_t shard)>& directory_of);

}  // namespace sibyl::storage::rocksdb
