#include "cli/import_sstables/row_requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "types/compare.h"
#include "types/elements.h"
#include "types/leaves.h"

namespace sibyl::cli::import_sstables {
namespace {

using base::Bytes;
using base::BytesView;
using migrate::RowWrites;
using migrate::Write;
using types::ValueView;

// Properties that cells must share to be written together.
struct Stamp {
  int64_t timestamp = 0;
  int32_t time_to_live = 0;
  std::optional<int32_t> now_seconds;
  auto operator<=>(const Stamp&) const = default;
};

int32_t clamped(int64_t seconds) {
  return static_cast<int32_t>(std::clamp<int64_t>(seconds, 0, std::numeric_limits<int32_t>::max()));
}

Stamp stamp_of(int64_t timestamp, const std::optional<sstable::Expiry>& expiry) {
  if (!expiry) return {timestamp, 0, std::nullopt};
  return {timestamp, clamped(expiry->time_to_live),
          clamped(int64_t{expiry->local_time} - expiry->time_to_live)};
}

ValueView own(RowWrites& writes, Bytes bytes) {
  return ValueView::of(writes.owned.emplace_back(std::move(bytes)));
}

// Collects the writes of a row by the time of their request.
class RowRequests {
 public:
  RowRequests(const PartPlan& part, const std::vector<Bytes>& key, const sstable::Row& row,
              const std::vector<sstable::HeaderColumn>& columns)
      : plan_(part), part_(part.part), key_(key), row_(row), columns_(columns) {}

  base::Result<std::vector<Request>> make() {
    if (row_.deletion) remove_row();
    for (const auto& [column, deletion] : row_.column_deletions)
      if (const ColumnPlan* planned = find(column))
        remove(planned->remove, deletion.timestamp, deletion.local_time);
    for (const sstable::Cell& cell : row_.cells) SIBYL_TRY(add_cell(cell));
    add_simple_cells();
    add_elements();
    std::vector<Request> requests;
    for (auto& [now, writes] : requests_) requests.push_back({now, std::move(writes)});
    return requests;
  }

 private:
  RowWrites& writes_at(std::optional<int32_t> now) { return requests_[now]; }
  const ColumnPlan* find(size_t column) const {
    const auto found = plan_.columns.find(columns_[column].name);
    return found == plan_.columns.end() ? nullptr : &found->second;
  }
  void add_key(std::vector<ValueView>& values) const {
    for (const Bytes& component : key_) values.push_back(ValueView::of(component));
    if (!row_.is_static)
      for (const Bytes& component : row_.clustering) values.push_back(ValueView::of(component));
  }
  void remove_row() { remove(plan_.remove_row, row_.deletion->timestamp, row_.deletion->local_time); }
  void remove(size_t statement, int64_t timestamp, uint32_t local_time, const Bytes* element = nullptr) {
    RowWrites& writes = writes_at(clamped(local_time));
    Write write{statement, {}};
    if (element != nullptr) write.values.push_back(ValueView::of(*element));
    write.values.push_back(own(writes, types::encode_int64(timestamp)));
    add_key(write.values);
    writes.writes.push_back(std::move(write));
  }

  base::Status add_cell(const sstable::Cell& cell) {
    const ColumnPlan* planned = find(cell.column);
    if (planned == nullptr) return {};  // a dropped column
    const migrate::PartColumn& column = part_.columns[planned->part_column];
    if (column.is_list()) return {};
    if (!cell.is_deleted) {
      const Stamp stamp = stamp_of(cell.timestamp, cell.expiry);
      if (column.is_multi_cell)
        elements_[{planned->part_column, stamp}].push_back(&cell);
      else
        simple_[stamp].emplace_back(planned->part_column, &cell);
      return {};
    }
    if (!column.is_multi_cell) {
      remove(planned->remove, cell.timestamp, cell.local_deletion_time);
    } else if (column.type->kind() != types::Kind::udt) {
      remove(planned->remove_element, cell.timestamp, cell.local_deletion_time, &cell.path);
    } else {
      SIBYL_ASSIGN(const size_t field, field_of(cell, column));
      remove(planned->remove_fields[field], cell.timestamp, cell.local_deletion_time);
    }
    return {};
  }

  static base::Result<size_t> field_of(const sstable::Cell& cell, const migrate::PartColumn& column) {
    const size_t field = cell.path.size() == 2 ? base::read_big_endian<uint16_t>(cell.path) : SIZE_MAX;
    if (field < column.type->parameters().size()) return field;
    return base::fail(base::ErrorCode::invalid,
                      fmt::format("column {} has a cell that belongs to no field", column.name));
  }

