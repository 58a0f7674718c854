#include "cli/migrate/row_writes.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "types/elements.h"

namespace sibyl::cli::migrate {
namespace {

using base::Bytes;
using base::BytesView;
using types::ValueView;

// The write time of cells, and their remaining time to live (0: forever).
struct Times {
  int64_t timestamp = unknown_time;
  int32_t time_to_live = 0;

  bool operator==(const Times&) const = default;
  bool lives_longer_than(const Times& other) const {
    const auto life = [](const Times& times) {
      return times.time_to_live == 0 ? std::numeric_limits<int32_t>::max() : times.time_to_live;
    };
    return life(*this) != life(other) ? life(*this) > life(other) : timestamp < other.timestamp;
  }
};

Times times_of(std::optional<BytesView> write_time, std::optional<BytesView> time_to_live) {
  Times times;
  if (write_time && write_time->size() == 8)
    times.timestamp = types::decode_integer(types::Kind::bigint, *write_time);
  if (time_to_live && time_to_live->size() == 4)
    times.time_to_live = static_cast<int32_t>(types::decode_integer(types::Kind::int_, *time_to_live));
  return times;
}

// Makes the writes of one row.
class WriteMaker {
 public:
  WriteMaker(const Part& part, const client::Row& row, const client::Row& target)
      : part_(part), row_(row), target_(target) {}

  base::Result<RowWrites> make() {
    collect_simple();
    add_rows();
    size_t list = 0;
    for (const PartColumn& column : part_.columns) {
      if (!column.is_multi_cell) continue;
      const size_t target = column.is_list() ? list++ : 0;
      if (!row_[column.position]) continue;
      SIBYL_TRY(add_multi_cell(column, target));
    }
    return std::move(result_);
  }

 private:
  struct Group {
    Times times;
    std::vector<size_t> columns;  // indexes in Part::columns
  };

  void collect_simple() {
    for (size_t i = 0; i < part_.columns.size(); ++i) {
      const PartColumn& column = part_.columns[i];
      if (column.is_multi_cell || !row_[column.position]) continue;
      const Times times = times_of(row_[column.position + 1], row_[column.position + 2]);
      latest_ = std::max(latest_, times.timestamp);
      const auto found = std::ranges::find(groups_, times, &Group::times);
      if (found != groups_.end())
        found->columns.push_back(i);
      else
        groups_.push_back({times, {i}});
    }
  }

  // The row's marker lives as long as its longest-living cell, which may be in a collection.
  std::optional<Times> marker_times() {
    std::optional<Times> longest;
    const auto consider = [&](const Times& times) {
      if (!longest || times.lives_longer_than(*longest)) longest = times;
    };
    for (const Group& group : groups_) consider(group.times);
    for (const PartColumn& column : part_.columns) {
      if (!column.is_multi_cell || !row_[column.position]) continue;
      if (!column.has_times) {
        consider({latest_, 0});
        continue;
      }
      for (const Times& times : element_times(column)) consider(times);
    }
    return longest;
  }

  void add_rows() {
    std::optional<Times> marker;
    if (!part_.is_static) {
      marker = marker_times();
      result_.has_only_key = !marker;
      if (!marker) marker = Times();
      const auto own = std::ranges::find(groups_, *marker, &Group::times);
      add_row(insert_statement, *marker, own == groups_.end() ? std::vector<size_t>() : own->columns);
    }
    for (const Group& group : groups_)
      if (group.times != marker)
        add_row(part_.is_static ? insert_statement : update_statement, group.times, group.columns);
  }

  void add_row(size_t statement, const Times& times, const std::vector<size_t>& columns) {
    std::vector<ValueView> values;
    const bool is_insert = statement == insert_statement;
    if (is_insert) add_key(values);
    if (!is_insert) add_times(values, times);
    size_t next = 0;
    for (size_t i = 0; i < part_.columns.size(); ++i) {
      if (part_.columns[i].is_multi_cell) continue;
      const bool is_in_group = next < columns.size() && columns[next] == i;
      values.push_back(is_in_group ? ValueView::of(*row_[part_.columns[i].position]) : ValueView::unset());
      if (is_in_group) ++next;
    }
    if (is_insert) add_times(values, times);
    if (!is_insert) add_key(values);
    result_.writes.push_back({statement, std::move(values)});
  }

  void add_key(std::vector<ValueView>& values) const {
    for (size_t i = 0; i < part_.key.size(); ++i) values.push_back(ValueView::of(row_[i].value_or("")));
  }
  void add_times(std::vector<ValueView>& values, const Times& times) {
    values.push_back(own(types::encode_int64(times.timestamp)));
    values.push_back(own(types::encode_int32(times.time_to_live)));
  }
  ValueView own(Bytes bytes) { return ValueView::of(result_.owned.emplace_back(std::move(bytes))); }

  // Returns the times of each element or field. Fields that are null have unknown times.
  std::vector<Times> element_times(const PartColumn& column) const {
    std::vector<Times> all;
    const auto list_of = [&](size_t position, types::Kind kind) {
      const types::TypePtr list = types::list_of(types::scalar(kind), true);
      auto split = row_[position] ? types::split(*list, *row_[position]) : types::Elements();
      return split ? std::move(*split) : types::Elements();
    };
    const types::Elements written = list_of(column.position + 1, types::Kind::bigint);
    const types::Elements lives = list_of(column.position + 2, types::Kind::int_);
    for (size_t i = 0; i < written.size(); ++i)
      if (written[i]) all.push_back(times_of(written[i], i < lives.size() ? lives[i] : std::nullopt));
    return all;
  }

