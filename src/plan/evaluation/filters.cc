#include "plan/evaluation/filters.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/evaluation/values.h"
#include "plan/indexes/index_terms.h"
#include "plan/restrictions/index.h"
#include "row/record_key.h"

namespace sibyl::plan {

using base::invalid;

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
  SIBYL_ASSIGN(const Row row, evaluate(bound->value, bindings, scratch));
  Filter filter;
  filter.column = &column;
  filter.op = is_start ? (bound->inclusive ? cql::Operator::greater_or_equal : cql::Operator::greater)
                       : (bound->inclusive ? cql::Operator::less_or_equal : cql::Operator::less);
  SIBYL_ASSIGN(filter.value, filter_value(column, row[0]));
  filters.push_back(std::move(filter));
  return {};
}

base::Status bind_like(const schema::Table& table, const Restriction& restriction, const ValueView& value,
                       Filter& filter) {
  const schema::Column& column = restriction.first();
  if (value.is_null()) return invalid(fmt::format("Unsupported null value for column {}", column.name));
  if (value.is_unset()) return invalid(fmt::format("Unsupported unset value for column {}", column.name));
  filter.column = &column;
  filter.op = cql::Operator::like;
  filter.value = value.bytes;
  const bool open_end = filter.value.ends_with('%'), open_start = filter.value.starts_with('%');
  if (open_end) filter.value.remove_suffix(1);
  if (open_start && !filter.value.empty()) filter.value.remove_prefix(1);
  if (filter.value.empty()) return invalid("LIKE value can't be empty.");
  using Place = Filter::Place;
  filter.place =
      open_end ? (open_start ? Place::anywhere : Place::beginning) : (open_start ? Place::end : Place::whole);
  const auto finds = [&](const schema::Index& index) {
    if (!supports(index, column, cql::Operator::like)) return false;
    if (open_start) return finds_inside(index);
    // Cassandra refuses such a LIKE, although the index could find the words.
    const bool is_prefix_of_word = open_end && schema::analysis_of(index, column).has_words();
    return !(is_prefix_of_word && finds_inside(index));
  };
  if (std::any_of(table.indexes.begin(), table.indexes.end(), finds)) return {};
  base::Error error(base::ErrorCode::invalid,
                    fmt::format("{} LIKE '{}<term>{}' {} is only supported on properly indexed columns",
                                column.name, open_start ? "%" : "", open_end ? "%" : "", filter.value));
  return base::fail(std::move(error).with_hint(
      open_start ? "an index with the option 'mode': 'CONTAINS' also finds text inside a value"
                 : "an index of words with 'mode': 'CONTAINS' finds '%<term>%'"));
}

base::Status add_filters(const schema::Table& table, const Restriction& restriction, const Bindings& bindings,
                         Scratch& scratch, std::vector<Filter>& filters) {
  switch (restriction.kind) {
    case Restriction::Kind::equal: {
      SIBYL_ASSIGN(const Row row, evaluate(restriction.value, bindings, scratch));
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
      SIBYL_ASSIGN(const std::vector<Row> rows, allowed_rows(restriction, bindings, scratch));
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
      SIBYL_ASSIGN(const Row row, evaluate(restriction.value, bindings, scratch));
      Filter filter;
      SIBYL_TRY(bind_like(table, restriction, row[0], filter));
      filters.push_back(std::move(filter));
      return {};
    }
  }
  return {};
}

schema::TextAnalysis analysis_for(const schema::Table& table, const Filter& filter) {
  for (const schema::Index& index : table.indexes) {
    if (filter.is_entry || !supports(index, *filter.column, filter.op)) continue;
    schema::TextAnalysis analysis = schema::analysis_of(index, *filter.column);
    if (analysis.exists()) return analysis;
  }
  return {};
}

// Returns the terms that match the longest of the words. A matching row has all words, so it has this one
// too.
Interval words_interval(const TermForm& form, const Filter& filter) {
  Interval interval;
  interval.end = Bytes();
  const std::vector<Bytes> words = analysed_words(form.analysis, filter.value);
  if (words.empty()) {
    interval.begin = form.prefix_of({});
    interval.end = interval.begin;
    interval.end->push_back('\0');
  } else if (filter.place == Filter::Place::whole || filter.place == Filter::Place::beginning) {
    const auto longest = std::max_element(words.begin(), words.end(),
                                          [](const Bytes& a, const Bytes& b) { return a.size() < b.size(); });
    interval.begin = form.prefix_of(*longest);
    interval.end = row::after(interval.begin).value_or(Bytes());
  }
  return interval;
}

}  // namespace

base::Result<std::vector<Filter>> row_filters(const Restrictions& where, const Bindings& bindings,
                                              Scratch& scratch) {
  std::vector<Filter> filters;
  for (const RestrictionPtr& restriction : where.filters())
    SIBYL_TRY(add_filters(where.table(), *restriction, bindings, scratch, filters));
  if (where.uses_index())
    for (Filter& filter : filters) {
      filter.analysis = analysis_for(where.table(), filter);
      if (filter.analysis.has_words())
        for (Bytes& word : analysed_words(filter.analysis, filter.value))
          filter.values.push_back(scratch.keep(std::move(word)));
      else if (filter.analysis.exists())
        filter.value = scratch.keep(analysed(filter.analysis, filter.value));
    }
  return filters;
}

base::Result<Interval> index_interval(const Restrictions& where, size_t use, const Bindings& bindings,
                                      Scratch& scratch) {
  const IndexUse& chosen = where.index_uses()[use];
  const Restriction& restriction = where.served_by(use);
  const TermForm form = TermForm::of(where.table(), *chosen.index);
  std::vector<Filter> filters;
  SIBYL_TRY(add_filters(where.table(), restriction, bindings, scratch, filters));
  std::erase_if(filters, [&](const Filter& filter) {
    if (filter.column != chosen.column) return true;
    return filter.is_entry ? chosen.index->target != schema::Index::Target::entries
                           : !supports(*chosen.index, *chosen.column, filter.op);
  });
  Interval interval;
  if (chosen.match == IndexUse::Match::term) {
    interval.begin = form.term(filters[0].key, filters[0].value);
    return interval;
  }
  interval.end = Bytes();
  for (const Filter& filter : filters) {
    if (filter.op == cql::Operator::like && form.analysis.has_words()) {
      interval = words_interval(form, filter);
    } else if (filter.op == cql::Operator::like) {
      if (filter.place != Filter::Place::whole && filter.place != Filter::Place::beginning) continue;
      interval.begin = form.prefix_of(filter.value);
      interval.end = row::after(interval.begin).value_or(Bytes());
    } else if (filter.op == cql::Operator::greater || filter.op == cql::Operator::greater_or_equal) {
      interval.begin = form.term({}, filter.value);
    } else {
      interval.end = row::after(form.term({}, filter.value)).value_or(Bytes());
    }
  }
  return interval;
}

}  // namespace sibyl::plan
