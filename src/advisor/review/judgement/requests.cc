#include "advisor/review/judgement/requests.h"

#include <fmt/format.h>

#include <algorithm>

#include "cql/printer.h"
#include "types/identifier.h"

namespace sibyl::advisor {
namespace {

bool is_range(cql::Operator op) {
  using cql::Operator;
  return op == Operator::less || op == Operator::less_or_equal || op == Operator::greater ||
         op == Operator::greater_or_equal || op == Operator::between;
}

bool compares(const cql::Select& select, const std::string& column, bool by_range) {
  return std::any_of(select.where.begin(), select.where.end(), [&](const cql::Relation& one) {
    return one.target == cql::Relation::Target::column && one.columns[0] == column &&
           (by_range ? is_range(one.op) : one.op == cql::Operator::equal || one.op == cql::Operator::in);
  });
}

// The only column of the partition key that is not compared by =, if it is a period compared by a range;
// otherwise nullptr.
const schema::Column* period_in_range(const TableFacts& table, const cql::Select& select) {
  const schema::Column* period = nullptr;
  for (size_t i = 0; i < table.table->partition_key_count; ++i) {
    const schema::Column& column = table.table->partition_key(i);
    if (compares(select, column.name, false)) continue;
    if (period != nullptr || !table.column(column).is_period || !compares(select, column.name, true))
      return nullptr;
    period = &column;
  }
  return period;
}

// True if the statement restricts nothing but the partition key and leading clustering columns, so that it
// runs once the period is given.
bool restricts_key_only(const TableFacts& table, const cql::Select& select) {
  return std::all_of(select.where.begin(), select.where.end(), [&](const cql::Relation& one) {
    if (one.target != cql::Relation::Target::column) return false;
    const schema::Column* column = table.table->find(one.columns[0]);
    return column != nullptr &&
           (is_range(one.op) || one.op == cql::Operator::equal || one.op == cql::Operator::in) &&
           (column->is_partition_key() ||
            (table.table->clustering_count > 0 && column == &table.table->clustering(0)));
  });
}

const char* comparison_text(cql::Operator op) {
  using cql::Operator;
  switch (op) {
    case Operator::equal:
      return " = ?";
    case Operator::in:
      return " IN ?";
    case Operator::less:
      return " < ?";
    case Operator::less_or_equal:
      return " <= ?";
    case Operator::greater:
      return " > ?";
    case Operator::between:
      return " BETWEEN ? AND ?";
    default:
      return " >= ?";
  }
}

// The SELECT list, the table and the conditions with `period = ?` instead of a range.
std::string select_of_period(const StatementFacts& statement, const std::string& period) {
  const cql::Select& select = *statement.select();
  std::vector<std::string> columns, conditions{types::quote_identifier(period) + " = ?"};
  for (const cql::Selector& one : select.selectors) columns.push_back(cql::print(*one.expression));
  for (const cql::Relation& one : select.where) {
    if (one.columns[0] == period) continue;
    const std::string name = types::quote_identifier(one.columns[0]);
    conditions.push_back(name + comparison_text(one.op));
  }
  const std::string keyspace =
      select.table.keyspace.empty() ? "" : types::quote_identifier(select.table.keyspace) + ".";
  return fmt::format("SELECT {} FROM {}{} WHERE {};\n",
                     columns.empty() ? "*" : fmt::format("{}", fmt::join(columns, ", ")), keyspace,
                     types::quote_identifier(select.table.name), fmt::join(conditions, " AND "));
}

}  // namespace

bool fix_by_requests(const StatementFacts& statement, const TableFacts& table, Finding& finding) {
  const cql::Select* select = statement.select();
  if (select == nullptr || table.table->is_view() || !select->group_by.empty()) return false;
  const schema::Column* period = period_in_range(table, *select);
  if (period == nullptr || !restricts_key_only(table, *select)) return false;
  finding.fix = fmt::format(
      "{} is a period, and each {} is a partition of its own. Run the statement once for each {} of the "
      "range, "
      "several at a time.",
      period->name, period->name, period->name);
  finding.cql = select_of_period(statement, period->name);
  finding.cost = fmt::format(
      "One request for each period of the range. To see their cost, declare the length of the range for the "
      "statement above: -- @query {} span=30d.",
      statement.name.starts_with("line ") ? "name" : statement.name);
  return true;
}

}  // namespace sibyl::advisor
