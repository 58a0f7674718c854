// What some stores can tell of their insides, for who watches them; all that every store promises is in
// store.h. Such a store is one of these, too. Any thread may ask.
#pragma once

#include <cstdint>
#include <map>

namespace sibyl::storage {

class Internals {
 public:
  virtual ~Internals() = default;
  // Blocks of data files that the cache holds, counted one by one.
  virtual uint64_t cache_entries() const = 0;
  // How many bytes of its inputs each running task has read so far, by StoreTask::id; what a cache had is not
  // among them.
  virtual std::map<uint64_t, uint64_t> task_bytes_read() const = 0;
};

}  // namespace sibyl::storage
