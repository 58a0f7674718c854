// RocksDB's files, of which compactions may not write the last room on the device.
//
// A compaction needs room for its results before it can remove its inputs. One that does not get it fails
// with a full device, which RocksDB cleans up and retries; flushes and the commit log keep the room that
// they need meanwhile.
#pragma once

#include <rocksdb/env.h>

#include <cstdint>
#include <functional>
#include <memory>

namespace sibyl::storage::rocksdb {

// Whether a compaction may write as many bytes. Called on any thread.
using MayCompact = std::function<bool(uint64_t bytes)>;

// Says that the calling thread writes flushes: RocksDB gives them the priority of compactions while it holds
// up writes.
void mark_flush_thread();

// `base` must outlive the result.
std::unique_ptr<::rocksdb::Env> make_guarded_environment(::rocksdb::Env& base, MayCompact may_compact);

}  // namespace sibyl::storage::rocksdb
