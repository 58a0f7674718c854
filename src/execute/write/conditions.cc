#include "execute/write/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "cql/printer.h"
#include "execute/read/select_row.h"
#include "types/compare.h"
#include "types/elements.h"
#include "types/keys/key.h"
#include "types/validate.h"
#include "types/value.h"

namespace sibyl::execute {

using cql::Operator;
using plan::Condition;
using types::Kind;

namespace {

std::unexpected<base::Error> refuse_unset() {
  return base::invalid("Invalid 'unset' value in condition");
}

ValueView of_element(const std::optional<BytesView>& element) {
  return element ? ValueView::of(*element) : ValueView::null();
}

std::span<const row::Cell> cells_of(const schema::Column& column, const row::Fragment& row) {
  const auto before = [](const row::Cell& cell, uint32_t id) { return cell.column < id; };
  const auto begin = std::lower_bound(row.cells.begin(), row.cells.end(), column.id, before);
  auto end = begin;
  while (end != row.cells.end() && end->column == column.id) ++end;
  return {begin, end};
}

ValueView cell_at(std::span<const row::Cell> cells, BytesView path) {
  const auto before = [](const row::Cell& cell, BytesView wanted) { return cell.path < wanted; };
  const auto found = std::lower_bound(cells.begin(), cells.end(), path, before);
  return found != cells.end() && found->path == path ? ValueView::of(found->value) : ValueView::null();
}

// l[i]
base::Result<ValueView> list_element(const BoundCondition& bound, std::span<const row::Cell> cells) {
  const types::Type& type = *bound.condition->column->type;
  if (bound.element.bytes.size() != 4) return base::invalid("Invalid null value for list element access");
  const int64_t index = types::decode_integer(Kind::int_, bound.element.bytes);
  if (index < 0) return base::invalid(fmt::format("Invalid negative list index {}", index));
  const auto at = static_cast<size_t>(index);
  if (type.is_multi_cell()) return at < cells.size() ? ValueView::of(cells[at].value) : ValueView::null();
  if (cells.empty()) return ValueView::null();
  SIBYL_ASSIGN(const types::Elements elements, types::split(type, cells[0].value));
  return at < elements.size() ? of_element(elements[at]) : ValueView::null();
}

// m[k]
base::Result<ValueView> map_element(const BoundCondition& bound, std::span<const row::Cell> cells) {
  const types::Type& type = *bound.condition->column->type;
  if (type.is_multi_cell()) {
    Bytes path;
    types::encode_key(*type.map_key(), bound.element.bytes, false, path);
    return cell_at(cells, path);
  }
  if (cells.empty()) return ValueView::null();
  SIBYL_ASSIGN(const types::Elements elements, types::split(type, cells[0].value));
  for (size_t i = 0; i + 1 < elements.size(); i += 2)
    if (elements[i] && types::compare(*type.map_key(), *elements[i], bound.element.bytes) == 0)
      return of_element(elements[i + 1]);
  return ValueView::null();
}

// u.f
base::Result<ValueView> field(const BoundCondition& bound, std::span<const row::Cell> cells) {
  const types::Type& type = *bound.condition->column->type;
  if (type.is_multi_cell()) {
    Bytes path;
    base::append_big_endian(path, bound.condition->field);
    return cell_at(cells, path);
  }
  if (cells.empty()) return ValueView::null();
  SIBYL_ASSIGN(const types::Elements fields, types::split(type, cells[0].value));
  return bound.condition->field < fields.size() ? of_element(fields[bound.condition->field])
                                                : ValueView::null();
}

base::Result<ValueView> current_value(const BoundCondition& bound, const row::Fragment& row,
                                      plan::Scratch& scratch) {
  const schema::Column& column = *bound.condition->column;
  switch (bound.condition->part) {
    case Condition::Part::whole:
      return column_value(column, row, scratch);
    case Condition::Part::field:
      return field(bound, cells_of(column, row));
    case Condition::Part::element:
      break;
  }
  const bool is_list = column.type->kind() == Kind::list;
  if (!bound.element.is_present()) {
    return base::invalid(fmt::format("Invalid {} value for {} element access",
                                     bound.element.is_null() ? "null" : "unset", is_list ? "list" : "map"));
  }
  return is_list ? list_element(bound, cells_of(column, row)) : map_element(bound, cells_of(column, row));
}

bool contains(const Condition& condition, BytesView collection, BytesView wanted) {
  const types::Type& type = *condition.column->type;
  const auto elements = types::split(type, collection);
  if (!elements) return false;
  const bool is_map = type.kind() == Kind::map;
  const size_t first = is_map && condition.op == Operator::contains ? 1 : 0;
  for (size_t i = first; i < elements->size(); i += is_map ? 2 : 1)
    if ((*elements)[i] && types::compare(*condition.type, *(*elements)[i], wanted) == 0) return true;
  return false;
}

// Returns true if the value means null: it is null, or a multi-cell collection without elements.
bool means_nothing(const Condition& condition, const ValueView& value) {
  if (value.is_null()) return true;
  const bool is_collection = condition.part == Condition::Part::whole && condition.type->is_collection() &&
                             condition.type->is_multi_cell();
  if (!is_collection || condition.op == Operator::contains || condition.op == Operator::contains_key)
    return false;
  const auto elements = types::split(*condition.type, value.bytes);
  return elements && elements->empty();
}

base::Result<bool> compare_with_nothing(const Condition& condition, const ValueView& current,
                                        const ValueView& value) {
  if (condition.op == Operator::equal || condition.op == Operator::in) return current.is_null();
  if (condition.op == Operator::not_equal) return !current.is_null();
  const char* op = cql::to_string(condition.op);
  if (value.is_null())
    return base::invalid(fmt::format("Invalid comparison with null for operator \"{}\"", op));
  const Kind kind = condition.type->kind();
  return base::invalid(fmt::format("Invalid comparison with an empty {} for operator \"{}\"",
                                   kind == Kind::list  ? "list"
                                   : kind == Kind::set ? "set"
                                                       : "map",
                                   op));
}

base::Result<bool> satisfies(const Condition& condition, const ValueView& current, const ValueView& value) {
  if (value.is_unset()) return refuse_unset();
  if (means_nothing(condition, value)) return compare_with_nothing(condition, current, value);
  if (current.is_null()) return condition.op == Operator::not_equal;
  if (condition.op == Operator::contains || condition.op == Operator::contains_key)
    return contains(condition, current.bytes, value.bytes);
  const int order = types::compare(*condition.type, current.bytes, value.bytes);
  switch (condition.op) {
    case Operator::not_equal:
      return order != 0;
    case Operator::less:
      return order < 0;
    case Operator::less_or_equal:
      return order <= 0;
    case Operator::greater:
      return order > 0;
    case Operator::greater_or_equal:
      return order >= 0;
    default:
      return order == 0;
  }
}

// Binds IN ?. The list is used as received. Unlike other lists it may contain nulls.
base::Status bind_list(const Condition& condition, const plan::Bindings& bindings, BoundCondition& bound) {
  const auto marker = static_cast<size_t>(condition.list->marker_index());
  const ValueView list = marker < bindings.values.size() ? bindings.values[marker] : ValueView::unset();
  if (list.is_unset()) return refuse_unset();
  if (list.is_null()) return base::invalid("Invalid null list in IN condition");
  SIBYL_ASSIGN(const types::Elements elements, types::split(*condition.list->type(), list.bytes));
  for (const auto& element : elements) {
    if (element) SIBYL_TRY(types::validate(*condition.list->type()->element(), *element));
    bound.values.push_back(of_element(element));
  }
  return {};
}

}  // namespace

ValueView column_value(const schema::Column& column, const row::Fragment& row, plan::Scratch& scratch) {
  const std::span<const row::Cell> cells = cells_of(column, row);
  if (column.type->is_multi_cell()) return assemble(*column.type, cells, scratch);
  return cells.empty() ? ValueView::null() : ValueView::of(cells[0].value);
}

base::Result<BoundCondition> bind_condition(const Condition& condition, const plan::Bindings& bindings,
                                            plan::Scratch& scratch) {
  BoundCondition bound;
  bound.condition = &condition;
  if (condition.element) {
    SIBYL_ASSIGN(bound.element, condition.element->evaluate(bindings, scratch));
  }
  if (condition.list) {
    SIBYL_TRY(bind_list(condition, bindings, bound));
    return bound;
  }
  for (const plan::TermPtr& term : condition.values) {
    SIBYL_ASSIGN(const ValueView value, term->evaluate(bindings, scratch));
    if (value.is_unset() && condition.op == Operator::in) continue;
    bound.values.push_back(value);
  }
  return bound;
}

base::Result<bool> holds(const BoundCondition& bound, const row::Fragment& row, plan::Scratch& scratch) {
  SIBYL_ASSIGN(const ValueView current, current_value(bound, row, scratch));
  for (const ValueView& value : bound.values) {
    SIBYL_ASSIGN(const bool satisfied, satisfies(*bound.condition, current, value));
    if (satisfied) return true;
  }
  return false;
}

}  // namespace sibyl::execute
