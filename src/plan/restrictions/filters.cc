// Evaluates restrictions that are checked row by row.
#include <fmt/format.h>

#include "plan/indexes/index_terms.h"
#include "plan/restrictions/bound.h"
#include "plan/restrictions/index.h"

namespace sibyl::plan {

using base::invalid;
using Row = std::vector<ValueView>;

namespace {

base::Result<BytesView> filter_value(const schema::Column& column, const ValueView& value,
                                     std::string_view part = " value") {
  if (value.is_null()) return invalid(fmt::format("Unsupported null{} for column {}", part, column.name));
  if (value.is_unset()) return invalid(fmt::format("Unsupported unset{} for column {}", part, column.name));
  return value.bytes;
}

base::Status add_bound(const schema::Column& column, const std::optional<Bound>& bound, bool is_start,
                       const Bindings& bindings, Scratch& scratch, std::vector<Filter>& filters) {
  if (!bound) return {};
  SIBYL_ASSIGN(const Row row, bound->value.evaluate(bindings, scratch));
  Filter filter;
  filter.column = &column;
  filter.op = is_start ? (bound->inclusive ? cql::Operator::greater_or_equal : cql::Operator::greater)
                       : (bound->inclusive ? cql::Operator::less_or_equal : cql::Operator::less);
  SIBYL_ASSIGN(filter.value, filter_value(column, row[0]));
  filters.push_back(std::move(filter));
  return {};
}

}  // namespace

base::Status BoundRestrictions::add_filters(const Restriction& restriction, const Bindings& bindings,
                                            Scratch& scratch, std::vector<Filter>& filters) const {
  switch (restriction.kind) {
    case Restriction::Kind::equal: {
      SIBYL_ASSIGN(const Row row, restriction.value.evaluate(bindings, scratch));
      for (size_t i = 0; i < restriction.columns.size(); ++i) {
        Filter filter;
        filter.column = restriction.columns[i];
        SIBYL_ASSIGN(filter.value, filter_value(*filter.column, i < row.size() ? row[i] : ValueView::null()));
        filters.push_back(std::move(filter));
      }
      return {};
    }
    case Restriction::Kind::in: {
      if (restriction.columns.size() > 1) return invalid("Multicolumn IN filters are not supported");
      SIBYL_ASSIGN(const std::vector<Row> rows, restriction.allowed(bindings, scratch));
      Filter filter;
      filter.column = &restriction.first();
      filter.op = cql::Operator::in;
      for (const Row& row : rows) filter.values.push_back(row[0].bytes);
      filters.push_back(std::move(filter));
      return {};
    }
    case Restriction::Kind::slice:
      if (restriction.is_multi_column)
        return invalid("Multi-column slice restrictions cannot be used for filtering.");
      SIBYL_TRY(add_bound(restriction.first(), restriction.start, true, bindings, scratch, filters));
      return add_bound(restriction.first(), restriction.end, false, bindings, scratch, filters);
    case Restriction::Kind::contains:
      for (const Restriction::Contained& contained : restriction.contained) {
        Filter filter;
        filter.column = &restriction.first();
        filter.op = contained.op;
        const char* part = " value";
        if (contained.key != nullptr) {
          filter.is_entry = true;
          SIBYL_ASSIGN(const ValueView key, contained.key->evaluate(bindings, scratch));
          SIBYL_ASSIGN(filter.key, filter_value(*filter.column, key, " map key"));
          part = " map value";
        }
        SIBYL_ASSIGN(const ValueView value, contained.value->evaluate(bindings, scratch));
        SIBYL_ASSIGN(filter.value, filter_value(*filter.column, value, part));
        filters.push_back(std::move(filter));
      }
      return {};
    case Restriction::Kind::like: {
      SIBYL_ASSIGN(const Row row, restriction.value.evaluate(bindings, scratch));
      Filter filter;
      SIBYL_TRY(bind_like(*table_, restriction, row[0], filter));
      filters.push_back(std::move(filter));
      return {};
    }
  }
  return {};
}

base::Result<std::vector<Filter>> BoundRestrictions::filters(const Bindings& bindings,
                                                             Scratch& scratch) const {
  std::vector<Filter> filters;
  for (const RestrictionPtr& restriction : filters_)
    SIBYL_TRY(add_filters(*restriction, bindings, scratch, filters));
  if (uses_index_)
    for (Filter& filter : filters) {
      filter.analysis = analysis_for(*table_, filter);
      if (filter.analysis.exists()) filter.value = scratch.keep(analysed(filter.analysis, filter.value));
    }
  return filters;
}

}  // namespace sibyl::plan
