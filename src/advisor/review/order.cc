// Reorders clustering columns to fix a query that skips one, or that sorts by a later one.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "advisor/review/fix.h"

namespace sibyl::advisor {
namespace {

// The order of clustering columns that a statement needs: columns compared by =, then a column with a range,
// and the order of the result.
struct OrderRequirement {
  std::set<std::string> equal;
  std::string range;
  std::vector<Shape::Order> order;
  bool takes_first = false;  // a LIMIT without ORDER BY, which relies on the current order
};

bool is_range(cql::Operator op) {
  return op == cql::Operator::less || op == cql::Operator::less_or_equal || op == cql::Operator::greater ||
         op == cql::Operator::greater_or_equal || op == cql::Operator::between;
}

// Returns false if the statement does not give the partition key, or restricts columns that a key cannot
// serve.
bool read_need(const schema::Table& table, const std::vector<cql::Relation>& where, OrderRequirement& need) {
  size_t named = 0;
  for (const cql::Relation& relation : where) {
    if (relation.target != cql::Relation::Target::column || relation.columns.size() != 1) return false;
    const schema::Column* column = table.find(relation.columns[0]);
    const bool equal = relation.op == cql::Operator::equal || relation.op == cql::Operator::in;
    if (column == nullptr || !column->is_primary_key() || (!equal && !is_range(relation.op))) return false;
    if (column->is_partition_key()) {
      if (!equal) return false;
      ++named;
    } else if (equal) {
      need.equal.insert(column->name);
    } else if (need.range.empty() || need.range == column->name) {
      need.range = column->name;
    } else {
      return false;
    }
  }
  return named == table.partition_key_count && !need.equal.contains(need.range);
}

bool read_need(const schema::Table& table, const cql::Select& select, OrderRequirement& need) {
  if (!read_need(table, select.where, need)) return false;
  for (const cql::Ordering& order : select.order_by) {
    const schema::Column* column = table.find(order.column);
    if (order.ann_of || column == nullptr || !column->is_clustering()) return false;
    if (!need.equal.contains(column->name)) need.order.push_back({column->name, order.descending});
  }
  need.takes_first = select.order_by.empty() && (select.limit || select.per_partition_limit);
  return need.range.empty() || need.order.empty() || need.order[0].name == need.range;
}

std::vector<Shape::Order> sequence_for(const std::vector<Shape::Order>& old, const OrderRequirement& need) {
  std::vector<Shape::Order> out;
  const auto add = [&](const Shape::Order& one) {
    if (std::none_of(out.begin(), out.end(), [&](const Shape::Order& have) { return have.name == one.name; }))
      out.push_back(one);
  };
  for (const Shape::Order& one : old)
    if (need.equal.contains(one.name)) add(one);
  for (const Shape::Order& one : need.order) add(one);
  for (const Shape::Order& one : old)
    if (one.name == need.range) add(one);
  for (const Shape::Order& one : old) add(one);
  return out;
}

const Shape::Order* first_behind(const std::vector<Shape::Order>& sequence, const OrderRequirement& need) {
  for (const Shape::Order& one : sequence)
    if (!need.equal.contains(one.name)) return &one;
  return nullptr;
}

// Returns true if the wanted rows are one contiguous range of the order, forwards or backwards.
bool serves(const std::vector<Shape::Order>& sequence, const std::vector<Shape::Order>& old,
            const OrderRequirement& need) {
  const size_t fixed = need.equal.size();
  for (size_t i = 0; i < fixed; ++i)
    if (!need.equal.contains(sequence[i].name)) return false;
  if (!need.range.empty() && (fixed >= sequence.size() || sequence[fixed].name != need.range)) return false;
  std::optional<bool> backwards;
  for (size_t i = 0; i < need.order.size(); ++i) {
    if (fixed + i >= sequence.size() || sequence[fixed + i].name != need.order[i].name) return false;
    const bool against = sequence[fixed + i].descending != need.order[i].descending;
    if (backwards && *backwards != against) return false;
    backwards = against;
  }
  if (!need.takes_first) return true;
  const Shape::Order *before = first_behind(old, need), *now = first_behind(sequence, need);
  return (before == nullptr && now == nullptr) ||
         (before != nullptr && now != nullptr && before->name == now->name &&
          before->descending == now->descending);
}

// Returns true if every other statement on the table still reads one contiguous range.
bool others_agree(const ReviewModel& model, const StatementFacts& own, const schema::Table& table,
                  const std::vector<Shape::Order>& sequence, const std::vector<Shape::Order>& old) {
  for (const StatementFacts& other : model.statements) {
    if (&other == &own || other.error || other.explanation.uses.empty()) continue;
    if (other.explanation.uses.size() > 1) return false;
    const plan::Explanation::TableUse& use = other.explanation.uses[0];
    if (use.table->keyspace != table.keyspace || use.table->name != table.name) continue;
    if (use.access != plan::Explanation::Access::partitions) continue;
    OrderRequirement need;
    if (const cql::Select* select = other.select()) {
      if (!read_need(table, *select, need)) return false;
    } else if (const auto* remove = std::get_if<cql::Delete>(&other.tree->node)) {
      if (!read_need(table, remove->where, need)) return false;
    } else {
      continue;
    }
    if (!serves(sequence, old, need)) return false;
  }
  return true;
}

bool are_same(const std::vector<Shape::Order>& left, const std::vector<Shape::Order>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const Shape::Order& one, const Shape::Order& other) {
                      return one.name == other.name && one.descending == other.descending;
                    });
}

