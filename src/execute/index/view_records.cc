#include "execute/index/view_records.h"

#include <algorithm>
#include <limits>

#include "execute/corrupt.h"
#include "execute/index/view_change.h"
#include "execute/read/reader.h"
#include "row/merge.h"
#include "row/record_key.h"

namespace sibyl::execute {

namespace {

using row::Fragment;
using Values = std::span<std::optional<Bytes>>;

// This time is earlier than any expiry, as in maintenance.cc.
constexpr int64_t never_expired = std::numeric_limits<int64_t>::min();

// Derives the record of one view row. `values_` are the records of its base partition and its base row.
class Deriver {
 public:
  Deriver(const storage::Store& store, const DerivedRow& row, Values values)
      : store_(store), row_(row), values_(values) {}

  base::Status load() {
    row::RecordKey parsed;
    const BytesView key = row_.row.base_key;
    if (!row::parse_record_key(key, parsed) || parsed.kind != row::RecordKind::row)
      return base::fail(corrupt_record());
    prefix_ = Bytes(parsed.prefix(key));
    clustering_ = parsed.rest;
    Fragment header;
    if (values_[0] && !row::decode(*values_[0], header)) return base::fail(corrupt_record());
    if (values_[1] && !row::decode(*values_[1], base_)) return base::fail(corrupt_record());
    covering_ = header.deletion;
    return header.has_range_deletions ? load_range_deletions() : base::Status();
  }

  bool needs_newer_schema() const {
    return std::ranges::any_of(
        base_.cells, [&](const row::Cell& cell) { return cell.column >= row_.table->next_column_id; });
  }

  base::Result<std::optional<Bytes>> derive() {
    row::visible_at(base_, covering_, never_expired);
    std::erase_if(base_.cells,
                  [&](const row::Cell& cell) { return row_.table->find_by_id(cell.column) == nullptr; });
    if (!exists(base_)) return std::nullopt;
    Bytes partition_key;
    if (!row::decode_partition_key(prefix_, partition_key)) return base::fail(corrupt_record());
    const Fragment nothing;
    storage::WriteSet writes;
    SIBYL_TRY(write_view_change(row_.view, {*row_.table, partition_key, clustering_, false, nothing, base_},
                                writes));
    for (storage::WriteSet::Operation& operation : std::move(writes).take())
      if (operation.key == row_.row.key) return std::move(operation.value);
    return std::nullopt;
  }

 private:
  // The ranges are read after the other two records, perhaps at a later moment. So the two records are read
  // again. If they have not changed, all three are as of the moment when the ranges were read.
  base::Status load_range_deletions() {
    const std::vector<Bytes> keys = {row::partition_record_key(prefix_), row_.row.base_key};
    while (true) {
      RangeDeletions ranges;
      SIBYL_TRY(read_ranges(ranges));
      std::vector<std::optional<Bytes>> again(keys.size());
      SIBYL_TRY(store_.get_many(keys, again));
      const bool is_same = std::ranges::equal(again, values_);
      std::ranges::move(again, values_.begin());
      Fragment header;
      base_.clear();
      if (values_[0] && !row::decode(*values_[0], header)) return base::fail(corrupt_record());
      if (values_[1] && !row::decode(*values_[1], base_)) return base::fail(corrupt_record());
      if (!is_same) continue;
      covering_ = row::reconcile(header.deletion, ranges.covering(clustering_));
      return {};
    }
  }

  base::Status read_ranges(RangeDeletions& ranges) const {
    Bytes begin(prefix_), end(prefix_);
    begin.push_back(static_cast<char>(row::RecordKind::range_deletion));
    end.push_back(static_cast<char>(row::RecordKind::row));
    const auto records = store_.iterate(begin, end);
    Fragment range;
    Bytes from;
    std::optional<Bytes> to;
    for (records->seek_to_first(); records->valid(); records->next()) {
      if (!row::decode_range_bounds(records->key().substr(prefix_.size() + 1), from, to) ||
          !row::decode(records->value(), range))
        return base::fail(corrupt_record());
      ranges.add(from, to, range.deletion);
    }
    ranges.finish();
    return records->status();
  }

  const storage::Store& store_;
  const DerivedRow& row_;
  const Values values_;
  Bytes prefix_;
  BytesView clustering_;
  Fragment base_;  // borrows from values_
  row::Deletion covering_;
};

}  // namespace

base::Result<ViewRecords> view_records(const storage::Store& store, std::span<const DerivedRow> rows) {
  std::vector<Bytes> keys;
  row::RecordKey parsed;
  for (const DerivedRow& row : rows) {
    if (!row::parse_record_key(row.row.base_key, parsed)) return base::fail(corrupt_record());
    keys.push_back(row::partition_record_key(parsed.prefix(row.row.base_key)));
    keys.push_back(row.row.base_key);
  }
  // Both records of a base row are in one shard, so they are read as of one moment.
  std::vector<std::optional<Bytes>> values(keys.size());
  SIBYL_TRY(store.get_many(keys, values));
  ViewRecords records;
  for (size_t i = 0; i < rows.size(); ++i) {
    Deriver deriver(store, rows[i], Values(values).subspan(2 * i, 2));
    SIBYL_TRY(deriver.load());
    if (deriver.needs_newer_schema()) return ViewRecords{{}, true};
    SIBYL_ASSIGN(std::optional<Bytes> value, deriver.derive());
    records.values.push_back(std::move(value));
  }
  return records;
}

}  // namespace sibyl::execute
