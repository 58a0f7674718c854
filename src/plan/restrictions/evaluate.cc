// Evaluates restrictions for a request: partition keys, token ranges, clustering intervals, filters.
#include <fmt/format.h>

#include <algorithm>

#include "plan/indexes/index_terms.h"
#include "plan/restrictions/bound.h"
#include "plan/restrictions/keys.h"
#include "plan/terms/combinations.h"
#include "row/record_key.h"
#include "types/keys/key.h"

namespace sibyl::plan {

using base::invalid;
using Row = std::vector<ValueView>;

namespace {

base::Status check_size(size_t left, size_t right, bool is_write) {
  return check_combinations(left, right, is_write ? max_combinations_written : max_combinations_read);
}

}  // namespace

// --- Partitions

namespace {

// The tokens that token() relations allow. A range may wrap around, like Cassandra's ranges.
struct TokenSet {
  TokenRange range;
  bool wraps = false;  // everything outside (last, first)

  bool contains(int64_t token) const {
    return wraps ? token >= range.first || token <= range.last : token >= range.first && token <= range.last;
  }
};

base::Result<int64_t> token_value(const TermPtr& term, const Bindings& bindings, Scratch& scratch) {
  SIBYL_ASSIGN(const ValueView value, term->evaluate(bindings, scratch));
  if (value.is_unset()) return invalid("Invalid unset value for column partition key token");
  if (value.is_null() || value.bytes.empty()) return invalid("Invalid null token value");
  return types::decode_integer(types::Kind::bigint, value.bytes);
}

// `open_minimum`: the minimum token as an end means no end. True for ranges, false together with named keys.
base::Result<TokenSet> allowed_tokens(const TokenRestriction& token, const Bindings& bindings,
                                      Scratch& scratch, bool open_minimum) {
  TokenSet set;
  if (!token.exists()) return set;
  constexpr int64_t minimum = INT64_MIN;
  int64_t start = minimum, end = minimum;
  bool include_start = true, include_end = true;
  if (token.equal != nullptr) {
    SIBYL_ASSIGN(start, token_value(token.equal, bindings, scratch));
    end = start;
  }
  if (token.start) {
    SIBYL_ASSIGN(start, token_value(token.start->value, bindings, scratch));
    include_start = token.start->inclusive;
  }
  if (token.end) {
    SIBYL_ASSIGN(end, token_value(token.end->value, bindings, scratch));
    include_end = token.end->inclusive;
  }
  const bool has_end = (token.end || token.equal != nullptr) && !(open_minimum && end == minimum);
  set.wraps = has_end && start != minimum && start > end;
  const bool nothing_before = has_end && end == minimum && !include_end;
  if (set.wraps && nothing_before) {  // only tokens after the start
    set.wraps = false;
    set.range = {include_start || start == INT64_MAX ? start : start + 1, INT64_MAX};
    return set;
  }
  const bool nothing = nothing_before || (has_end && start == end && (!include_start || !include_end)) ||
                       (!include_start && start == INT64_MAX && !has_end);
  if (nothing) {
    set.range = {1, 0};
    return set;
  }
  set.range.first = include_start || start == INT64_MAX ? start : start + 1;
  set.range.last = !has_end ? INT64_MAX : include_end ? end : end - 1;
  return set;
}

}  // namespace

base::Result<TokenRange> BoundRestrictions::token_range(const Bindings& bindings, Scratch& scratch) const {
  SIBYL_ASSIGN(const TokenSet set, allowed_tokens(token_, bindings, scratch, true));
  return set.wraps ? TokenRange{1, 0} : set.range;
}

base::Result<std::vector<Bytes>> BoundRestrictions::partition_keys(const Bindings& bindings,
                                                                   Scratch& scratch) const {
  std::vector<Row> combinations = {{}};
  for (const RestrictionPtr& restriction : partition_) {
    SIBYL_ASSIGN(const std::vector<Row> values, restriction->allowed(bindings, scratch));
    if (values.size() == 1) {
      for (Row& combination : combinations) combination.push_back(values[0][0]);
      continue;
    }
    SIBYL_TRY(check_size(combinations.size(), values.size(), is_write_));
    std::vector<Row> longer;
    longer.reserve(combinations.size() * values.size());
    for (const Row& combination : combinations)
      for (const Row& value : values) {
        longer.push_back(combination);
        longer.back().push_back(value[0]);
      }
    combinations = std::move(longer);
  }
  if (combinations.size() > 1) {
    const auto order = [&](const Row& left, const Row& right) {
      for (size_t i = 0; i < left.size(); ++i)
        if (const int order = types::compare(*table_->partition_key(i).type, left[i].bytes, right[i].bytes);
            order != 0)
          return order;
      return 0;
    };
    std::sort(combinations.begin(), combinations.end(),
              [&](const Row& left, const Row& right) { return order(left, right) < 0; });
    combinations.erase(
        std::unique(combinations.begin(), combinations.end(),
                    [&](const Row& left, const Row& right) { return order(left, right) == 0; }),
        combinations.end());
  }
  SIBYL_ASSIGN(const TokenSet tokens, allowed_tokens(token_, bindings, scratch, false));
  std::vector<Bytes> keys;
  keys.reserve(combinations.size());
  for (const Row& combination : combinations) {
    base::Result<Bytes> key = partition_key_of(*table_, combination);
    if (!key) {
      // Static columns would be read along with named rows even if no row matches.
      if (is_write_ || (names_whole_row_ && table_->has_static())) return base::fail(key.error());
      SIBYL_ASSIGN(const bool has_rows, reaches_rows(bindings, scratch));
      return has_rows ? base::Result<std::vector<Bytes>>(base::fail(key.error())) : std::vector<Bytes>();
    }
    if (!token_.exists() || tokens.contains(types::murmur3_token(*key))) keys.push_back(std::move(*key));
  }
  return keys;
}

// --- Clustering

namespace {

std::optional<Bytes> end_of(BytesView prefix) {
  return prefix.empty() ? std::nullopt : row::after(prefix);
}

// Rows of `prefix` whose further columns are beyond `bound`. For each column, this is an interval of rows
// that are equal in the columns before it and differ, in the right direction, in this one.
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
  SIBYL_ASSIGN(Row row, bound->value.evaluate(bindings, scratch));
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
  // The shorter bound covers all rows that begin with it.
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
  SIBYL_ASSIGN(const std::vector<Row> rows, restriction.allowed(bindings, scratch));
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

void coalesce(std::vector<Interval>& intervals) {
  std::erase_if(intervals, [](const Interval& one) { return one.end && *one.end <= one.begin; });
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& left, const Interval& right) { return left.begin < right.begin; });
  std::vector<Interval> joined;
  for (Interval& next : intervals) {
    if (joined.empty() || (joined.back().end && *joined.back().end < next.begin)) {
      joined.push_back(std::move(next));
      continue;
    }
    std::optional<Bytes>& end = joined.back().end;
    if (end && (!next.end || *next.end > *end)) end = std::move(next.end);
  }
  intervals = std::move(joined);
}

