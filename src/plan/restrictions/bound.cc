#include "plan/restrictions/bound.h"

#include <fmt/format.h>

namespace sibyl::plan {

using base::invalid;
using Row = std::vector<ValueView>;

namespace {

base::Result<Row> split_row(const types::Type& tuple, const ValueView& value) {
  SIBYL_ASSIGN(const types::Elements elements, types::split(tuple, value.bytes));
  Row row;
  for (const auto& element : elements) row.push_back(element ? ValueView::of(*element) : ValueView::null());
  return row;
}

}  // namespace

base::Result<Row> RowTerm::evaluate(const Bindings& bindings, Scratch& scratch) const {
  Row row;
  if (whole != nullptr) {
    SIBYL_ASSIGN(const ValueView value, whole->evaluate(bindings, scratch));
    if (!value.is_present())
      return invalid(fmt::format("Invalid {} value for tuple {}", value.is_null() ? "null" : "unset", name));
    return split_row(*whole->type(), value);
  }
  row.reserve(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    SIBYL_ASSIGN(const ValueView value, parts[i]->evaluate(bindings, scratch));
    if (value.is_unset() && parts.size() > 1)
      return invalid(fmt::format("Invalid unset value for tuple field number {}", i));
    row.push_back(value);
  }
  return row;
}

namespace {

base::Status check_present(const Restriction& restriction, const Row& row) {
  for (size_t i = 0; i < restriction.columns.size(); ++i) {
    if (i < row.size() && row[i].is_present()) continue;
    const std::string& name = restriction.columns[i]->name;
    if (i < row.size() && row[i].is_unset())
      return invalid(fmt::format("Invalid unset value for column {}", name));
    if (!restriction.is_multi_column)
      return invalid(fmt::format("Invalid null value in condition for column {}", name));
    if (restriction.kind == Restriction::Kind::equal)
      return invalid(fmt::format("Invalid null value for column {}", name));
    std::string names;
    for (const schema::Column* column : restriction.columns)
      names += (names.empty() ? "" : ", ") + column->name;
    return invalid(fmt::format("Invalid null value in condition for columns: [{}]", names));
  }
  return {};
}

base::Result<std::vector<Row>> rows_of_list(const Restriction& restriction, const Bindings& bindings,
                                            Scratch& scratch) {
  SIBYL_ASSIGN(const ValueView list, restriction.list->evaluate(bindings, scratch));
  if (list.is_null())
    return invalid(restriction.is_multi_column
                       ? "Invalid null value for IN restriction"
                       : fmt::format("Invalid null value for column {}", restriction.first().name));
  if (list.is_unset())
    return invalid(fmt::format("Invalid unset value for column {}", restriction.first().name));
  SIBYL_ASSIGN(const types::Elements elements, types::split(*restriction.list->type(), list.bytes));
  std::vector<Row> rows;
  rows.reserve(elements.size());
  for (const auto& element : elements) {
    if (!restriction.is_multi_column || !element) {
      rows.push_back({element ? ValueView::of(*element) : ValueView::null()});
      continue;
    }
    SIBYL_ASSIGN(Row row, split_row(*restriction.list->type()->element(), ValueView::of(*element)));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

base::Result<std::vector<Row>> Restriction::allowed(const Bindings& bindings, Scratch& scratch) const {
  std::vector<Row> rows;
  if (kind == Kind::equal) {
    SIBYL_ASSIGN(Row row, value.evaluate(bindings, scratch));
    rows.push_back(std::move(row));
  } else if (list != nullptr) {
    SIBYL_ASSIGN(rows, rows_of_list(*this, bindings, scratch));
  } else {
    for (const RowTerm& term : values) {
      SIBYL_ASSIGN(Row row, term.evaluate(bindings, scratch));
      rows.push_back(std::move(row));
    }
  }
  for (const Row& row : rows) SIBYL_TRY(check_present(*this, row));
  return rows;
}

std::vector<RestrictionPtr> distinct(const std::vector<RestrictionPtr>& by_position) {
  std::vector<RestrictionPtr> list;
  for (const RestrictionPtr& restriction : by_position)
    if (restriction != nullptr && (list.empty() || list.back() != restriction)) list.push_back(restriction);
  return list;
}

}  // namespace sibyl::plan
