#include "engine/system_tables.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/check.h"
#include "cql/parser.h"
#include "engine/engine.h"
#include "engine/system_definitions.h"
#include "types/literal.h"
#include "types/value.h"

namespace sibyl::engine {
namespace {

using schema::Column;
using schema::ColumnKind;
using schema::Keyspace;
using schema::Table;
using types::TypePtr;

// --- Definitions

TypePtr type_of(const cql::RawType& raw) {
  std::vector<TypePtr> parameters;
  for (const cql::RawType& parameter : raw.parameters) parameters.push_back(type_of(parameter));
  if (raw.name == "list") return types::list_of(parameters[0], raw.frozen);
  if (raw.name == "set") return types::set_of(parameters[0], raw.frozen);
  if (raw.name == "map") return types::map_of(parameters[0], parameters[1], raw.frozen);
  if (raw.name == "tuple") return types::tuple_of(std::move(parameters));
  return types::scalar_by_name(raw.name);
}

// Cassandra's ids of system tables: version 3 of keyspace and name.
Bytes name_uuid(const std::string& name) {
  Bytes digest(16, '\0');
  unsigned int size = 0;
  SIBYL_CHECK(EVP_Digest(name.data(), name.size(), reinterpret_cast<unsigned char*>(digest.data()), &size,
                         EVP_md5(), nullptr) == 1);
  digest[6] = static_cast<char>((digest[6] & 0x0f) | 0x30);
  digest[8] = static_cast<char>((digest[8] & 0x3f) | 0x80);
  return digest;
}

Column column_of(const cql::ColumnDefinition& definition, uint32_t id) {
  Column column;
  column.name = definition.name;
  column.type = type_of(definition.type);
  column.id = id;
  if (definition.is_primary_key) column.kind = ColumnKind::partition_key;
  return column;
}

void set_kind(Table& table, const std::string& name, ColumnKind kind) {
  for (Column& column : table.columns)
    if (column.name == name) column.kind = kind;
}

std::shared_ptr<const Table> build_table(const SystemKeyspace& keyspace, std::string_view text,
                                         uint32_t storage_id) {
  auto statement = cql::parse_statement(text);
  SIBYL_CHECK(statement.has_value());
  const auto* create = std::get_if<cql::CreateTable>(&(*statement)->node);
  SIBYL_CHECK(create != nullptr);
  auto table = std::make_shared<Table>();
  table->keyspace = keyspace.name;
  table->name = create->table.name;
  table->id = name_uuid(table->keyspace + table->name);
  table->storage_id = storage_id;
  table->is_virtual = true;
  table->options.gc_grace_seconds = keyspace.gc_grace_seconds;
  table->options.memtable_flush_period_in_ms = keyspace.memtable_flush_period_in_ms;
  for (const cql::ColumnDefinition& definition : create->columns)
    table->columns.push_back(column_of(definition, table->next_column_id++));
  // Key columns stand first in every definition, in key order.
  for (const auto& key : create->partition_keys)
    for (const std::string& name : key) set_kind(*table, name, ColumnKind::partition_key);
  for (const std::string& name : create->clustering_columns) set_kind(*table, name, ColumnKind::clustering);
  table->finish();
  return table;
}

std::vector<schema::KeyspacePtr> build_keyspaces() {
  std::vector<schema::KeyspacePtr> keyspaces;
  uint32_t storage_id = 1;
  for (const SystemKeyspace& definition : system_keyspaces()) {
    auto keyspace = std::make_shared<Keyspace>();
    keyspace->name = definition.name;
    keyspace->replication["class"] = fmt::format("org.apache.cassandra.locator.{}", definition.strategy);
    if (definition.replication_factor != 0)
      keyspace->replication["replication_factor"] = std::to_string(definition.replication_factor);
    keyspace->is_system = true;
    keyspace->is_virtual = definition.is_virtual;
    std::string_view rest = definition.tables;
    for (size_t end; (end = rest.find(";\n")) != rest.npos; rest.remove_prefix(end + 2)) {
      auto table = build_table(definition, rest.substr(0, end), storage_id++);
      keyspace->tables[table->name] = table;
    }
    keyspaces.push_back(std::move(keyspace));
  }
  return keyspaces;
}

const Table& system_table(std::string_view keyspace, std::string_view name) {
  for (const schema::KeyspacePtr& candidate : system_schema_keyspaces())
    if (candidate->name == keyspace) {
      auto found = candidate->tables.find(name);
      SIBYL_CHECK(found != candidate->tables.end());
      return *found->second;
    }
  SIBYL_CHECK(!"no such system keyspace");
  __builtin_unreachable();
}

// --- Rows about the schema

constexpr const char* schema_tables[] = {"keyspaces", "tables",     "columns",         "types",
                                         "functions", "aggregates", "dropped_columns", "views",
                                         "triggers",  "indexes",    "column_masks"};
constexpr const char* virtual_schema_tables[] = {"keyspaces", "tables", "columns"};

const char* clustering_order(const Column& column) {
  if (!column.is_clustering()) return "none";
  return column.descending ? "desc" : "asc";
}

SystemRow column_row(const Table& table, const Column& column) {
  return {{"keyspace_name", table.keyspace},
          {"table_name", table.name},
          {"column_name", column.name},
          {"clustering_order", clustering_order(column)},
          {"column_name_bytes", column.name},
          {"kind", schema::to_string(column.kind)},
          {"position", types::encode_int32(column.position)},
          {"type", column.type->cql_name()}};
}

SystemRow dropped_row(const Table& table, const schema::DroppedColumn& column) {
  return {{"keyspace_name", table.keyspace},
          {"table_name", table.name},
          {"column_name", column.name},
          {"dropped_time", types::encode_int64(column.dropped_micros / 1000)},
          {"kind", schema::to_string(column.kind)},
          {"type", column.type->cql_name()}};
}

SystemRow table_row(const Table& table) {
  const schema::TableOptions& options = table.options;
  std::vector<std::string> flags = {"compound"};
  if (table.is_counter) flags.push_back("counter");
  SystemRow row = {{"keyspace_name", table.keyspace},
                   {"table_name", table.name},
                   {"additional_write_policy", options.additional_write_policy},
                   {"bloom_filter_fp_chance", types::encode_double(options.bloom_filter_fp_chance)},
                   {"caching", text_map(options.caching)},
                   {"comment", options.comment},
                   {"compaction", text_map(options.compaction)},
                   {"compression", text_map(options.compression)},
                   {"crc_check_chance", types::encode_double(options.crc_check_chance)},
                   {"dclocal_read_repair_chance", types::encode_double(0)},
                   {"default_time_to_live", types::encode_int32(options.default_time_to_live)},
                   {"extensions", text_map(options.extensions)},
                   {"flags", text_set(std::move(flags))},
                   {"gc_grace_seconds", types::encode_int32(options.gc_grace_seconds)},
                   {"id", table.id},
                   {"max_index_interval", types::encode_int32(options.max_index_interval)},
                   {"memtable_flush_period_in_ms", types::encode_int32(options.memtable_flush_period_in_ms)},
                   {"min_index_interval", types::encode_int32(options.min_index_interval)},
                   {"read_repair", options.read_repair},
                   {"read_repair_chance", types::encode_double(0)},
                   {"speculative_retry", options.speculative_retry}};
  // Cassandra leaves these null at their defaults.
  if (!options.allow_auto_snapshot) row.emplace_back("allow_auto_snapshot", types::encode_boolean(false));
  if (options.cdc) row.emplace_back("cdc", types::encode_boolean(true));
  if (!options.incremental_backups) row.emplace_back("incremental_backups", types::encode_boolean(false));
  if (options.memtable != "default") row.emplace_back("memtable", options.memtable);
  return row;
}

SystemRow type_row(const schema::UserType& type) {
  std::vector<std::string> field_types;
  for (const TypePtr& field : type.field_types) field_types.push_back(field->cql_name());
  return {{"keyspace_name", type.keyspace},
          {"type_name", type.name},
          {"field_names", text_list(type.field_names)},
          {"field_types", text_list(field_types)}};
}

class SchemaRows {
 public:
  SchemaRows(storage::WriteSet& writes, int64_t timestamp) : writes_(writes), timestamp_(timestamp) {}

