#include "advisor/review/dependents.h"

#include <algorithm>

#include "cql/parser.h"
#include "cql/printer.h"

namespace sibyl::advisor {
namespace {

using Tree = std::unique_ptr<cql::Statement>;

bool is_about(const cql::QualifiedName& name, const std::string& keyspace, const schema::Table& table) {
  return name.name == table.name && (name.keyspace.empty() ? keyspace : name.keyspace) == table.keyspace;
}

// Parses the statement that created the object again, so that it can be changed. Returns nullptr if the model
// has none.
template <typename Node, typename Made>
Tree definition_of(const ReviewModel& model, const Made& made) {
  for (const Definition& definition : model.definitions) {
    const auto* node = std::get_if<Node>(&definition.tree->node);
    if (node == nullptr || !made(*node, definition.keyspace)) continue;
    auto tree = cql::parse_statement(definition.text);
    return tree ? std::move(*tree) : nullptr;
  }
  return nullptr;
}

std::string index_cql(const ReviewModel& model, const schema::Table& old, const schema::Index& index,
                      const Shape& now) {
  const schema::Column* column = old.find_by_id(index.column_id);
  if (column == nullptr || !now.has(column->name)) return {};
  const Tree tree =
      definition_of<cql::CreateIndex>(model, [&](const cql::CreateIndex& create, const auto& keyspace) {
        return is_about(create.table, keyspace, old) &&
               (create.name.empty() ? create.targets[0].column == column->name : create.name == index.name);
      });
  if (tree == nullptr) return {};
  auto& create = std::get<cql::CreateIndex>(tree->node);
  create.name.clear();  // the old index still has the name
  create.table = {now.keyspace, now.name};
  return cql::print(*tree) + ";\n";
}

// A view's key must contain all columns of its table's key.
std::string view_cql(const ReviewModel& model, const schema::Table& view, const Shape& now,
                     const std::function<std::string(const std::string&)>& free_name) {
  const Tree tree =
      definition_of<cql::CreateView>(model, [&](const cql::CreateView& create, const auto& keyspace) {
        return is_about(create.view, keyspace, view);
      });
  if (tree == nullptr) return {};
  auto& create = std::get<cql::CreateView>(tree->node);
  if (!create.select->selectors.empty()) return {};
  std::vector<std::string> keys = now.partition;
  for (const Shape::Order& order : now.clustering) keys.push_back(order.name);
  for (const std::vector<std::string>* names : {&create.partition_key, &create.clustering_columns})
    if (!std::all_of(names->begin(), names->end(), [&](const auto& name) { return now.has(name); }))
      return {};
  for (const std::string& key : keys) {
    const auto has = [&](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), key) != names.end();
    };
    if (has(create.partition_key) || has(create.clustering_columns)) continue;
    create.clustering_columns.push_back(key);
    cql::Relation& present = create.select->where.emplace_back();
    present.columns = {key};
    present.op = cql::Operator::is_not_null;
  }
  create.view = {now.keyspace, free_name(view.name)};
  create.select->table = {now.keyspace, now.name};
  return cql::print(*tree) + ";\n";
}

}  // namespace

Dependents dependents_of(const ReviewModel& model, const schema::Table& old, const Shape& now,
                         const std::function<std::string(const std::string&)>& free_name) {
  Dependents out;
  const auto keep = [&](const std::string& name, const std::string& cql, std::vector<std::string>& made) {
    (cql.empty() ? out.left : made).push_back(name);
    out.cql += cql;
  };
  for (const schema::Index& index : old.indexes)
    keep(index.name, index_cql(model, old, index, now), out.indexes);
  for (const schema::TablePtr& view : old.views)
    keep(view->name, view_cql(model, *view, now, free_name), out.views);
  return out;
}

}  // namespace sibyl::advisor
