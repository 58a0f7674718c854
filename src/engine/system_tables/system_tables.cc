#include "engine/system_tables/system_tables.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/check.h"
#include "cql/parser.h"
#include "engine/inet.h"
#include "engine/options.h"
#include "engine/system_tables/definitions.h"
#include "engine/system_tables/schema_rows.h"
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

// Cassandra's ids of system tables: version-3 UUIDs of keyspace and name.
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
  table->is_virtual = keyspace.first_storage_id == 0;
  table->options.gc_grace_seconds = keyspace.gc_grace_seconds;
  table->options.memtable_flush_period_in_ms = keyspace.memtable_flush_period_in_ms;
  for (const cql::ColumnDefinition& definition : create->columns)
    table->columns.push_back(column_of(definition, table->next_column_id++));
  // Key columns come first in every definition, in key order.
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
    uint32_t durable_id = definition.first_storage_id;
    for (size_t end; (end = rest.find(";\n")) != rest.npos; rest.remove_prefix(end + 2)) {
      auto table =
          build_table(definition, rest.substr(0, end), durable_id != 0 ? durable_id++ : storage_id++);
      keyspace->tables.insert_or_assign(table->name, table);
    }
    keyspaces.push_back(std::move(keyspace));
  }
  return keyspaces;
}

SystemRow local_row(const Node& node, const Bytes& schema_version) {
  const Bytes address = inet(node.address);
  return {{"key", "local"},
          {"bootstrapped", "COMPLETED"},
          {"broadcast_address", address},
          {"broadcast_port", types::encode_int32(storage_port)},
          {"cluster_name", node.cluster_name},
          {"cql_version", cql_version},
          {"data_center", node.data_center},
          {"gossip_generation", types::encode_int32(static_cast<int32_t>(node.started_seconds))},
          {"host_id", node.host_id},
          {"listen_address", address},
          {"listen_port", types::encode_int32(storage_port)},
          {"native_protocol_version", "5"},
          {"partitioner", partitioner_class},
          {"rack", node.rack},
          {"release_version", release_version},
          {"rpc_address", address},
          {"rpc_port", types::encode_int32(node.port)},
          {"schema_version", schema_version},
          {"tokens", text_set(node.tokens)}};
}

SystemRow peer_row(const ClusterNode& peer, const Bytes& schema_version) {
  const Bytes address = inet(peer.address);
  return {{"peer", address},
          {"data_center", peer.data_center},
          {"host_id", peer.host_id},
          {"rack", peer.rack},
          {"release_version", release_version},
          {"rpc_address", address},
          {"schema_version", schema_version},
          {"tokens", text_set(peer.tokens)}};
}

// Several servers may have one address, so the port for clients also distinguishes them as peers.
SystemRow peer_v2_row(const ClusterNode& peer, const Bytes& schema_version) {
  const Bytes address = inet(peer.address), port = types::encode_int32(peer.port);
  return {{"peer", address},
          {"peer_port", port},
          {"data_center", peer.data_center},
          {"host_id", peer.host_id},
          {"native_address", address},
          {"native_port", port},
          {"rack", peer.rack},
          {"release_version", release_version},
          {"schema_version", schema_version},
          {"tokens", text_set(peer.tokens)}};
}

}  // namespace

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
      if (!after.find_keyspace(name)) rows.erase(*keyspace);
  }
  for (const auto& [name, keyspace] : after.keyspaces) {
    const schema::KeyspacePtr old = before != nullptr ? before->find_keyspace(name) : nullptr;
    if (!old) {
      rows.put(*keyspace);
    } else if (old != keyspace) {
      rows.change(*old, *keyspace);
    }
  }
  schema_version_ = after.version;
  put_local(writes);
  SIBYL_TRY(store_.commit(std::move(writes)));
  return update_views();
}

base::Status SystemTables::show_node(Node node) {
  std::lock_guard lock(mutex_);
  node_ = std::move(node);
  storage::WriteSet writes;
  put_local(writes);
  SIBYL_TRY(store_.commit(std::move(writes)));
  return update_views();
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

base::Status SystemTables::show_cluster(const std::vector<ClusterNode>& nodes,
                                        const StoreFactory& make_store) {
  std::lock_guard lock(mutex_);
  cluster_ = nodes;
  std::map<Bytes, std::shared_ptr<storage::Store>> views;
  for (const ClusterNode& node : nodes) {
    if (node.host_id == node_.host_id) {
      node_.tokens = node.tokens;
      continue;
    }
    const auto known = views_.find(node.host_id);
    views[node.host_id] = known != views_.end() ? known->second : std::shared_ptr(make_store());
  }
  views_ = std::move(views);
  storage::WriteSet writes;
  put_local(writes);
  SIBYL_TRY(store_.commit(std::move(writes)));
  return update_views();
}

std::shared_ptr<storage::Store> SystemTables::view_of(const Bytes& host_id, const Table& table) const {
  static const Table *local = &system_table("system", "local"), *peers = &system_table("system", "peers"),
                     *peers_v2 = &system_table("system", "peers_v2");
  if (table.storage_id != local->storage_id && table.storage_id != peers->storage_id &&
      table.storage_id != peers_v2->storage_id)
    return nullptr;
  std::lock_guard lock(mutex_);
  const auto found = views_.find(host_id);
  return found == views_.end() ? nullptr : found->second;
}

void SystemTables::put_local(storage::WriteSet& writes) const {
  put_node(node_, writes);
}

base::Status SystemTables::update_views() const {
  for (const ClusterNode& other : cluster_) {
    const auto view = views_.find(other.host_id);
    if (view == views_.end()) continue;
    Node node = node_;
    node.host_id = other.host_id;
    node.data_center = other.data_center;
    node.rack = other.rack;
    node.address = other.address;
    node.port = other.port;
    node.tokens = other.tokens;
    storage::WriteSet writes;
    put_node(node, writes);
    SIBYL_TRY(view->second->commit(std::move(writes)));
  }
  return {};
}

// Adds the row of system.local for the node, and the rows of all other servers as its peers.
void SystemTables::put_node(const Node& node, storage::WriteSet& writes) const {
  static const Table &peers = system_table("system", "peers"), &peers_v2 = system_table("system", "peers_v2");
  const int64_t now = clock_.now_micros();
  put_row(system_table("system", "local"), local_row(node, schema_version_), now, writes);
  erase_table(peers, writes);
  erase_table(peers_v2, writes);
  for (const ClusterNode& peer : cluster_) {
    if (peer.host_id == node.host_id) continue;
    put_row(peers, peer_row(peer, schema_version_), now, writes);
    put_row(peers_v2, peer_v2_row(peer, schema_version_), now, writes);
  }
}

void SystemTables::publish_trace(const SystemRow& session, const std::vector<SystemRow>& events,
                                 const std::vector<Bytes>& evicted) {
  static const Table& session_table = system_table("system_traces", "sessions");
  static const Table& event_table = system_table("system_traces", "events");
  storage::WriteSet writes;
  const int64_t now = clock_.now_micros();
  for (const SystemRow& event : events) put_row(event_table, event, now, writes);
  put_row(session_table, session, now, writes);
  for (const Bytes& id : evicted) {
    erase_partition(session_table, id, writes);
    erase_partition(event_table, id, writes);
  }
  SIBYL_CHECK(store_.commit(std::move(writes)).has_value());
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
  lock.unlock();  // a source may call node()
  storage::WriteSet writes;
  erase_table(table, writes);
  for (const SystemRow& row : source()) put_row(table, row, clock_.now_micros(), writes);
  lock.lock();
  return store_.commit(std::move(writes));
}

}  // namespace sibyl::engine