  void erase(const Keyspace& keyspace) {
    if (keyspace.is_virtual) {
      for (const char* name : virtual_schema_tables)
        erase_partition(system_table("system_virtual_schema", name), keyspace.name, writes_);
    } else {
      for (const char* name : schema_tables)
        erase_partition(system_table("system_schema", name), keyspace.name, writes_);
    }
  }

  void put(const Keyspace& keyspace) {
    where_ = keyspace.is_virtual ? "system_virtual_schema" : "system_schema";
    SystemRow row = {{"keyspace_name", keyspace.name}};
    if (!keyspace.is_virtual) {
      row.emplace_back("durable_writes", types::encode_boolean(keyspace.durable_writes));
      row.emplace_back("replication", text_map(keyspace.replication));
    }
    add("keyspaces", row);
    for (const auto& [name, table] : keyspace.tables) put(*table, keyspace.is_virtual);
    for (const auto& [name, type] : keyspace.types) add("types", type_row(*type));
  }

 private:
  void put(const Table& table, bool is_virtual) {
    if (is_virtual) {
      add("tables", {{"keyspace_name", table.keyspace},
                     {"table_name", table.name},
                     {"comment", table.options.comment}});
    } else {
      add("tables", table_row(table));
    }
    for (const Column& column : table.columns) add("columns", column_row(table, column));
    for (const schema::DroppedColumn& column : table.dropped_columns)
      add("dropped_columns", dropped_row(table, column));
  }
  void add(const char* table, const SystemRow& row) {
    put_row(system_table(where_, table), row, timestamp_, writes_);
  }

