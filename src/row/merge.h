// The merge law.
//
// merge(a, b) is associative, commutative and idempotent on all byte strings, needs no schema and never throws:
//  1. Per cell the later timestamp wins; on equal timestamps a tombstone over an expiring cell over a plain one; then
//     the later expiry (or local deletion time); then the larger value. Exactly Cassandra's reconciliation.
//  2. Of two deletions, or two markers, the later timestamp wins (ties: a deletion's later local time; a marker's as cells).
//  3. A deletion removes what it covers from the same fragment; it stays.
//  4. Counter cells merge by their clocks (counter.h).
//  5. Bytes that do not decode lose against bytes that do; of two such, the larger bytes stay.
#pragma once

#include <span>

#include "base/bytes.h"
#include "row/fragment.h"

namespace sibyl::row {

// Merges any number of encoded fragments, in any order, into `out` (which must not alias them).
void merge(std::span<const BytesView> fragments, Bytes& out) noexcept;

// Of two cells of one column and path, the one that stays.
const Cell& reconcile(const Cell& left, const Cell& right) noexcept;

// What compaction keeps of a record: cells and deletions that no reader can need any more are gone: expired cells become tombstones, tombstones and deletions older than
// `gc_before_seconds` are dropped, what `covering` shadows is dropped. `may_drop_deletion` is false when records elsewhere may still need this fragment's own (partition, range) deletion. Returns false when nothing is left.
bool purge(Fragment& fragment, const Deletion& covering, int64_t now_seconds, int64_t gc_before_seconds,
           bool may_drop_deletion);

}  // namespace sibyl::row
