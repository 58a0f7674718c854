#include "plan/view_filter.h"

#include <algorithm>

#include "cql/parser.h"

namespace sibyl::plan {

namespace {

base::Status evaluate(ViewFilter& filter) {
  const Restrictions& where = *filter.where;
  const Bindings bindings;
  if (where.partitions() == Restrictions::Partitions::keys) {
    SIBYL_ASSIGN(filter.partition_keys, where.partition_keys(bindings, filter.scratch));
    std::sort(filter.partition_keys->begin(), filter.partition_keys->end());
  } else {
    SIBYL_ASSIGN(filter.tokens, where.token_range(bindings, filter.scratch));
  }
  SIBYL_ASSIGN(filter.intervals, where.intervals(bindings, filter.scratch));
  SIBYL_ASSIGN(filter.filters, where.filters(bindings, filter.scratch));
  return {};
}

}  // namespace

base::Result<std::unique_ptr<const ViewFilter>> bind_view_filter(const schema::ViewDefinition& view,
                                                                 const schema::Table& base) {
  SIBYL_ASSIGN(const std::unique_ptr<cql::Statement> statement,
               cql::parse_statement("SELECT * FROM v WHERE " + view.where_clause));
  auto& relations = std::get<cql::Select>(statement->node).where;
  // Values of key columns are never null.
  std::erase_if(relations,
                [](const cql::Relation& relation) { return relation.op == cql::Operator::is_not_null; });
  if (relations.empty()) return nullptr;
  const schema::Snapshot no_schema;
  Binder binder(no_schema, base.keyspace, 0);
  // Indexes come and go; what a view holds does not depend on them.
  auto table = std::make_shared<schema::Table>(base);
  table->indexes.clear();
  auto filter = std::make_unique<ViewFilter>();
  SIBYL_ASSIGN(filter->where,
               bind_restrictions(binder, std::move(table), relations, Purpose::select, true, false));
  if (!evaluate(*filter)) filter->excludes_all = true;
  return filter;
}

}  // namespace sibyl::plan
