// Queries in two steps: the values of `IN ?` are the rows that another statement returns.
#include "advisor/review/judgement/supply.h"

#include <fmt/format.h>

#include <algorithm>

namespace sibyl::advisor {
namespace {

using Access = plan::Explanation::Access;

// The partition key column that the statement compares with a list of unknown length; nullptr: none.
const schema::Column* listed_column(const StatementFacts& statement) {
  if (statement.select() == nullptr || statement.explanation.uses.empty()) return nullptr;
  const plan::Explanation::TableUse& use = statement.explanation.uses[0];
  if (use.partitions || (use.access != Access::partitions && use.access != Access::rows)) return nullptr;
  for (const cql::Relation& relation : statement.select()->where) {
    const schema::Column* column =
        relation.columns.size() == 1 ? use.table->find(relation.columns[0]) : nullptr;
    if (column != nullptr && column->is_partition_key() && relation.op == cql::Operator::in) return column;
  }
  return nullptr;
}

// Returns how well the statement supplies values for the column: 2 by its name, 1 by its type, 0 not at all.
int fitness(const StatementFacts& source, const schema::Column& column) {
  const cql::Select* select = source.select();
  if (select == nullptr || source.error || source.explanation.uses.empty()) return 0;
  const schema::Table& table = *source.explanation.uses[0].table;
  const auto same_type = [&](const schema::Column* found) {
    return found != nullptr && found->type->cql_name() == column.type->cql_name();
  };
  if (select->selectors.empty()) return same_type(table.find(column.name)) ? 2 : 0;
  int best = 0;
  for (const auto& selector : select->selectors) {
    const auto* name = std::get_if<cql::ColumnReference>(&selector.expression->node);
    const schema::Column* found = name != nullptr ? table.find(name->name) : nullptr;
    if (!same_type(found)) continue;
    best = std::max(best, found->name == column.name ? 2 : select->selectors.size() == 1 ? 1 : 0);
  }
  return best;
}

// The rows that one execution of the statement returns.
std::optional<StatementFacts::Supply> rows_of(const ReviewModel& model, const StatementFacts& source) {
  const cql::Select& select = *source.select();
  const plan::Explanation::TableUse& use = source.explanation.uses[0];
  StatementFacts::Supply out;
  out.statement = source.name;
  const TableFacts* table = model.find(*use.table);
  const auto each = table != nullptr ? table->rows_per_partition_after(0) : std::nullopt;
  if (source.rows) {
    out.mean = out.p50 = out.p99 = *source.rows;
  } else if (use.access == Access::rows) {
    out.mean = out.p50 = out.p99 = 1;
  } else if (use.access == Access::partitions && use.partitions && use.filters.empty() && each &&
             each->max > 0) {
    const auto keys = static_cast<double>(*use.partitions);
    out.mean = keys * each->mean;
    out.p50 = keys * each->p50;
    out.p99 = keys * each->p99;
  } else {
    return std::nullopt;
  }
  const auto* literal = select.limit != nullptr ? std::get_if<cql::Literal>(&select.limit->node) : nullptr;
  if (const auto limit = literal != nullptr ? read_number(literal->text) : std::nullopt)
    for (double* one : {&out.mean, &out.p50, &out.p99}) *one = std::min(*one, *limit);
  return out;
}

// The statement before this one in its group that fits best; without a group, the only one that fits.
const StatementFacts* source_of(const ReviewModel& model, size_t at, const schema::Column& column) {
  const StatementFacts& own = model.statements[at];
  const StatementFacts* best = nullptr;
  int most = 0, count = 0;
  for (size_t i = 0; i < model.statements.size(); ++i) {
    const StatementFacts& other = model.statements[i];
    if (i == at || other.group != own.group || (!own.group.empty() && i > at)) continue;
    const int fits = fitness(other, column);
    // Without a group, a common name is not enough: the statement must also return no other column.
    if (fits == 0 || (own.group.empty() && other.select()->selectors.size() != 1)) continue;
    ++count;
    if (fits >= most) best = &other;
    most = std::max(most, fits);
  }
  return own.group.empty() && count > 1 ? nullptr : best;
}

}  // namespace

void take_supply(const StatementFacts& statement, QueryReview& out) {
  if (!statement.supply) return;
  const StatementFacts::Supply& supply = *statement.supply;
  out.partitions_p50 = std::max(1.0, supply.p50);
  out.partitions_p99 = std::max(1.0, supply.p99);
  out.formula = fmt::format("one per row of {}: {} on average, p50 {}, p99 {}", supply.statement,
                            count_text(*out.partitions), count_text(*out.partitions_p50),
                            count_text(*out.partitions_p99));
}

void find_supplies(ReviewModel& model) {
  for (size_t i = 0; i < model.statements.size(); ++i) {
    StatementFacts& statement = model.statements[i];
    const schema::Column* column = listed_column(statement);
    if (column == nullptr || statement.partitions) continue;
    const StatementFacts* source = source_of(model, i, *column);
    if (source == nullptr) continue;
    statement.supply = rows_of(model, *source);
    if (statement.supply) statement.partitions = std::max(1.0, statement.supply->mean);
  }
}

}  // namespace sibyl::advisor
