#include "execute/read/select_row.h"

#include <algorithm>

#include "base/statement.h"
#include "execute/corrupt.h"
#include "execute/read/index_entries.h"
#include "plan/evaluation/filters.h"
#include "plan/indexes/index_terms.h"
#include "plan/terms/functions.h"
#include "row/counter.h"
#include "types/compare.h"
#include "types/elements.h"
#include "types/keys/key.h"
#include "types/keys/key_decode.h"

namespace sibyl::execute {

using plan::Input;
using types::Kind;

namespace {}  // namespace

ValueView assemble(const types::Type& type, std::span<const row::Cell> cells, plan::Scratch& scratch) {
  if (cells.empty()) return ValueView::null();
  types::Elements elements;
  switch (type.kind()) {
    case Kind::list:
      for (const row::Cell& cell : cells) elements.emplace_back(cell.value);
      break;
    case Kind::set:
      for (const row::Cell& cell : cells) elements.emplace_back(scratch.keep(element_of(type, cell)));
      break;
    case Kind::map:
      for (const row::Cell& cell : cells) {
        elements.emplace_back(scratch.keep(element_of(type, cell)));
        elements.emplace_back(cell.value);
      }
      break;
    default: {
      elements.resize(type.parameters().size());
      for (const row::Cell& cell : cells) {
        if (cell.path.size() != 2) continue;
        const size_t field = base::read_big_endian<uint16_t>(cell.path);
        // Skips a field that was added after this plan was prepared.
        if (field < elements.size()) elements[field] = cell.value;
      }
    }
  }
  return plan::kept(scratch, types::join(type, elements));
}

// --- Inputs

namespace {

ValueView time_of(const Input& input, const row::Cell& cell, int64_t now_seconds, plan::Scratch& scratch) {
  if (input.kind != Input::Kind::time_to_live)
    return plan::kept(scratch, types::encode_int64(cell.timestamp));
  if (cell.kind != row::CellKind::expiring) return ValueView::null();
  return plan::kept(scratch, types::encode_int32(static_cast<int32_t>(cell.expires_seconds - now_seconds)));
}

ValueView latest_of(std::span<const row::Cell> cells, plan::Scratch& scratch) {
  if (cells.empty()) return ValueView::null();
  const auto later = [](const row::Cell& left, const row::Cell& right) {
    return left.timestamp < right.timestamp;
  };
  const auto latest = std::max_element(cells.begin(), cells.end(), later);
  return plan::kept(scratch, types::encode_int64(latest->timestamp));
}

ValueView times_of(const Input& input, std::span<const row::Cell> cells, int64_t now_seconds,
                   plan::Scratch& scratch) {
  if (cells.empty()) return ValueView::null();
  const bool is_ttl = input.kind == Input::Kind::time_to_live;
  const bool has_fields = input.column->type->kind() == Kind::udt;
  types::Elements times(has_fields ? input.column->type->parameters().size() : 0);
  for (const row::Cell& cell : cells) {
    const ValueView time = time_of(input, cell, now_seconds, scratch);
    const auto bytes = time.is_present() ? std::optional(time.bytes) : std::nullopt;
    uint16_t field = 0;
    if (!has_fields)
      times.push_back(bytes);
    else if (base::Reader(cell.path).big_endian(field) && field < times.size())
      times[field] = bytes;
  }
  const types::TypePtr list = types::list_of(types::scalar(is_ttl ? Kind::int_ : Kind::bigint), false);
  return plan::kept(scratch, types::join(*list, times));
}

// The cells of the selected part; all cells if the column is a single cell.
base::Result<std::span<const row::Cell>> part_of(const Input& input, std::span<const row::Cell> cells,
                                                 const plan::Bindings& bindings, plan::Scratch& scratch) {
  if (input.part == Input::Part::whole || !input.column->type->is_multi_cell()) return cells;
  const auto below = [](const row::Cell& cell, BytesView path) { return cell.path < path; };
  const auto above = [](BytesView path, const row::Cell& cell) { return path < cell.path; };
  if (input.part == Input::Part::field) {
    Bytes path;
    base::append_big_endian(path, input.field);
    const auto found = std::lower_bound(cells.begin(), cells.end(), BytesView(path), below);
    const bool is_there = found != cells.end() && found->path == path;
    return is_there ? std::span<const row::Cell>(&*found, 1) : std::span<const row::Cell>();
  }
  const types::Type& key_type = *input.column->type->parameters()[0];
  const auto path_of = [&](const plan::TermPtr& term, Bytes& path) -> base::Result<bool> {
    if (term == nullptr) return false;
    SIBYL_ASSIGN(const ValueView key, term->evaluate(bindings, scratch));
    if (!key.is_present())
      return base::invalid("Invalid null value for element selection on " + input.column->name);
    types::encode_key(key_type, key.bytes, false, path);
    return true;
  };
  Bytes from, to;
  SIBYL_ASSIGN(const bool has_from, path_of(input.from, from));
  if (input.part == Input::Part::element) to = from;
  SIBYL_ASSIGN(const bool has_to,
               input.part == Input::Part::element ? base::Result<bool>(true) : path_of(input.to, to));
  const auto begin =
      has_from ? std::lower_bound(cells.begin(), cells.end(), BytesView(from), below) : cells.begin();
  const auto end = has_to ? std::upper_bound(cells.begin(), cells.end(), BytesView(to), above) : cells.end();
  return begin < end ? std::span<const row::Cell>(begin, end) : std::span<const row::Cell>();
}

}  // namespace

base::Result<ValueView> RowInputs::take(const Input& input, std::span<const row::Cell> cells,
                                        plan::Scratch& scratch) {
  const types::Type& type = *input.column->type;
  if (input.kind == Input::Kind::value) {
    if (type.is_multi_cell()) return assemble(type, cells, scratch);
    if (cells.empty()) return ValueView::null();
    if (cells[0].kind != row::CellKind::counter) return ValueView::of(cells[0].value);
    row::CounterValue counter;
    if (!row::decode_counter(cells[0].value, counter)) return base::fail(corrupt_key());
    return plan::kept(scratch, types::encode_int64(counter.value));
  }
  SIBYL_ASSIGN(const std::span<const row::Cell> part, part_of(input, cells, bindings_, scratch));
  if (input.kind == Input::Kind::max_write_time) return latest_of(part, scratch);
  const bool is_many =
      type.is_multi_cell() && (input.part == Input::Part::whole || input.part == Input::Part::slice);
  if (is_many) return times_of(input, part, now_seconds_, scratch);
  return part.empty() ? ValueView::null() : time_of(input, part[0], now_seconds_, scratch);
}

base::Status RowInputs::fill_cells(const std::vector<plan::Select::InputSource>& sources,
                                   const row::Fragment& fragment, plan::Scratch& scratch) {
  const std::vector<row::Cell>& cells = fragment.cells;
  size_t cell = 0;
  for (size_t i = 0; i < sources.size();) {
    const uint32_t column = sources[i].at;
    while (cell < cells.size() && cells[cell].column < column) ++cell;
    const size_t first = cell;
    while (cell < cells.size() && cells[cell].column == column) ++cell;
    const std::span<const row::Cell> found(cells.data() + first, cell - first);
    for (; i < sources.size() && sources[i].at == column; ++i) {
      const auto input = static_cast<size_t>(sources[i].input);
      SIBYL_ASSIGN(values_[input], take(plan_.selection.inputs[input], found, scratch));
    }
  }
  return {};
}

base::Status RowInputs::start_partition(const Bytes& serialised_key, const row::Fragment& static_row) {
  partition_scratch_.clear();
  if (!plan_.partition_inputs.empty()) {
    if (plan_.table->partition_key_count == 1) {
      for (const auto& source : plan_.partition_inputs)
        values_[static_cast<size_t>(source.input)] = ValueView::of(serialised_key);
    } else {
      SIBYL_ASSIGN(partition_key_,
                   types::split_partition_key(serialised_key, plan_.table->partition_key_count));
      for (const auto& source : plan_.partition_inputs)
        values_[static_cast<size_t>(source.input)] = ValueView::of(partition_key_[source.at]);
    }
  }
  return fill_cells(plan_.static_inputs, static_row, partition_scratch_);
}

base::Status RowInputs::fill(BytesView clustering, const row::Fragment& row) {
  row_scratch_.clear();
  if (!plan_.clustering_inputs.empty()) {
    const size_t needed = plan_.clustering_inputs.back().at + 1;
    size_t given = 0;  // the last columns of a row may be null if the table is, or was, a compact one
    if (clustering_.size() < needed) clustering_.resize(needed);
    if (!row.original_clustering.empty()) {
      base::Reader reader(row.original_clustering);
      BytesView value;
      for (; given < needed && !reader.at_end() && reader.sized(value); ++given)
        clustering_[given].assign(value);
      if (!reader.ok()) return base::fail(corrupt_key());
    } else {
      for (; given < needed && !clustering.empty(); ++given) {
        const schema::Column& column = plan_.table->clustering(given);
        auto value = types::decode_key(*column.type, column.descending, clustering);
        if (!value) return base::fail(corrupt_key());
        clustering_[given] = std::move(*value);
      }
    }
    for (const auto& source : plan_.clustering_inputs)
      values_[static_cast<size_t>(source.input)] =
          source.at < given ? ValueView::of(clustering_[source.at]) : ValueView::null();
  }
  return fill_cells(plan_.regular_inputs, row, row_scratch_);
}

void RowInputs::fill_static_only() {
  for (const auto& source : plan_.clustering_inputs)
    values_[static_cast<size_t>(source.input)] = ValueView::null();
  for (const auto& source : plan_.regular_inputs)
    values_[static_cast<size_t>(source.input)] = ValueView::null();
}

// --- Filters

namespace {

// Compares both values as the index that serves the filter sees them.
bool is_equal(const plan::Filter& filter, const types::Type& type, BytesView value) {
  if (filter.analysis.exists()) return plan::analysed(filter.analysis, value) == filter.value;
  return types::compare(type, value, filter.value) == 0;
}

bool occurs(plan::Filter::Place place, BytesView wanted, BytesView text) {
  switch (place) {
    case plan::Filter::Place::whole:
      return text == wanted;
    case plan::Filter::Place::beginning:
      return text.starts_with(wanted);
    case plan::Filter::Place::end:
      return text.ends_with(wanted);
    case plan::Filter::Place::anywhere:
      return text.find(wanted) != BytesView::npos;
  }
  return false;
}

// True if each of the wanted words occurs in a word of the text.
bool has_words_like(const plan::Filter& filter, BytesView text) {
  const std::vector<Bytes> words = plan::analysed_words(filter.analysis, text);
  base::count_work(static_cast<int64_t>(words.size() * filter.values.size()));
  const auto has_word = [&](BytesView wanted) {
    return std::any_of(words.begin(), words.end(),
                       [&](const Bytes& word) { return occurs(filter.place, wanted, word); });
  };
  return !filter.values.empty() && std::all_of(filter.values.begin(), filter.values.end(), has_word);
}

bool is_like(const plan::Filter& filter, BytesView value) {
  if (filter.analysis.has_words()) return has_words_like(filter, value);
  if (filter.analysis.exists())
    return occurs(filter.place, filter.value, plan::analysed(filter.analysis, value));
  return occurs(filter.place, filter.value, value);
}

bool contains(const plan::Filter& filter, BytesView collection) {
  const types::Type& type = *filter.column->type;
  const auto elements = types::split(type, collection);
  if (!elements) return false;
  const bool is_map = type.kind() == Kind::map;
  const bool by_key = filter.op == cql::Operator::contains_key;
  const types::Type& wanted = *type.parameters()[is_map && !by_key ? 1 : 0];
  for (size_t i = is_map && !by_key ? 1 : 0; i < elements->size(); i += is_map ? 2 : 1)
    if ((*elements)[i] && is_equal(filter, wanted, *(*elements)[i])) return true;
  return false;
}

bool has_entry(const plan::Filter& filter, BytesView map) {
  const types::Type& type = *filter.column->type;
  const auto elements = types::split(type, map);
  if (!elements) return false;
  for (size_t i = 0; i + 1 < elements->size(); i += 2)
    if ((*elements)[i] && types::compare(*type.map_key(), *(*elements)[i], filter.key) == 0)
      return (*elements)[i + 1] && types::compare(*type.map_value(), *(*elements)[i + 1], filter.value) == 0;
  return false;
}

}  // namespace

bool satisfies(const plan::Filter& filter, const ValueView& value) {
  if (!value.is_present()) return false;
  if (filter.is_entry) return has_entry(filter, value.bytes);
  const types::Type& type = *filter.column->type;
  switch (filter.op) {
    case cql::Operator::equal:
      return is_equal(filter, type, value.bytes);
    case cql::Operator::like:
      return is_like(filter, value.bytes);
    case cql::Operator::less:
      return types::compare(type, value.bytes, filter.value) < 0;
    case cql::Operator::less_or_equal:
      return types::compare(type, value.bytes, filter.value) <= 0;
    case cql::Operator::greater:
      return types::compare(type, value.bytes, filter.value) > 0;
    case cql::Operator::greater_or_equal:
      return types::compare(type, value.bytes, filter.value) >= 0;
    case cql::Operator::in:
      base::count_work(static_cast<int64_t>(filter.values.size()) * 10);
      return std::any_of(filter.values.begin(), filter.values.end(),
                         [&](BytesView one) { return types::compare(type, value.bytes, one) == 0; });
    case cql::Operator::contains:
    case cql::Operator::contains_key:
      return contains(filter, value.bytes);
    default:
      return false;
  }
}

base::Result<std::vector<InputFilter>> input_filters(const plan::Select& plan, const plan::Bindings& bindings,
                                                     plan::Scratch& scratch) {
  SIBYL_ASSIGN(std::vector<plan::Filter> filters, plan::row_filters(*plan.where, bindings, scratch));
  const std::vector<const schema::Column*>& columns = plan.where->filtered_columns();
  std::vector<InputFilter> result;
  for (plan::Filter& filter : filters) {
    const auto at = std::find(columns.begin(), columns.end(), filter.column) - columns.begin();
    result.push_back({std::move(filter), static_cast<size_t>(plan.filter_inputs[static_cast<size_t>(at)])});
  }
  return result;
}

bool satisfies(const std::vector<InputFilter>& filters, std::span<const ValueView> inputs) {
  return std::all_of(filters.begin(), filters.end(),
                     [&](const InputFilter& one) { return satisfies(one.filter, inputs[one.input]); });
}

}  // namespace sibyl::execute