  // The row's marker is written with the cells of the same time, if there are any.
  void add_simple_cells() {
    std::optional<Stamp> marker;
    if (row_.marker && !row_.is_static) marker = stamp_of(row_.marker->timestamp, row_.marker->expiry);
    if (marker) simple_[*marker];
    for (const auto& [stamp, cells] : simple_) {
      const bool is_insert = row_.is_static || stamp == marker;
      RowWrites& writes = writes_at(stamp.now_seconds);
      Write write{is_insert ? migrate::insert_statement : migrate::update_statement, {}};
      if (is_insert) add_key(write.values);
      if (!is_insert) add_stamp(writes, write.values, stamp);
      for (size_t i = 0; i < part_.columns.size(); ++i) {
        if (part_.columns[i].is_multi_cell) continue;
        const auto found = std::ranges::find(cells, i, &std::pair<size_t, const sstable::Cell*>::first);
        write.values.push_back(found == cells.end() ? ValueView::unset()
                                                    : ValueView::of(found->second->value));
      }
      if (is_insert) add_stamp(writes, write.values, stamp);
      if (!is_insert) add_key(write.values);
      writes.writes.push_back(std::move(write));
    }
  }

  void add_stamp(RowWrites& writes, std::vector<ValueView>& values, const Stamp& stamp) {
    values.push_back(own(writes, types::encode_int64(stamp.timestamp)));
    values.push_back(own(writes, types::encode_int32(stamp.time_to_live)));
  }

  void add_elements() {
    for (const auto& [place, cells] : elements_) {
      const auto& [index, stamp] = place;
      const migrate::PartColumn& column = part_.columns[index];
      RowWrites& writes = writes_at(stamp.now_seconds);
      Write write{column.statement, {}};
      add_stamp(writes, write.values, stamp);
      if (column.type->kind() == types::Kind::udt) {
        std::vector<ValueView> fields(column.type->parameters().size(), ValueView::unset());
        for (const sstable::Cell* cell : cells)
          if (const auto field = field_of(*cell, column)) fields[*field] = ValueView::of(cell->value);
        write.values.insert(write.values.end(), fields.begin(), fields.end());
      } else {
        types::Elements elements;
        for (const sstable::Cell* cell : cells) {
          elements.emplace_back(cell->path);
          if (column.type->kind() == types::Kind::map) elements.emplace_back(cell->value);
        }
        write.values.push_back(own(writes, types::join(*column.type, elements)));
      }
      add_key(write.values);
      writes.writes.push_back(std::move(write));
    }
  }

  const PartPlan& plan_;
  const migrate::Part& part_;
  const std::vector<Bytes>& key_;
  const sstable::Row& row_;
  const std::vector<sstable::HeaderColumn>& columns_;
  std::map<std::optional<int32_t>, RowWrites> requests_;
  std::map<Stamp, std::vector<std::pair<size_t, const sstable::Cell*>>> simple_;
  std::map<std::pair<size_t, Stamp>, std::vector<const sstable::Cell*>> elements_;
};

// Divides a range of clustering keys into ranges that CQL can delete: an equal prefix, then bounds on one
// column.
class RangeSplitter {
 public:
  struct Piece {
    sstable::ClusteringPrefix prefix;
    std::optional<sstable::Bound> start, end;  // the last value of each bound is the bound on the next column
  };

  explicit RangeSplitter(const sstable::RangeDeletion& range) : start_(range.start), end_(range.end) {}

  std::vector<Piece> split() {
    size_t common = 0;
    while (common < start_.prefix.size() && common < end_.prefix.size() &&
           start_.prefix[common] == end_.prefix[common])
      ++common;
    const bool start_ends = common == start_.prefix.size(), end_ends = common == end_.prefix.size();
    const sstable::ClusteringPrefix shared(start_.prefix.begin(),
                                           start_.prefix.begin() + static_cast<std::ptrdiff_t>(common));
    if (start_ends && end_ends) {
      pieces_.push_back({shared, std::nullopt, std::nullopt});
      return pieces_;
    }
    if (!start_ends) add_inner_starts(common);
    if (!end_ends) add_inner_ends(common);
    Piece middle{shared, std::nullopt, std::nullopt};
    if (!start_ends) middle.start = cut(start_, common);
    if (!end_ends) middle.end = cut(end_, common);
    pieces_.push_back(std::move(middle));
    return pieces_;
  }

 private:
  // The bound on column `index`. Other pieces delete the rows that begin with its value, unless the bound
  // ends there.
  static sstable::Bound cut(const sstable::Bound& bound, size_t index) {
    const auto end = bound.prefix.begin() + static_cast<std::ptrdiff_t>(index + 1);
    return {{bound.prefix.begin(), end}, bound.prefix.size() == index + 1 && bound.is_inclusive};
  }
  static Piece piece_of(const sstable::Bound& bound, size_t index) {
    return {{bound.prefix.begin(), bound.prefix.begin() + static_cast<std::ptrdiff_t>(index)}, {}, {}};
  }
  void add_inner_starts(size_t common) {
    for (size_t index = start_.prefix.size() - 1; index > common; --index) {
      pieces_.push_back(piece_of(start_, index));
      pieces_.back().start = cut(start_, index);
    }
  }
  void add_inner_ends(size_t common) {
    for (size_t index = end_.prefix.size() - 1; index > common; --index) {
      pieces_.push_back(piece_of(end_, index));
      pieces_.back().end = cut(end_, index);
    }
  }

