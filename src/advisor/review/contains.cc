// Proposes a table with one row per collection element, for queries that search for an element.
#include <fmt/format.h>

#include <algorithm>

#include "advisor/review/statement.h"

namespace sibyl::advisor {
namespace {

using cql::Operator;

// The name of a single element: `tag` for `tags`.
std::string element_name(const schema::Table& table, const std::string& column) {
  std::string name =
      column.size() > 2 && column.ends_with('s') ? column.substr(0, column.size() - 1) : column + "_element";
  while (table.find(name) != nullptr) name += "_element";
  return name;
}

// Statistics of the proposed table, which holds each row once per element.
TableFacts with_elements(const TableFacts& table, const schema::Column& collection, schema::Column element) {
  TableFacts out = table;
  const ColumnFacts& known = table.column(collection);
  const double each = elements_of(known);
  ColumnFacts& facts = out.columns[element.name];
  facts.distinct = known.distinct;
  facts.distinct_origin = known.distinct_origin;
  facts.skew = known.skew;
  schema::Table changed = *table.table;
  changed.columns.push_back(std::move(element));
  changed.finish();
  out.table = std::make_shared<const schema::Table>(std::move(changed));
  for (std::optional<double>* rows : {&out.rows, &out.growth})
    if (*rows) **rows *= each;
  out.writes *= each;
  return out;
}

}  // namespace

bool fix_contains(const ReviewModel& model, const StatementFacts& statement, const TableFacts& table,
                  Finding& finding) {
  const cql::Relation* contains = nullptr;
  std::vector<std::string> equal;
  for (const cql::Relation& relation : statement.select()->where) {
    if (relation.op == Operator::contains || relation.op == Operator::contains_key) {
      if (contains != nullptr) return false;
      contains = &relation;
    } else if (relation.op == Operator::equal && relation.target == cql::Relation::Target::column) {
      equal.push_back(relation.columns[0]);
    } else {
      return false;
    }
  }
  const schema::Column* collection = contains != nullptr ? table.table->find(contains->columns[0]) : nullptr;
  if (collection == nullptr || !collection->type->is_collection()) return false;
  const bool map = collection->type->kind() == types::Kind::map;
  const bool by_key = contains->op == Operator::contains_key;
  schema::Column element;
  element.name = element_name(*table.table, collection->name);
  element.type = !map     ? collection->type->element()
                 : by_key ? collection->type->map_key()
                          : collection->type->map_value();
  element.kind = schema::ColumnKind::regular;
  Shape shape = shape_of(*table.table);
  for (Shape::Column& column : shape.columns) column.is_static = false;
  std::vector<Shape::Order> old;
  for (const std::string& name : shape.partition) old.push_back({name, false});
  old.insert(old.end(), shape.clustering.begin(), shape.clustering.end());
  shape.columns.push_back({element.name, element.type->cql_name(), false});
  shape.partition = equal;
  shape.partition.push_back(element.name);
  shape.clustering.clear();
  for (const Shape::Order& order : old)
    if (!shape.in_key(order.name)) shape.clustering.push_back(order);
  shape.name = stem_of(shape.name) + "_by_" + element.name;
  const std::string name = shape.name;
  const TableFacts base = with_elements(table, *collection, std::move(element));
  const bool split = propose_within_target(model, base, std::move(shape), statement, finding);
  const std::string words = std::move(finding.fix);
  finding.fix = fmt::format(
      "Add a table with one row per element of {}. A read of {} takes one partition{} An index on {} would "
      "query every node.",
      collection->name, name, split ? ". " + words : std::string("."), collection->name);
  finding.cost += fmt::format(
      "{}A changed row needs one write per element, about {}{}.", finding.cost.empty() ? "" : " ",
      count_text(elements_of(table.column(*collection))),
      base.rows ? fmt::format(", and {} more on each replica", size_text(*base.rows * base.row_bytes)) : "");
  return true;
}

}  // namespace sibyl::advisor
