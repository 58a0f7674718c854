#include "advisor/workload/stored_size.h"

#include <algorithm>
#include <cmath>

namespace sibyl::advisor {
namespace {

using types::Kind;
using Role = StoredColumn::Role;

constexpr double default_text = 16, default_blob = 64, default_elements = 4;
constexpr double table_and_token = 12;   // bytes of the table's id and the token, which every key contains
constexpr double kind_of_record = 1;     // byte for the kind of record, which every key contains
constexpr double end_of_component = 2;   // bytes that end a component of variable size
constexpr double version_and_flags = 2;  // bytes of the version and flags, which every value contains
constexpr double base_timestamp = 8;     // bytes of the timestamp, which every value contains
constexpr double base_local_time = 5;    // only with deletions
constexpr double time_to_live = 3 + 5;   // base TTL and expiry
// Bytes of the deletion that precedes a collection which is overwritten as a whole.
constexpr double column_deletion = 1 + 1;

// The size of types whose values all have the same size; -1 for others.
double fixed_size(const types::Type& type) {
  switch (type.kind()) {
    case Kind::tinyint:
      return 1;
    case Kind::smallint:
      return 2;
    case Kind::date:
      return 4;
    case Kind::time:
      return 8;
    default:
      return static_cast<double>(type.fixed_size());
  }
}

double length_size(double bytes) {
  return bytes < 128 ? 1 : bytes < 16'384 ? 2 : bytes < 2'097'152 ? 3 : 4;
}
double sized(double bytes) {
  return length_size(bytes) + bytes;
}

// The number of zero bytes in an integer of `bytes` bytes that takes the values 0 to distinct - 1.
double zero_bytes(double bytes, double distinct) {
  const double used = distinct > 1 ? std::log(distinct) / std::log(256.0) : bytes / 2;
  return std::clamp(bytes - used, 0.0, bytes);
}

// Additional bytes of a value in a partition key, where a zero byte is stored as two bytes.
double escapes(const StoredColumn& column) {
  switch (column.type->kind()) {
    case Kind::tinyint:
    case Kind::smallint:
    case Kind::int_:
    case Kind::bigint:
      return zero_bytes(fixed_size(*column.type), column.distinct);
    case Kind::timestamp:
    case Kind::time:
      return 2;  // the milliseconds of present-day times, and the nanoseconds of a day, have two zero bytes
    case Kind::boolean:
      return 0.5;
    case Kind::double_:
    case Kind::float_:
      return fixed_size(*column.type) / 4;
    default:
      return 0;
  }
}

double elements_of(const StoredColumn& column) {
  const types::Type& type = *column.type;
  if (column.elements > 0) return column.elements;
  if (column.size <= 0) return default_elements;
  double each = 4;
  for (const types::TypePtr& part : type.parameters()) each += 4 + value_size(*part, 0, 0);
  return std::max(1.0, (column.size - 4) / std::max(1.0, each - 4));
}

// The size of a component of a sortable key.
double component(const types::Type& type, double size, double elements) {
  if (fixed_size(type) >= 0 && type.kind() != Kind::vector)
    return type.kind() == Kind::boolean ? 1 : 1 + fixed_size(type);
  switch (type.kind()) {
    case Kind::varint:
      return 1 + value_size(type, size, elements);
    case Kind::decimal:
      return value_size(type, size, elements);
    case Kind::list:
    case Kind::set:
    case Kind::map:
    case Kind::tuple:
    case Kind::udt: {
      double bytes = 2;
      const double times = type.is_collection() ? (elements > 0 ? elements : default_elements) : 1;
      for (const types::TypePtr& part : type.parameters()) bytes += times * (1 + component(*part, 0, 0));
      return bytes;
    }
    case Kind::vector:
      return 1 + type.dimension() * component(*type.element(), 0, 0);
    default:
      return value_size(type, size, elements) + end_of_component;
  }
}

// One cell per element: a flag, the element's path and its value, each with a length.
double cells_of_collection(const StoredColumn& column) {
  const types::Type& type = *column.type;
  constexpr double flag_and_lengths = 3, list_place = 16, field_place = 2;
  if (!type.is_collection()) {
    double bytes = column_deletion;
    for (const types::TypePtr& part : type.parameters())
      bytes += flag_and_lengths + field_place + value_size(*part, 0, 0);
    return bytes;
  }
  const double elements = elements_of(column);
  double payload = 0;
  for (const types::TypePtr& part : type.parameters()) payload += elements * value_size(*part, 0, 0);
  if (column.size > 0)
    payload = std::max(0.0, column.size - 4 - 4 * elements * static_cast<double>(type.parameters().size()));
  return column_deletion + elements * (flag_and_lengths + (type.kind() == Kind::list ? list_place : 0)) +
         payload;
}

double cells(const StoredColumn& column) {
  if (column.type->is_counter()) return 1 + sized(4);
  if (column.type->is_multi_cell()) return cells_of_collection(column);
  return 1 + sized(value_size(*column.type, column.size, column.elements));
}

// The size of a fragment: its header and its cells.
double fragment(const std::vector<StoredColumn>& columns, Role role, bool expires) {
  double bytes = version_and_flags + base_timestamp + (expires ? time_to_live : 0);
  bool first = true, deletes = false;
  for (const StoredColumn& column : columns) {
    if (column.role != role) continue;
    bytes += cells(column) + (first ? 1 : 0);
    deletes = deletes || column.type->is_multi_cell();
    first = false;
  }
  return bytes + (deletes ? base_local_time + 1 : 0);
}

}  // namespace

double value_size(const types::Type& type, double size, double elements) {
  if (const double known = fixed_size(type); known >= 0) return known;
  switch (type.kind()) {
    case Kind::tuple:
    case Kind::udt: {
      double bytes = 0;
      for (const types::TypePtr& part : type.parameters()) bytes += 4 + value_size(*part, 0, 0);
      return size > 0 ? size : bytes;
    }
    case Kind::list:
    case Kind::set:
    case Kind::map: {
      if (size > 0) return size;
      double each = 0;
      for (const types::TypePtr& part : type.parameters()) each += 4 + value_size(*part, 0, 0);
      return 4 + (elements > 0 ? elements : default_elements) * each;
    }
    case Kind::vector:
      return type.dimension() * value_size(*type.element(), 0, 0);
    case Kind::text:
    case Kind::ascii:
      return size > 0 ? size : default_text;
    case Kind::decimal:
      return size > 0 ? size : 8;
    case Kind::varint:
    case Kind::inet:
      return size > 0 ? size : 4;
    case Kind::duration:
      return size > 0 ? size : 6;
    default:
      return size > 0 ? size : default_blob;
  }
}

StoredSizes stored_sizes(const std::vector<StoredColumn>& columns, bool expires) {
  double key = table_and_token + kind_of_record + end_of_component, clustering = 0;
  size_t parts = 0;
  bool has_static = false;
  for (const StoredColumn& column : columns) {
    const double size = value_size(*column.type, column.size, column.elements);
    if (column.role == Role::partition) {
      key += size + escapes(column);
      ++parts;
    }
    if (column.role == Role::clustering) clustering += component(*column.type, column.size, column.elements);
    has_static = has_static || column.role == Role::fixed;
  }
  // Each part of a composite key has a length of two bytes, one of which is zero and thus escaped, and a
  // final zero byte.
  constexpr double around_part = 2 + 1 + 1 + 1;
  if (parts > 1) key += around_part * static_cast<double>(parts);
  StoredSizes sizes;
  sizes.row = key + clustering + fragment(columns, Role::regular, expires);
  if (has_static) sizes.partition = key + fragment(columns, Role::fixed, expires);
  return sizes;
}

}  // namespace sibyl::advisor
