#include "schema/codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <set>
#include <type_traits>

namespace sibyl::schema {
namespace {

namespace json = boost::json;
using types::Kind;

// --- Encoding

json::value encode_type(const types::Type& type);

json::array encode_types(const std::vector<TypePtr>& list) {
  json::array out;
  for (const TypePtr& type : list) out.push_back(encode_type(*type));
  return out;
}

json::array encode_names(const std::vector<std::string>& names) {
  json::array out;
  for (const std::string& name : names) out.emplace_back(name);
  return out;
}

json::object encode_composite(const char* kind, const types::Type& type) {
  return {{"kind", kind}, {"of", encode_types(type.parameters())}, {"frozen", type.is_frozen()}};
}

json::value encode_type(const types::Type& type) {
  switch (type.kind()) {
    case Kind::list:
      return encode_composite("list", type);
    case Kind::set:
      return encode_composite("set", type);
    case Kind::map:
      return encode_composite("map", type);
    case Kind::tuple:
      return encode_composite("tuple", type);
    case Kind::vector: {
      json::object out = encode_composite("vector", type);
      out["dimension"] = type.dimension();
      return out;
    }
    case Kind::udt: {
      json::object out = encode_composite("udt", type);
      out["keyspace"] = type.keyspace();
      out["name"] = type.name();
      out["fields"] = encode_names(type.field_names());
      return out;
    }
    case Kind::custom:
      return json::object{{"kind", "custom"}, {"name", type.name()}};
    default:
      return json::value(type.cql_name());
  }
}

json::object encode_map(const std::map<std::string, std::string>& map) {
  json::object out;
  for (const auto& [key, value] : map) out[key] = value;
  return out;
}

// Fractions are kept as text: boost's parser may miss the nearest double.
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

// --- Decoding

base::Error corrupt(const std::string& what) {
  return base::Error(base::ErrorCode::server, "The catalogue cannot be read: " + what);
}

std::unexpected<base::Error> corrupted(const std::string& what) {
  return base::fail(corrupt(what));
}

// Takes an object's fields one by one. Remembers the first thing that is wrong; finish() tells it, or names a
// field that nobody asked for.
class ObjectReader {
 public:
  ObjectReader(const json::value& value, std::string what) : what_(std::move(what)) {
    object_ = value.if_object();
    if (object_ == nullptr) wrong(what_ + " is not an object");
  }

  const json::value* field(std::string_view name) {
    if (object_ == nullptr) return nullptr;
    const json::value* found = object_->if_contains(name);
    if (found == nullptr) wrong(fmt::format("{} has no field '{}'", what_, name));
    asked_.emplace(name);
    return found;
  }
  // nullptr when there is none, which is no mistake.
  const json::value* optional_field(std::string_view name) {
    return object_ != nullptr && object_->contains(name) ? field(name) : nullptr;
  }
  void read(std::string_view name, std::string& out) {
    if (const json::value* value = field(name)) take_string(name, *value, out);
  }
  void read(std::string_view name, bool& out) {
    const json::value* value = field(name);
    if (value == nullptr) return;
    if (const bool* flag = value->if_bool()) {
      out = *flag;
    } else {
      wrong_type(name, "true or false");
    }
  }
  void read(std::string_view name, double& out) {
    std::string text;
    read(name, text);
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc() || end != text.data() + text.size()) wrong_type(name, "a number");
  }
  template <typename Integer>
    requires std::is_integral_v<Integer>
  void read(std::string_view name, Integer& out) {
    const json::value* value = field(name);
    if (value == nullptr) return;
    json::error_code error;
    out = value->to_number<Integer>(error);
    if (error) wrong_type(name, "an integer in range");
  }
  void read(std::string_view name, std::map<std::string, std::string>& out) {
    const json::value* value = field(name);
    if (value == nullptr) return;
    const json::object* map = value->if_object();
    if (map == nullptr) return wrong_type(name, "an object");
    out.clear();
    for (const auto& [key, element] : *map) take_string(name, element, out[std::string(key)]);
  }
  void read(std::string_view name, std::vector<std::string>& out) {
    for (const json::value& element : array(name)) take_string(name, element, out.emplace_back());
  }
  void read_hex(std::string_view name, Bytes& out) {
    std::string text;
    read(name, text);
    if (!base::from_hex(text, out)) wrong_type(name, "hexadecimal");
  }
  const json::array& array(std::string_view name) {
    static const json::array none;
    const json::value* value = field(name);
    if (value == nullptr) return none;
    if (const json::array* found = value->if_array()) return *found;
    wrong_type(name, "an array");
    return none;
  }

