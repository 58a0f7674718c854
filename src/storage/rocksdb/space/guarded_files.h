// A file system for RocksDB in which compactions cannot use up the device's last space.
//
// A compaction needs space for its outputs before it can delete its inputs. If that space is not available,
// it fails with a full device; RocksDB cleans up and retries. Flushes and the commit log meanwhile keep the
// space that they need.
#pragma once

#include <rocksdb/env.h>

#include <cstdint>
#include <functional>
#include <memory>

namespace sibyl::storage::rocksdb {

// Returns true if a compaction may write `bytes` more. Must be thread-safe.
using MayCompact = std::function<bool(uint64_t bytes)>;

// Declares that the calling thread writes flushes. Needed because RocksDB gives flushes the I/O priority of
// compactions while it stalls writes.
void mark_flush_thread();

// `base` must outlive the result.
std::unique_ptr<::rocksdb::Env> make_guarded_environment(::rocksdb::Env& base, MayCompact may_compact);

}  // namespace sibyl::storage::rocksdb
