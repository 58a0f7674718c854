#include "plan/statements/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "plan/terms/existing_column.h"

namespace sibyl::plan {

using base::invalid;
using types::Kind;

namespace {

struct BoundOrdering {
  const schema::Column* column;
  bool descending;
};

base::Result<std::vector<BoundOrdering>> bind_orderings(const schema::Table& table,
                                                        const cql::Select& select) {
  std::vector<BoundOrdering> orderings;
  for (const cql::Ordering& ordering : select.order_by) {
    SIBYL_ASSIGN(const schema::Column* column, existing_column(table, ordering.column));
    const auto same = [&](const BoundOrdering& one) { return one.column == column; };
    const auto existing = std::find_if(orderings.begin(), orderings.end(), same);
    if (existing == orderings.end())
      orderings.push_back({column, ordering.descending});
    else
      existing->descending = ordering.descending;
  }
  return orderings;
}

// The columns that the written selectors name.
struct NamedColumns {
  const schema::Table& table;
  bool has_static = false, has_other = false;

  void visit(const cql::Expression* expression) {
    if (expression == nullptr) return;
    if (const auto* column = std::get_if<cql::ColumnReference>(&expression->node)) {
      const schema::Column* found = table.find(column->name);
      if (found == nullptr) return;
      has_static = has_static || found->is_static();
      has_other = has_other || found->is_clustering() || found->is_regular();
    } else if (const auto* call = std::get_if<cql::FunctionCall>(&expression->node)) {
      for (const cql::ExpressionPtr& argument : call->arguments) visit(argument.get());
    } else if (const auto* field = std::get_if<cql::FieldSelection>(&expression->node)) {
      visit(field->of.get());
    } else if (const auto* element = std::get_if<cql::ElementSelection>(&expression->node)) {
      visit(element->of.get());
    } else if (const auto* slice = std::get_if<cql::SliceSelection>(&expression->node)) {
      visit(slice->of.get());
    } else if (const auto* cast = std::get_if<cql::Cast>(&expression->node)) {
      visit(cast->of.get());
    } else if (const auto* hint = std::get_if<cql::TypeHint>(&expression->node)) {
      visit(hint->of.get());
    } else if (const auto* arithmetic = std::get_if<cql::Arithmetic>(&expression->node)) {
      visit(arithmetic->left.get());
      visit(arithmetic->right.get());
    } else if (const auto* negation = std::get_if<cql::Negation>(&expression->node)) {
      visit(negation->of.get());
    } else if (const auto* list = std::get_if<cql::ListLiteral>(&expression->node)) {
      for (const cql::ExpressionPtr& part : list->elements) visit(part.get());
    } else if (const auto* set = std::get_if<cql::SetLiteral>(&expression->node)) {
      for (const cql::ExpressionPtr& part : set->elements) visit(part.get());
    } else if (const auto* tuple = std::get_if<cql::TupleLiteral>(&expression->node)) {
      for (const cql::ExpressionPtr& part : tuple->elements) visit(part.get());
    }
  }
};

// Like Cassandra, visits the selectors twice and only as far as necessary, and reports errors found so far.
base::Result<bool> selects_only_static(Binder& binder, const schema::Table& table,
                                       const cql::Select& select) {
  if (!table.has_static() || table.compact == schema::Compact::static_ || select.selectors.empty())
    return false;
  NamedColumns named{table};
  for (const cql::Selector& selector : select.selectors) {
    SIBYL_TRY(check_names(binder, table, *selector.expression));
    named.visit(selector.expression.get());
    if (named.has_static) break;
  }
  if (!named.has_static) return false;
  named.has_other = false;
  for (const cql::Selector& selector : select.selectors) {
    SIBYL_TRY(check_names(binder, table, *selector.expression));
    named.visit(selector.expression.get());
    if (named.has_other) return false;
  }
  return true;
}

base::Status check_distinct(const Select& plan, const cql::Select& select,
                            const std::vector<BoundOrdering>& orderings) {
  if (select.per_partition_limit)
    return invalid("PER PARTITION LIMIT is not allowed with SELECT DISTINCT queries");
  if (plan.where->restricts_clustering() || plan.where->restricts_regular())
    return invalid(
        "SELECT DISTINCT with WHERE clause only supports restriction by partition key and/or static "
        "columns.");
  std::vector<const schema::Column*> columns;
  for (const Input& input : plan.selection.inputs) columns.push_back(input.column);
  // With IN on the partition key the result is sorted after reading, so it must contain the ordering columns.
  if (plan.where->has_partition_in())
    for (const BoundOrdering& ordering : orderings) columns.push_back(ordering.column);
  std::vector<bool> requested(plan.table->partition_key_count);
  for (const schema::Column* column : columns) {
    if (!column->is_partition_key() && !column->is_static())
      return invalid(fmt::format(
          "SELECT DISTINCT queries must only request partition key columns and/or static columns (not {})",
          column->name));
    if (column->is_partition_key()) requested[static_cast<size_t>(column->position)] = true;
  }
  if (plan.where->partitions() == Restrictions::Partitions::keys) return {};
  for (size_t i = 0; i < requested.size(); ++i)
    if (!requested[i])
      return invalid(
          fmt::format("SELECT DISTINCT queries must request all the partition key columns (missing {})",
                      plan.table->partition_key(i).name));
  return {};
}

// --- GROUP BY

constexpr const char* group_order_refusal =
    "Group by currently only support groups of columns following their declared order in the PRIMARY KEY";

std::vector<const cql::Expression*> arguments_of(const cql::Expression& call) {
  std::vector<const cql::Expression*> arguments;
  if (const auto* written = std::get_if<cql::FunctionCall>(&call.node))
    for (const cql::ExpressionPtr& argument : written->arguments) arguments.push_back(argument.get());
  if (const auto* arithmetic = std::get_if<cql::Arithmetic>(&call.node))
    arguments = {arithmetic->left.get(), arithmetic->right.get()};
  if (const auto* negation = std::get_if<cql::Negation>(&call.node)) arguments = {negation->of.get()};
  if (const auto* cast = std::get_if<cql::Cast>(&call.node)) arguments = {cast->of.get()};
  return arguments;
}

// Rows of a group must be adjacent, so only functions that preserve order may group them.
base::Status check_monotonic(const Binder& binder, const cql::Expression& call) {
  const FunctionPtr function = binder.resolved(call);
  if (function == nullptr) return {};
  const auto is_constant = [](const cql::Expression& one) {
    return std::holds_alternative<cql::Literal>(one.node) ||
           std::holds_alternative<cql::BindMarker>(one.node) ||
           std::holds_alternative<cql::TypeHint>(one.node);
  };
  const std::vector<const cql::Expression*> arguments = arguments_of(call);
  std::vector<bool> constants;
  bool keeps_order = function->is_monotonic;
  for (size_t i = 0; i < arguments.size(); ++i) {
    constants.push_back(is_constant(*arguments[i]));
    keeps_order = keeps_order && (i == 0 || constants[i]);
  }
  if (!keeps_order)
    return invalid(fmt::format("Only monotonic functions are supported in the GROUP BY clause. Got: {} ",
                               function->signature(constants)));
  return arguments.empty() ? base::Status() : check_monotonic(binder, *arguments[0]);
}

base::Result<const schema::Column*> grouped_column(Binder& binder, Select& plan,
                                                   const cql::Expression& expression, TermPtr& function) {
  const schema::Table& table = *plan.table;
  if (const auto* reference = std::get_if<cql::ColumnReference>(&expression.node)) {
    SIBYL_ASSIGN(const schema::Column* column, existing_column(table, reference->name));
    if (!column->is_primary_key())
      return invalid(fmt::format(
          "Group by is currently only supported on the columns of the PRIMARY KEY, got {}", column->name));
    if (function != nullptr)
      return invalid("Functions are only supported on the last element of the GROUP BY clause");
    return column;
  }
  const size_t aggregates = plan.selection.aggregates.size();
  Selection alone;
  SIBYL_ASSIGN(const TermPtr apart, bind_over_row(binder, table, expression, alone));
  if (!alone.aggregates.empty())
    return invalid(fmt::format("Aggregate functions are not supported within the GROUP BY clause, got: {}",
                               alone.aggregates[0].function->qualified_name()));
  if (alone.inputs.empty())
    return invalid("GROUP BY functions must have one clustering column name as parameter");
  if (alone.inputs.size() > 1) {
    std::string names;
    for (const Input& input : alone.inputs) names += (names.empty() ? "" : ",") + input.column->name;
    return invalid(
        fmt::format("GROUP BY functions accept only one clustering column as parameter, got: {}", names));
  }
  const schema::Column* column = alone.inputs[0].column;
  if (!column->is_clustering())
    return invalid(
        fmt::format("Group by functions are only supported on clustering columns, got {}", column->name));
  SIBYL_ASSIGN(function, bind_over_row(binder, table, expression, plan.selection));
  plan.selection.aggregates.resize(aggregates);
  return column;
}

base::Status bind_grouping(Binder& binder, Select& plan, const cql::Select& select) {
  if (select.group_by.empty()) return {};
  const schema::Table& table = *plan.table;
  const size_t keys = table.partition_key_count + table.clustering_count;
  auto grouping = std::make_unique<Select::Grouping>();
  size_t next = 0;  // position of the next column in the primary key
  for (const cql::ExpressionPtr& expression : select.group_by) {
    SIBYL_ASSIGN(const schema::Column* column, grouped_column(binder, plan, *expression, grouping->last));
    for (;; ++next) {
      if (next >= keys) return invalid(group_order_refusal);
      if (&table.columns[next] == column) break;
      if (!plan.where->is_equal_restricted(table.columns[next])) return invalid(group_order_refusal);
    }
    ++next;
  }
  if (grouping->last != nullptr) SIBYL_TRY(check_monotonic(binder, *select.group_by.back()));
  if (next < table.partition_key_count)
    return invalid("Group by is not supported on only a part of the partition key");
  grouping->clustering_columns = next - table.partition_key_count;
  if (grouping->clustering_columns > 0 && plan.distinct)
    return invalid("Grouping on clustering columns is not allowed for SELECT DISTINCT queries");
  plan.group_by = std::move(grouping);
  return {};
}

// --- ORDER BY

base::Status bind_order(Select& plan, const std::vector<BoundOrdering>& orderings) {
  if (orderings.empty()) return {};
  if (plan.where->uses_index())
    return invalid("ORDER BY with 2ndary indexes is not supported, except for ANN queries.");
  if (plan.where->partitions() != Restrictions::Partitions::keys)
    return invalid("ORDER BY is only supported when the partition key is restricted by an EQ or an IN.");
  std::optional<bool> reversed;
  int next = 0;
  for (const auto& [column, descending] : orderings) {
    if (!column->is_clustering())
      return invalid(fmt::format(
          "Order by is currently only supported on the clustered columns of the PRIMARY KEY, got {}",
          column->name));
    for (; next != column->position; ++next)
      if (next >= static_cast<int>(plan.table->clustering_count) ||
          !plan.where->is_equal_restricted(plan.table->clustering(static_cast<size_t>(next))))
        return invalid(
            "Order by currently only supports the ordering of columns following their declared order in the "
            "PRIMARY "
            "KEY");
    ++next;
    const bool against = descending != column->descending;
    if (reversed && *reversed != against) return invalid("Unsupported order by relation");
    reversed = against;
    if (plan.where->has_partition_in())
      plan.sort.push_back({value_input(plan.selection, *column), column->type, descending});
  }
  plan.reversed = *reversed;
  return {};
}

base::Result<TermPtr> bind_limit(Binder& binder, const schema::Table& table,
                                 const cql::ExpressionPtr& expression, const char* name) {
  if (expression == nullptr) return TermPtr();
  return binder.term(*expression, {table.keyspace, table.name, name, types::scalar(Kind::int_)});
}

ResultMetadataPtr result_of(const Select& plan) {
  if (!plan.selection.json) return plan.selection.names;
  auto metadata = std::make_shared<ResultMetadata>();
  metadata->columns.push_back({plan.table->keyspace, plan.table->name, "[json]", types::scalar(Kind::text)});
  return metadata;
}

// Fills in the source of each input.
void set_input_sources(Select& plan) {
  for (size_t i = 0; i < plan.selection.inputs.size(); ++i) {
    const schema::Column& column = *plan.selection.inputs[i].column;
    const int input = static_cast<int>(i);
    const auto position = static_cast<uint32_t>(column.position);
    switch (column.kind) {
      case schema::ColumnKind::partition_key:
        plan.partition_inputs.push_back({position, input});
        break;
      case schema::ColumnKind::clustering:
        plan.clustering_inputs.push_back({position, input});
        break;
      case schema::ColumnKind::static_:
        plan.static_inputs.push_back({column.id, input});
        break;
      case schema::ColumnKind::regular:
        plan.regular_inputs.push_back({column.id, input});
        break;
    }
  }
  for (auto* sources :
       {&plan.partition_inputs, &plan.clustering_inputs, &plan.static_inputs, &plan.regular_inputs})
    std::sort(
        sources->begin(), sources->end(),
        [](const Select::InputSource& left, const Select::InputSource& right) { return left.at < right.at; });
}

}  // namespace

namespace {

std::vector<const schema::Column*> restricted_masks(const schema::Table& table, const cql::Select& select,
                                                    const Selection& selection) {
  if (!table.has_masks) return {};
  std::set<std::string_view> named;
  for (const cql::Relation& relation : select.where)
    named.insert(relation.columns.begin(), relation.columns.end());
  for (const cql::Ordering& ordering : select.order_by)
    if (ordering.ann_of) named.insert(ordering.column);
  // The write time of an element reveals whether the element exists. The write times of the whole collection,
  // read before and after a write of that element, reveal it as well.
  for (const Input& input : selection.inputs)
    if (input.part == Input::Part::element || input.part == Input::Part::slice ||
        (input.kind != Input::Kind::value && input.column->type->is_multi_cell() &&
         input.column->type->kind() != types::Kind::udt))
      named.insert(input.column->name);
  std::vector<const schema::Column*> masked;
  for (const schema::Column& column : table.columns)
    if (column.mask && named.contains(column.name)) masked.push_back(&column);
  return masked;
}

}  // namespace

base::Status prepare_select(const cql::Select& select, Binder& binder, Prepared& prepared) {
  auto plan = std::make_shared<Select>();
  SIBYL_ASSIGN(plan->table, binder.table(select.table));
  const schema::Table& table = *plan->table;
  plan->distinct = select.distinct;
  SIBYL_ASSIGN(const bool only_static, selects_only_static(binder, table, select));
  SIBYL_ASSIGN(std::unique_ptr<Nearest> nearest, bind_nearest(binder, table, select));
  std::vector<BoundOrdering> orderings;
  if (nearest == nullptr) {
    SIBYL_ASSIGN(orderings, bind_orderings(table, select));
  }
  SIBYL_TRY(check_vector_relations(table, select, nearest != nullptr));
  const bool allow_filtering = select.allow_filtering || nearest != nullptr;
  SIBYL_ASSIGN(plan->where, bind_restrictions(binder, plan->table, select.where, Purpose::select,
                                              allow_filtering, only_static));
  SIBYL_ASSIGN(plan->selection, bind_selection(binder, table, select, {}));
  if (select.distinct) SIBYL_TRY(check_distinct(*plan, select, orderings));
  SIBYL_TRY(bind_grouping(binder, *plan, select));
  if (plan->group_by == nullptr && !plan->selection.aggregates.empty() && select.per_partition_limit)
    return invalid("PER PARTITION LIMIT is not allowed with aggregate queries.");
  if (nearest != nullptr) {
    nearest->input = value_input(plan->selection, *nearest->column);
    plan->nearest = std::move(nearest);
    SIBYL_TRY(check_nearest(*plan, select));
  }
  SIBYL_TRY(bind_order(*plan, orderings));
  SIBYL_TRY(plan->where->check_scan());
  for (const schema::Column* column : plan->where->filtered_columns())
    plan->filter_inputs.push_back(value_input(plan->selection, *column));
  plan->restricted_masks = restricted_masks(table, select, plan->selection);
  set_input_sources(*plan);
  SIBYL_ASSIGN(plan->limit, bind_limit(binder, table, select.limit, "[limit]"));
  SIBYL_ASSIGN(plan->per_partition_limit,
               bind_limit(binder, table, select.per_partition_limit, "[per_partition_limit]"));
  prepared.tables = {plan->table};
  prepared.partition_key_markers = plan->where->partition_key_markers();
  prepared.result = result_of(*plan);
  prepared.plan = std::shared_ptr<const Select>(std::move(plan));
  return {};
}

}  // namespace sibyl::plan
