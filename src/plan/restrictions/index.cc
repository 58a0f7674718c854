// Which relations an index serves, and which index to use. The rules are Cassandra's: a plain index serves =,
// CONTAINS and entries; SAI also serves ranges, and several relations at once; SASI serves ranges and LIKE.
#include "plan/restrictions/index.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "plan/indexes/index_terms.h"
#include "plan/restrictions/restrictions.h"
#include "row/record_key.h"

namespace sibyl::plan {

using base::invalid;
using cql::Operator;
using schema::Index;
using schema::IndexClass;
using types::Kind;

namespace {

bool is_range(Operator op) {
  return op == Operator::less || op == Operator::less_or_equal || op == Operator::greater ||
         op == Operator::greater_or_equal;
}

bool is_text(const types::Type& type) {
  return type.kind() == Kind::text || type.kind() == Kind::ascii;
}

std::string option(const Index& index, const char* name) {
  const auto found = index.options.find(name);
  return found == index.options.end() ? std::string() : base::ascii_upper(found->second);
}

bool is_literal(const Index& index, const schema::Column& column) {
  const std::string written = option(index, "is_literal");
  return written.empty() ? is_text(*column.type) && !column.descending : written == "TRUE";
}

// Types whose order SAI does not preserve.
bool has_only_equality(const types::Type& type) {
  switch (type.kind()) {
    case Kind::text:
    case Kind::ascii:
    case Kind::boolean:
    case Kind::uuid:
    case Kind::list:
    case Kind::set:
    case Kind::map:
    case Kind::tuple:
    case Kind::udt:
      return true;
    default:
      return false;
  }
}

// The operators that an index on a collection's parts serves.
bool serves_part(Index::Target target, Operator op) {
  switch (target) {
    case Index::Target::keys:
      return op == Operator::contains_key;
    case Index::Target::values:
      return op == Operator::contains;
    default:
      return op == Operator::equal;
  }
}

}  // namespace

bool finds_inside(const Index& index) {
  return option(index, "mode") == "CONTAINS";
}

bool supports(const Index& index, const schema::Column& column, Operator op) {
  if (index.column_id != column.id) return false;
  const IndexClass kind = schema::class_of(index);
  if (kind == IndexClass::sasi) {
    if (op == Operator::like) return is_literal(index, column);
    if (is_range(op)) return !is_literal(index, column) && !finds_inside(index);
    return op == Operator::equal && !schema::analysis_of(index, column).has_words();
  }
  if (kind == IndexClass::attached && column.type->kind() == Kind::vector) return false;
  if (column.type->is_collection()) return serves_part(index.target, op);
  if (op == Operator::equal) return true;
  return kind == IndexClass::attached && is_range(op) && !has_only_equality(*column.type);
}

bool serves(const Index& index, const Restriction& restriction, const schema::Column& column) {
  switch (restriction.kind) {
    case Restriction::Kind::equal:
      return supports(index, column, Operator::equal);
    case Restriction::Kind::in:
      return false;
    case Restriction::Kind::like:
      return supports(index, column, Operator::like);
    case Restriction::Kind::slice:
      return supports(index, column, Operator::less);
    case Restriction::Kind::contains:
      return std::any_of(restriction.contained.begin(), restriction.contained.end(),
                         [&](const Restriction::Contained& one) {
                           return supports(index, column, one.key ? Operator::equal : one.op);
                         });
  }
  return false;
}

namespace {

// True if these indexes (all SAI indexes, or one of another class) serve the restriction without filtering.
bool serve_alone(const std::vector<const Index*>& group, const Restriction& restriction) {
  const bool has_several =
      restriction.kind == Restriction::Kind::contains && restriction.contained.size() > 1;
  return std::all_of(restriction.columns.begin(), restriction.columns.end(),
                     [&](const schema::Column* column) {
                       return std::any_of(group.begin(), group.end(), [&](const Index* index) {
                         return serves(*index, restriction, *column) &&
                                !(has_several && schema::class_of(*index) != IndexClass::attached);
                       });
                     });
}

}  // namespace

bool has_index(const schema::Table& table, const Restriction& restriction) {
  for (const schema::Column* column : restriction.columns)
    for (const Index& index : table.indexes)
      if (serves(index, restriction, *column)) return true;
  return false;
}

bool are_served(const schema::Table& table, const std::vector<RestrictionPtr>& restrictions) {
  // The first group has all SAI indexes, each other group has one index.
  std::vector<std::vector<const Index*>> groups(1);
  for (const Index& index : table.indexes) {
    if (schema::class_of(index) == IndexClass::attached)
      groups[0].push_back(&index);
    else
      groups.push_back({&index});
  }
  return std::any_of(groups.begin(), groups.end(), [&](const std::vector<const Index*>& group) {
    return std::all_of(restrictions.begin(), restrictions.end(),
                       [&](const RestrictionPtr& one) { return serve_alone(group, *one); });
  });
}

bool Restrictions::clustering_needs_filtering() const {
  int position = 0;
  const Restriction* last = nullptr;
  for (const RestrictionPtr& restriction : clustering_) {
    if (restriction == nullptr || restriction.get() == last) continue;
    last = restriction.get();
    if (restriction->is_filter() || restriction->first().position != position) return true;
    if (!restriction->is_slice()) position = restriction->last().position + 1;
  }
  return false;
}

// --- Choosing indexes

namespace {

// A built index that serves the restriction. An index that folds texts takes precedence: the filters fold as
// well, so another index would miss rows.
const Index* best_index(const schema::Table& table, const Restriction& restriction,
                        const schema::Column& column) {
  const Index* best = nullptr;
  for (const Index& index : table.indexes) {
    if (!serves(index, restriction, column)) continue;
    if (schema::analysis_of(index, column).exists()) return index.is_built ? &index : nullptr;
    if (best == nullptr && index.is_built) best = &index;
  }
  return best;
}

}  // namespace

void Restrictions::choose_indexes() {
  if (!uses_index_ || (names_partitions_ && names_whole_row_)) return;
  struct Candidate {
    IndexUse use;
    RestrictionPtr restriction;
    bool leads_to_rows;
  };
  std::vector<Candidate> candidates;
  const auto consider = [&](const RestrictionPtr& restriction) {
    const bool is_slice = restriction->is_slice();
    if (is_slice && restriction->is_multi_column) return;
    for (const schema::Column* column : restriction->columns) {
      const Index* index = best_index(*table_, *restriction, *column);
      if (index == nullptr) {
        for (const Index& one : table_->indexes)
          if (serves(one, *restriction, *column)) unbuilt_indexes_.push_back(&one);
        continue;
      }
      const bool is_range = is_slice || restriction->kind == Restriction::Kind::like;
      candidates.push_back({{index, column, is_range ? IndexUse::Match::range : IndexUse::Match::term},
                            restriction,
                            column->is_regular() || column->is_clustering()});
    }
  };
  for (const auto& [column, restriction] : others_) consider(restriction);
  const Restriction* last = nullptr;
  for (const std::vector<RestrictionPtr>* list : {&clustering_, &partition_})
    for (const RestrictionPtr& restriction : *list) {
      if (restriction != nullptr && restriction.get() != last) consider(restriction);
      last = restriction.get();
    }
  const auto rank = [](const Candidate& one) {
    return (one.use.match == IndexUse::Match::range ? 2 : 0) + (one.leads_to_rows ? 0 : 1);
  };
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const Candidate& left, const Candidate& right) { return rank(left) < rank(right); });
  for (const Candidate& candidate : candidates) {
    // Within one partition, only an index that matches a single term is better than reading the partition.
    if (rank(candidate) != 0 && (names_partitions_ || !index_uses_.empty())) break;
    index_uses_.push_back(candidate.use);
    used_.push_back(candidate.restriction);
  }
}

}  // namespace sibyl::plan
