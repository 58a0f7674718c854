#include "advisor/trial/literals.h"

#include "types/literals/literal.h"

namespace sibyl::advisor {
namespace {

const std::vector<cql::Relation>* relations_of(const cql::Statement& statement) {
  if (const auto* select = std::get_if<cql::Select>(&statement.node)) return &select->where;
  if (const auto* update = std::get_if<cql::Update>(&statement.node)) return &update->where;
  if (const auto* remove = std::get_if<cql::Delete>(&statement.node)) return &remove->where;
  return nullptr;
}

}  // namespace

std::vector<ColumnLiteral> literals_of(const cql::Statement& statement, const schema::Table& table) {
  std::vector<ColumnLiteral> out;
  const std::vector<cql::Relation>* relations = relations_of(statement);
  if (relations == nullptr) return out;
  for (const cql::Relation& relation : *relations) {
    const bool compares = relation.op == cql::Operator::equal || relation.op == cql::Operator::in;
    if (!compares || relation.target != cql::Relation::Target::column || relation.columns.size() != 1)
      continue;
    const schema::Column* column = table.find(relation.columns[0]);
    if (column == nullptr || !column->type->parameters().empty()) continue;
    const auto add = [&](const cql::ExpressionPtr& expression) {
      const auto* literal = expression != nullptr ? std::get_if<cql::Literal>(&expression->node) : nullptr;
      const bool plain = literal != nullptr && literal->kind != cql::Literal::Kind::null &&
                         literal->kind != cql::Literal::Kind::blob;
      if (!plain) return;
      if (auto value = types::from_string(*column->type, literal->text))
        out.push_back({column->name, std::move(*value)});
    };
    add(relation.value);
    for (const cql::ExpressionPtr& value : relation.values) add(value);
  }
  return out;
}

}  // namespace sibyl::advisor
