// Collects the results of the parts of a batch that is split.
#pragma once

#include <cstddef>
#include <memory>

#include "base/mutex.h"
#include "execute/environment.h"

namespace sibyl::forwarding {

// Thread-safe.
class SplitBatch : public std::enable_shared_from_this<SplitBatch> {
 public:
  // Calls `done` when all parts are complete, with an error if one of them has failed.
  SplitBatch(size_t parts, execute::Completion done) : done_(std::move(done)), missing_(parts) {}

  // Returns the completion of one part.
  execute::Completion part();

 private:
  void add(base::Result<execute::ResultSet> result);

  base::Mutex mutex_;
  execute::Completion done_ SIBYL_GUARDED_BY(mutex_);
  size_t missing_ SIBYL_GUARDED_BY(mutex_);
  base::Result<execute::ResultSet> result_ SIBYL_GUARDED_BY(mutex_);
};

}  // namespace sibyl::forwarding
