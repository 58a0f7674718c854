#include "plan/evaluation/clustering.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "plan/evaluation/keys.h"
#include "plan/evaluation/values.h"
#include "row/record_key.h"
#include "types/compare.h"
#include "types/keys/key.h"

namespace sibyl::plan {

using base::invalid;

namespace {

std::optional<Bytes> end_of(BytesView prefix) {
  return prefix.empty() ? std::nullopt : row::after(prefix);
}

// Returns the rows of `prefix` whose further columns are beyond `bound`. There is an interval for each
// column: the rows that equal the bound in the columns before it and are beyond the bound in this column.
std::vector<Interval> beyond(const Bytes& prefix, const std::vector<const schema::Column*>& columns,
                             const Row& bound, bool inclusive, bool greater) {
  std::vector<Interval> intervals;
  Bytes equal = prefix;
  for (size_t i = 0; i < bound.size(); ++i) {
    const Bytes before = equal;
    types::encode_key(*columns[i]->type, bound[i].bytes, columns[i]->descending, equal);
    // A descending column has the opposite byte order.
    if (greater != columns[i]->descending) {
      if (auto begin = row::after(equal)) intervals.push_back({std::move(*begin), end_of(before)});
    } else {
      intervals.push_back({before, equal});
    }
  }
  if (inclusive) intervals.push_back({equal, end_of(equal)});
  coalesce(intervals);
  return intervals;
}

// The bounds of a slice for a request; nullopt: unbounded.
struct SliceBounds {
  std::optional<Row> start, end;
  bool matches_nothing = false;
};

// On a single column, null sorts before every value in storage order.
base::Status add_bound(const Restriction& restriction, bool is_start, bool is_write, const Bindings& bindings,
                       Scratch& scratch, SliceBounds& bounds) {
  const std::optional<Bound>& bound = is_start ? restriction.start : restriction.end;
  if (!bound) return {};
  SIBYL_ASSIGN(Row row, evaluate(bound->value, bindings, scratch));
  for (size_t i = 0; i < row.size(); ++i) {
    if (row[i].is_present()) continue;
    const schema::Column& column = *restriction.columns[i];
    if (row[i].is_unset()) return invalid(fmt::format("Invalid unset value for column {}", column.name));
    if (restriction.is_multi_column || is_write)
      return invalid(fmt::format("Invalid null value in condition for column {}", column.name));
    bounds.matches_nothing = bounds.matches_nothing || is_start == column.descending;
    return {};
  }
  (is_start ? bounds.start : bounds.end) = std::move(row);
  return {};
}

base::Result<SliceBounds> bounds_of(const Restriction& restriction, bool is_write, const Bindings& bindings,
                                    Scratch& scratch) {
  SliceBounds bounds;
  SIBYL_TRY(add_bound(restriction, true, is_write, bindings, scratch, bounds));
  if (!bounds.matches_nothing) SIBYL_TRY(add_bound(restriction, false, is_write, bindings, scratch, bounds));
  return bounds;
}

// True if the start is not after the end, comparing values. A single null bound is always in order.
bool is_in_order(const Restriction& restriction, const SliceBounds& bounds) {
  if (bounds.matches_nothing) return !restriction.start || !restriction.end;
  if (!bounds.start || !bounds.end) return true;
  const Row &start = *bounds.start, &end = *bounds.end;
  for (size_t i = 0; i < std::min(start.size(), end.size()); ++i)
    if (const int order = types::compare(*restriction.columns[i]->type, start[i].bytes, end[i].bytes);
        order != 0)
      return order < 0;
  // The shorter bound stands for all rows that begin with it.
  if (start.size() != end.size())
    return start.size() < end.size() ? restriction.start->inclusive : restriction.end->inclusive;
  return restriction.start->inclusive && restriction.end->inclusive;
}

std::vector<Interval> slice(const Restriction& restriction, const std::vector<Bytes>& prefixes,
                            const SliceBounds& bounds) {
  if (bounds.matches_nothing) return {};
  const auto& [start, end, matches_nothing] = bounds;
  std::vector<Interval> all;
  for (const Bytes& prefix : prefixes) {
    std::vector<Interval> some = {{prefix, end_of(prefix)}};
    if (start)
      some = intersect(some, beyond(prefix, restriction.columns, *start, restriction.start->inclusive, true));
    if (end)
      some = intersect(some, beyond(prefix, restriction.columns, *end, restriction.end->inclusive, false));
    all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
  }
  return all;
}

base::Result<std::vector<Bytes>> extend(const Restriction& restriction, std::vector<Bytes> prefixes,
                                        bool is_write, const Bindings& bindings, Scratch& scratch) {
  SIBYL_ASSIGN(const std::vector<Row> rows, allowed_rows(restriction, bindings, scratch));
  SIBYL_TRY(check_size(prefixes.size(), rows.size(), is_write));
  std::vector<Bytes> longer;
  longer.reserve(prefixes.size() * rows.size());
  for (const Bytes& prefix : prefixes)
    for (const Row& row : rows) {
      longer.push_back(prefix);
      for (size_t i = 0; i < restriction.columns.size(); ++i) {
        const schema::Column& column = *restriction.columns[i];
        types::encode_key(*column.type, row[i].bytes, column.descending, longer.back());
      }
    }
  std::sort(longer.begin(), longer.end());
  longer.erase(std::unique(longer.begin(), longer.end()), longer.end());
  return longer;
}

}  // namespace

base::Result<std::vector<Interval>> clustering_intervals(const Restrictions& where, const Bindings& bindings,
                                                         Scratch& scratch) {
  std::vector<Bytes> prefixes = {Bytes()};
  for (const RestrictionPtr& restriction : where.prefix()) {
    if (restriction->is_slice()) {
      SIBYL_ASSIGN(const SliceBounds bounds, bounds_of(*restriction, where.is_write(), bindings, scratch));
      std::vector<Interval> intervals = slice(*restriction, prefixes, bounds);
      coalesce(intervals);
      return intervals;
    }
    SIBYL_ASSIGN(prefixes, extend(*restriction, std::move(prefixes), where.is_write(), bindings, scratch));
  }
  std::vector<Interval> intervals;
  intervals.reserve(prefixes.size());
  for (Bytes& prefix : prefixes) {
    auto end = end_of(prefix);
    intervals.push_back({std::move(prefix), std::move(end)});
  }
  return intervals;
}

base::Result<bool> reaches_rows(const Restrictions& where, const Bindings& bindings, Scratch& scratch) {
  for (const RestrictionPtr& restriction : where.prefix()) {
    if (restriction->is_slice()) {
      SIBYL_ASSIGN(const SliceBounds bounds, bounds_of(*restriction, false, bindings, scratch));
      return is_in_order(*restriction, bounds);
    }
    SIBYL_ASSIGN(const std::vector<Row> rows, allowed_rows(*restriction, bindings, scratch));
    if (rows.empty()) return false;
  }
  return true;
}

base::Result<std::vector<NamedRow>> named_rows(const Restrictions& where, const Bindings& bindings,
                                               Scratch& scratch) {
  if (where.prefix().empty()) return std::vector<NamedRow>(1);
  std::vector<std::vector<BytesView>> combinations = {{}};
  for (const RestrictionPtr& restriction : where.prefix()) {
    SIBYL_ASSIGN(const std::vector<Row> allowed, allowed_rows(*restriction, bindings, scratch));
    SIBYL_TRY(check_size(combinations.size(), allowed.size(), where.is_write()));
    std::vector<std::vector<BytesView>> longer;
    longer.reserve(combinations.size() * allowed.size());
    for (const std::vector<BytesView>& combination : combinations)
      for (const Row& row : allowed) {
        longer.push_back(combination);
        for (size_t i = 0; i < restriction->columns.size(); ++i) longer.back().push_back(row[i].bytes);
      }
    combinations = std::move(longer);
  }
  std::vector<NamedRow> rows;
  rows.reserve(combinations.size());
  for (const std::vector<BytesView>& values : combinations) {
    Bytes clustering = clustering_of(where.table(), values);
    Bytes original = original_clustering_of(where.table(), values, clustering);
    rows.push_back({std::move(clustering), std::move(original)});
  }
  if (rows.size() > 1) {
    const auto less = [](const NamedRow& left, const NamedRow& right) {
      return left.clustering < right.clustering;
    };
    const auto same = [](const NamedRow& left, const NamedRow& right) {
      return left.clustering == right.clustering;
    };
    std::stable_sort(rows.begin(), rows.end(), less);
    rows.erase(std::unique(rows.begin(), rows.end(), same), rows.end());
  }
  return rows;
}

}  // namespace sibyl::plan
