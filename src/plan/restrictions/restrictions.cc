#include "plan/restrictions/restrictions.h"

#include <fmt/format.h>

#include <algorithm>

#include "cql/printer.h"
#include "plan/restrictions/index.h"
#include "plan/restrictions/relations.h"
#include "plan/terms/term_text.h"
#include "types/print.h"

namespace sibyl::plan {

using base::invalid;

namespace {

const char* statement_name(Purpose purpose) {
  switch (purpose) {
    case Purpose::select:
      return "SELECT";
    case Purpose::update:
      return "UPDATE";
    case Purpose::delete_:
      return "DELETE";
  }
  return "";
}

// Stores a restriction at the positions of its columns, merging it with existing ones.
base::Status place(std::vector<RestrictionPtr>& by_position, const RestrictionPtr& added) {
  std::vector<RestrictionPtr> existing;
  for (const schema::Column* column : added->columns) {
    const RestrictionPtr& there = by_position[static_cast<size_t>(column->position)];
    if (there != nullptr && std::find(existing.begin(), existing.end(), there) == existing.end())
      existing.push_back(there);
  }
  RestrictionPtr placed = added;
  for (const RestrictionPtr& there : existing) {
    SIBYL_ASSIGN(placed, merged(there, added));
  }
  for (const schema::Column* column : placed->columns)
    by_position[static_cast<size_t>(column->position)] = placed;
  return {};
}

}  // namespace

// --- Adding relations

base::Status Restrictions::add(RestrictionPtr restriction, Purpose purpose, bool allow_filtering) {
  const schema::Column& first = restriction->first();
  if (first.is_partition_key()) return place(partition_, restriction);
  if (!first.is_clustering()) {
    for (auto& [column, existing] : others_) {
      if (column != &first) continue;
      SIBYL_ASSIGN(existing, merged(existing, restriction));
      return {};
    }
    others_.emplace_back(&first, std::move(restriction));
    return {};
  }
  const std::vector<RestrictionPtr> before = distinct(clustering_);
  std::vector<RestrictionPtr> after = clustering_;
  SIBYL_TRY(place(after, restriction));
  const bool may_use_index = purpose == Purpose::select && has_index(*table_, *restriction);
  if (!before.empty() && !allow_filtering && !may_use_index) {
    const schema::Column& last = before.back()->first();
    if (before.back()->is_slice() && first.position > last.position)
      return base::fail(
          base::Error(base::ErrorCode::invalid,
                      fmt::format("Clustering column \"{}\" cannot be restricted (preceding column \"{}\" is "
                                  "restricted by a non-EQ relation)",
                                  first.name, last.name))
              .with_hint(fmt::format("compare {} by = or IN, or keep a table that is clustered by {} first",
                                     last.name, first.name)));
    if (first.position < last.position && restriction->is_slice()) {
      size_t next = static_cast<size_t>(first.position) + 1;
      while (next < clustering_.size() && clustering_[next] == nullptr) ++next;
      return invalid(
          fmt::format("PRIMARY KEY column \"{}\" cannot be restricted (preceding column \"{}\" is "
                      "restricted by a non-EQ relation)",
                      table_->clustering(std::min(next, clustering_.size() - 1)).name, first.name));
    }
  }
  clustering_ = std::move(after);
  return {};
}

// --- Checks of the whole clause

base::Status Restrictions::finish_partition(Purpose purpose, bool may_filter) {
  std::vector<std::string> missing;
  bool has_slice = false, has_contains = false;
  for (size_t i = 0; i < partition_.size(); ++i) {
    if (partition_[i] == nullptr) {
      missing.push_back(table_->partition_key(i).name);
      continue;
    }
    has_slice = has_slice || partition_[i]->is_slice();
    has_contains = has_contains || partition_[i]->is_filter();
    has_partition_in_ = has_partition_in_ || partition_[i]->kind == Restriction::Kind::in;
  }
  names_partitions_ = missing.empty() && !has_slice && !has_contains;
  // If there is a token() relation, relations on some components of the key become filters.
  if (token_.exists() && !missing.empty()) has_partition_in_ = false;
  const bool none = missing.size() == partition_.size();
  if (purpose != Purpose::select) {
    if (token_.exists() && !names_partitions_)
      return invalid(fmt::format("The token function cannot be used in WHERE clauses for {} statements",
                                 statement_name(purpose)));
    if (!missing.empty())
      return invalid(fmt::format("Some partition key parts are missing: {}", fmt::join(missing, ", ")));
    if (has_slice)
      return invalid(
          fmt::format("Only EQ and IN relation are supported on the partition key (unless you use the "
                      "token() function) for {} statements",
                      statement_name(purpose)));
    return {};
  }
  if (names_partitions_) return {};
  uses_index_ = has_index_ && (!none || !token_.exists());
  if (none) return {};
  needs_filtering_ = true;
  if (!may_filter && !has_index_) return base::fail(filtering_refused());
  for (const RestrictionPtr& restriction : partition_)
    if (restriction != nullptr) filters_.push_back(restriction);
  unkeyed_ = filters_;
  return {};
}

void Restrictions::plan_clustering() {
  int position = 0;
  for (const RestrictionPtr& restriction : distinct(clustering_)) {
    if (restriction->is_filter() || restriction->first().position != position) {
      filters_.push_back(restriction);
      needs_filtering_ = true;
      continue;
    }
    prefix_.push_back(restriction);
    has_clustering_in_ = has_clustering_in_ || restriction->kind == Restriction::Kind::in;
    if (!restriction->is_slice()) position = restriction->last().position + 1;
  }
  names_whole_row_ = position == static_cast<int>(table_->clustering_count);
}

base::Status Restrictions::finish_clustering(Purpose purpose, bool allow_filtering, bool only_static) {
  const std::vector<RestrictionPtr> all = distinct(clustering_);
  restricts_clustering_ = !all.empty();
  if (only_static && restricts_clustering_) {
    if (purpose == Purpose::select)
      return invalid("Cannot restrict clustering columns when selecting only static columns");
    return invalid(fmt::format(
        "Invalid restrictions on clustering columns since the {} statement modifies only static columns",
        statement_name(purpose)));
  }
  plan_clustering();
  if (purpose == Purpose::update) {
    if (std::any_of(all.begin(), all.end(), [](const RestrictionPtr& one) { return one->is_slice(); }))
      return invalid("Slice restrictions are not supported on the clustering columns in UPDATE statements");
    std::vector<std::string> missing;
    for (size_t i = 0; i < clustering_.size(); ++i)
      if (clustering_[i] == nullptr) missing.push_back(table_->clustering(i).name);
    if (only_static || missing.empty()) return {};
    if (!table_->is_compact() || all.empty())
      return invalid(fmt::format("Some clustering keys are missing: {}", fmt::join(missing, ", ")));
    return check_prefix();
  }
  const bool filtered = clustering_needs_filtering();
  uses_index_ = uses_index_ || (has_index_ && filtered);
  const auto is_indexed = [&](const RestrictionPtr& one) { return has_index(*table_, *one); };
  if (!names_partitions_ && std::any_of(all.begin(), all.end(), is_indexed)) uses_index_ = true;
  if (uses_index_ || filtered) unkeyed_.insert(unkeyed_.end(), all.begin(), all.end());
  if (allow_filtering || has_index_) return {};
  if (std::any_of(all.begin(), all.end(),
                  [](const RestrictionPtr& one) { return one->kind == Restriction::Kind::contains; }))
    return invalid(
        "Clustering columns can only be restricted with CONTAINS with a secondary index or filtering");
  return check_prefix();
}

base::Status Restrictions::check_prefix() const {
  size_t expected = 0;
  for (size_t i = 0; i < clustering_.size(); ++i) {
    if (clustering_[i] == nullptr) continue;
    if (i != expected)
      return base::fail(
          base::Error(
              base::ErrorCode::invalid,
              fmt::format("PRIMARY KEY column \"{}\" cannot be restricted as preceding column \"{}\" is not "
                          "restricted",
                          table_->clustering(i).name, table_->clustering(expected).name))
              .with_hint(fmt::format("also restrict {}, or keep a table that is clustered by {} first",
                                     table_->clustering(expected).name, table_->clustering(i).name)));
    ++expected;
  }
  return {};
}

base::Status Restrictions::finish_others(Purpose purpose, bool may_filter) {
  if (others_.empty()) return {};
  std::sort(others_.begin(), others_.end(),
            [](const auto& left, const auto& right) { return left.first->name < right.first->name; });
  std::vector<std::string> names;
  for (const auto& [column, restriction] : others_) {
    names.push_back(column->name);
    restricts_regular_ = restricts_regular_ || column->is_regular();
    filters_.push_back(restriction);
  }
  if (purpose != Purpose::select)
    return invalid(fmt::format("Non PRIMARY KEY columns found in where clause: {} ", fmt::join(names, ", ")));
  needs_filtering_ = true;
  uses_index_ = has_index_;
  if (!may_filter && !has_index_) return base::fail(filtering_refused());
  for (const auto& [column, restriction] : others_) unkeyed_.push_back(restriction);
  return {};
}

void Restrictions::summarise() {
  for (const RestrictionPtr& restriction : filters_)
    for (const schema::Column* column : restriction->columns)
      if (std::find(filtered_columns_.begin(), filtered_columns_.end(), column) == filtered_columns_.end())
        filtered_columns_.push_back(column);
  if (!names_partitions_) {
    needs_filtering_ = needs_filtering_ || restricts_clustering_;
    return;
  }
  for (const RestrictionPtr& restriction : partition_) {
    const int marker = restriction->kind == Restriction::Kind::equal && !restriction->value.parts.empty()
                           ? restriction->value.parts[0]->marker_index()
                           : -1;
    if (marker < 0) {
      partition_key_markers_.clear();
      return;
    }
    partition_key_markers_.push_back(static_cast<uint16_t>(marker));
  }
}

base::Status Restrictions::finish(const schema::Snapshot& schema, Purpose purpose, bool allow_filtering,
                                  bool only_static) {
  // Virtual tables are small and built on demand, so they allow filtering implicitly.
  const schema::KeyspacePtr keyspace = schema.find_keyspace(table_->keyspace);
  is_write_ = purpose != Purpose::select;
  may_filter_ = allow_filtering || (keyspace != nullptr && keyspace->is_virtual);
  if (purpose == Purpose::select && !table_->indexes.empty()) {
    const auto is_indexed = [&](const RestrictionPtr& one) {
      return one != nullptr && has_index(*table_, *one);
    };
    has_index_ = std::any_of(partition_.begin(), partition_.end(), is_indexed) ||
                 std::any_of(clustering_.begin(), clustering_.end(), is_indexed) ||
                 std::any_of(others_.begin(), others_.end(),
                             [&](const auto& other) { return is_indexed(other.second); });
  }
  SIBYL_TRY(finish_partition(purpose, may_filter_));
  SIBYL_TRY(finish_clustering(purpose, allow_filtering, only_static));
  SIBYL_TRY(finish_others(purpose, may_filter_));
  if (uses_index_ && has_partition_in_)
    return invalid("Select on indexed columns and with IN clause for the PRIMARY KEY are not supported");
  summarise();
  choose_indexes();
  return {};
}

base::Status Restrictions::check_scan() const {
  if (may_filter_ || (names_partitions_ && !uses_index_)) return {};
  const bool is_filtered = unkeyed_.empty() ? restricts_clustering_ : !are_served(*table_, unkeyed_);
  return is_filtered ? base::Status(base::fail(filtering_refused())) : base::Status();
}

bool Restrictions::restricts_partition() const {
  return token_.exists() ||
         std::any_of(partition_.begin(), partition_.end(),
                     [](const RestrictionPtr& restriction) { return restriction != nullptr; });
}

bool Restrictions::is_equal_restricted(const schema::Column& column) const {
  const std::vector<RestrictionPtr>* list = column.is_partition_key() ? &partition_
                                            : column.is_clustering()  ? &clustering_
                                                                      : nullptr;
  if (list == nullptr) return false;
  const RestrictionPtr& restriction = (*list)[static_cast<size_t>(column.position)];
  return restriction != nullptr && restriction->kind == Restriction::Kind::equal;
}

base::Result<RestrictionsPtr> bind_restrictions(Binder& binder, const schema::TablePtr& table,
                                                const std::vector<cql::Relation>& relations, Purpose purpose,
                                                bool allow_filtering, bool only_static) {
  auto restrictions = std::make_shared<Restrictions>(table);
  const auto bind = [&](const cql::Relation& relation) -> base::Status {
    const bool contains =
        relation.op == cql::Operator::contains || relation.op == cql::Operator::contains_key;
    if (contains && purpose != Purpose::select)
      return invalid(
          fmt::format("Cannot use {} with {}", statement_name(purpose), cql::to_string(relation.op)));
    SIBYL_ASSIGN(RestrictionPtr bound, bind_relation(binder, *table, relation, restrictions->token()));
    const bool is_like = relation.op == cql::Operator::like;
    if (is_like && (purpose != Purpose::select || !has_index(*table, *bound)))
      return invalid(
          fmt::format("LIKE restriction is only supported on properly indexed columns. {} is not valid.",
                      text_of(relation)));
    return bound == nullptr ? base::Status() : restrictions->add(std::move(bound), purpose, allow_filtering);
  };
  for (const cql::Relation& relation : relations)
    if (auto status = bind(relation); !status)
      return base::fail(status.error().position() ? status.error() : status.error().at(relation.position));
  SIBYL_TRY(restrictions->finish(binder.schema(), purpose, allow_filtering, only_static));
  return restrictions;
}

}  // namespace sibyl::plan
