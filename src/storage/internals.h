// Optional introspection of a store, for monitoring. store.h has the contract that every store implements; a
// store with more to report also implements this interface. Thread-safe.
#pragma once

#include <cstdint>
#include <map>

namespace sibyl::storage {

class Internals {
 public:
  virtual ~Internals() = default;
  // The number of data blocks in the cache. Counts them one by one.
  virtual uint64_t cache_entries() const = 0;
  // Returns how many bytes of input each running task has read so far, by StoreTask::id. Bytes from a cache
  // do not count.
  virtual std::map<uint64_t, uint64_t> task_bytes_read() const = 0;
};

}  // namespace sibyl::storage