// Returns true if no earlier proposal needs another order of the table.
bool is_free(const ReviewModel& model, const schema::Table& table, const Review& review,
             const std::vector<Shape::Order>& sequence) {
  const TableFacts* facts = model.find(table);
  return std::none_of(review.findings.begin(), review.findings.end(), [&](const Finding& other) {
    if (facts == nullptr || changed_table(other) != facts->name) return false;
    const Proposal& proposal = *other.proposal;
    return proposal.reversed || proposal.unclustered ||
           (!proposal.clustering.empty() && !are_same(proposal.clustering, sequence));
  });
}

}  // namespace

const schema::Table* table_of(const ReviewModel& model, const StatementFacts& statement) {
  const cql::Select* select = statement.select();
  if (select == nullptr) return nullptr;
  if (!statement.explanation.uses.empty()) return statement.explanation.uses[0].table.get();
  for (const TableFacts& facts : model.tables) {
    if (facts.table->name != select->table.name) continue;
    if (select->table.keyspace.empty() || select->table.keyspace == facts.table->keyspace)
      return facts.table.get();
  }
  return nullptr;
}

bool fix_by_order(const ReviewModel& model, const StatementFacts& statement, const Review& review,
                  Finding& finding) {
  const schema::Table* found = table_of(model, statement);
  if (found == nullptr) return false;
  const schema::Table& table = *found;
  OrderRequirement need;
  if (table.is_view() || !read_need(table, *statement.select(), need)) return false;
  Shape shape = shape_of(table);
  const std::vector<Shape::Order> old = shape.clustering;
  shape.clustering = sequence_for(old, need);
  if (are_same(old, shape.clustering) || !serves(shape.clustering, shape.clustering, need)) return false;
  if (!others_agree(model, statement, table, shape.clustering, old)) return false;
  if (!is_free(model, table, review, shape.clustering)) return false;
  std::vector<std::string> names;
  for (const Shape::Order& one : shape.clustering)
    names.push_back(one.name + (one.descending ? " DESC" : ""));
  finding.fix = fmt::format(
      "Cluster by {}: the query then reads one contiguous range, and no other statement needs the old order.",
      fmt::join(names, ", "));
  Proposal proposal;
  if (const TableFacts* facts = model.find(table)) proposal.table = facts->name;
  proposal.clustering = std::move(shape.clustering);
  finding.proposal = std::make_shared<const Proposal>(std::move(proposal));
  finding.cost = "The rows must be copied once.";
  return true;
}

}  // namespace sibyl::advisor
