#include "engine/system_rows.h"

#include <algorithm>

#include "base/check.h"
#include "row/fragment.h"
#include "row/record_key.h"
#include "types/elements.h"
#include "types/keys/key.h"
#include "types/value.h"

namespace sibyl::engine {
namespace {

using types::Kind;
using types::scalar;

const Bytes& key_value(const SystemRow& row, const schema::Column& column) {
  auto found =
      std::find_if(row.begin(), row.end(), [&](const auto& entry) { return entry.first == column.name; });
  SIBYL_CHECK(found != row.end());
  return found->second;
}

Bytes key_of(const schema::Table& table, const SystemRow& row) {
  std::vector<BytesView> partition_key;
  Bytes clustering;
  for (size_t i = 0; i < table.partition_key_count; ++i)
    partition_key.push_back(key_value(row, table.partition_key(i)));
  for (size_t i = 0; i < table.clustering_count; ++i) {
    const schema::Column& column = table.clustering(i);
    types::encode_key(*column.type, key_value(row, column), column.descending, clustering);
  }
  return row::row_record_key(
      row::partition_prefix(table.storage_id, types::serialise_partition_key(partition_key)), clustering);
}

// Cells point into `paths`, which must not be reallocated.
void add_cells(const schema::Column& column, BytesView value, int64_t timestamp, std::vector<Bytes>& paths,
               row::Fragment& fragment) {
  if (!column.type->is_multi_cell()) {
    fragment.cells.push_back({.column = column.id, .timestamp = timestamp, .value = value});
    return;
  }
  SIBYL_CHECK(column.type->kind() == Kind::set || column.type->kind() == Kind::map);
  auto elements = types::split(*column.type, value);
  SIBYL_CHECK(elements.has_value());
  size_t stride = column.type->kind() == Kind::map ? 2 : 1;
  for (size_t i = 0; i + stride <= elements->size(); i += stride) {
    types::encode_key(*column.type->element(), *(*elements)[i], false, paths.emplace_back());
    fragment.cells.push_back({.column = column.id,
                              .path = paths.back(),
                              .timestamp = timestamp,
                              .value = stride == 2 ? *(*elements)[i + 1] : BytesView()});
  }
}

Bytes join_texts(const types::TypePtr& type, const std::vector<std::string>& texts) {
  types::Elements elements;
  for (const std::string& text : texts) elements.push_back(text);
  return types::join(*type, elements);
}

}  // namespace

void put_row(const schema::Table& table, const SystemRow& row, int64_t timestamp_micros,
             storage::WriteSet& writes) {
  row::Fragment fragment;
  fragment.marker.timestamp = timestamp_micros;
  std::vector<Bytes> paths;
  size_t max_elements = 0;
  for (const auto& entry : row)
    max_elements += entry.second.size() / 4;  // an element takes at least four bytes
  paths.reserve(max_elements);
  for (const auto& [name, value] : row) {
    const schema::Column* column = table.find(name);
    SIBYL_CHECK(column != nullptr);
    if (!column->is_primary_key()) add_cells(*column, value, timestamp_micros, paths, fragment);
  }
  Bytes encoded;
  row::encode(fragment, encoded);
  writes.put(key_of(table, row), std::move(encoded));
}

void erase_row(const schema::Table& table, const SystemRow& row, storage::WriteSet& writes) {
  writes.erase(key_of(table, row));
}

void erase_partition(const schema::Table& table, BytesView key, storage::WriteSet& writes) {
  Bytes prefix = row::partition_prefix(table.storage_id, key);
  writes.erase_range(prefix, *row::after(prefix));
}

void erase_rows(const schema::Table& table, BytesView key, BytesView first, storage::WriteSet& writes) {
  Bytes clustering;
  types::encode_key(*table.clustering(0).type, first, table.clustering(0).descending, clustering);
  Bytes begin = row::row_record_key(row::partition_prefix(table.storage_id, key), clustering);
  writes.erase_range(begin, *row::after(begin));
}

void erase_table(const schema::Table& table, storage::WriteSet& writes) {
  writes.erase_range(row::table_begin(table.storage_id), row::table_end(table.storage_id));
}

Bytes text_list(const std::vector<std::string>& elements) {
  static const types::TypePtr type = types::list_of(scalar(Kind::text), true);
  return join_texts(type, elements);
}

Bytes boolean_list(const std::vector<bool>& elements) {
  static const types::TypePtr type = types::list_of(scalar(Kind::boolean), true);
  std::vector<Bytes> encoded;
  for (const bool element : elements) encoded.push_back(types::encode_boolean(element));
  return types::join(*type, types::Elements(encoded.begin(), encoded.end()));
}

Bytes text_set(std::vector<std::string> elements) {
  static const types::TypePtr type = types::set_of(scalar(Kind::text), true);
  std::sort(elements.begin(), elements.end());
  return join_texts(type, elements);
}

Bytes text_map(const std::map<std::string, std::string>& map) {
  static const types::TypePtr type = types::map_of(scalar(Kind::text), scalar(Kind::text), true);
  types::Elements elements;
  for (const auto& [key, value] : map) {
    elements.push_back(key);
    elements.push_back(value);
  }
  return types::join(*type, elements);
}

}  // namespace sibyl::engine
