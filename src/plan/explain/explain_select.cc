#include "plan/explain/explain_select.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/evaluation/partitions.h"
#include "plan/restrictions/bound.h"
#include "plan/restrictions/relations.h"
#include "plan/statements/nearest.h"
#include "plan/statements/select.h"
#include "plan/terms/term_text.h"

namespace sibyl::plan {
namespace {

using Access = Explanation::Access;
using Step = Explanation::Step;
using TableUse = Explanation::TableUse;

void multiply(std::optional<uint64_t>& count, const cql::Relation& relation) {
  if (relation.op != cql::Operator::in || !count) return;
  if (relation.has_value_list)
    *count *= relation.values.size();
  else
    count.reset();
}

Access access_of(const cql::Select& select, const Select& plan) {
  const Restrictions& where = *plan.where;
  if (plan.nearest != nullptr || !where.index_uses().empty()) return Access::index;
  if (where.partitions() == Restrictions::Partitions::keys)
    return where.names_whole_row() && plan.table->clustering_count > 0 ? Access::rows : Access::partitions;
  const bool by_token = std::any_of(
      select.where.begin(), select.where.end(),
      [](const cql::Relation& relation) { return relation.target == cql::Relation::Target::token; });
  return by_token ? Access::token_range : Access::full_scan;
}

bool is_range(cql::Operator op) {
  return op == cql::Operator::less || op == cql::Operator::less_or_equal || op == cql::Operator::greater ||
         op == cql::Operator::greater_or_equal;
}

// True if the clustering relations can match rows for any bound values. Two bounds may exclude each other,
// and a list may be empty.
bool clustering_is_open(const cql::Select& select, const Select& plan) {
  size_t ranges = 0;
  for (const cql::Relation& relation : select.where) {
    if (relation.columns.empty()) continue;
    const schema::Column* column = plan.table->find(relation.columns.front());
    if (column == nullptr || !column->is_clustering()) continue;
    ranges += is_range(relation.op) ? 1 : 0;
    if (relation.op == cql::Operator::in && (!relation.has_value_list || relation.values.empty()))
      return false;
    if (relation.op != cql::Operator::in && relation.op != cql::Operator::equal && !is_range(relation.op))
      return false;
  }
  return ranges <= 1;
}

// True if reading may end before the last partition.
bool may_stop(const cql::Select& select, const Select& plan) {
  if (select.limit == nullptr || !plan.sort.empty()) return false;
  return plan.group_by != nullptr || !plan.aggregates();
}

// Counts the keys that the statement itself names, without markers and without evaluating calls.
void count_keys(const Select& plan, TableUse& use) {
  Scratch scratch;
  const Bindings bindings{{}, 0, {}, {}};
  const auto keys = partition_keys(*plan.where, bindings, scratch);
  if (keys) use.partitions = keys->size();
}

void set_exact(const cql::Select& select, const Select& plan, const Prepared& prepared, TableUse& use) {
  const bool by_key = use.access == Access::rows || use.access == Access::partitions;
  const bool by_list = by_key && plan.where->has_partition_in();
  const bool constant = prepared.markers.empty() && prepared.functions.empty();
  if (by_list && constant) count_keys(plan, use);
  if (!clustering_is_open(select, plan)) return;
  if (use.access == Access::full_scan) use.exact = !may_stop(select, plan);
  if (!by_key || !use.partitions) return;
  const bool several = *use.partitions > 1;
  use.exact = !several || (constant && !may_stop(select, plan));
}

// "by_email", or the names of several indexes that are used together.
std::string index_names(const Select& plan) {
  if (plan.nearest != nullptr) return plan.nearest->index->name;
  std::vector<std::string> names;
  for (const IndexUse& use : plan.where->index_uses()) names.push_back(use.index->name);
  return fmt::format("{}", fmt::join(names, " and "));
}

std::string rows_of(const Select& plan, const SortedRelations& sorted) {
  if (plan.distinct) return "its static columns";
  if (plan.table->clustering_count == 0) return "its one row";
  return joined(sorted.clustering);
}

Step access_step(const Select& plan, const TableUse& use, const SortedRelations& sorted) {
  Step step;
  step.target = qualified(*plan.table);
  step.rows = rows_of(plan, sorted);
  const std::string direction = plan.reversed ? ", in reverse order" : "";
  switch (use.access) {
    case Access::rows:
    case Access::partitions: {
      const bool one = use.partitions == 1;
      const bool one_row = use.access == Access::rows && one && sorted.rows == 1;
      step.action = one_row                      ? "read row"
                    : use.access == Access::rows ? "read rows"
                    : one                        ? "read partition"
                                                 : "read partitions";
      step.partitions = counted(use.partitions);
      step.detail = fmt::format("by key: {}{}", joined(sorted.partition), direction);
      break;
    }
    case Access::index:
      step.action = "read by index";
      step.target = use.index;
      step.partitions = use.partitions ? counted(use.partitions) : "n";
      step.detail = fmt::format(
          "{} of {} found by the index{}{}",
          plan.nearest != nullptr ? "rows with the most similar vectors" : "rows", qualified(*plan.table),
          use.partitions ? ", in partitions by key: " + joined(sorted.partition) : "", direction);
      break;
    case Access::token_range:
      step.action = "read token range";
      step.partitions = "n";
      step.detail = fmt::format("every partition with {}{}", joined(sorted.partition), direction);
      break;
    case Access::full_scan:
      step.action = "scan table";
      step.partitions = "all";
      step.detail = fmt::format("every partition, in token order{}", direction);
      break;
  }
  return step;
}

void add_groups(const cql::Select& select, const Select& plan, Explanation& out) {
  if (plan.group_by != nullptr) {
    std::vector<std::string> columns;
    for (const cql::ExpressionPtr& one : select.group_by) columns.push_back(text_of(*one));
    out.steps.push_back({"group", fmt::format("{}", fmt::join(columns, ", ")), "", "",
                         "rows are already in this order, so only one group is in memory at a time"});
  } else if (!plan.selection.aggregates.empty()) {
    out.steps.push_back(
        {"aggregate", "", "", "", "all rows are combined into one; they are not kept in memory"});
  }
}

void add_sort(const cql::Select& select, const Select& plan, Explanation& out) {
  if (plan.sort.empty()) return;
  std::vector<std::string> columns;
  for (const cql::Ordering& one : select.order_by)
    columns.push_back(one.column + (one.descending ? " DESC" : ""));
  out.steps.push_back({"sort", fmt::format("{}", fmt::join(columns, ", ")), "", "",
                       "the rows of all partitions are collected in memory first; the result is not paged"});
}

void add_limits(const cql::Select& select, const Select& plan, Explanation& out) {
  if (select.per_partition_limit)
    out.steps.push_back({"limit", "", "", text_of(*select.per_partition_limit) + " of each partition",
                         "the rest of a partition is skipped, not read"});
  if (select.limit)
    out.steps.push_back({"limit", "", "", text_of(*select.limit),
                         plan.sort.empty() ? "reading stops after this many rows" : "applied after sorting"});
}

void warn(const Select& plan, const TableUse& use, Explanation& out) {
  const std::string name = qualified(*plan.table);
  if (use.access == Access::full_scan && !plan.table->is_virtual)
    out.warnings.push_back(fmt::format("reads every partition of {}: the time grows with the table", name));
  if (!use.filters.empty() && use.access != Access::index)
    out.warnings.push_back(fmt::format(
        "rows that fail the filter on {} are read and discarded; a key or an index that begins with it "
        "would find only the matching rows",
        fmt::join(use.filtered_columns, ", ")));
  constexpr uint64_t many_partitions = 20;
  if (use.partitions && *use.partitions > many_partitions)
    out.warnings.push_back(
        fmt::format("one request reads {} partitions one after another; separate requests could run in "
                    "parallel",
                    *use.partitions));
}

}  // namespace

std::string qualified(const schema::Table& table) {
  return table.keyspace + "." + table.name;
}

std::string joined(const std::vector<std::string>& relations) {
  return relations.empty() ? "all" : fmt::format("{}", fmt::join(relations, " AND "));
}

std::string counted(const std::optional<uint64_t>& count) {
  return count ? std::to_string(*count) : "n";
}

SortedRelations sort_relations(const schema::Table& table, const std::vector<cql::Relation>& where,
                               bool names_partitions,
                               const std::vector<const schema::Column*>& filtered_columns) {
  SortedRelations sorted;
  const auto is_filtered = [&](const std::string& name) {
    return std::any_of(filtered_columns.begin(), filtered_columns.end(),
                       [&](const schema::Column* column) { return column->name == name; });
  };
  for (const cql::Relation& relation : where) {
    const std::string text = text_of(relation);
    if (relation.target == cql::Relation::Target::token) {
      sorted.partition.push_back(text);
      continue;
    }
    if (relation.columns.empty() ||
        std::any_of(relation.columns.begin(), relation.columns.end(), is_filtered)) {
      sorted.filters.push_back(text);
      continue;
    }
    const schema::Column* column = table.find(relation.columns.front());
    if (column != nullptr && column->is_partition_key()) {
      (names_partitions ? sorted.partition : sorted.filters).push_back(text);
      multiply(sorted.partitions, relation);
    } else {
      sorted.clustering.push_back(text);
      multiply(sorted.rows, relation);
    }
  }
  if (!names_partitions) sorted.partitions.reset();
  return sorted;
}

void explain_select(const cql::Select& select, const Select& plan, const Prepared& prepared,
                    Explanation& out) {
  const SortedRelations sorted =
      sort_relations(*plan.table, select.where, plan.where->partitions() == Restrictions::Partitions::keys,
                     plan.where->filtered_columns());
  TableUse use;
  use.table = plan.table;
  use.access = access_of(select, plan);
  use.partitions = sorted.partitions;
  use.index = index_names(plan);
  use.reads = true;
  use.reversed = plan.reversed;
  use.clustering = sorted.clustering;
  use.filters = sorted.filters;
  for (const schema::Column* column : plan.where->filtered_columns())
    use.filtered_columns.push_back(column->name);
  use.sorts = !plan.sort.empty();
  use.groups = plan.group_by != nullptr;
  use.aggregates = plan.aggregates();
  use.has_limit = select.limit != nullptr;
  set_exact(select, plan, prepared, use);

  out.steps.push_back(access_step(plan, use, sorted));
  if (!use.filters.empty())
    out.steps.push_back({"filter", fmt::format("{}", fmt::join(use.filtered_columns, ", ")), "",
                         joined(use.filters),
                         use.access == Access::index ? "checked on every row that the index finds"
                                                     : "checked on every row that is read"});
  add_groups(select, plan, out);
  add_sort(select, plan, out);
  add_limits(select, plan, out);
  warn(plan, use, out);
  out.uses.push_back(std::move(use));
}

}  // namespace sibyl::plan
