// Row fragments: the one mergeable value that every store holds.
//
// A fragment is the content of one write to one record: an optional row marker, an optional deletion and any
// number of cells, each with its timestamp. Fragments of one record merge by a law that is associative,
// commutative, idempotent, total and needs no schema (merge.h). Rows, partition records (the partition's
// deletion and static row) and range deletions are all fragments. The record key distinguishes them
// (record_key.h).
//
// The encoding is documented in docs/storage-format.md and begins with a version byte. It is canonical: equal
// contents have equal bytes, cells are sorted by (column, path), and the decoder rejects anything else.
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

// A deletion covers everything written at its timestamp or earlier.
struct Deletion {
  int64_t timestamp = no_timestamp;
  int64_t local_seconds = 0;  // when the server created it; purged gc_grace_seconds later
  bool exists() const { return timestamp != no_timestamp; }
  bool covers(int64_t written) const { return exists() && written <= timestamp; }
};

// The row marker that INSERT writes. A row with a live marker exists even if all its columns are null.
struct Marker {
  int64_t timestamp = no_timestamp;
  int32_t time_to_live = 0;     // seconds; 0: never expires
  int64_t expires_seconds = 0;  // set if time_to_live is not 0
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
  // Identifies the element of a multi-cell column, as order-preserving key bytes: the set element, map key,
  // list position (timeuuid bytes) or user type field (16-bit index). Empty for plain columns.
  BytesView path;
  int64_t timestamp = 0;
  int32_t time_to_live = 0;
  int64_t expires_seconds = 0;
  BytesView value;
  // The element's serialised bytes if the path cannot reproduce them (types::key_is_lossy); otherwise empty.
  BytesView original_path;

  bool is_live(int64_t now_seconds) const {
    return kind == CellKind::live || kind == CellKind::counter ||
           (kind == CellKind::expiring && now_seconds < expires_seconds);
  }
};

// The deletion of a whole multi-cell column. `c = {...}` and `DELETE c` write it with a timestamp one below
// that of the new elements.
struct ColumnDeletion {
  uint32_t column = 0;
  Deletion deletion;
};

// A decoded fragment. Its views point into the bytes that it was decoded from, or into memory of the code
// that built it.
struct Fragment {
  Marker marker;
  Deletion deletion;  // the deletion of the row or, in a partition record, of the partition
  // Set in a partition record if the partition has range deletions. A write of a range deletion must set it
  // in the same write set, because readers skip the search for range deletions if it is not set.
  bool has_range_deletions = false;
  BytesView original_clustering;                 // serialised clustering key, if the record key is lossy
  std::vector<ColumnDeletion> column_deletions;  // sorted by column
  std::vector<Cell> cells;                       // sorted by (column, path), no duplicates

  // Resets all fields and keeps the vectors' capacity.
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

// Brings the fragment into the form that is encoded: sorted by (column, path), duplicates merged by the merge
// law, and without anything that the fragment's own deletions cover. A normalised fragment is left unchanged.
void normalise(Fragment& fragment);

// Normalises the fragment and replaces `out` with its encoding. Fields that a cell's kind does not have (a
// tombstone's value, a plain cell's expiry) are not written.
void encode(Fragment& fragment, Bytes& out);

// Returns false for anything that encode() could not have written. The fragment's vectors keep their
// capacity, so a caller that decodes many records should reuse one Fragment.
//
// A cell takes 80 bytes. For bytes.size() >= 64 KiB the cells are counted first, and their memory is
// allocated at once: if the running statement must not have it, StatementEnded is thrown (base/statement.h).
// The statement is also interrupted if it must end or must not take long on this thread.
bool decode(BytesView bytes, Fragment& fragment);

// Returns true if time or a purge can change the record: it holds an expiry, a deletion or a tombstone. Reads
// only two bytes. Returns false for bytes that are not a fragment.
bool is_perishable(BytesView bytes) noexcept;

// Reduces the fragment to what a reader sees at `now_seconds`. Drops expired cells, all tombstones, and
// everything shadowed by `covering` (a partition or range deletion) or by the fragment's own deletions.
// Returns true if a live marker or cell is left. A row written only by UPDATE has no marker; its cells
// suffice.
bool visible_at(Fragment& fragment, const Deletion& covering, int64_t now_seconds);

}  // namespace sibyl::row
