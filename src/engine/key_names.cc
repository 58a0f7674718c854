#include "engine/key_names.h"

#include <fmt/format.h>

#include "row/record_key.h"
#include "types/keys/key.h"
#include "types/print_value.h"

namespace sibyl::engine {
namespace {

// A table or view, or the table that an index belongs to.
struct Owner {
  schema::TablePtr table;
  std::string index;  // empty: the record is a row
};

Owner find_owner(const schema::Snapshot& schema, uint32_t storage_id) {
  for (const auto& [name, keyspace] : schema.keyspaces)
    for (const auto* kind : {&keyspace->tables, &keyspace->views})
      for (const auto& [table_name, table] : *kind) {
        if (table->storage_id == storage_id) return {table, ""};
        for (const schema::Index& index : table->indexes)
          if (index.storage_id == storage_id) return {table, index.name};
      }
  return {};
}

std::string partition_text(const schema::Table& table, base::BytesView prefix) {
  base::Bytes serialised;
  const bool is_masked = has_masked_partition_key(table);
  if (!row::decode_partition_key(prefix, serialised))
    return is_masked ? masked_key_text : "0x" + base::to_hex(prefix);
  const auto parts = types::split_partition_key(serialised, table.partition_key_count);
  if (!parts) return is_masked ? masked_key_text : "0x" + base::to_hex(serialised);
  std::string text;
  for (size_t i = 0; i < parts->size(); ++i) {
    const schema::Column& column = table.partition_key(i);
    text += i == 0 ? "" : ", ";
    text += column.mask ? masked_key_text : types::to_literal(*column.type, (*parts)[i]);
  }
  return text;
}

}  // namespace

bool has_masked_partition_key(const schema::Table& table) {
  for (size_t i = 0; table.has_masks && i < table.partition_key_count; ++i)
    if (table.partition_key(i).mask) return true;
  return false;
}

std::string name_of_key(const schema::Snapshot& schema, base::BytesView key) {
  constexpr size_t table_id_size = 4;
  if (key.size() < table_id_size) return "the first record";
  uint32_t id = 0;
  for (const char c : key.substr(0, table_id_size)) id = (id << 8) | static_cast<uint8_t>(c);
  if (id == row::catalogue_table_id) return "the catalogue";
  const Owner owner = find_owner(schema, id);
  if (!owner.table) return fmt::format("the dropped table {}", id);
  std::string text = owner.table->keyspace + "." + owner.table->name;
  if (!owner.index.empty()) return fmt::format("index {} of {}", owner.index, text);
  row::RecordKey parsed;
  if (!row::parse_record_key(key, parsed)) return text;
  const std::string token =
      has_masked_partition_key(*owner.table) ? masked_key_text : fmt::format("{}", parsed.token);
  return fmt::format("{} token {}, key {}", text, token, partition_text(*owner.table, parsed.prefix(key)));
}

}  // namespace sibyl::engine