  storage::WriteSet& writes_;
  int64_t timestamp_;
  const char* where_ = nullptr;
};

Bytes inet(const std::string& address) {
  auto bytes = types::from_string(*types::scalar(types::Kind::inet), address);
  return bytes ? *bytes : Bytes("\x7f\x00\x00\x01", 4);
}

}  // namespace

const std::vector<schema::KeyspacePtr>& system_schema_keyspaces() {
  static const std::vector<schema::KeyspacePtr> keyspaces = build_keyspaces();
  return keyspaces;
}

base::Status SystemTables::show_schema(const schema::Snapshot* before, const schema::Snapshot& after) {
  std::lock_guard lock(mutex_);
  storage::WriteSet writes;
  SchemaRows rows(writes, clock_.now_micros());
  if (before != nullptr) {
    for (const auto& [name, keyspace] : before->keyspaces)
      if (after.find_keyspace(name) != keyspace) rows.erase(*keyspace);
  }
  for (const auto& [name, keyspace] : after.keyspaces)
    if (before == nullptr || before->find_keyspace(name) != keyspace) rows.put(*keyspace);
  schema_version_ = after.version;
  put_local(writes);
  return store_.commit(std::move(writes));
}

base::Status SystemTables::show_node(Node node) {
  std::lock_guard lock(mutex_);
  node_ = std::move(node);
  storage::WriteSet writes;
  put_local(writes);
  return store_.commit(std::move(writes));
}

base::Status SystemTables::show_settings(const std::map<std::string, std::string>& settings) {
  std::lock_guard lock(mutex_);
  const Table& table = system_table("system_views", "settings");
  storage::WriteSet writes;
  erase_table(table, writes);
  for (const auto& [name, value] : settings)
    put_row(table, {{"name", name}, {"value", value}}, clock_.now_micros(), writes);
  return store_.commit(std::move(writes));
}

Node SystemTables::node() const {
  std::lock_guard lock(mutex_);
  return node_;
}

void SystemTables::put_local(storage::WriteSet& writes) {
  Bytes address = inet(node_.address);
  SystemRow row = {{"key", "local"},
                   {"bootstrapped", "COMPLETED"},
                   {"broadcast_address", address},
                   {"broadcast_port", types::encode_int32(storage_port)},
                   {"cluster_name", node_.cluster_name},
                   {"cql_version", cql_version},
                   {"data_center", "datacenter1"},
                   {"gossip_generation", types::encode_int32(static_cast<int32_t>(node_.started_seconds))},
                   {"host_id", node_.host_id},
                   {"listen_address", address},
                   {"listen_port", types::encode_int32(storage_port)},
                   {"native_protocol_version", "4"},
                   {"partitioner", partitioner_class},
                   {"rack", "rack1"},
                   {"release_version", release_version},
                   {"rpc_address", address},
                   {"rpc_port", types::encode_int32(node_.port)},
                   {"schema_version", schema_version_},
                   {"tokens", text_set({node_token})}};
  put_row(system_table("system", "local"), row, clock_.now_micros(), writes);
}

void SystemTables::set_source(std::string_view keyspace, std::string_view table, Source source) {
  uint32_t id = system_table(keyspace, table).storage_id;
  std::lock_guard lock(mutex_);
  sources_[id] = std::move(source);
}

base::Status SystemTables::refresh(const schema::Table& table) {
  std::unique_lock lock(mutex_);
  auto found = sources_.find(table.storage_id);
  if (found == sources_.end()) return {};
  Source source = found->second;
  lock.unlock();  // a source may ask for node()
  std::vector<SystemRow> rows = source();
  lock.lock();
  storage::WriteSet writes;
  erase_table(table, writes);
  for (const SystemRow& row : rows) put_row(table, row, clock_.now_micros(), writes);
  return store_.commit(std::move(writes));
}

}  // namespace sibyl::engine
