// The merge law.
//
// merge(a, b) is associative, commutative and idempotent on all byte strings. It needs no schema and never
// throws.
//
//  1. The cell with the later timestamp wins. On equal timestamps a tombstone wins over an expiring cell, and
//     an expiring cell over a plain one; then the later expiry (or local deletion time) wins, then the larger
//     value. This is Cassandra's reconciliation. Cassandra leaves the remaining ties undefined: here the
//     larger TTL wins, then the larger original path.
//  2. The deletion or marker with the later timestamp wins. On equal timestamps the deletion with the later
//     local time wins. A marker that expires wins over one that does not; then the later expiry, then the
//     larger TTL.
//  3. A deletion removes everything that it covers in the same fragment. The deletion itself stays.
//  4. Counter cells with equal timestamps merge by their clocks (counter.h).
//  5. Bytes that decode win over bytes that do not. If neither decodes, the larger bytes win.
#pragma once

#include <span>

#include "base/bytes.h"
#include "row/fragment.h"

namespace sibyl::row {

// Merges any number of encoded fragments, in any order, into `out`, which must not alias them. Merging no
// fragments gives empty bytes; merging one gives the same bytes.
//
// The result needs memory for its bytes only: large fragments are merged cell by cell (cell_stream.h). Many
// small fragments that are large together need the same amount again.
void merge(std::span<const BytesView> fragments, Bytes& out);

// Merges cell by cell, whatever the size. merge() chooses it for 64 KiB and more. Smaller parts than
// `min_part_bytes` are merged in groups first.
inline constexpr size_t min_part_bytes = 4 << 10;
void merge_streamed(std::span<const BytesView> fragments, size_t min_part_bytes, Bytes& out);

// Adds the parts of `from` to `into`, which then borrows the views of `from`. After normalise(), `into` is
// the merge of both.
void add(const Fragment& from, Fragment& into);

// Returns the winner of two cells of the same column and path.
const Cell& reconcile(const Cell& left, const Cell& right) noexcept;

// Returns the winner of two deletions or markers.
const Deletion& reconcile(const Deletion& left, const Deletion& right) noexcept;
const Marker& reconcile(const Marker& left, const Marker& right) noexcept;

// Removes what compaction may drop from a record, without changing what any reader at or after `now_seconds`
// sees:
//
//  - Everything that `covering` shadows is dropped.
//  - An expired cell loses its value but stays an expiring cell. As a tombstone it would win over a cell with
//    the same timestamp and a later expiry that may still be merged.
//  - Deletions and tombstones created before `gc_before_seconds` are dropped, and so are expired cells that
//    were written before then. REQUIRES: the fragment is the whole record, so that nothing they shadow is
//    left elsewhere. For a part of a record, pass keep_deletions.
//
// Returns false if nothing is left.
inline constexpr int64_t keep_deletions = std::numeric_limits<int64_t>::min();
struct PurgeRules {
  Deletion covering;
  int64_t now_seconds = 0;
  int64_t gc_before_seconds = keep_deletions;
  // Must be false if other records may still need this fragment's own (partition or range) deletion.
  bool may_drop_deletion = false;
};
bool purge(Fragment& fragment, const PurgeRules& rules);

// True for a deleted or expired cell that purge() drops.
bool is_forgettable(const Cell& cell, int64_t now_seconds, int64_t gc_before_seconds);

// Like purge() for the fragment that `bytes` encode, without decoding all cells. `head` has everything except
// the cells; its has_range_deletions may have been cleared. Replaces `out` only if the result is `changed`.
enum class Purged : uint8_t { unchanged, changed, removed };
Purged purge_streamed(BytesView bytes, Fragment& head, const PurgeRules& rules, Bytes& out);

}  // namespace sibyl::row
