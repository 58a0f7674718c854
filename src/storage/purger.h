// What compaction may drop of the records it rewrites. Every store that compacts asks this one.
//
// The danger is resurrection: dropping a deletion while something that it shadows is left anywhere. Two kinds
// of dropping are told apart.
//
// Always safe, whatever lies elsewhere, because the merge law gives the same to every reader from now on:
//  - the value of an expired cell (row::purge says why the cell itself stays);
//  - what a partition or range deletion shadows that was met earlier in the same pass and is in the view: it
//  leaves the
//    store only when nothing is left that it shadows;
//  - a range deletion where the view has a later one that begins at the same place and reaches further
//    (DELETE … WHERE c < x again and again), which goes for the same reason not before what both shadow.
// In a store that syncs now and then a crash may take a deletion that is in the view, and must not leave what
// was dropped for its sake: there only such count as are old enough to be on the device.
//
// Safe only when nothing shadowed is left:
//  - a record's own deletions, tombstones and expired cells, past the table's grace: only of a whole record,
//  and only
//    when the view holds no later fragment of it. A whole record replaces everything older, so nothing below
//    it can come back; but a later fragment may carry an earlier timestamp, and be invisible only because of
//    the tombstone;
//  - a partition's or range's deletion: besides, only when the view holds no record in its scope with a
//  timestamp that
//    it covers. When the scope is too large to look through, the deletion stays: it is small beside what it
//    covers.
//
// The view is the whole store at a moment before the pass, and no reader may be left that sees an earlier
// one. A write that comes after the view with a timestamp older than a tombstone past its grace counts as
// coming after the purge: it is Cassandra's rule too that nobody writes into a past older than the grace.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "row/fragment.h"
#include "row/record_key.h"
#include "storage/store.h"

namespace sibyl::storage {

class Purger {
 public:
  class View {
   public:
    virtual ~View() = default;
    // Whether `value` is all there is of the record: one whole value, and no fragment later than it.
    virtual bool is_whole(BytesView key, BytesView value) = 0;
    // All records.
    virtual std::unique_ptr<Iterator> iterate() = 0;
  };
  enum class Verdict : uint8_t { keep, change, remove };

  // Keeps everything when the policy is null. `settling_seconds`: after which what was written is on the
  // device.
  Purger(std::shared_ptr<const PurgePolicy> policy, int64_t now_seconds, std::unique_ptr<View> view,
         int64_t settling_seconds = 0);

  // Offers the records of a pass, which must come in the order of their keys. Whole: the record replaces all
  // that is older. Part: a fragment of it, others may lie elsewhere; several of one key may follow each
  // other.
  Verdict visit_whole(BytesView key, BytesView value, Bytes& changed);
  Verdict visit_part(BytesView key, BytesView value, Bytes& changed);

 private:
  struct RangeDeletion {
    Bytes begin;
    std::optional<Bytes> end;
    row::Deletion deletion;
  };

  Verdict visit(BytesView key, BytesView value, bool whole, Bytes& changed);
  // nullopt: the record is not to be touched.
  std::optional<int64_t> gc_before(uint32_t table_id, const PurgePolicy::Table*& table,
                                   bool& dropped_table) const;
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
  const int64_t settled_seconds_;  // what was written until then is on the device
  const std::unique_ptr<View> view_;
  std::unique_ptr<Iterator> iterator_;

  // The partition that the pass is in.
  Bytes prefix_;
  row::Deletion partition_deletion_;
  std::vector<RangeDeletion> ranges_;  // by begin
  std::vector<size_t> active_ranges_;  // those that begin at or before the current row and have not ended
  size_t next_range_ = 0;

  // Range deletions that begin at one place, each later than all that reach further; the furthest first.
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
