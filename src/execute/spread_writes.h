// Writes over the shards of several servers of a cluster.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "execute/view_row.h"
#include "storage/store.h"

namespace sibyl::execute {

struct SpreadBatch {
  storage::WriteSet merges;  // merges of rows only; the servers that apply them maintain indexes and views
  int64_t timestamp = 0;     // assigned by this server; replaced if it is too low for another server
  bool is_logged = true;     // true: either all of the batch is applied, or nothing
};

// View rows that must be renewed after a write to their base rows. A record that is committed with that write
// lists them, so that they are renewed even if this server fails.
struct ViewIntent {
  base::Bytes key;  // of the record
  std::vector<ViewRow> rows;
};

// Thread-safe.
class SpreadWrites {
 public:
  virtual ~SpreadWrites() = default;
  // Returns at once. `done` is called once all of the batch is durable, or with an error. After a timeout, a
  // logged batch is applied later or never, as a whole.
  virtual void commit(SpreadBatch batch, storage::Store::Done done) = 0;

  // Adds the intent to `writes`, which change the base rows of `rows`. Fails if too many view rows wait to be
  // renewed. REQUIRES: `rows` is not empty; after the commit, the caller calls renew_views() or
  // abandon_views().
  virtual base::Result<ViewIntent> begin_views(std::vector<ViewRow> rows, storage::WriteSet& writes) = 0;
  // Call this after a commit that succeeded. Returns at once. `done` is called once the view rows match their
  // base rows. If they are renewed later, it gets a write timeout.
  virtual void renew_views(ViewIntent intent, storage::Store::Done done) = 0;
  // Call this after a commit that failed.
  virtual void abandon_views(const ViewIntent& intent) = 0;
  // Renews rows without an intent. Blocks.
  virtual base::Status renew_views(std::vector<ViewRow> rows) = 0;
};

// True if view rows may be in other shards than their base rows.
inline bool has_views_elsewhere(const SpreadWrites* spread, const storage::Store& store) {
  return spread != nullptr && store.entry_runs().size() > 1;
}

}  // namespace sibyl::execute
