#include "execute/write/modify_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <unordered_set>

#include "base/statement.h"
#include "plan/terms/functions.h"
#include "types/elements.h"
#include "types/keys/key.h"
#include "types/keys/key_decode.h"
#include "types/uuid.h"
#include "types/value.h"

namespace sibyl::execute {

using plan::Operation;
using types::Kind;
using types::ValueView;

namespace {

// List positions are timeuuids. Positions of appended elements increase with time. Positions of prepended
// elements start from this moment and decrease with time. So the latest one is first in the list, and all of
// them are before appended elements.
constexpr int64_t prepend_origin_micros = 1'262'304'000'000'000;       // 2010-01-01
constexpr int64_t uuid_epoch_hundred_nanos = 122'192'928'000'000'000;  // from 1582-10-15 to 1970

// Reserves `count` consecutive positions below all positions reserved before, and returns the first.
int64_t reserve_prepended(int64_t now_micros, int64_t count) {
  static std::atomic<int64_t> lowest{std::numeric_limits<int64_t>::max()};
  const int64_t mirrored = (2 * prepend_origin_micros - now_micros) * 10 + uuid_epoch_hundred_nanos;
  int64_t last = lowest.load(std::memory_order_relaxed);
  int64_t first = 0;
  do {
    first = std::min(mirrored, last) - count;
  } while (!lowest.compare_exchange_weak(last, first, std::memory_order_relaxed));
  return first;
}

Bytes position_path(const Bytes& timeuuid) {
  Bytes path;
  types::encode_key(*types::scalar(Kind::timeuuid), timeuuid, false, path);
  return path;
}

// REQUIRES: the fragment is normalised.
std::span<const row::Cell> cells_of_column(const row::Fragment& fragment, uint32_t column) {
  return std::ranges::equal_range(fragment.cells, column, {}, &row::Cell::column);
}

// Adds the contents of a fragment for one column.
void add_column(const row::Fragment& from, uint32_t column, row::Fragment& into) {
  for (const row::ColumnDeletion& one : from.column_deletions)
    if (one.column == column) into.column_deletions.push_back(one);
  for (const row::Cell& cell : from.cells)
    if (cell.column == column) into.cells.push_back(cell);
}

std::unexpected<base::Error> null_in_collection() {
  return base::invalid("null is not supported inside collections");
}

}  // namespace

base::Status CellWriter::apply(const Operation& operation, const row::Fragment* existing) {
  const schema::Column& column = *operation.column;
  switch (operation.kind) {
    case Operation::Kind::remove:
      if (column.type->is_multi_cell()) {
        delete_column(column, context_.timestamp);
      } else {
        add_tombstone(column, {}, {});
      }
      return {};
    case Operation::Kind::set_index:
    case Operation::Kind::remove_index:
      return change_index(operation, existing);
    case Operation::Kind::set_element:
    case Operation::Kind::remove_element:
      return set_element(operation);
    case Operation::Kind::set_field:
    case Operation::Kind::remove_field:
      return set_field(operation);
    case Operation::Kind::add_value:
      return add_value(operation, existing);
    default:
      break;
  }
  SIBYL_ASSIGN(const ValueView value, operation.value->evaluate(bindings_, scratch_));
  if (operation.kind == Operation::Kind::set) return set(column, value);
  if (!value.is_present()) return {};
  switch (operation.kind) {
    case Operation::Kind::append:
      return append(column, value.bytes);
    case Operation::Kind::prepend:
      return prepend(column, value.bytes);
    case Operation::Kind::add_elements:
      return add_elements(column, value.bytes);
    case Operation::Kind::remove_elements:
      return remove_elements(operation, value.bytes);
    case Operation::Kind::remove_values:
      return remove_values(column, value.bytes, existing);
    default:
      return {};
  }
}

base::Status CellWriter::set(const schema::Column& column, const ValueView& value) {
  if (value.is_unset()) return {};
  if (column.type->is_multi_cell()) return set_multi_cell(column, value);
  if (value.is_null()) {
    add_tombstone(column, {}, {});
  } else {
    add_cell(column, {}, {}, value.bytes);
  }
  return {};
}

void CellWriter::add_cell(const schema::Column& column, BytesView path, BytesView original_path,
                          BytesView value) {
  row::Cell& cell = fragment_.cells.emplace_back();
  cell.column = column.id;
  cell.path = path;
  cell.original_path = original_path;
  cell.timestamp = context_.timestamp;
  cell.value = value;
  if (context_.time_to_live != 0) {
    cell.kind = row::CellKind::expiring;
    cell.time_to_live = context_.time_to_live;
    cell.expires_seconds = context_.now_seconds + context_.time_to_live;
  }
}

void CellWriter::add_tombstone(const schema::Column& column, BytesView path, BytesView original_path) {
  row::Cell& cell = fragment_.cells.emplace_back();
  cell.column = column.id;
  cell.kind = row::CellKind::tombstone;
  cell.path = path;
  cell.original_path = original_path;
  cell.timestamp = context_.timestamp;
  cell.expires_seconds = context_.now_seconds;
}

void CellWriter::delete_column(const schema::Column& column, int64_t timestamp) {
  if (timestamp == row::no_timestamp) return;
  fragment_.column_deletions.push_back({column.id, {timestamp, context_.now_seconds}});
}

base::Status CellWriter::set_multi_cell(const schema::Column& column, const ValueView& value) {
  // The deletion has an earlier timestamp than the new elements, which are written with the timestamp itself.
  delete_column(column, context_.timestamp - 1);
  if (value.is_null()) return {};
  switch (column.type->kind()) {
    case Kind::list:
      return append(column, value.bytes);
    case Kind::udt: {
      SIBYL_ASSIGN(const types::Elements fields, types::split(*column.type, value.bytes));
      set_fields(column, fields);
      return {};
    }
    default:
      return add_elements(column, value.bytes);
  }
}

void CellWriter::set_fields(const schema::Column& column, const types::Elements& fields) {
  for (size_t i = 0; i < fields.size(); ++i)
    if (fields[i]) add_cell(column, field_path(static_cast<uint16_t>(i)), {}, *fields[i]);
}

base::Result<types::Elements> CellWriter::elements_of(const types::Type& type, BytesView bytes) {
  SIBYL_ASSIGN(types::Elements elements, types::split(type, bytes));
  for (const auto& element : elements)
    if (!element) return null_in_collection();
  return elements;
}

base::Status CellWriter::append(const schema::Column& column, BytesView list) {
  SIBYL_ASSIGN(const types::Elements elements, elements_of(*column.type, list));
  for (const auto& element : elements) {
    const BytesView path = scratch_.keep(position_path(types::next_time_uuid(context_.now_micros)));
    add_cell(column, path, {}, *element);
  }
  return {};
}

base::Status CellWriter::prepend(const schema::Column& column, BytesView list) {
  SIBYL_ASSIGN(const types::Elements elements, elements_of(*column.type, list));
  const int64_t first = reserve_prepended(context_.now_micros, static_cast<int64_t>(elements.size()));
  for (size_t i = 0; i < elements.size(); ++i) {
    const BytesView path = scratch_.keep(position_path(types::time_uuid(first + static_cast<int64_t>(i))));
    add_cell(column, path, {}, *elements[i]);
  }
  return {};
}

base::Status CellWriter::add_elements(const schema::Column& column, BytesView bytes) {
  const types::Type& type = *column.type;
  SIBYL_ASSIGN(const types::Elements elements, elements_of(type, bytes));
  const bool is_map = type.kind() == Kind::map;
  for (size_t i = 0; i < elements.size(); i += is_map ? 2 : 1) {
    BytesView original;
    const BytesView path = element_path(*type.parameters()[0], *elements[i], original);
    add_cell(column, path, original, is_map ? *elements[i + 1] : BytesView());
  }
  return {};
}

base::Status CellWriter::remove_elements(const Operation& operation, BytesView bytes) {
  SIBYL_ASSIGN(const types::Elements keys, elements_of(*operation.value->type(), bytes));
  for (const auto& key : keys) {
    BytesView original;
    const BytesView path = element_path(*operation.column->type->parameters()[0], *key, original);
    add_tombstone(*operation.column, path, original);
  }
  return {};
}

base::Status CellWriter::remove_values(const schema::Column& column, BytesView list,
                                       const row::Fragment* existing) {
  SIBYL_ASSIGN(const types::Elements elements, elements_of(*column.type, list));
  std::unordered_set<BytesView> values;
  for (const auto& element : elements) values.insert(*element);
  for (const row::Cell& cell : cells_of(column, existing))
    if (values.contains(cell.value)) add_tombstone(column, cell.path, cell.original_path);
  return {};
}

base::Status CellWriter::set_element(const Operation& operation) {
  const schema::Column& column = *operation.column;
  const bool is_set = column.type->kind() == Kind::set;
  SIBYL_ASSIGN(const ValueView key, operation.element->evaluate(bindings_, scratch_));
  if (key.is_null()) return base::invalid(is_set ? "Invalid null set element" : "Invalid null map key");
  if (key.is_unset() && is_set) return {};
  if (key.is_unset()) return base::invalid("Invalid unset map key");
  ValueView value;
  if (operation.kind == Operation::Kind::set_element) {
    SIBYL_ASSIGN(value, operation.value->evaluate(bindings_, scratch_));
  }
  if (value.is_unset()) return {};
  BytesView original;
  const BytesView path = element_path(*column.type->parameters()[0], key.bytes, original);
  if (value.is_null()) {
    add_tombstone(column, path, original);
  } else {
    add_cell(column, path, original, value.bytes);
  }
  return {};
}

base::Status CellWriter::change_index(const Operation& operation, const row::Fragment* existing) {
  const schema::Column& column = *operation.column;
  const bool sets = operation.kind == Operation::Kind::set_index;
  SIBYL_ASSIGN(const ValueView index_value, operation.element->evaluate(bindings_, scratch_));
  ValueView value;
  if (sets) {
    SIBYL_ASSIGN(value, operation.value->evaluate(bindings_, scratch_));
  }
  if (index_value.is_null()) return base::invalid("Invalid null value for list index");
  if (index_value.is_unset() && !sets) return {};
  if (index_value.is_unset()) return base::invalid("Invalid unset value for list index");
  if (index_value.bytes.size() != 4) return base::invalid("Invalid null value for list index");
  const auto index = types::decode_integer(Kind::int_, index_value.bytes);
  base::check_interrupt();  // the list is read again for each index
  const std::span<const row::Cell> cells = cells_of(column, existing);
  if (cells.empty()) {
    return base::invalid(sets ? "Attempted to set an element on a list which is null"
                              : "Attempted to delete an element from a list which is null");
  }
  if (index < 0 || index >= static_cast<int64_t>(cells.size()))
    return base::invalid(fmt::format("List index {} out of bound, list has size {}", index, cells.size()));
  const row::Cell& cell = cells[static_cast<size_t>(index)];
  if (value.is_unset()) return {};
  if (value.is_null()) {
    add_tombstone(column, cell.path, cell.original_path);
  } else {
    add_cell(column, cell.path, cell.original_path, value.bytes);
  }
  return {};
}

base::Status CellWriter::set_field(const Operation& operation) {
  ValueView value;
  if (operation.kind == Operation::Kind::set_field) {
    SIBYL_ASSIGN(value, operation.value->evaluate(bindings_, scratch_));
  }
  if (value.is_unset()) return {};
  const BytesView path = field_path(operation.field);
  if (value.is_null()) {
    add_tombstone(*operation.column, path, {});
  } else {
    add_cell(*operation.column, path, {}, value.bytes);
  }
  return {};
}

base::Status CellWriter::add_value(const Operation& operation, const row::Fragment* existing) {
  const schema::Column& column = *operation.column;
  SIBYL_ASSIGN(const ValueView added, operation.value->evaluate(bindings_, scratch_));
  if (added.is_unset()) return {};
  if (added.is_null()) return base::invalid("Invalid null value to add to column " + column.name);
  // Null plus a value is null.
  const std::span<const row::Cell> cells = cells_of(column, existing);
  if (cells.empty()) return {};
  const std::array<ValueView, 2> arguments = {ValueView::of(cells[0].value), added};
  SIBYL_ASSIGN(const ValueView sum, operation.sum->evaluate(*operation.sum, arguments, bindings_, scratch_));
  return set(column, sum);
}

std::span<const row::Cell> CellWriter::cells_of(const schema::Column& column, const row::Fragment* existing) {
  current_.clear();
  add_column(fragment_, column.id, current_);
  const bool is_written = !current_.empty();
  if (is_written) {
    if (existing) add_column(*existing, column.id, current_);
    row::normalise(current_);
    row::visible_at(current_, {}, context_.now_seconds);
    existing = &current_;
  }
  // Cells are sorted by column, then by path. Binary search, because a batch may change each element of a
  // long list.
  return existing ? cells_of_column(*existing, column.id) : std::span<const row::Cell>();
}

BytesView CellWriter::element_path(const types::Type& type, BytesView element, BytesView& original) {
  Bytes path;
  types::encode_key(type, element, false, path);
  if (types::key_is_lossy(type)) {
    BytesView rest = path;
    const auto back = types::decode_key(type, false, rest);
    if (!back || *back != element) original = element;
  }
  return scratch_.keep(std::move(path));
}

BytesView CellWriter::field_path(uint16_t field) {
  Bytes path;
  base::append_big_endian(path, field);
  return scratch_.keep(std::move(path));
}

}  // namespace sibyl::execute