std::vector<Interval> intersect(const std::vector<Interval>& left, const std::vector<Interval>& right) {
  std::vector<Interval> both;
  size_t i = 0, j = 0;
  while (i < left.size() && j < right.size()) {
    const Interval &a = left[i], &b = right[j];
    const Bytes& begin = std::max(a.begin, b.begin);
    const bool a_ends_first = a.end && (!b.end || *a.end < *b.end);
    const std::optional<Bytes>& end = a_ends_first ? a.end : b.end;
    if (!end || begin < *end) both.push_back({begin, end});
    ++(a_ends_first ? i : j);
  }
  return both;
}

base::Result<std::vector<Interval>> BoundRestrictions::intervals(const Bindings& bindings,
                                                                 Scratch& scratch) const {
  std::vector<Bytes> prefixes = {Bytes()};
  for (const RestrictionPtr& restriction : prefix_) {
    if (restriction->is_slice()) {
      SIBYL_ASSIGN(const SliceBounds bounds, bounds_of(*restriction, is_write_, bindings, scratch));
      std::vector<Interval> intervals = slice(*restriction, prefixes, bounds);
      coalesce(intervals);
      return intervals;
    }
    SIBYL_ASSIGN(prefixes, extend(*restriction, std::move(prefixes), is_write_, bindings, scratch));
  }
  std::vector<Interval> intervals;
  intervals.reserve(prefixes.size());
  for (Bytes& prefix : prefixes) {
    auto end = end_of(prefix);
    intervals.push_back({std::move(prefix), std::move(end)});
  }
  return intervals;
}

base::Result<bool> BoundRestrictions::reaches_rows(const Bindings& bindings, Scratch& scratch) const {
  for (const RestrictionPtr& restriction : prefix_) {
    if (restriction->is_slice()) {
      SIBYL_ASSIGN(const SliceBounds bounds, bounds_of(*restriction, false, bindings, scratch));
      return is_in_order(*restriction, bounds);
    }
    SIBYL_ASSIGN(const std::vector<Row> rows, restriction->allowed(bindings, scratch));
    if (rows.empty()) return false;
  }
  return true;
}

base::Result<std::vector<Restrictions::NamedRow>> BoundRestrictions::rows(const Bindings& bindings,
                                                                          Scratch& scratch) const {
  std::vector<std::vector<BytesView>> combinations = {{}};
  for (const RestrictionPtr& restriction : prefix_) {
    SIBYL_ASSIGN(const std::vector<Row> allowed, restriction->allowed(bindings, scratch));
    SIBYL_TRY(check_size(combinations.size(), allowed.size(), is_write_));
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
    Bytes clustering = clustering_of(*table_, values);
    Bytes original = original_clustering_of(*table_, values, clustering);
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
