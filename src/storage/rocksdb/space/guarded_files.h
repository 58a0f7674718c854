// A file system for RocksDB in which compactions cannot use up the device's last space.
//
// A compaction needs space for its outputs before it can delete its inputs. If that space is not available,
// it fails with a full device; RocksDB cleans up and retries. Flushes and the commit log meanwhile keep the
// space that they need. Before a flush writes, it releases the reserve (disk_space.h) if the space is not
// sufficient without it: a flush that fails would stop the store. Reads of large blocks may be refused.
#pragma once

#include <rocksdb/env.h>

#include <cstdint>
#include <functional>
#include <memory>

namespace sibyl::storage::rocksdb {

// All must be thread-safe.
struct SpaceHooks {
  // Returns true if a compaction may write `bytes` more.
  std::function<bool(uint64_t bytes)> may_compact;
  // Called before a flush writes `bytes`.
  std::function<void(uint64_t bytes)> make_room;
  // Returns false if the statement on this thread must not read so many bytes of a table file at once. Called for a
  // MiB and more. May block. Empty: all may be read.
  std::function<bool(uint64_t bytes)> may_read;
};

// Declares that the calling thread writes flushes. Needed because RocksDB gives flushes the I/O priority of
// compactions while it stalls writes.
void mark_flush_thread();

// `base` must outlive the result.
std::unique_ptr<::rocksdb::Env> make_guarded_environment(::rocksdb::Env& base, SpaceHooks hooks);

}  // namespace sibyl::storage::rocksdb
