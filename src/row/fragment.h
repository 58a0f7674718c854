// Row fragments: the one mergeable value that every store holds.
//
// A fragment is what one write says about one record: perhaps a row marker, perhaps a deletion, perhaps
// cells, each with its timestamp. Fragments of one record merge by a law that is associative, commutative,
// idempotent, total and needs no schema (merge.h). A plain row, a partition's own record (its deletion and
// static row) and a range deletion are all fragments; the record's key says which (record_key.h).
//
// The encoding is documented in docs/storage-format.md and begins with a version byte. It is canonical: equal
// contents have equal bytes, cells are sorted by (column, path), and a decoder refuses anything else.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/bytes.h"

namespace sibyl::row {

using base::Bytes;
using base::BytesView;

inline constexpr int64_t no_timestamp = std::numeric_limits<int64_t>::min();
inline constexpr uint8_t fragment_version = 1;

// A deletion covers everything written with its timestamp or an earlier one.
struct Deletion {
  int64_t timestamp = no_timestamp;
  int64_t local_seconds = 0;  // when the server made it: purged gc_grace_seconds later
  bool exists() const { return timestamp != no_timestamp; }
  bool covers(int64_t written) const { return exists() && written <= timestamp; }
};

// The row marker that INSERT leaves: the row exists even when all its columns are null.
struct Marker {
  int64_t timestamp = no_timestamp;
  int32_t time_to_live = 0;     // seconds; 0: forever
  int64_t expires_seconds = 0;  // when time_to_live != 0
  bool exists() const { return timestamp != no_timestamp; }
  bool is_live(int64_t now_seconds) const {
    return exists() && (time_to_live == 0 || now_seconds < expires_seconds);
  }
};

enum class CellKind : uint8_t {
  live = 0,
  expiring = 1,   // live until expires_seconds
  tombstone = 2,  // deleted; expires_seconds is the local deletion time
  counter = 3,    // value: see counter.h
};

// One value of one column, or of one element of a multi-cell column.
struct Cell {
  uint32_t column = 0;  // the column's id, never reused within its table
  CellKind kind = CellKind::live;
  // Multi-cell columns: which element, in order-preserving key bytes: set element, map key, list position
  // (timeuuid bytes), user type field (16-bit index). Empty for plain columns.
  BytesView path;
  int64_t timestamp = 0;
  int32_t time_to_live = 0;
  int64_t expires_seconds = 0;
  BytesView value;
  // The element's own bytes where the path lost them (types::key_is_lossy); else empty.
  BytesView original_path;

  bool is_live(int64_t now_seconds) const {
    return kind == CellKind::live || kind == CellKind::counter ||
           (kind == CellKind::expiring && now_seconds < expires_seconds);
  }
};

// The deletion of a whole multi-cell column: `c = {...}` and `DELETE c` leave one under the new elements.
struct ColumnDeletion {
  uint32_t column = 0;
  Deletion deletion;
};

// A decoded fragment. Views point into the bytes it was decoded from (or into whoever built it).
struct Fragment {
  Marker marker;
  Deletion deletion;  // of the row; of the partition in its own record
  // Partition record: some range deletion exists in the partition. Whoever writes a range deletion sets it in
  // the same write set; a reader that does not find it need not look for range deletions.
  bool has_range_deletions = false;
  BytesView original_clustering;                 // the clustering key's bytes where the record key lost them
  std::vector<ColumnDeletion> column_deletions;  // sorted by column
  std::vector<Cell> cells;                       // sorted by (column, path), no duplicates

  // Forgets everything but its memory.
  void clear() {
    marker = {};
    deletion = {};
    has_range_deletions = false;
    original_clustering = {};
    column_deletions.clear();
    cells.clear();
  }

  bool empty() const {
    return !marker.exists() && !deletion.exists() && !has_range_deletions && column_deletions.empty() &&
           cells.empty();
  }
};

// The form that is encoded: sorted by (column, path), duplicates merged by the law, nothing that the
// fragment's own deletions cover. Keeps what is already so.
void normalise(Fragment& fragment) noexcept;

// Normalises, then replaces `out` by the fragment's bytes. Fields that a cell's kind does not have (a
// tombstone's value, a plain cell's expiry) are not written.
void encode(Fragment& fragment, Bytes& out) noexcept;

// False on anything that encode() could not have written. Never throws. The fragment's vectors keep their
// capacity: a caller that decodes many records keeps one Fragment.
bool decode(BytesView bytes, Fragment& fragment) noexcept;

// Whether the passing of time, or a purge, can ever change the record: it holds an expiry, a deletion or a
// tombstone. Cheap: looks at two bytes. False also for bytes that are no fragment.
bool is_perishable(BytesView bytes) noexcept;

// The fragment as a reader sees it at `now`: drops what `covering` (a partition or range deletion) or the
// fragment's own deletions shadow, what has expired, and all tombstones; true when something is left: a live
// marker or cell. For rows that UPDATE alone made, cells are enough to exist.
bool visible_at(Fragment& fragment, const Deletion& covering, int64_t now_seconds);

}  // namespace sibyl::row
