// Fixes for statements that have no plan and whose error has no hint.
#include <fmt/format.h>

#include <algorithm>

#include "advisor/review/fix.h"

namespace sibyl::advisor {
namespace {

bool fix_unknown_column(Finding& finding, const schema::Table& table, const cql::Select& select) {
  std::vector<std::string> named, names;
  for (const cql::Relation& relation : select.where)
    named.insert(named.end(), relation.columns.begin(), relation.columns.end());
  for (const cql::Ordering& order : select.order_by) named.push_back(order.column);
  for (const schema::Column& column : table.columns) names.push_back(column.name);
  for (const std::string& name : named) {
    if (table.find(name) != nullptr) continue;
    const std::string near = nearest(name, names);
    finding.fix = near.empty() ? fmt::format("{} has the columns {}.", table.name, fmt::join(names, ", "))
                               : fmt::format("{} has no column {}; did you mean {}?", table.name, name, near);
    return true;
  }
  return false;
}

// Rows are stored in key order, so another order needs another table.
bool fix_sequence(Finding& finding, const schema::Table& table, const cql::Select& select) {
  Shape shape;
  if (!shape_for(table, select, shape)) return false;
  finding.fix = fmt::format(
      "Rows can be read only in clustering order or its reverse. For another order, add a table in that "
      "order: a read of {} takes one partition.",
      shape.name);
  finding.cost = "One more write per change of a row; a change of the key is a delete and an insert.";
  propose(finding, std::move(shape));
  return true;
}

}  // namespace

void fix_refusal(const ReviewModel& model, const StatementFacts& statement, Finding& finding) {
  const cql::Select* select = statement.select();
  const schema::Table* table = table_of(model, statement);
  if (select != nullptr && table == nullptr) {
    std::vector<std::string> names;
    for (const TableFacts& facts : model.tables) names.push_back(facts.table->name);
    const std::string near = nearest(select->table.name, names);
    finding.fix = fmt::format("There is no table {}{}.", select->table.name,
                              near.empty() ? "" : fmt::format("; did you mean {}?", near));
    if (!near.empty()) finding.fix.pop_back();
    return;
  }
  if (select != nullptr && fix_unknown_column(finding, *table, *select)) return;
  if (select != nullptr && !select->order_by.empty() && fix_sequence(finding, *table, *select)) return;
  const std::string_view message = statement.error->message();
  const bool by_key = message.find("cannot be restricted") != std::string_view::npos ||
                      message.find("PRIMARY KEY") != std::string_view::npos;
  finding.fix = by_key ? "Compare the leading columns of the key with =, in key order; see docs/advisor.md."
                       : "Change the statement as the error message says.";
}

}  // namespace sibyl::advisor
