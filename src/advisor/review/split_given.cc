#include "advisor/review/split_given.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "advisor/review/buckets.h"

namespace sibyl::advisor {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

bool compares_by_equality(const std::vector<cql::Relation>& where, const std::string& column) {
  return std::any_of(where.begin(), where.end(), [&](const cql::Relation& relation) {
    return relation.op == cql::Operator::equal && relation.target == cql::Relation::Target::column &&
           std::find(relation.columns.begin(), relation.columns.end(), column) != relation.columns.end();
  });
}

// The conditions of the statements that use the table; INSERTs have none. Nullopt: a condition is unknown, or
// no statement reads the table by its key.
std::optional<std::vector<const std::vector<cql::Relation>*>> conditions_on(const SplitSituation& situation) {
  using Access = plan::Explanation::Access;
  std::vector<const std::vector<cql::Relation>*> out;
  bool is_read = false;
  for (const StatementFacts& statement : situation.model.statements) {
    if (statement.ad_hoc || statement.explanation.uses.empty()) continue;
    const auto& uses = statement.explanation.uses;
    const bool of_table = std::any_of(uses.begin(), uses.end(), [&](const auto& use) {
      return situation.model.find(*use.table) == &situation.table;
    });
    if (!of_table) continue;
    if (const auto* update = std::get_if<cql::Update>(&statement.tree->node)) {
      out.push_back(&update->where);
    } else if (const auto* remove = std::get_if<cql::Delete>(&statement.tree->node)) {
      out.push_back(&remove->where);
    } else if (statement.select() != nullptr) {
      if (uses[0].access != Access::partitions && uses[0].access != Access::rows) continue;
      out.push_back(&statement.select()->where);
      is_read = true;
    } else if (!std::holds_alternative<cql::Insert>(statement.tree->node)) {
      return std::nullopt;
    }
  }
  return is_read ? std::optional(out) : std::nullopt;
}

// The number of values that the columns have within a partition, and the share of the most frequent value.
struct KeyValues {
  double values = 1, share = 1;
};

KeyValues values_of_given(const SplitSituation& situation, const std::vector<std::string>& columns) {
  const schema::Table& table = *situation.table.table;
  KeyValues out;
  // The whole key names one row.
  if (columns.size() == table.clustering_count) return {unlimited, 1 / std::max(1.0, situation.rows)};
  for (const std::string& name : columns) {
    const ColumnFacts& known = situation.table.column(*table.find(name));
    if (!known.distinct) return {0, 1};
    out.values *= *known.distinct;
    out.share *= 1 / zipf_sum(*known.distinct, known.skew);
  }
  out.share = std::max(out.share, largest_share(situation.rows, out.values, situation.partitions));
  return out;
}

Shape with_given(const schema::Table& table, const std::vector<std::string>& columns) {
  Shape shape = shape_of(table);
  for (const std::string& name : columns) shape.promote(name);
  return shape;
}

}  // namespace

std::vector<std::vector<std::string>> given_columns(const SplitSituation& situation) {
  const schema::Table& table = *situation.table.table;
  const bool has_statics = std::any_of(table.columns.begin(), table.columns.end(),
                                       [](const schema::Column& column) { return column.is_static(); });
  const auto conditions = conditions_on(situation);
  if (!conditions || conditions->empty() || table.is_view() || has_statics) return {};
  std::vector<std::string> given;
  for (size_t i = 0; i < table.clustering_count; ++i)
    if (std::all_of(conditions->begin(), conditions->end(), [&](const auto* where) {
          return compares_by_equality(*where, table.clustering(i).name);
        }))
      given.push_back(table.clustering(i).name);
  if (given.empty()) return {};
  std::vector<std::vector<std::string>> out;
  if (given.size() == table.clustering_count) {
    out.push_back(std::move(given));
    return out;
  }
  for (const std::string& name : given) out.push_back({name});
  if (given.size() > 1) out.push_back(given);
  std::erase_if(out, [&](const auto& columns) { return values_of_given(situation, columns).values <= 1; });
  return out;
}

Choice given_choice(const SplitSituation& situation, const std::vector<std::string>& columns) {
  const ReviewTarget& target = situation.model.target;
  const KeyValues found = values_of_given(situation, columns);
  Choice choice;
  choice.name = listed(columns) + " in the partition key";
  const double row = situation.table.row_bytes + situation.more_bytes;
  choice.largest_bytes = std::max(row, situation.bytes * found.share * row / situation.table.row_bytes);
  choice.hottest_rate = situation.rate * found.share;
  choice.fits = choice.largest_bytes <= target.partition_bytes * rounding &&
                choice.hottest_rate <= target.partition_rate * rounding && found.values >= situation.least;
  choice.cost = cost_of(situation, [](const SplitRead&) { return 1.0; }, 1);
  return choice;
}

TableFacts facts_with_given(const TableFacts& table, const std::vector<std::string>& columns) {
  return facts_of(table, with_given(*table.table, columns));
}

void divide_by_given(const SplitSituation& whole, const std::vector<std::string>& columns,
                     SplitSituation& part) {
  const KeyValues found = values_of_given(whole, columns);
  part.more_bytes = whole.more_bytes;
  part.rows = whole.rows * found.share;
  part.bytes = whole.bytes * found.share;
  part.rate = whole.rate * found.share;
  part.busiest = whole.busiest * found.share;
  part.key_growth = whole.key_growth / std::max(1.0, found.values);
  part.partitions = whole.partitions * found.values;
  part.least = std::max(1.0, std::ceil(whole.least / found.values));
  part.period = whole.period;
  part.period_seconds = whole.period_seconds;
  part.reads = whole.reads;
  part.is_new = true;
}

}  // namespace sibyl::advisor
