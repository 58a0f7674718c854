// Tables and views in the schema's durable form.
#include "schema/codec_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "schema/codec.h"
#include "schema/codec_json.h"
#include "schema/codec_type.h"

namespace sibyl::schema {
namespace {

// --- Columns

json::object encode_mask(const ColumnMask& mask) {
  json::array arguments;
  for (const auto& argument : mask.arguments)
    arguments.push_back(argument ? json::value(base::to_hex(*argument)) : json::value(nullptr));
  return {{"keyspace", mask.keyspace},
          {"function", mask.function},
          {"argument_types", encode_types(mask.argument_types)},
          {"arguments", std::move(arguments)}};
}

base::Result<ColumnMaskPtr> decode_mask(const json::value& value) {
  ObjectReader reader(value, "the mask of a column");
  auto mask = std::make_shared<ColumnMask>();
  reader.read("keyspace", mask->keyspace);
  reader.read("function", mask->function);
  SIBYL_ASSIGN(mask->argument_types, decode_types(reader.array("argument_types")));
  for (const json::value& element : reader.array("arguments")) {
    std::optional<Bytes>& argument = mask->arguments.emplace_back();
    if (element.is_null()) continue;
    const json::string* hex = element.if_string();
    if (hex == nullptr || !base::from_hex(*hex, argument.emplace()))
      reader.wrong_type("arguments", "of hexadecimals");
  }
  if (mask->arguments.size() != mask->argument_types.size())
    reader.set_error("a mask's arguments and their types differ in number");
  SIBYL_TRY(reader.finish());
  return mask;
}

json::object encode_column(const Column& column) {
  json::object out = {{"name", column.name},
                      {"type", encode_type(*column.type)},
                      {"kind", to_string(column.kind)},
                      {"id", column.id},
                      {"descending", column.descending}};
  if (column.mask) out["mask"] = encode_mask(*column.mask);
  return out;
}

json::object encode_dropped_column(const DroppedColumn& column) {
  return {{"name", column.name},
          {"type", encode_type(*column.type)},
          {"kind", to_string(column.kind)},
          {"dropped_micros", column.dropped_micros}};
}

bool parse_column_kind(std::string_view text, ColumnKind& kind) {
  for (ColumnKind candidate :
       {ColumnKind::partition_key, ColumnKind::clustering, ColumnKind::static_, ColumnKind::regular}) {
    if (text != to_string(candidate)) continue;
    kind = candidate;
    return true;
  }
  return false;
}

// Reads the name, type and kind, which columns and dropped columns share.
template <typename SomeColumn>
base::Status read_column(ObjectReader& reader, SomeColumn& column) {
  std::string kind;
  reader.read("name", column.name);
  reader.read("kind", kind);
  if (reader.ok() && !parse_column_kind(kind, column.kind)) reader.wrong_type("kind", "a kind of column");
  if (const json::value* type = reader.field("type")) {
    SIBYL_ASSIGN(column.type, decode_type_tree(*type));
  }
  return {};
}

base::Result<Column> decode_column(const json::value& value) {
  ObjectReader reader(value, "a column");
  Column column;
  SIBYL_TRY(read_column(reader, column));
  reader.read("id", column.id);
  reader.read("descending", column.descending);
  if (const json::value* mask = reader.optional_field("mask")) {
    SIBYL_ASSIGN(column.mask, decode_mask(*mask));
  }
  SIBYL_TRY(reader.finish());
  return column;
}

base::Result<DroppedColumn> decode_dropped_column(const json::value& value) {
  ObjectReader reader(value, "a dropped column");
  DroppedColumn column;
  SIBYL_TRY(read_column(reader, column));
  reader.read("dropped_micros", column.dropped_micros);
  SIBYL_TRY(reader.finish());
  return column;
}

// --- Options

// Fractions are stored as text, because Boost's parser may not return the nearest double for a number.
std::string encode_number(double value) {
  return fmt::format("{}", value);
}

json::object encode_options(const TableOptions& options) {
  json::object extensions;
  for (const auto& [key, value] : options.extensions) extensions[key] = base::to_hex(value);
  return {{"additional_write_policy", options.additional_write_policy},
          {"allow_auto_snapshot", options.allow_auto_snapshot},
          {"bloom_filter_fp_chance", encode_number(options.bloom_filter_fp_chance)},
          {"caching", encode_map(options.caching)},
          {"cdc", options.cdc},
          {"comment", options.comment},
          {"compaction", encode_map(options.compaction)},
          {"compression", encode_map(options.compression)},
          {"crc_check_chance", encode_number(options.crc_check_chance)},
          {"default_time_to_live", options.default_time_to_live},
          {"extensions", std::move(extensions)},
          {"gc_grace_seconds", options.gc_grace_seconds},
          {"incremental_backups", options.incremental_backups},
          {"max_index_interval", options.max_index_interval},
          {"memtable", options.memtable},
          {"memtable_flush_period_in_ms", options.memtable_flush_period_in_ms},
          {"min_index_interval", options.min_index_interval},
          {"read_repair", options.read_repair},
          {"speculative_retry", options.speculative_retry}};
}

base::Result<TableOptions> decode_options(const json::value& value) {
  ObjectReader reader(value, "the options of a table");
  TableOptions options;
  std::map<std::string, std::string> extensions;
  reader.read("additional_write_policy", options.additional_write_policy);
  reader.read("allow_auto_snapshot", options.allow_auto_snapshot);
  reader.read("bloom_filter_fp_chance", options.bloom_filter_fp_chance);
  reader.read("caching", options.caching);
  reader.read("cdc", options.cdc);
  reader.read("comment", options.comment);
  reader.read("compaction", options.compaction);
  reader.read("compression", options.compression);
  reader.read("crc_check_chance", options.crc_check_chance);
  reader.read("default_time_to_live", options.default_time_to_live);
  reader.read("extensions", extensions);
  reader.read("gc_grace_seconds", options.gc_grace_seconds);
  reader.read("incremental_backups", options.incremental_backups);
  reader.read("max_index_interval", options.max_index_interval);
  reader.read("memtable", options.memtable);
  reader.read("memtable_flush_period_in_ms", options.memtable_flush_period_in_ms);
  reader.read("min_index_interval", options.min_index_interval);
  reader.read("read_repair", options.read_repair);
  reader.read("speculative_retry", options.speculative_retry);
  for (const auto& [key, hex] : extensions)
    if (!base::from_hex(hex, options.extensions[key])) reader.wrong_type("extensions", "hexadecimal");
  SIBYL_TRY(reader.finish());
  return options;
}

// --- Indexes and views

constexpr std::pair<Index::Target, std::string_view> index_targets[] = {{Index::Target::simple, "simple"},
                                                                        {Index::Target::values, "values"},
                                                                        {Index::Target::keys, "keys"},
                                                                        {Index::Target::entries, "entries"},
                                                                        {Index::Target::full, "full"}};

json::object encode_index(const Index& index) {
  std::string_view target;
  for (const auto& [candidate, name] : index_targets)
    if (candidate == index.target) target = name;
  return {{"name", index.name},
          {"is_custom", index.is_custom},
          {"options", encode_map(index.options)},
          {"column_id", index.column_id},
          {"target", target},
          {"storage_id", index.storage_id},
          {"is_built", index.is_built}};
}

base::Result<Index> decode_index(const json::value& value) {
  ObjectReader reader(value, "an index");
  Index index;
  std::string target;
  reader.read("name", index.name);
  reader.read("is_custom", index.is_custom);
  reader.read("options", index.options);
  reader.read("column_id", index.column_id);
  reader.read("target", target);
  reader.read("storage_id", index.storage_id);
  reader.read("is_built", index.is_built);
  const auto* found = std::find_if(std::begin(index_targets), std::end(index_targets),
                                   [&](const auto& one) { return one.second == target; });
  if (found == std::end(index_targets))
    reader.wrong_type("target", "a target of an index");
  else
    index.target = found->first;
  SIBYL_TRY(reader.finish());
  return index;
}

json::object encode_view(const ViewDefinition& view) {
  return {{"base_table", view.base_table},
          {"base_id", base::to_hex(view.base_id)},
          {"include_all_columns", view.include_all_columns},
          {"where_clause", view.where_clause},
          {"is_built", view.is_built}};
}

base::Result<ViewDefinition> decode_view(const json::value& value) {
  ObjectReader reader(value, "a view's definition");
  ViewDefinition view;
  reader.read("base_table", view.base_table);
  reader.read_hex("base_id", view.base_id);
  reader.read("include_all_columns", view.include_all_columns);
  reader.read("where_clause", view.where_clause);
  reader.read("is_built", view.is_built);
  SIBYL_TRY(reader.finish());
  return view;
}

constexpr std::pair<Compact, std::string_view> compact_forms[] = {{Compact::static_, "static"},
                                                                  {Compact::dense, "dense"}};

void read_compact(ObjectReader& reader, Compact& compact) {
  if (reader.optional_field("compact") == nullptr) return;
  std::string written;
  reader.read("compact", written);
  for (const auto& [form, name] : compact_forms)
    if (written == name) compact = form;
  if (compact == Compact::none) reader.wrong_type("compact", "a form of COMPACT STORAGE");
}

// A compact table has exactly one regular column.
base::Status check_compact(const Table& table) {
  if (!table.is_compact()) return {};
  const auto regular = std::count_if(table.columns.begin(), table.columns.end(),
                                     [](const Column& column) { return column.is_regular(); });
  const bool has_clustering = std::any_of(table.columns.begin(), table.columns.end(),
                                          [](const Column& column) { return column.is_clustering(); });
  if (regular == 1 && has_clustering) return {};
  return corrupted("compact table '" + table.name + "' does not have the columns of one");
}

// Checks what finish() requires. Otherwise a damaged record would abort the process instead of failing the
// open.
base::Status check_columns(const Table& table) {
  std::set<std::string_view> names;
  std::set<uint32_t> ids;
  bool has_key = false;
  for (const Column& column : table.columns) {
    if (!names.insert(column.name).second) return corrupted("two columns are named '" + column.name + "'");
    if (!ids.insert(column.id).second) return corrupted(fmt::format("two columns have the id {}", column.id));
    if (column.id >= table.next_column_id)
      return corrupted(fmt::format("the column id {} has not been assigned", column.id));
    has_key = has_key || column.is_partition_key();
  }
  if (!has_key) return corrupted("table '" + table.name + "' has no partition key");
  SIBYL_TRY(check_compact(table));
  for (const Index& index : table.indexes)
    if (!ids.contains(index.column_id)) return corrupted("index '" + index.name + "' refers to no column");
  return {};
}

}  // namespace

std::string encode(const Table& table) {
  json::object out = new_record("table");
  out["keyspace"] = table.keyspace;
  out["name"] = table.name;
  out["id"] = base::to_hex(table.id);
  out["storage_id"] = table.storage_id;
  out["next_column_id"] = table.next_column_id;
  for (const auto& [form, name] : compact_forms)
    if (table.compact == form) out["compact"] = name;
  json::array& columns = out["columns"].emplace_array();
  for (const Column& column : table.columns) columns.push_back(encode_column(column));
  out["options"] = encode_options(table.options);
  json::array& dropped = out["dropped_columns"].emplace_array();
  for (const DroppedColumn& column : table.dropped_columns) dropped.push_back(encode_dropped_column(column));
  json::array& indexes = out["indexes"].emplace_array();
  for (const Index& index : table.indexes) indexes.push_back(encode_index(index));
  if (table.view) out["view"] = encode_view(*table.view);
  return json::serialize(out);
}

base::Result<Table> decode_table(base::BytesView text) {
  SIBYL_ASSIGN(json::value value, parse_record(text));
  ObjectReader reader(value, "a table");
  const int version = reader.read_record("table");
  Table table;
  reader.read("keyspace", table.keyspace);
  reader.read("name", table.name);
  reader.read_hex("id", table.id);
  reader.read("storage_id", table.storage_id);
  reader.read("next_column_id", table.next_column_id);
  read_compact(reader, table.compact);
  for (const json::value& element : reader.array("columns")) {
    SIBYL_ASSIGN(Column column, decode_column(element));
    table.columns.push_back(std::move(column));
  }
  if (const json::value* options = reader.field("options")) {
    SIBYL_ASSIGN(table.options, decode_options(*options));
  }
  for (const json::value& element : reader.array("dropped_columns")) {
    SIBYL_ASSIGN(DroppedColumn column, decode_dropped_column(element));
    table.dropped_columns.push_back(std::move(column));
  }
  if (version >= 2) {
    for (const json::value& element : reader.array("indexes")) {
      SIBYL_ASSIGN(Index index, decode_index(element));
      table.indexes.push_back(std::move(index));
    }
    if (const json::value* view = reader.optional_field("view")) {
      SIBYL_ASSIGN(ViewDefinition definition, decode_view(*view));
      table.view = std::make_shared<const ViewDefinition>(std::move(definition));
    }
  }
  SIBYL_TRY(reader.finish());
  SIBYL_TRY(check_columns(table));
  table.finish();
  return table;
}

}  // namespace sibyl::schema
