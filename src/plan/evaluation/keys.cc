#include "plan/evaluation/keys.h"

#include <fmt/format.h>

#include "types/keys/key.h"
#include "types/keys/key_decode.h"

namespace sibyl::plan {

using base::invalid;

base::Result<Bytes> partition_key_of(const schema::Table& table,
                                     std::span<const types::ValueView> components) {
  size_t size = 0;
  for (size_t i = 0; i < components.size(); ++i) {
    const std::string& name = table.partition_key(i).name;
    if (components[i].is_null())
      return invalid(fmt::format("Invalid null value in condition for column {}", name));
    if (components[i].is_unset()) return invalid(fmt::format("Invalid unset value for column {}", name));
    size += components[i].bytes.size();
  }
  if (components.size() == 1 && size == 0) return invalid("Key may not be empty");
  if (size > max_key_size)
    return invalid(fmt::format("Key length of {} is longer than maximum of {}", size, max_key_size));
  if (components.size() == 1) return Bytes(components[0].bytes);
  std::vector<BytesView> views;
  views.reserve(components.size());
  for (const types::ValueView& component : components) views.push_back(component.bytes);
  Bytes key = types::serialise_partition_key(views);
  if (key.size() > max_key_size)
    return invalid(fmt::format("Key length of {} is longer than maximum of {}", key.size(), max_key_size));
  return key;
}

Bytes clustering_of(const schema::Table& table, std::span<const BytesView> values) {
  Bytes bytes;
  for (size_t i = 0; i < values.size(); ++i) {
    const schema::Column& column = table.clustering(i);
    types::encode_key(*column.type, values[i], column.descending, bytes);
  }
  return bytes;
}

namespace {
bool may_lose(const schema::Table& table, size_t columns) {
  for (size_t i = 0; i < columns; ++i)
    if (types::key_is_lossy(*table.clustering(i).type)) return true;
  return false;
}
}  // namespace

Bytes original_clustering_of(const schema::Table& table, std::span<const BytesView> values,
                             BytesView clustering) {
  if (!may_lose(table, values.size())) return {};
  bool lost = false;
  for (size_t i = 0; i < values.size() && !lost; ++i) {
    const schema::Column& column = table.clustering(i);
    const auto back = types::decode_key(*column.type, column.descending, clustering);
    lost = !back || *back != values[i];
  }
  if (!lost) return {};
  Bytes original;
  for (const BytesView value : values) base::append_sized(original, value);
  return original;
}

base::Result<std::vector<Bytes>> clustering_values(const schema::Table& table, BytesView clustering,
                                                   BytesView original) {
  std::vector<Bytes> values;
  values.reserve(table.clustering_count);
  if (!original.empty()) {
    base::Reader reader(original);
    BytesView value;
    while (values.size() < table.clustering_count && reader.sized(value)) values.emplace_back(value);
    return values;
  }
  for (size_t i = 0; i < table.clustering_count && !clustering.empty(); ++i) {
    const schema::Column& column = table.clustering(i);
    SIBYL_ASSIGN(Bytes value, types::decode_key(*column.type, column.descending, clustering));
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace sibyl::plan
