// The merge law.
//
// merge(a, b) is associative, commutative and idempotent on all byte strings, needs no schema and never
// throws:
//  1. Per cell the later timestamp wins; on equal timestamps a tombstone over an expiring cell over a plain
//  one; then
//     the later expiry (or local deletion time); then the larger value. Exactly Cassandra's reconciliation;
//     where it leaves a tie to chance, the larger TTL, then the larger original path.
//  2. Of two deletions, or two markers, the later timestamp wins (ties: a deletion's later local time; a
//  marker's as
//     cells: one that expires over one that does not, then the later expiry, then the larger TTL).
//  3. A deletion removes what it covers from the same fragment; it stays.
//  4. Counter cells of one timestamp merge by their clocks (counter.h).
//  5. Bytes that do not decode lose against bytes that do; of two such, the larger bytes stay.
#pragma once

#include <span>

#include "base/bytes.h"
#include "row/fragment.h"

namespace sibyl::row {

// Merges any number of encoded fragments, in any order, into `out` (which must not alias them). None gives
// empty bytes, one gives itself.
void merge(std::span<const BytesView> fragments, Bytes& out) noexcept;

// Adds the parts of `from` to `into`, borrowing its views. `into` is what merging both gives once it is
// normalised.
void add(const Fragment& from, Fragment& into);

// Of two cells of one column and path, the one that stays.
const Cell& reconcile(const Cell& left, const Cell& right) noexcept;

// Of two deletions or markers, the one that stays.
const Deletion& reconcile(const Deletion& left, const Deletion& right) noexcept;
const Marker& reconcile(const Marker& left, const Marker& right) noexcept;

// What compaction keeps of a record, without changing what any reader at or after `now` sees:
//  - what `covering` shadows is dropped;
//  - an expired cell loses its value. It stays an expiring cell: as a tombstone it would win against a cell
//  of the same
//    timestamp that expires later and may yet be merged;
//  - deletions and tombstones made before `gc_before_seconds` are dropped, and what expired, once it was
//  written before
//    then. Only when nothing is left elsewhere that they shadow: REQUIRES that the fragment is the whole
//    record. Pass keep_deletions for a part of one.
// `may_drop_deletion` is false when other records may still need this fragment's own (partition, range)
// deletion. Returns false when nothing is left.
inline constexpr int64_t keep_deletions = std::numeric_limits<int64_t>::min();
bool purge(Fragment& fragment, const Deletion& covering, int64_t now_seconds, int64_t gc_before_seconds,
           bool may_drop_deletion);

}  // namespace sibyl::row
