// Batches over the shards of several servers of a cluster.
#pragma once

#include <cstdint>

#include "storage/store.h"

namespace sibyl::execute {

struct SpreadBatch {
  storage::WriteSet merges;  // of rows only; the servers that apply them maintain indexes and views
  int64_t timestamp = 0;     // assigned by this server; replaced if it is too low at another one
  bool is_logged = true;     // either all of it is applied, or nothing
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
