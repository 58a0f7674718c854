#include "plan/evaluation/view_filter.h"

#include <algorithm>

#include "base/check.h"
#include "cql/parser.h"
#include "cql/printer.h"
#include "plan/evaluation/clustering.h"
#include "plan/evaluation/filters.h"
#include "plan/evaluation/partitions.h"
#include "types/print_value.h"

namespace sibyl::plan {

namespace {

base::Status evaluate(ViewFilter& filter) {
  const Restrictions& where = *filter.where;
  const Bindings bindings;
  if (where.partitions() == Restrictions::Partitions::keys) {
    SIBYL_ASSIGN(filter.partition_keys, partition_keys(where, bindings, filter.scratch));
    std::sort(filter.partition_keys->begin(), filter.partition_keys->end());
  } else {
    SIBYL_ASSIGN(filter.tokens, token_range(where, bindings, filter.scratch));
  }
  SIBYL_ASSIGN(filter.intervals, clustering_intervals(where, bindings, filter.scratch));
  SIBYL_ASSIGN(filter.filters, row_filters(where, bindings, filter.scratch));
  return {};
}

// Replaces calls whose value may change, or that need a schema, by their current value.
class CallFolder {
 public:
  CallFolder(const schema::Snapshot& schema, const schema::Table& base, int64_t now_micros)
      : schema_(schema), base_(base) {
    bindings_.now_micros = now_micros;
  }

  base::Status fold(cql::Relation& relation) {
    const bool is_about_elements = relation.op == cql::Operator::contains ||
                                   relation.op == cql::Operator::contains_key ||
                                   relation.op == cql::Operator::like;
    if (relation.target == cql::Relation::Target::column && !is_about_elements) {
      const ColumnSpec receiver = spec_of(base_, *base_.find(relation.columns[0]));
      for (cql::ExpressionPtr& value : relation.values) SIBYL_TRY(fold(value, receiver));
      return relation.value ? fold(relation.value, receiver) : base::Status();
    }
    if (relation.target != cql::Relation::Target::columns) return {};
    for (cql::ExpressionPtr& value : relation.values) SIBYL_TRY(fold_row(value, relation.columns));
    return relation.value ? fold_row(relation.value, relation.columns) : base::Status();
  }

 private:
  base::Status fold_row(cql::ExpressionPtr& row, const std::vector<std::string>& columns) {
    auto* tuple = std::get_if<cql::TupleLiteral>(&row->node);
    if (tuple == nullptr) return {};
    for (size_t i = 0; i < tuple->elements.size() && i < columns.size(); ++i)
      SIBYL_TRY(fold(tuple->elements[i], spec_of(base_, *base_.find(columns[i]))));
    return {};
  }

  base::Status fold(cql::ExpressionPtr& expression, const ColumnSpec& receiver) {
    const schema::Snapshot no_schema;
    const base::Result<TermPtr> alone = Binder(no_schema, base_.keyspace, 0).term(*expression, receiver);
    if (alone && (*alone)->is_constant()) return {};
    SIBYL_ASSIGN(const TermPtr term, Binder(schema_, base_.keyspace, 0).term(*expression, receiver));
    SIBYL_ASSIGN(const ValueView value, term->evaluate(bindings_, scratch_));
    const std::string literal = value.is_present() ? types::to_literal(*receiver.type, value.bytes) : "null";
    SIBYL_ASSIGN(const std::unique_ptr<cql::Statement> parsed,
                 cql::parse_statement("SELECT * FROM v WHERE v = " + literal));
    expression = std::move(std::get<cql::Select>(parsed->node).where[0].value);
    return {};
  }

  const schema::Snapshot& schema_;
  const schema::Table& base_;
  Bindings bindings_;
  Scratch scratch_;
};

}  // namespace

base::Result<std::string> view_clause(const std::vector<cql::Relation>& where, const schema::Snapshot& schema,
                                      const schema::Table& base, int64_t now_micros) {
  const std::string written = cql::print(where);
  auto parsed = cql::parse_statement("SELECT * FROM v WHERE " + written);
  SIBYL_CHECK(parsed.has_value());
  auto& relations = std::get<cql::Select>((*parsed)->node).where;
  CallFolder folder(schema, base, now_micros);
  for (cql::Relation& relation : relations) SIBYL_TRY(folder.fold(relation));
  return cql::print(relations);
}

base::Result<std::unique_ptr<const ViewFilter>> bind_view_filter(const schema::ViewDefinition& view,
                                                                 const schema::Table& base) {
  SIBYL_ASSIGN(const std::unique_ptr<cql::Statement> statement,
               cql::parse_statement("SELECT * FROM v WHERE " + view.where_clause));
  auto& relations = std::get<cql::Select>(statement->node).where;
  // Values of key columns are never null, so IS NOT NULL always holds.
  std::erase_if(relations,
                [](const cql::Relation& relation) { return relation.op == cql::Operator::is_not_null; });
  if (relations.empty()) return nullptr;
  const schema::Snapshot no_schema;
  Binder binder(no_schema, base.keyspace, 0);
  // Ignores the indexes of the table: the content of a view must not depend on them.
  auto table = std::make_shared<schema::Table>(base);
  table->indexes.clear();
  auto filter = std::make_unique<ViewFilter>();
  SIBYL_ASSIGN(filter->where,
               bind_restrictions(binder, std::move(table), relations, Purpose::select, true, false));
  if (!evaluate(*filter)) filter->excludes_all = true;
  return filter;
}

}  // namespace sibyl::plan
