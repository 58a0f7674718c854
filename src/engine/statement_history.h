// Remembers the markers and columns that clients were told for each statement id, beyond the statement's time
// in the cache.
//
// An id is made from the text, so it stays the same when a schema change gives the text other columns. A
// client that knows the old ones must not be served by the new ones unnoticed, even if another client has
// prepared the statement meanwhile: see plan::Redefinition.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "plan/prepared.h"

namespace sibyl::engine {

// Thread-safe.
class StatementHistory {
 public:
  // About 200 bytes each. Beyond it the oldest are forgotten.
  static constexpr size_t max_statements = 32'768;

  // To be called for each new plan of `id` that clients are told of. nullptr: the same as ever.
  std::shared_ptr<plan::Redefinition> record(std::string_view id, const plan::Prepared& plan);

 private:
  struct Told {
    base::Bytes markers_id, result_id;
    std::shared_ptr<plan::Redefinition> redefinition;
  };
  std::mutex mutex_;
  std::unordered_map<std::string, Told> told_;  // guarded by mutex_
  std::deque<std::string> order_;               // guarded by mutex_; ids of told_, oldest first
};

}  // namespace sibyl::engine