  void wrong(std::string text) {
    if (error_.empty()) error_ = std::move(text);
  }
  void wrong_type(std::string_view name, std::string_view expected) {
    wrong(fmt::format("field '{}' of {} is not {}", name, what_, expected));
  }
  base::Status finish() {
    if (object_ != nullptr && error_.empty()) {
      for (const auto& entry : *object_)
        if (!asked_.contains(entry.key()))
          wrong(fmt::format("{} has an unknown field '{}'", what_, std::string(entry.key())));
    }
    if (!error_.empty()) return corrupted(error_);
    return {};
  }
  bool ok() const { return error_.empty(); }

 private:
  void take_string(std::string_view name, const json::value& value, std::string& out) {
    if (const json::string* text = value.if_string()) {
      out.assign(text->data(), text->size());
    } else {
      wrong_type(name, "text");
    }
  }

  std::string what_;
  std::string error_;
  const json::object* object_ = nullptr;
  std::set<std::string, std::less<>> asked_;
};

base::Result<TypePtr> decode_column_type(const json::value& value);

base::Result<std::vector<TypePtr>> decode_types(const json::array& list) {
  std::vector<TypePtr> out;
  for (const json::value& element : list) {
    SIBYL_ASSIGN(TypePtr type, decode_column_type(element));
    out.push_back(std::move(type));
  }
  return out;
}

base::Result<TypePtr> make_composite(const std::string& kind, ObjectReader& reader) {
  bool frozen = false;
  reader.read("frozen", frozen);
  SIBYL_ASSIGN(std::vector<TypePtr> of, decode_types(reader.array("of")));
  auto expect = [&](size_t count) {
    if (of.size() != count) reader.wrong(fmt::format("a {} type has {} parameters", kind, of.size()));
    return reader.ok();
  };
  if (kind == "list" && expect(1)) return types::list_of(of[0], frozen);
  if (kind == "set" && expect(1)) return types::set_of(of[0], frozen);
  if (kind == "map" && expect(2)) return types::map_of(of[0], of[1], frozen);
  if (kind == "tuple") return types::tuple_of(std::move(of));
  if (kind == "vector" && expect(1)) {
    uint32_t dimension = 0;
    reader.read("dimension", dimension);
    return types::vector_of(of[0], dimension);
  }
  if (kind == "udt") {
    std::string keyspace, name;
    std::vector<std::string> fields;
    reader.read("keyspace", keyspace);
    reader.read("name", name);
    reader.read("fields", fields);
    if (fields.size() != of.size()) reader.wrong("a user type's field names and types differ in number");
    if (reader.ok()) return types::udt_of(keyspace, name, std::move(fields), std::move(of), frozen);
  }
  SIBYL_TRY(reader.finish());
  return corrupted(fmt::format("there is no type '{}'", kind));
}

base::Result<TypePtr> decode_column_type(const json::value& value) {
  if (const json::string* name = value.if_string()) {
    if (TypePtr type = types::scalar_by_name(std::string_view(name->data(), name->size()))) return type;
    return corrupted(fmt::format("there is no type '{}'", std::string_view(name->data(), name->size())));
  }
  ObjectReader reader(value, "a type");
  std::string kind;
  reader.read("kind", kind);
  if (kind == "custom") {
    std::string name;
    reader.read("name", name);
    SIBYL_TRY(reader.finish());
    return types::custom_of(name);
  }
  SIBYL_ASSIGN(TypePtr type, make_composite(kind, reader));
  SIBYL_TRY(reader.finish());
  return type;
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

base::Status read_type(ObjectReader& reader, std::string_view name, TypePtr& out) {
  const json::value* value = reader.field(name);
  if (value == nullptr) return reader.finish();
  SIBYL_ASSIGN(out, decode_column_type(*value));
  return {};
}

// The name, type and kind that columns and dropped columns share.
template <typename SomeColumn>
base::Status read_column(ObjectReader& reader, SomeColumn& column) {
  std::string kind;
  reader.read("name", column.name);
  reader.read("kind", kind);
  if (reader.ok() && !parse_column_kind(kind, column.kind)) reader.wrong_type("kind", "a kind of column");
  if (const json::value* type = reader.field("type")) {
    SIBYL_ASSIGN(column.type, decode_column_type(*type));
  }
  return {};
}

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
    reader.wrong("a mask's arguments and their types differ in number");
  SIBYL_TRY(reader.finish());
  return mask;
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

// What finish() relies on; a record that breaks it would end the process instead of the opening.
base::Status check_columns(const Table& table) {
  std::set<std::string_view> names;
  std::set<uint32_t> ids;
  bool has_key = false;
  for (const Column& column : table.columns) {
    if (!names.insert(column.name).second) return corrupted("two columns are named '" + column.name + "'");
    if (!ids.insert(column.id).second) return corrupted(fmt::format("two columns have the id {}", column.id));
    if (column.id >= table.next_column_id)
      return corrupted(fmt::format("the column id {} is not given out", column.id));
    has_key = has_key || column.is_partition_key();
  }
  if (!has_key) return corrupted("table '" + table.name + "' has no partition key");
  for (const Index& index : table.indexes)
    if (!ids.contains(index.column_id)) return corrupted("index '" + index.name + "' is of no column");
  return {};
}

constexpr size_t max_depth = 1024;

base::Result<json::value> parse(base::BytesView text) {
  json::parse_options options;
  options.max_depth = max_depth;
  options.allow_invalid_utf8 = true;  // a comment may hold any bytes
  json::error_code error;
  json::value value = json::parse({text.data(), text.size()}, error, {}, options);
  if (error) return corrupted("the text is not JSON (" + error.message() + ")");
  return value;
}

// Every record begins with what it is and by which version of this file it was written.
int check_kind(ObjectReader& reader, std::string_view expected) {
  int version = 0;
  std::string kind;
  reader.read("version", version);
  reader.read("record", kind);
  if (version < 1 || version > codec_version)
    reader.wrong(fmt::format("it was written in version {} of the format, this program knows version {}",
                             version, codec_version));
  if (kind != expected)
    reader.wrong(fmt::format("a record of kind '{}' is in the place of a {}", kind, expected));
  return version;
}

json::object record(const char* kind) {
  return {{"version", codec_version}, {"record", kind}};
}

}  // namespace

std::string encode(const Header& header) {
  json::object out = record("header");
  out["host_id"] = base::to_hex(header.host_id);
  out["schema_version"] = base::to_hex(header.version);
  out["next_storage_id"] = header.next_storage_id;
  return json::serialize(out);
}

std::string encode(const Keyspace& keyspace) {
  json::object out = record("keyspace");
  out["name"] = keyspace.name;
  out["replication"] = encode_map(keyspace.replication);
  out["durable_writes"] = keyspace.durable_writes;
  return json::serialize(out);
}

std::string encode(const Table& table) {
  json::array columns, dropped;
  for (const Column& column : table.columns) {
    json::object& out = columns
                            .emplace_back(json::object{{"name", column.name},
                                                       {"type", encode_type(*column.type)},
                                                       {"kind", to_string(column.kind)},
                                                       {"id", column.id},
                                                       {"descending", column.descending}})
                            .as_object();
    if (column.mask) out["mask"] = encode_mask(*column.mask);
  }
  for (const DroppedColumn& column : table.dropped_columns)
    dropped.push_back(json::object{{"name", column.name},
                                   {"type", encode_type(*column.type)},
                                   {"kind", to_string(column.kind)},
                                   {"dropped_micros", column.dropped_micros}});
  json::object out = record("table");
  out["keyspace"] = table.keyspace;
  out["name"] = table.name;
  out["id"] = base::to_hex(table.id);
  out["storage_id"] = table.storage_id;
  out["next_column_id"] = table.next_column_id;
  out["columns"] = std::move(columns);
  out["options"] = encode_options(table.options);
  out["dropped_columns"] = std::move(dropped);
  json::array& indexes = out["indexes"].emplace_array();
  for (const Index& index : table.indexes) indexes.push_back(encode_index(index));
  if (table.view) out["view"] = encode_view(*table.view);
  return json::serialize(out);
}

std::string encode(const UserType& type) {
  json::object out = record("type");
  out["keyspace"] = type.keyspace;
  out["name"] = type.name;
  out["field_names"] = encode_names(type.field_names);
  out["field_types"] = encode_types(type.field_types);
  return json::serialize(out);
}

std::string encode(const UserFunction& function) {
  json::object out = record("function");
  out["keyspace"] = function.keyspace;
  out["name"] = function.name;
  out["argument_names"] = encode_names(function.argument_names);
  out["argument_types"] = encode_types(function.argument_types);
  out["return_type"] = encode_type(*function.return_type);
  out["called_on_null_input"] = function.called_on_null_input;
  out["language"] = function.language;
  out["body"] = function.body;
  return json::serialize(out);
}

std::string encode(const UserAggregate& aggregate) {
  json::object out = record("aggregate");
  out["keyspace"] = aggregate.keyspace;
  out["name"] = aggregate.name;
  out["argument_types"] = encode_types(aggregate.argument_types);
  out["state_function"] = aggregate.state_function;
  out["state_type"] = encode_type(*aggregate.state_type);
  out["final_function"] = aggregate.final_function;
  if (aggregate.initial_condition) out["initial_condition"] = base::to_hex(*aggregate.initial_condition);
  out["return_type"] = encode_type(*aggregate.return_type);
  return json::serialize(out);
}

base::Result<Header> decode_header(base::BytesView text) {
  SIBYL_ASSIGN(json::value value, parse(text));
  ObjectReader reader(value, "the header");
  check_kind(reader, "header");
  Header header;
  reader.read_hex("host_id", header.host_id);
  reader.read_hex("schema_version", header.version);
  reader.read("next_storage_id", header.next_storage_id);
  SIBYL_TRY(reader.finish());
  return header;
}

base::Result<Keyspace> decode_keyspace(base::BytesView text) {
  SIBYL_ASSIGN(json::value value, parse(text));
  ObjectReader reader(value, "a keyspace");
  check_kind(reader, "keyspace");
  Keyspace keyspace;
  reader.read("name", keyspace.name);
  reader.read("replication", keyspace.replication);
  reader.read("durable_writes", keyspace.durable_writes);
  SIBYL_TRY(reader.finish());
  return keyspace;
}

base::Result<Table> decode_table(base::BytesView text) {
  SIBYL_ASSIGN(json::value value, parse(text));
  ObjectReader reader(value, "a table");
  const int version = check_kind(reader, "table");
  Table table;
  reader.read("keyspace", table.keyspace);
  reader.read("name", table.name);
  reader.read_hex("id", table.id);
  reader.read("storage_id", table.storage_id);
  reader.read("next_column_id", table.next_column_id);
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

base::Result<UserType> decode_type(base::BytesView text) {
  SIBYL_ASSIGN(json::value value, parse(text));
  ObjectReader reader(value, "a type");
  check_kind(reader, "type");
  UserType type;
  reader.read("keyspace", type.keyspace);
  reader.read("name", type.name);
  reader.read("field_names", type.field_names);
  SIBYL_ASSIGN(type.field_types, decode_types(reader.array("field_types")));
  if (type.field_names.size() != type.field_types.size())
    reader.wrong("a user type's field names and types differ in number");
  SIBYL_TRY(reader.finish());
  return type;
}

base::Result<UserFunction> decode_function(base::BytesView text) {
  SIBYL_ASSIGN(json::value value, parse(text));
  ObjectReader reader(value, "a function");
  check_kind(reader, "function");
  UserFunction function;
  reader.read("keyspace", function.keyspace);
  reader.read("name", function.name);
  reader.read("argument_names", function.argument_names);
  SIBYL_ASSIGN(function.argument_types, decode_types(reader.array("argument_types")));
  SIBYL_TRY(read_type(reader, "return_type", function.return_type));
  reader.read("called_on_null_input", function.called_on_null_input);
  reader.read("language", function.language);
  reader.read("body", function.body);
  if (function.argument_names.size() != function.argument_types.size())
    reader.wrong("a function's argument names and types differ in number");
  SIBYL_TRY(reader.finish());
  return function;
}

base::Result<UserAggregate> decode_aggregate(base::BytesView text) {
  SIBYL_ASSIGN(json::value value, parse(text));
  ObjectReader reader(value, "an aggregate");
  check_kind(reader, "aggregate");
  UserAggregate aggregate;
  reader.read("keyspace", aggregate.keyspace);
  reader.read("name", aggregate.name);
  SIBYL_ASSIGN(aggregate.argument_types, decode_types(reader.array("argument_types")));
  reader.read("state_function", aggregate.state_function);
  SIBYL_TRY(read_type(reader, "state_type", aggregate.state_type));
  reader.read("final_function", aggregate.final_function);
  if (reader.optional_field("initial_condition") != nullptr)
    reader.read_hex("initial_condition", aggregate.initial_condition.emplace());
  SIBYL_TRY(read_type(reader, "return_type", aggregate.return_type));
  SIBYL_TRY(reader.finish());
  return aggregate;
}

}  // namespace sibyl::schema
