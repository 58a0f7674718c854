// Batches over the shards of several servers of a cluster.
#pragma once

#include <cstdint>

#include "storage/store.h"

namespace sibyl::execute {

struct SpreadBatch {
  storage::WriteSet
      merges;  // of rows, and nothing else: indexes and views are maintained where they are applied
  int64_t timestamp = 0;  // that the server assigned. It is replaced if it is too low somewhere
  bool is_logged = true;  // all of it is applied, or nothing
};

// Thread-safe.
class SpreadWrites {
 public:
  virtual ~SpreadWrites() = default;
  // Returns at once. `done` is called once all of the batch is durable, or with an error. After a timeout, a logged batch is applied
  // later or never, as a whole.
  virtual void commit(SpreadBatch batch, storage::Store::Done done) = 0;
};

}  // namespace sibyl::execute