  base::Status add_multi_cell(const PartColumn& column, size_t list) {
    SIBYL_ASSIGN(const types::Elements elements, types::split(*column.type, *row_[column.position]));
    if (column.is_list() && list < target_.size() && target_[list]) {
      if (*target_[list] != *row_[column.position]) replace_list(column);
      return {};
    }
    if (!column.has_times) {
      result_.has_unknown_times = true;
      add_elements(column, {latest_, 0}, elements);
      return {};
    }
    return column.type->kind() == types::Kind::udt ? add_fields(column, elements)
                                                   : add_groups(column, elements);
  }

  void replace_list(const PartColumn& column) {
    Times times{latest_, 0};
    for (const Times& element : column.has_times ? element_times(column) : std::vector<Times>()) {
      times.timestamp = std::max(times.timestamp, element.timestamp);
      times.time_to_live = element.time_to_live;
    }
    result_.replaced_list = true;
    // A replacement deletes only older elements, so its timestamp must be later than those of the elements
    // that it replaces.
    ++times.timestamp;
    add_column(column.statement + 1, times, {ValueView::of(*row_[column.position])});
  }

  // Adds runs of elements with equal times. Lists keep their order; sets and maps need as few writes as
  // possible, but elements with equal times are nearly always neighbours.
  base::Status add_groups(const PartColumn& column, const types::Elements& elements) {
    const std::vector<Times> times = element_times(column);
    const size_t width = column.type->kind() == types::Kind::map ? 2 : 1;
    if (times.size() * width != elements.size())
      return base::fail(base::ErrorCode::server,
                        fmt::format("{}: column {} has {} elements and {} write times", part_.title(),
                                    column.name, elements.size() / width, times.size()));
    for (size_t begin = 0; begin < times.size();) {
      size_t end = begin + 1;
      while (end < times.size() && times[end] == times[begin]) ++end;
      const auto first = elements.begin() + static_cast<std::ptrdiff_t>(begin * width);
      const auto last = elements.begin() + static_cast<std::ptrdiff_t>(end * width);
      add_elements(column, times[begin], types::Elements(first, last));
      begin = end;
    }
    return {};
  }

  void add_elements(const PartColumn& column, const Times& times, const types::Elements& elements) {
    if (column.type->kind() == types::Kind::udt) {
      std::vector<ValueView> fields(column.type->parameters().size(), ValueView::unset());
      for (size_t i = 0; i < elements.size() && i < fields.size(); ++i)
        if (elements[i]) fields[i] = ValueView::of(*elements[i]);
      add_column(column.statement, times, fields);
    } else {
      add_column(column.statement, times, {own(types::join(*column.type, elements))});
    }
  }

  base::Status add_fields(const PartColumn& column, const types::Elements& fields) {
    std::vector<Times> times = element_times(column);
    size_t next = 0;
    std::vector<std::pair<Times, types::Elements>> groups;
    for (size_t i = 0; i < fields.size(); ++i) {
      if (!fields[i]) continue;
      const Times of_field = next < times.size() ? times[next] : Times{latest_, 0};
      ++next;
      auto found = std::ranges::find(groups, of_field, &std::pair<Times, types::Elements>::first);
      if (found == groups.end())
        found = groups.insert(groups.end(), {of_field, types::Elements(fields.size(), std::nullopt)});
      found->second[i] = fields[i];
    }
    for (const auto& [of_group, elements] : groups) add_elements(column, of_group, elements);
    return {};
  }

  void add_column(size_t statement, const Times& times, const std::vector<ValueView>& assigned) {
    std::vector<ValueView> values;
    add_times(values, times);
    values.insert(values.end(), assigned.begin(), assigned.end());
    add_key(values);
    result_.writes.push_back({statement, std::move(values)});
  }

  const Part& part_;
  const client::Row& row_;
  const client::Row& target_;
  std::vector<Group> groups_;
  int64_t latest_ = unknown_time;  // the latest time of the single cells
  RowWrites result_;
};

int64_t counter_value(const client::Row& row, size_t position) {
  if (position >= row.size() || !row[position] || row[position]->size() != 8) return 0;
  return types::decode_integer(types::Kind::counter, *row[position]);
}

// Adds the difference to the target's counters. A repeated write therefore counts nothing twice.
RowWrites make_increments(const Part& part, const client::Row& row, const client::Row& target) {
  RowWrites result;
  Write write;
  bool is_needed = false;
  for (size_t i = 0; i < part.columns.size(); ++i) {
    const size_t position = part.columns[i].position;
    if (!row[position]) {
      write.values.push_back(ValueView::unset());
      continue;
    }
    const bool exists = i < target.size() && target[i];
    const auto difference = static_cast<int64_t>(static_cast<uint64_t>(counter_value(row, position)) -
                                                 static_cast<uint64_t>(counter_value(target, i)));
    is_needed = is_needed || difference != 0 || !exists;
    write.values.push_back(ValueView::of(result.owned.emplace_back(types::encode_int64(difference))));
  }
  if (!is_needed) return result;
  for (size_t i = 0; i < part.key.size(); ++i) write.values.push_back(ValueView::of(row[i].value_or("")));
  result.writes.push_back(std::move(write));
  return result;
}

}  // namespace

base::Result<RowWrites> make_writes(const Part& part, const client::Row& row, const client::Row& target) {
  if (part.is_counter) return make_increments(part, row, target);
  return WriteMaker(part, row, target).make();
}

}  // namespace sibyl::cli::migrate