  const sstable::Bound& start_;
  const sstable::Bound& end_;
  std::vector<Piece> pieces_;
};

}  // namespace

Request RequestMaker::delete_partition(const sstable::Deletion& deletion) const {
  Request request{clamped(deletion.local_time), {}};
  Write write{plan_.remove_partition, {}};
  write.values.push_back(own(request.writes, types::encode_int64(deletion.timestamp)));
  for (const Bytes& component : key_) write.values.push_back(ValueView::of(component));
  request.writes.writes.push_back(std::move(write));
  return request;
}

base::Result<std::vector<Request>> RequestMaker::delete_range(const sstable::RangeDeletion& range) const {
  std::vector<Request> requests;
  for (const RangeSplitter::Piece& piece : RangeSplitter(range).split()) {
    const bool has_bound = piece.start || piece.end;
    const size_t column = piece.prefix.size();
    if (!has_bound && column == 0) {
      if (plan_.static_part)
        return base::fail(base::ErrorCode::invalid,
                          "a range of all rows of a partition cannot be deleted without its static columns");
      requests.push_back(delete_partition(range.deletion));
      continue;
    }
    // Values of a descending column decrease in clustering order.
    const bool is_descending = has_bound && header_.is_descending[column];
    const auto& lower = is_descending ? piece.end : piece.start;
    const auto& upper = is_descending ? piece.start : piece.end;
    RangeStatement wanted{column, "", ""};
    if (lower) wanted.lower = lower->is_inclusive ? ">=" : ">";
    if (upper) wanted.upper = upper->is_inclusive ? "<=" : "<";
    Request request{clamped(range.deletion.local_time), {}};
    Write write{plan_.ranges.at(wanted), {}};
    write.values.push_back(own(request.writes, types::encode_int64(range.deletion.timestamp)));
    for (const Bytes& component : key_) write.values.push_back(ValueView::of(component));
    for (const Bytes& value : piece.prefix) write.values.push_back(own(request.writes, value));
    if (lower) write.values.push_back(own(request.writes, lower->prefix.back()));
    if (upper) write.values.push_back(own(request.writes, upper->prefix.back()));
    request.writes.writes.push_back(std::move(write));
    requests.push_back(std::move(request));
  }
  return requests;
}

base::Result<std::vector<Request>> RequestMaker::write_row(const sstable::Row& row) const {
  const auto& part = row.is_static ? plan_.static_part : plan_.row_part;
  if (!part) return std::vector<Request>();  // all static columns of the table were dropped
  return RowRequests(*part, key_, row, row.is_static ? header_.static_columns : header_.columns).make();
}

std::vector<Request> RequestMaker::add_to_list(const sstable::Row& row, const migrate::PartColumn& column,
                                               const std::vector<sstable::Cell>& elements) const {
  std::vector<Request> requests;
  for (size_t begin = 0; begin < elements.size();) {
    const Stamp stamp = stamp_of(elements[begin].timestamp, elements[begin].expiry);
    types::Elements values;
    size_t end = begin;
    for (; end < elements.size() && stamp_of(elements[end].timestamp, elements[end].expiry) == stamp; ++end)
      values.emplace_back(elements[end].value);
    begin = end;
    if (requests.empty() || requests.back().now_seconds != stamp.now_seconds)
      requests.push_back({stamp.now_seconds, {}});
    RowWrites& writes = requests.back().writes;
    Write write{column.statement, {}};
    write.values.push_back(own(writes, types::encode_int64(stamp.timestamp)));
    write.values.push_back(own(writes, types::encode_int32(stamp.time_to_live)));
    write.values.push_back(own(writes, types::join(*column.type, values)));
    for (const Bytes& component : key_) write.values.push_back(ValueView::of(component));
    if (!row.is_static)
      for (const Bytes& component : row.clustering) write.values.push_back(ValueView::of(component));
    writes.writes.push_back(std::move(write));
  }
  return requests;
}

int compare_clustering(const sstable::Header& header, const sstable::ClusteringPrefix& left,
                       const sstable::ClusteringPrefix& right) {
  for (size_t i = 0; i < left.size() && i < right.size(); ++i) {
    const int order = types::compare(*header.clustering[i], left[i], right[i]);
    if (order != 0) return header.is_descending[i] ? -order : order;
  }
  return 0;
}

}  // namespace sibyl::cli::import_sstables
