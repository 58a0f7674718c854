#include "plan/statements/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cql/printer.h"
#include "plan/statements/modify.h"
#include "plan/terms/existing_column.h"

namespace sibyl::plan {

using base::invalid;
using types::Kind;

namespace {

bool is_slice(cql::Operator op) {
  return op == cql::Operator::less || op == cql::Operator::less_or_equal || op == cql::Operator::greater ||
         op == cql::Operator::greater_or_equal;
}

class ConditionBinder {
 public:
  ConditionBinder(const cql::Condition& written, const schema::Table& table, const schema::Column& column,
                  Binder& binder)
      : written_(written), column_(column), binder_(binder), receiver_(spec_of(table, column)) {
    bound_.column = &column;
    bound_.op = written.op;
  }

  base::Result<Condition> bind() {
    if (column_.type->is_counter()) return invalid("Conditions on counters are not supported");
    if (written_.element_key) SIBYL_TRY(bind_element());
    if (!written_.field.empty()) SIBYL_TRY(bind_field());
    SIBYL_TRY(check_durations());
    if (element_) {
      SIBYL_ASSIGN(bound_.element, binder_.term(*written_.element_key, *element_));
    }
    SIBYL_TRY(bind_values());
    if (column_.is_primary_key())
      return invalid(fmt::format("PRIMARY KEY column '{}' cannot have IF conditions", column_.name));
    return std::move(bound_);
  }

 private:
  base::Status bind_element() {
    const types::Type& type = *column_.type;
    if (!type.is_collection())
      return invalid("Invalid element access syntax for non-collection column " + column_.name);
    if (type.kind() == Kind::set)
      return invalid("Invalid element access syntax for set column " + column_.name);
    bound_.part = Condition::Part::element;
    element_ = type.kind() == Kind::list ? index_spec(receiver_) : key_spec(receiver_);
    receiver_ = value_spec(receiver_);
    return {};
  }

  base::Status bind_field() {
    if (column_.type->kind() != Kind::udt)
      return invalid("Invalid field access syntax for non-UDT column " + column_.name);
    const int field = column_.type->field_index(written_.field);
    if (field < 0)
      return invalid(fmt::format("Unknown field {} for column {}", written_.field, column_.name));
    bound_.part = Condition::Part::field;
    bound_.field = static_cast<uint16_t>(field);
    receiver_ = field_spec(receiver_, static_cast<size_t>(field));
    return {};
  }

  base::Status check_durations() const {
    const types::Type& type = *receiver_.type;
    if (!is_slice(written_.op) || !type.references(Kind::duration)) return {};
    if (type.is_collection())
      return invalid("Slice conditions are not supported on collections containing durations");
    if (type.kind() == Kind::tuple)
      return invalid("Slice conditions are not supported on tuples containing durations");
    if (type.kind() == Kind::udt)
      return invalid("Slice conditions are not supported on UDTs containing durations");
    return invalid(
        fmt::format("Slice conditions ( {} ) are not supported on durations", cql::to_string(written_.op)));
  }

  base::Status bind_values() {
    const bool by_key = written_.op == cql::Operator::contains_key;
    const bool contains = by_key || written_.op == cql::Operator::contains;
    if (by_key && receiver_.type->kind() != Kind::map)
      return invalid("Cannot use CONTAINS KEY on non-map column " + receiver_.name);
    if (contains && !receiver_.type->is_collection())
      return invalid("Cannot use CONTAINS on non-collection column " + receiver_.name);
    if (contains) receiver_ = by_key ? key_spec(receiver_) : value_spec(receiver_);
    bound_.type = receiver_.type;
    if (written_.op == cql::Operator::in && !written_.has_value_list) {
      const ColumnSpec list{receiver_.keyspace, receiver_.table, fmt::format("in({})", receiver_.name),
                            types::list_of(receiver_.type, true)};
      SIBYL_ASSIGN(bound_.list, binder_.term(*written_.value, list));
      return {};
    }
    if (written_.op != cql::Operator::in) return add(*written_.value);
    for (const cql::ExpressionPtr& value : written_.values) SIBYL_TRY(add(*value));
    return {};
  }

  base::Status add(const cql::Expression& value) {
    SIBYL_ASSIGN(TermPtr term, binder_.term(value, receiver_));
    bound_.values.push_back(std::move(term));
    return {};
  }

  const cql::Condition& written_;
  const schema::Column& column_;
  Binder& binder_;
  ColumnSpec receiver_;                // the receiver of the compared values
  std::optional<ColumnSpec> element_;  // receiver of the index or key
  Condition bound_;
};

// The columns in the statements' conditions. For each statement, regular columns come first. Empty if IF
// [NOT] EXISTS is among them, since it concerns whole rows.
std::vector<const schema::Column*> condition_columns(
    const std::vector<std::shared_ptr<const Modification>>& statements) {
  std::vector<const schema::Column*> columns;
  const auto add = [&](const std::vector<Condition>& conditions) {
    for (const Condition& condition : conditions) {
      const auto same = [&](const schema::Column* one) { return one->id == condition.column->id; };
      if (std::none_of(columns.begin(), columns.end(), same)) columns.push_back(condition.column);
    }
  };
  for (const auto& statement : statements) {
    if (!statement->conditions) continue;
    if (statement->conditions->is_about_existence()) return {};
    add(statement->conditions->regular);
    add(statement->conditions->statics);
  }
  return columns;
}

}  // namespace

base::Result<std::unique_ptr<const Conditions>> bind_conditions(const std::vector<cql::Condition>& conditions,
                                                                const schema::Table& table, Binder& binder) {
  auto bound = std::make_unique<Conditions>();
  for (const cql::Condition& condition : conditions) {
    SIBYL_ASSIGN(const schema::Column* column, existing_column(table, condition.column));
    SIBYL_ASSIGN(Condition one, ConditionBinder(condition, table, *column, binder).bind());
    (column->is_static() ? bound->statics : bound->regular).push_back(std::move(one));
  }
  return bound;
}

ConditionalResult conditional_result(const std::vector<std::shared_ptr<const Modification>>& statements,
                                     bool is_batch) {
  const schema::Table& table = *statements.front()->table;
  ConditionalResult result;
  const std::vector<const schema::Column*> asked = condition_columns(statements);
  const bool is_whole_row = asked.empty();
  for (const schema::Column& column : table.columns)
    if (is_whole_row ? !column.is_hidden : is_batch && column.is_primary_key())
      result.columns.push_back(&column);
  result.columns.insert(result.columns.end(), asked.begin(), asked.end());

  ResultMetadata names;
  names.columns.push_back({table.keyspace, table.name, "[applied]", types::scalar(Kind::boolean)});
  result.applied = std::make_shared<const ResultMetadata>(names);
  for (const schema::Column* column : result.columns) names.columns.push_back(spec_of(table, *column));
  result.refused = std::make_shared<const ResultMetadata>(std::move(names));
  return result;
}

}  // namespace sibyl::plan
