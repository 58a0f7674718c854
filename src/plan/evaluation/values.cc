#include "plan/evaluation/values.h"

#include <fmt/format.h>

#include "plan/terms/combinations.h"
#include "types/elements.h"

namespace sibyl::plan {

using base::invalid;

namespace {

base::Result<Row> split_row(const types::Type& tuple, const ValueView& value) {
  SIBYL_ASSIGN(const types::Elements elements, types::split(tuple, value.bytes));
  Row row;
  for (const auto& element : elements) row.push_back(element ? ValueView::of(*element) : ValueView::null());
  return row;
}

}  // namespace

base::Result<Row> evaluate(const RowTerm& term, const Bindings& bindings, Scratch& scratch) {
  Row row;
  if (term.whole != nullptr) {
    SIBYL_ASSIGN(const ValueView value, term.whole->evaluate(bindings, scratch));
    if (!value.is_present())
      return invalid(
          fmt::format("Invalid {} value for tuple {}", value.is_null() ? "null" : "unset", term.name));
    return split_row(*term.whole->type(), value);
  }
  row.reserve(term.parts.size());
  for (size_t i = 0; i < term.parts.size(); ++i) {
    SIBYL_ASSIGN(const ValueView value, term.parts[i]->evaluate(bindings, scratch));
    if (value.is_unset() && term.parts.size() > 1)
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

base::Result<std::vector<Row>> allowed_rows(const Restriction& restriction, const Bindings& bindings,
                                            Scratch& scratch) {
  std::vector<Row> rows;
  if (restriction.kind == Restriction::Kind::equal) {
    SIBYL_ASSIGN(Row row, evaluate(restriction.value, bindings, scratch));
    rows.push_back(std::move(row));
  } else if (restriction.list != nullptr) {
    SIBYL_ASSIGN(rows, rows_of_list(restriction, bindings, scratch));
  } else {
    for (const RowTerm& term : restriction.values) {
      SIBYL_ASSIGN(Row row, evaluate(term, bindings, scratch));
      rows.push_back(std::move(row));
    }
  }
  for (const Row& row : rows) SIBYL_TRY(check_present(restriction, row));
  return rows;
}

bool has_only_value(const Restriction& restriction) {
  return restriction.kind == Restriction::Kind::equal && restriction.columns.size() == 1 &&
         restriction.value.whole == nullptr && restriction.value.parts.size() == 1;
}

base::Result<ValueView> only_value(const Restriction& restriction, const Bindings& bindings,
                                   Scratch& scratch) {
  SIBYL_ASSIGN(const ValueView value, restriction.value.parts.front()->evaluate(bindings, scratch));
  if (!value.is_present()) SIBYL_TRY(check_present(restriction, {value}));
  return value;
}

base::Status check_size(size_t left, size_t right, bool is_write) {
  return check_combinations(left, right, is_write ? max_combinations_written : max_combinations_read);
}

}  // namespace sibyl::plan
