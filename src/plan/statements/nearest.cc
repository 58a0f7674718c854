#include "plan/statements/nearest.h"

#include <algorithm>
#include <iterator>

#include "plan/statements/select.h"
#include "plan/terms/existing_column.h"

namespace sibyl::plan {

using base::invalid;
using types::Kind;

namespace {

const schema::Index* index_on(const schema::Table& table, const schema::Column& column) {
  for (const schema::Index& index : table.indexes)
    if (index.column_id == column.id) return &index;
  return nullptr;
}

bool is_float_vector(const types::Type& type) {
  return type.kind() == Kind::vector && type.element()->kind() == Kind::float_;
}

}  // namespace

base::Result<std::unique_ptr<Nearest>> bind_nearest(Binder& binder, const schema::Table& table,
                                                    const cql::Select& select) {
  const auto is_nearest = [](const cql::Ordering& ordering) { return ordering.ann_of != nullptr; };
  const auto found = std::find_if(select.order_by.begin(), select.order_by.end(), is_nearest);
  if (found == select.order_by.end()) return std::unique_ptr<Nearest>();
  SIBYL_ASSIGN(const schema::Column* column, existing_column(table, found->column));
  auto nearest = std::make_unique<Nearest>();
  nearest->column = column;
  SIBYL_ASSIGN(nearest->vector, binder.term(*found->ann_of, spec_of(table, *column)));
  for (auto other = std::next(found); other != select.order_by.end(); ++other) {
    if (!is_nearest(*other)) continue;
    SIBYL_ASSIGN(const schema::Column* other_column, existing_column(table, other->column));
    SIBYL_TRY(binder.term(*other->ann_of, spec_of(table, *other_column)));
    return invalid("Cannot specify more than one ANN ordering");
  }
  if (select.order_by.size() > 1) return invalid("ANN ordering does not support any other ordering");
  if (found->descending) return invalid("Descending ANN ordering is not supported");
  if (!is_float_vector(*column->type))
    return invalid("ANN ordering is only supported on float vector indexes");
  nearest->index = index_on(table, *column);
  if (nearest->index == nullptr) return invalid("ANN ordering by vector requires the column to be indexed");
  const auto& options = nearest->index->options;
  if (auto name = options.find("similarity_function"); name != options.end())
    nearest->similarity = similarity_of(name->second).value_or(Similarity::cosine);
  return nearest;
}

base::Status check_vector_relations(const schema::Table& table, const cql::Select& select, bool is_nearest) {
  for (const cql::Relation& relation : select.where) {
    const bool is_contains =
        relation.op == cql::Operator::contains || relation.op == cql::Operator::contains_key;
    for (const std::string& name : relation.columns) {
      const schema::Column* column = table.find(name);
      if (column == nullptr || is_contains || column->type->kind() != Kind::vector) continue;
      if (index_on(table, *column) == nullptr) continue;
      if (is_nearest && relation.op == cql::Operator::equal)
        return invalid(name + " cannot be restricted by more than one relation if it includes an Equal");
      return invalid("Vector indexes only support ANN queries");
    }
  }
  return {};
}

base::Status check_nearest(const Select& plan, const cql::Select& select) {
  const Restrictions& where = *plan.where;
  if (where.has_partition_in() || where.has_clustering_in())
    return invalid("Select on indexed columns and with IN clause for the PRIMARY KEY are not supported");
  for (const cql::Relation& relation : select.where) {
    if (relation.target == cql::Relation::Target::token) continue;
    for (const std::string& name : relation.columns) {
      const schema::Column& column = *plan.table->find(name);
      if (column.is_primary_key() && where.partitions() == Restrictions::Partitions::keys) continue;
      if (index_on(*plan.table, column) == nullptr)
        return invalid("ANN ordering by vector requires all restricted column(s) to be indexed");
      if (relation.op == cql::Operator::in)
        return invalid(
            "Cannot execute this query as it might involve data filtering and thus may have unpredictable "
            "performance. If you want to execute this query despite the performance unpredictability, use "
            "ALLOW FILTERING");
    }
  }
  if (plan.distinct)
    return invalid(
        "SELECT DISTINCT with WHERE clause only supports restriction by partition key and/or static "
        "columns.");
  if (plan.aggregates()) return invalid("Top-K queries can not be run with aggregation");
  if (select.per_partition_limit) return invalid("Top-K queries do not support per-partition limits");
  return {};
}

}  // namespace sibyl::plan
