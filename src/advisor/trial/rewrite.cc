#include "advisor/trial/rewrite.h"

#include <fmt/format.h>

#include <algorithm>

#include "advisor/workload/workload.h"
#include "cql/parser.h"
#include "cql/printer.h"

namespace sibyl::advisor {
namespace {

void forget_name(const cql::ExpressionPtr& expression) {
  if (expression == nullptr) return;
  if (auto* marker = std::get_if<cql::BindMarker>(&expression->node)) marker->name.clear();
  if (auto* tuple = std::get_if<cql::TupleLiteral>(&expression->node)) {
    for (const cql::ExpressionPtr& element : tuple->elements) forget_name(element);
  }
}

void forget_names(const std::vector<cql::Relation>& relations) {
  for (const cql::Relation& relation : relations) {
    forget_name(relation.value);
    for (const cql::ExpressionPtr& value : relation.values) forget_name(value);
  }
}

void forget_names(cql::Statement& statement) {
  if (auto* select = std::get_if<cql::Select>(&statement.node)) {
    forget_names(select->where);
    forget_name(select->limit);
    forget_name(select->per_partition_limit);
  }
  if (auto* insert = std::get_if<cql::Insert>(&statement.node)) {
    for (const cql::ExpressionPtr& value : insert->values) forget_name(value);
  }
  if (auto* update = std::get_if<cql::Update>(&statement.node)) {
    for (const cql::Assignment& assignment : update->assignments) forget_name(assignment.value);
    forget_names(update->where);
  }
  if (auto* remove = std::get_if<cql::Delete>(&statement.node)) forget_names(remove->where);
}

cql::ExpressionPtr marker() {
  auto expression = std::make_unique<cql::Expression>();
  expression->node = cql::BindMarker{};
  return expression;
}

cql::ExpressionPtr number(double value) {
  auto expression = std::make_unique<cql::Expression>();
  expression->node = cql::Literal{cql::Literal::Kind::integer, fmt::format("{:.0f}", value)};
  return expression;
}

cql::Relation split_relation(const std::string& column, double modulo) {
  cql::Relation relation;
  relation.columns = {column};
  if (modulo <= 0) {
    relation.value = marker();
    return relation;
  }
  relation.op = cql::Operator::in;
  relation.has_value_list = true;
  for (double prefix = 0; prefix < modulo; ++prefix) relation.values.push_back(number(prefix));
  return relation;
}

using Bound = RequestShape::Bound;

Bound bound_of(cql::Operator op) {
  switch (op) {
    case cql::Operator::greater:
    case cql::Operator::greater_or_equal:
      return Bound::lower;
    case cql::Operator::less:
    case cql::Operator::less_or_equal:
      return Bound::upper;
    default:
      return Bound::none;
  }
}

void add_bounds(const cql::ExpressionPtr& value, Bound bound, std::vector<Bound>& out) {
  if (value == nullptr) return;
  if (std::holds_alternative<cql::BindMarker>(value->node)) out.push_back(bound);
  if (const auto* tuple = std::get_if<cql::TupleLiteral>(&value->node)) {
    for (const cql::ExpressionPtr& element : tuple->elements) add_bounds(element, bound, out);
  }
}

}  // namespace

std::vector<Bound> find_bounds(const std::string& text) {
  std::vector<Bound> out;
  const auto tree = cql::parse_statement(text);
  const auto* select = tree ? std::get_if<cql::Select>(&(*tree)->node) : nullptr;
  if (select == nullptr) return out;
  for (const cql::Relation& relation : select->where) {
    add_bounds(relation.element_key, Bound::none, out);
    const bool compares = relation.target != cql::Relation::Target::token;
    add_bounds(relation.value, compares ? bound_of(relation.op) : Bound::none, out);
    for (size_t i = 0; i < relation.values.size(); ++i) {
      const bool between = relation.op == cql::Operator::between;
      add_bounds(relation.values[i], !between ? Bound::none : i == 0 ? Bound::lower : Bound::upper, out);
    }
  }
  for (const cql::Ordering& ordering : select->order_by) add_bounds(ordering.ann_of, Bound::none, out);
  add_bounds(select->per_partition_limit, Bound::none, out);
  add_bounds(select->limit, Bound::none, out);
  return out;
}

std::string print_plain(const std::string& text) {
  auto tree = cql::parse_statement(text);
  if (!tree) return text;
  forget_names(**tree);
  return cql::print(**tree);
}

std::string print_from(const std::string& text, const std::string& table, bool all) {
  auto tree = cql::parse_statement(text);
  if (!tree) return text;
  forget_names(**tree);
  if (auto* select = std::get_if<cql::Select>(&(*tree)->node)) {
    select->table.name = table;
    select->allow_filtering = false;
    if (all) select->selectors.clear();
    if (all) select->distinct = false;
  }
  return cql::print(**tree);
}

std::string print_onto(const std::string& text, const std::string& table) {
  auto tree = cql::parse_statement(text);
  if (!tree) return text;
  forget_names(**tree);
  if (auto* update = std::get_if<cql::Update>(&(*tree)->node)) update->table.name = table;
  if (auto* remove = std::get_if<cql::Delete>(&(*tree)->node)) remove->table.name = table;
  return cql::print(**tree);
}

std::string print_after(const std::string& text, const std::string& column) {
  auto tree = cql::parse_statement(text);
  auto* select = tree ? std::get_if<cql::Select>(&(*tree)->node) : nullptr;
  if (select == nullptr) return text;
  cql::Relation relation;
  relation.columns = {column};
  relation.op = cql::Operator::greater;
  relation.value = marker();
  select->where.push_back(std::move(relation));
  return cql::print(**tree);
}

SplitStatement print_split(const std::string& text, const std::string& column, double modulo) {
  SplitStatement out{text, std::nullopt};
  auto tree = cql::parse_statement(text);
  if (!tree) return out;
  forget_names(**tree);
  if (auto* select = std::get_if<cql::Select>(&(*tree)->node)) {
    select->where.push_back(split_relation(column, modulo));
    const auto* limit = select->limit != nullptr ? std::get_if<cql::Literal>(&select->limit->node) : nullptr;
    if (limit != nullptr) out.limit = read_number(limit->text);
    if (modulo > 0 && select->per_partition_limit == nullptr)
      select->per_partition_limit = std::move(select->limit);
  }
  if (auto* insert = std::get_if<cql::Insert>(&(*tree)->node)) {
    insert->columns.push_back(column);
    insert->values.push_back(marker());
  }
  if (auto* update = std::get_if<cql::Update>(&(*tree)->node))
    update->where.push_back(split_relation(column, 0));
  if (auto* remove = std::get_if<cql::Delete>(&(*tree)->node))
    remove->where.push_back(split_relation(column, 0));
  out.text = cql::print(**tree);
  return out;
}

std::string print_insert_of(const std::string& text, const TrialTable& target) {
  auto tree = cql::parse_statement(text);
  auto* insert = tree ? std::get_if<cql::Insert>(&(*tree)->node) : nullptr;
  if (insert == nullptr) return text;
  for (const auto& [name, type] : target.types) {
    if (target.data->table().find(name) != nullptr) continue;
    insert->columns.push_back(name);
    insert->values.push_back(marker());
  }
  return cql::print(**tree);
}

std::string print_by_key(const schema::Table& table, bool partition) {
  std::vector<std::string> relations;
  for (size_t i = 0; i < table.partition_key_count + (partition ? 0 : table.clustering_count); ++i)
    relations.push_back(cql::print_name(table.columns[i].name) + " = ?");
  return fmt::format("SELECT * FROM {} WHERE {}", cql::print_name(table.name), fmt::join(relations, " AND "));
}

std::string print_delete(const std::string& definition) {
  const auto tree = cql::parse_statement(definition);
  const auto* create = tree ? std::get_if<cql::CreateTable>(&(*tree)->node) : nullptr;
  if (create == nullptr) return {};
  std::vector<std::string> relations;
  for (const auto& keys : create->partition_keys)
    for (const std::string& key : keys) relations.push_back(cql::print_name(key) + " = ?");
  for (const std::string& key : create->clustering_columns)
    relations.push_back(cql::print_name(key) + " = ?");
  for (const cql::ColumnDefinition& column : create->columns)
    if (column.is_primary_key) relations.push_back(cql::print_name(column.name) + " = ?");
  return fmt::format("DELETE FROM {} WHERE {}", cql::print_name(create->table.name),
                     fmt::join(relations, " AND "));
}

}  // namespace sibyl::advisor
