#include "advisor/review/judgement/prefix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sibyl::advisor {
namespace {

using cql::Operator;

bool is_text(const schema::Column& column) {
  return column.type->kind() == types::Kind::text || column.type->kind() == types::Kind::ascii;
}

// The text whose beginning the statement asks for; nullptr: another kind of statement.
const schema::Column* searched_column(const schema::Table& table, const cql::Select& select) {
  const schema::Column* out = nullptr;
  for (const cql::Relation& relation : select.where) {
    const schema::Column* column = relation.columns.size() == 1 ? table.find(relation.columns[0]) : nullptr;
    const bool searches = relation.op == Operator::like || relation.op == Operator::less ||
                          relation.op == Operator::less_or_equal || relation.op == Operator::greater ||
                          relation.op == Operator::greater_or_equal || relation.op == Operator::between;
    if (column == nullptr || relation.target != cql::Relation::Target::column || !searches) return nullptr;
    if (!is_text(*column) || (out != nullptr && out != column)) return nullptr;
    out = column;
  }
  return out;
}

Shape by_prefix(const schema::Table& table, const schema::Column& searched) {
  Shape shape = shape_of(table);
  std::vector<Shape::Order> old;
  for (const std::string& name : shape.partition) old.push_back({name, false});
  old.insert(old.end(), shape.clustering.begin(), shape.clustering.end());
  shape.name = fmt::format("{}_by_{}_prefix", stem_of(table.name), searched.name);
  if (shape.name.size() > max_name_length) shape.name = stem_of(table.name) + "_by_prefix";
  shape.partition.clear();
  shape.clustering = {{searched.name, false}};
  for (const Shape::Order& one : old)
    if (one.name != searched.name) shape.clustering.push_back(one);
  for (Shape::Column& column : shape.columns) column.is_static = false;
  return shape;
}

}  // namespace

bool fix_by_prefix(const ReviewModel& model, const StatementFacts& statement, Finding& finding) {
  const schema::Table* table = table_of(model, statement);
  if (table == nullptr || !statement.select()->order_by.empty()) return false;
  const schema::Column* searched = searched_column(*table, *statement.select());
  if (searched == nullptr) return false;
  Shape shape = by_prefix(*table, *searched);
  finding.fix = fmt::format(
      "Add a table for this query, partitioned by the first letters of {0} and ordered by {0}: if the "
      "statement "
      "also gives these letters, a read of {1} takes one partition.",
      searched->name, shape.name);
  const TableFacts* facts = model.find(*table);
  if (facts != nullptr && facts->rows) {
    const double least = std::ceil(facts->rows_after(model.horizon_of(*facts)) * facts->row_bytes /
                                   model.target.partition_bytes);
    if (least > 1)
      finding.fix += fmt::format(
          " Take as many letters as make the most frequent prefix smaller than {}; there "
          "must be at least {} prefixes.",
          size_text(model.target.partition_bytes), count_text(least));
  }
  finding.cost = "Searches must give at least these letters.";
  Proposal proposal;
  proposal.partition.push_back(
      {"prefix", "text",
       fmt::format("the first letters of {}, in lower case if searches ignore it", searched->name), ""});
  proposal.beside = std::move(shape);
  finding.proposal = std::make_shared<const Proposal>(std::move(proposal));
  return true;
}

}  // namespace sibyl::advisor
