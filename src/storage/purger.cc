#include "storage/purger.h"

#include <algorithm>
#include <limits>

#include "row/cell_stream.h"

namespace sibyl::storage {
namespace {

// Limits: how many records are searched for data that a deletion shadows, and how many range deletions are
// kept per partition.
constexpr size_t max_records_searched = 1024;
constexpr size_t max_ranges_remembered = 4096;
// Limit for the range deletions with the same begin that are compared.
constexpr size_t max_wider_compared = 65'536;

// Deletions and tombstones count as well. The same pass drops them as shadowed. They may hide a later
// fragment with an earlier timestamp. Without the covering deletion that fragment would reappear.
bool holds_covered(const row::Fragment& fragment, const row::Deletion& deletion) {
  if (fragment.marker.exists() && deletion.covers(fragment.marker.timestamp)) return true;
  if (fragment.deletion.exists() && deletion.covers(fragment.deletion.timestamp)) return true;
  return std::any_of(
             fragment.column_deletions.begin(), fragment.column_deletions.end(),
             [&](const row::ColumnDeletion& each) { return deletion.covers(each.deletion.timestamp); }) ||
         std::any_of(fragment.cells.begin(), fragment.cells.end(),
                     [&](const row::Cell& cell) { return deletion.covers(cell.timestamp); });
}

// Like holds_covered(), for the cells of a large fragment.
bool large_holds_covered(BytesView value, const row::Deletion& deletion) {
  if (value.size() < row::min_streamed_bytes) return false;
  row::CellStream cells(value);
  for (row::Cell cell; cells.next(cell);)
    if (deletion.covers(cell.timestamp)) return true;
  return false;
}

// Returns true if something in the fragment is old enough to be dropped. For most fragments with a TTL it is
// false; then the view is not read, which would cost a read per record.
bool holds_forgettable(const row::Fragment& fragment, int64_t now_seconds, int64_t gc_before) {
  if (fragment.has_range_deletions) return true;
  if (fragment.deletion.exists() && fragment.deletion.local_seconds < gc_before) return true;
  if (fragment.marker.exists() && !fragment.marker.is_live(now_seconds) &&
      fragment.marker.expires_seconds < gc_before)
    return true;
  return std::any_of(
             fragment.column_deletions.begin(), fragment.column_deletions.end(),
             [&](const row::ColumnDeletion& each) { return each.deletion.local_seconds < gc_before; }) ||
         std::any_of(fragment.cells.begin(), fragment.cells.end(), [&](const row::Cell& cell) {
           return row::is_forgettable(cell, now_seconds, gc_before);
         });
}

// Like holds_forgettable() above, for the cells of an encoded fragment.
bool holds_forgettable(BytesView value, int64_t now_seconds, int64_t gc_before) {
  row::CellStream cells(value);
  for (row::Cell cell; cells.next(cell);)
    if (row::is_forgettable(cell, now_seconds, gc_before)) return true;
  return false;
}

// Decodes the fragment, or everything except its cells if it is large.
bool decode_small(BytesView value, row::Fragment& fragment) {
  return value.size() < row::min_streamed_bytes ? row::decode(value, fragment)
                                                : row::decode_head(value, fragment);
}

}  // namespace

Purger::Purger(std::shared_ptr<const PurgePolicy> policy, int64_t now_seconds, std::unique_ptr<View> view,
               int64_t settling_seconds)
    : policy_(std::move(policy)),
      now_seconds_(now_seconds),
      settled_seconds_(settling_seconds == 0 ? std::numeric_limits<int64_t>::max()
                                             : now_seconds - settling_seconds),
      view_(std::move(view)) {}

Purger::Verdict Purger::visit_whole(BytesView key, BytesView value, Bytes& changed) {
  return visit(key, value, true, changed);
}

Purger::Verdict Purger::visit_part(BytesView key, BytesView value, Bytes& changed) {
  return visit(key, value, false, changed);
}

Purger::Verdict Purger::visit(BytesView key, BytesView value, bool whole, Bytes& changed) {
  row::RecordKey parsed;
  if (!policy_ || !row::parse_record_key(key, parsed)) return Verdict::keep;
  const PurgePolicy::Table* table = nullptr;
  bool dropped_table = false;
  const auto gc_before_seconds = gc_before(parsed.table_id, table, dropped_table);
  if (dropped_table) return Verdict::remove;
  if (!gc_before_seconds) return Verdict::keep;

  enter(key, parsed);
  if (!row::is_perishable(value) && !covering_may_exist(parsed)) return Verdict::keep;
  const bool is_streamed = value.size() >= row::min_streamed_bytes;
  if (!decode_small(value, fragment_)) return Verdict::keep;
  if (parsed.kind == row::RecordKind::range_deletion && is_superseded(parsed)) return Verdict::remove;
  remember(key, parsed);

  // This record's tombstones may hide a later fragment. They must stay until it is merged.
  const bool has_ended = table->rows_end_with_marker && parsed.kind == row::RecordKind::row &&
                         !fragment_.marker.is_live(now_seconds_) &&
                         fragment_.marker.expires_seconds < *gc_before_seconds;
  const bool may_forget = whole && row::is_perishable(value) &&
                          (has_ended || holds_forgettable(fragment_, now_seconds_, *gc_before_seconds) ||
                           (is_streamed && holds_forgettable(value, now_seconds_, *gc_before_seconds))) &&
                          view_->is_whole(key, value);
  if (may_forget && has_ended) return Verdict::remove;
  bool may_drop = false;
  if (may_forget) {
    may_drop = may_drop_deletion(key, parsed, *gc_before_seconds);
    // If a later write deletes a range, its fragment sets the flag again.
    if (fragment_.has_range_deletions && parsed.kind == row::RecordKind::partition) {
      Bytes begin = prefix_, end = prefix_;
      begin.push_back(static_cast<char>(row::RecordKind::range_deletion));
      end.push_back(static_cast<char>(row::RecordKind::row));
      fragment_.has_range_deletions = has_records(begin, end);
    }
  }
  return purge(value, is_streamed,
               {.covering = covering(parsed),
                .now_seconds = now_seconds_,
                .gc_before_seconds = may_forget ? *gc_before_seconds : row::keep_deletions,
                .may_drop_deletion = may_drop},
               changed);
}

Purger::Verdict Purger::purge(BytesView value, bool is_streamed, const row::PurgeRules& rules,
                              Bytes& changed) {
  if (is_streamed) {
    switch (row::purge_streamed(value, fragment_, rules, changed)) {
      case row::Purged::unchanged:
        return Verdict::keep;
      case row::Purged::changed:
        return Verdict::change;
      case row::Purged::removed:
        return Verdict::remove;
    }
  }
  if (!row::purge(fragment_, rules)) return Verdict::remove;
  row::encode(fragment_, changed);
  return BytesView(changed) == value ? Verdict::keep : Verdict::change;
}

const PurgePolicy::Table* Purger::find_table(uint32_t table_id) {
  if (table_id_ == table_id) return table_;
  const auto found = policy_->tables.find(table_id);
  table_id_ = table_id;
  table_ = found == policy_->tables.end() ? nullptr : &found->second;
  return table_;
}

std::optional<int64_t> Purger::gc_before(uint32_t table_id, const PurgePolicy::Table*& table,
                                         bool& dropped_table) {
  if (table_id == row::catalogue_table_id) return std::nullopt;
  table = find_table(table_id);
  if (table != nullptr) {
    int64_t before = 0;
    if (__builtin_sub_overflow(now_seconds_, table->gc_grace_seconds, &before))
      before = std::numeric_limits<int64_t>::min();
    return before;
  }
  dropped_table = policy_->is_dropped(table_id);
  return std::nullopt;
}

void Purger::enter(BytesView key, const row::RecordKey& parsed) {
  if (parsed.prefix(key) == BytesView(prefix_)) return;
  prefix_.assign(parsed.prefix(key));
  partition_deletion_ = {};
  ranges_.clear();
  active_ranges_.clear();
  next_range_ = 0;
  wider_begin_.reset();
}

// A record in the pass may have been erased in the meantime, so only a deletion in the view counts.
void Purger::remember(BytesView key, const row::RecordKey& parsed) {
  if (parsed.kind == row::RecordKind::row || !fragment_.deletion.exists()) return;
  Iterator& records = view_iterator();
  records.seek(key);
  if (!records.valid() || records.key() != key || !decode_small(records.value(), other_) ||
      !is_settled(other_.deletion))
    return;
  if (parsed.kind == row::RecordKind::partition) {
    partition_deletion_ = other_.deletion;
    return;
  }
  RangeDeletion range;
  if (ranges_.size() == max_ranges_remembered ||
      !row::decode_range_bounds(parsed.rest, range.begin, range.end))
    return;
  range.deletion = other_.deletion;
  ranges_.push_back(std::move(range));
}

bool Purger::covering_may_exist(const row::RecordKey& parsed) const {
  if (parsed.kind == row::RecordKind::partition) return false;
  return partition_deletion_.exists() || (parsed.kind == row::RecordKind::row && !ranges_.empty());
}

// Rows and ranges both arrive in order, so each range becomes active once and ends once.
row::Deletion Purger::covering(const row::RecordKey& parsed) {
  if (parsed.kind == row::RecordKind::partition) return {};
  row::Deletion result = partition_deletion_;
  if (parsed.kind != row::RecordKind::row) return result;
  while (next_range_ < ranges_.size() && BytesView(ranges_[next_range_].begin) <= parsed.rest)
    active_ranges_.push_back(next_range_++);
  std::erase_if(active_ranges_,
                [&](size_t i) { return ranges_[i].end && BytesView(*ranges_[i].end) <= parsed.rest; });
  for (const size_t i : active_ranges_) result = row::reconcile(result, ranges_[i].deletion);
  return result;
}

bool Purger::is_superseded(const row::RecordKey& parsed) {
  Bytes begin;
  std::optional<Bytes> end;
  if (!fragment_.deletion.exists() || !row::decode_range_bounds(parsed.rest, begin, end) || !end)
    return false;
  if (wider_begin_ != begin) load_wider(begin);
  // Of the ranges that extend further, the last one has the latest deletion.
  const auto as_far = std::find_if(wider_.begin(), wider_.end(),
                                   [&](const Wider& one) { return one.end && *one.end <= *end; });
  return as_far != wider_.begin() && std::prev(as_far)->timestamp > fragment_.deletion.timestamp;
}

void Purger::load_wider(const Bytes& begin) {
  wider_begin_ = begin;
  wider_.clear();
  // The range without an end begins the search.
  const Bytes first = row::range_deletion_record_key(prefix_, begin, std::nullopt);
  const auto after = row::after(first);
  if (!after) return;
  const auto consider = [&](std::optional<Bytes> end) {
    const row::Deletion& deletion = other_.deletion;
    const bool is_latest = wider_.empty() || deletion.timestamp > wider_.back().timestamp;
    if (is_settled(deletion) && is_latest) wider_.push_back({std::move(end), deletion.timestamp});
  };
  Iterator& records = view_iterator();
  records.seek(first);
  if (records.valid() && records.key() == first && decode_small(records.value(), other_))
    consider(std::nullopt);
  Bytes begin_of_one;
  std::optional<Bytes> end;
  size_t visited = 0;
  for (records.seek_for_prev(*after); records.valid() && ++visited <= max_wider_compared; records.prev()) {
    row::RecordKey parsed;
    if (records.key() == *after) continue;
    if (!records.key().starts_with(first) || records.key() == first) return;
    if (row::parse_record_key(records.key(), parsed) &&
        row::decode_range_bounds(parsed.rest, begin_of_one, end) && decode_small(records.value(), other_))
      consider(end);
  }
}

bool Purger::may_drop_deletion(BytesView key, const row::RecordKey& parsed, int64_t gc_before_seconds) {
  if (parsed.kind == row::RecordKind::row) return true;  // a row deletion covers only its own record
  if (!fragment_.deletion.exists() || fragment_.deletion.local_seconds >= gc_before_seconds) return false;
  if (parsed.kind == row::RecordKind::partition) {
    // The static row is in the same record. Rows follow it; range deletions contain nothing that could be
    // shadowed.
    const auto end = row::after(prefix_);
    return end && shadows_nothing(row::row_record_key(prefix_, {}), *end, fragment_.deletion);
  }
  Bytes begin;
  std::optional<Bytes> end;
  if (!row::decode_range_bounds(parsed.rest, begin, end)) return false;
  const auto last = end ? std::optional(row::row_record_key(prefix_, *end)) : row::after(parsed.prefix(key));
  return last && shadows_nothing(row::row_record_key(prefix_, begin), *last, fragment_.deletion);
}

bool Purger::shadows_nothing(BytesView begin, BytesView end, const row::Deletion& deletion) {
  Iterator& records = view_iterator();
  size_t visited = 0;
  for (records.seek(begin); records.valid() && records.key() < end; records.next()) {
    // The search ends at a record that cannot be read and at the limit: the rest may contain shadowed data.
    if (++visited > max_records_searched || !decode_small(records.value(), other_)) return false;
    if (holds_covered(other_, deletion) || large_holds_covered(records.value(), deletion)) return false;
  }
  return records.status().has_value();
}

bool Purger::has_records(BytesView begin, BytesView end) {
  Iterator& records = view_iterator();
  records.seek(begin);
  if (records.valid()) return records.key() < end;
  return !records.status().has_value();
}

Iterator& Purger::view_iterator() {
  if (!iterator_) iterator_ = view_->iterate();
  return *iterator_;
}

}  // namespace sibyl::storage
