// Decides what compaction may drop from the records that it rewrites. Shared by all stores that compact.
//
// The hazard is resurrection: dropping a deletion while data that it shadows still exists somewhere. There
// are two cases.
//
// Always safe, because the merge law gives every later reader the same result:
//
//  - The value of an expired cell. row::purge explains why the cell itself stays.
//  - Data shadowed by a partition or range deletion that came earlier in the same pass and is in the view.
//    That deletion leaves the store only after everything that it shadows.
//  - A range deletion, if the view has a later one that begins at the same key and extends further (repeated
//    DELETE … WHERE c < x). The later one leaves the store only after everything that both shadow.
//
// If the store syncs only periodically, a crash may lose a deletion that is in the view, but must not lose
// the data that was dropped because of it. There, only deletions that are old enough to be on the device
// count.
//
// Safe only if no shadowed data is left:
//
//  - A record's own deletions, tombstones and expired cells after the table's grace period. REQUIRES a whole
//    record, and no later fragment of it in the view. A whole record replaces everything older, so nothing
//    below it can reappear. But a later fragment may carry an earlier timestamp and be hidden only by the
//    tombstone.
//  - A partition or range deletion. In addition to the above, the view must hold no record in its scope with
//    a timestamp that it covers. If the scope is too large to search, the deletion stays: it is small
//    compared with what it covers.
//
// The view is the whole store at a moment before the pass. No reader may remain that sees an earlier state. A
// write that arrives after the view was taken, with a timestamp older than a tombstone past its grace period,
// is treated as if it arrived after the purge. Cassandra has the same rule: writes must not be older than the
// grace period.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "row/fragment.h"
#include "row/merge.h"
#include "row/record_key.h"
#include "storage/store.h"

namespace sibyl::storage {

class Purger {
 public:
  class View {
   public:
    virtual ~View() = default;
    // Returns true if `value` is the complete record: one whole value and no later fragment.
    virtual bool is_whole(BytesView key, BytesView value) = 0;
    // Iterates over all records.
    virtual std::unique_ptr<Iterator> iterate() = 0;
  };
  enum class Verdict : uint8_t { keep, change, remove };

  // With a null policy, everything is kept. Data written at least `settling_seconds` ago is on the device.
  Purger(std::shared_ptr<const PurgePolicy> policy, int64_t now_seconds, std::unique_ptr<View> view,
         int64_t settling_seconds = 0);

  // Visits the next record of the pass. REQUIRES: records come in key order.
  //
  //  - visit_whole: the record replaces everything older.
  //  - visit_part: a fragment of the record; others may exist elsewhere. Several fragments of one key may
  //    follow.
  Verdict visit_whole(BytesView key, BytesView value, Bytes& changed);
  Verdict visit_part(BytesView key, BytesView value, Bytes& changed);

 private:
  struct RangeDeletion {
    Bytes begin;
    std::optional<Bytes> end;
    row::Deletion deletion;
  };

  Verdict visit(BytesView key, BytesView value, bool whole, Bytes& changed);
  Verdict purge(BytesView value, bool is_streamed, const row::PurgeRules& rules, Bytes& changed);
  // Returns nullopt if the record must not be changed.
  std::optional<int64_t> gc_before(uint32_t table_id, const PurgePolicy::Table*& table, bool& dropped_table);
  // Returns nullptr if the policy does not have the table.
  const PurgePolicy::Table* find_table(uint32_t table_id);
  void enter(BytesView key, const row::RecordKey& parsed);
  void remember(BytesView key, const row::RecordKey& parsed);
  bool covering_may_exist(const row::RecordKey& parsed) const;
  row::Deletion covering(const row::RecordKey& parsed);
  bool is_superseded(const row::RecordKey& parsed);
  void load_wider(const Bytes& begin);
  bool is_settled(const row::Deletion& deletion) const {
    return deletion.exists() && deletion.local_seconds <= settled_seconds_;
  }
  bool may_drop_deletion(BytesView key, const row::RecordKey& parsed, int64_t gc_before_seconds);
  bool shadows_nothing(BytesView begin, BytesView end, const row::Deletion& deletion);
  bool has_records(BytesView begin, BytesView end);
  Iterator& view_iterator();

  const std::shared_ptr<const PurgePolicy> policy_;
  const int64_t now_seconds_;
  const int64_t settled_seconds_;  // data that was written until this time is on the device
  const std::unique_ptr<View> view_;
  std::unique_ptr<Iterator> iterator_;

  // The table of the records that the pass visits now.
  std::optional<uint32_t> table_id_;
  const PurgePolicy::Table* table_ = nullptr;

  // The partition of the records that the pass visits now.
  Bytes prefix_;
  row::Deletion partition_deletion_;
  std::vector<RangeDeletion> ranges_;  // sorted by begin
  std::vector<size_t> active_ranges_;  // ranges that begin at or before the current row and have not ended
  size_t next_range_ = 0;

  // Range deletions that begin at `wider_begin_`, widest first. Each is later than all that extend further.
  struct Wider {
    std::optional<Bytes> end;
    int64_t timestamp;
  };
  std::optional<Bytes> wider_begin_;
  std::vector<Wider> wider_;

  row::Fragment fragment_;
  row::Fragment other_;
};

}  // namespace sibyl::storage
