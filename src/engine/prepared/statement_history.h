// Remembers the bind markers and result columns that were sent to clients for each statement id, even after
// the statement has been evicted from the cache.
//
// The id is derived from the text, so it stays the same when a schema change gives the text other columns. A
// client that knows the old columns must not silently get results with the new ones, even if another client
// has prepared the statement again. See plan::Redefinition.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/mutex.h"
#include "plan/prepared.h"

namespace sibyl::engine {

// Thread-safe.
class StatementHistory {
 public:
  // About 200 bytes each. When there are more, the oldest are evicted.
  static constexpr size_t max_statements = 32'768;

  // Must be called for each new plan of `id` that is sent to clients. Returns nullptr if the plan's metadata
  // never changed.
  std::shared_ptr<plan::Redefinition> record(std::string_view id, const plan::Prepared& plan);

 private:
  struct Sent {
    base::Bytes markers_id, result_id;
    std::shared_ptr<plan::Redefinition> redefinition;
  };
  base::Mutex mutex_;
  std::unordered_map<std::string, Sent> sent_ SIBYL_GUARDED_BY(mutex_);
  std::deque<std::string> order_ SIBYL_GUARDED_BY(mutex_);  // keys of sent_, oldest first
};

}  // namespace sibyl::engine
