#include "engine/catalogue/catalogue.h"

#include <algorithm>
#include <utility>

#include "engine/system_tables/system_tables.h"
#include "row/record_key.h"
#include "schema/codec.h"
#include "schema/codec_table.h"
#include "schema/compare.h"
#include "types/keys/key.h"
#include "types/keys/key_decode.h"
#include "types/uuid.h"
#include "types/value.h"

namespace sibyl::engine {
namespace {

using base::Bytes;
using base::BytesView;
using schema::Keyspace;
using schema::Snapshot;
using storage::WriteSet;

// Records are read in the order of this type, so a record comes after the records that it needs.
enum class RecordType : char {
  build_progress = 'b',
  header = 'h',
  keyspace = 'k',
  type = 't',
  table = 'w',
  view = 'x',
  function = 'y',
  aggregate = 'z',
};

Bytes catalogue_begin() {
  return row::table_begin(row::catalogue_table_id);
}

Bytes record_key(RecordType record, BytesView keyspace = {}, BytesView name = {}) {
  Bytes key = catalogue_begin();
  key.push_back(static_cast<char>(record));
  if (record == RecordType::header) return key;
  types::encode_raw_key(keyspace, key);
  if (record != RecordType::keyspace) types::encode_raw_key(name, key);
  return key;
}

base::Error not_ours(const std::string& why) {
  return base::Error(base::ErrorCode::server, "The data directory was not written by Sibyl: " + why)
      .with_hint("choose an empty or a new directory");
}

bool same_properties(const Keyspace& left, const Keyspace& right) {
  return left.replication == right.replication && left.durable_writes == right.durable_writes;
}

// Writes the differences between two maps of tables or types.
template <typename Map>
void write_elements(RecordType record, const std::string& keyspace, const Map& before, const Map& after,
                    WriteSet& writes) {
  schema::compare(before, after, [&](const std::string& name, const auto&, const auto& element) {
    if (element)
      writes.put(record_key(record, keyspace, name), schema::encode(*element));
    else
      writes.erase(record_key(record, keyspace, name));
  });
}

void write_elements(const Keyspace& before, const Keyspace& after, WriteSet& writes) {
  const std::string& name = after.name.empty() ? before.name : after.name;
  write_elements(RecordType::table, name, before.tables, after.tables, writes);
  write_elements(RecordType::type, name, before.types, after.types, writes);
  write_elements(RecordType::view, name, before.views, after.views, writes);
  write_elements(RecordType::function, name, before.functions, after.functions, writes);
  write_elements(RecordType::aggregate, name, before.aggregates, after.aggregates, writes);
}

void write_keyspace(const Keyspace& before, const Keyspace& after, WriteSet& writes) {
  if (after.name.empty()) {
    writes.erase(record_key(RecordType::keyspace, before.name));
  } else if (before.name.empty() || !same_properties(before, after)) {
    writes.put(record_key(RecordType::keyspace, after.name), schema::encode(after));
  }
  write_elements(before, after, writes);
}

WriteSet difference(const Snapshot& before, const Snapshot& after) {
  WriteSet writes;
  schema::compare_keyspaces(before, after, [&](const Keyspace& old, const Keyspace& next) {
    if (!old.is_system && !next.is_system) write_keyspace(old, next, writes);
  });
  return writes;
}

using MutableKeyspaces = std::map<std::string, std::shared_ptr<Keyspace>>;

std::unexpected<base::Error> unreadable(const std::string& why) {
  return base::fail(base::ErrorCode::server, "The catalogue cannot be read: " + why);
}

base::Result<Keyspace*> find(const MutableKeyspaces& keyspaces, const std::string& name) {
  auto found = keyspaces.find(name);
  if (found == keyspaces.end()) return unreadable("keyspace '" + name + "' is missing");
  return found->second.get();
}

// Reads an element of a keyspace into one of its maps.
template <typename Element>
base::Status read_element(
    base::Result<Element> decoded, const MutableKeyspaces& keyspaces,
    base::PersistentMap<std::string, std::shared_ptr<const Element>> Keyspace::* elements,
    std::string (*key_of)(const Element&)) {
  if (!decoded) return base::fail(std::move(decoded.error()));
  SIBYL_ASSIGN(Keyspace * keyspace, find(keyspaces, decoded->keyspace));
  const std::string key = key_of(*decoded);
  (keyspace->*elements).insert_or_assign(key, std::make_shared<const Element>(std::move(*decoded)));
  return {};
}

template <typename Element>
std::string name_of(const Element& element) {
  return element.name;
}
template <typename Function>
std::string signature(const Function& function) {
  return schema::signature_of(function.name, function.argument_types);
}

base::Status read_view(BytesView value, const MutableKeyspaces& keyspaces) {
  SIBYL_ASSIGN(schema::Table view, schema::decode_table(value));
  SIBYL_ASSIGN(Keyspace * keyspace, find(keyspaces, view.keyspace));
  if (!view.is_view() || !keyspace->tables.contains(view.view->base_table))
    return unreadable("the view '" + view.name + "' has no base table");
  keyspace->put_view(std::make_shared<const schema::Table>(std::move(view)));
  return {};
}

// Records are read in the order of RecordType, so that a keyspace precedes its contents.
base::Status read_record(RecordType type, BytesView value, MutableKeyspaces& keyspaces) {
  switch (type) {
    case RecordType::keyspace: {
      SIBYL_ASSIGN(Keyspace keyspace, schema::decode_keyspace(value));
      std::string name = keyspace.name;
      keyspaces[name] = std::make_shared<Keyspace>(std::move(keyspace));
      return {};
    }
    case RecordType::type:
      return read_element(schema::decode_type(value), keyspaces, &Keyspace::types, name_of);
    case RecordType::table:
      return read_element(schema::decode_table(value), keyspaces, &Keyspace::tables, name_of);
    case RecordType::view:
      return read_view(value, keyspaces);
    case RecordType::function:
      return read_element(schema::decode_function(value), keyspaces, &Keyspace::functions, signature);
    case RecordType::aggregate:
      return read_element(schema::decode_aggregate(value), keyspaces, &Keyspace::aggregates, signature);
    default:
      return unreadable("a record of unknown type");
  }
}

void add_system_keyspaces(Snapshot& snapshot) {
  for (const schema::KeyspacePtr& keyspace : system_schema_keyspaces())
    snapshot.keyspaces.insert_or_assign(keyspace->name, keyspace);
}

// Returns true if two elements have the same record, or if both are missing.
template <typename Pointer>
bool has_same_record(const Pointer& left, const Pointer& right) {
  return left == right || (left && right && schema::encode(*left) == schema::encode(*right));
}

bool has_same_record(const schema::TablePtr& left, const schema::TablePtr& right) {
  return left == right ||
         (left && right && schema::encode(*left) == schema::encode(*right) &&
          std::equal(left->views.begin(), left->views.end(), right->views.begin(), right->views.end(),
                     [](const auto& one, const auto& other) { return has_same_record(one, other); }));
}

// Replaces elements of `next` by the equal elements of `before`. Returns true if all elements are equal.
template <typename Map>
bool share_elements(const Map& before, Map& next) {
  bool all = before.size() == next.size();
  for (const auto& [name, element] : Map(next)) {
    const auto old = before.find(name);
    if (old != before.end() && has_same_record(old->second, element))
      next.insert_or_assign(name, old->second);
    else
      all = false;
  }
  return all;
}

// Returns the next schema, which shares all unchanged objects with the one before, because plans, statistics
// and policies compare addresses.
schema::SnapshotPtr share_unchanged(const Snapshot& before, const Snapshot& next) {
  auto shared = std::make_shared<Snapshot>(next);
  for (const auto& [name, keyspace] : next.keyspaces) {
    const schema::KeyspacePtr old = before.find_keyspace(name);
    if (!old) continue;
    if (keyspace->is_system) {
      shared->keyspaces.insert_or_assign(name, old);
      continue;
    }
    auto merged = std::make_shared<Keyspace>(*keyspace);
    bool all = same_properties(*old, *keyspace);
    all &= share_elements(old->tables, merged->tables);
    all &= share_elements(old->types, merged->types);
    all &= share_elements(old->views, merged->views);
    all &= share_elements(old->functions, merged->functions);
    all &= share_elements(old->aggregates, merged->aggregates);
    shared->keyspaces.insert_or_assign(name, all ? old : std::move(merged));
  }
  return shared;
}

}  // namespace

Bytes build_progress_key(uint32_t storage_id) {
  Bytes key = catalogue_begin();
  key.push_back(static_cast<char>(RecordType::build_progress));
  base::append_big_endian(key, storage_id);
  return key;
}

base::Result<Catalogue> Catalogue::load(storage::Store& store, Use use) {
  Catalogue catalogue(store, use);
  SIBYL_ASSIGN(const bool found, catalogue.read_newer());
  if (!found) SIBYL_TRY(catalogue.begin());
  catalogue.set_purge_policy({});
  return catalogue;
}

// Returns false if there is no catalogue, or if it has not changed.
base::Result<bool> Catalogue::read_newer() {
  while (true) {
    Bytes value, after;
    SIBYL_ASSIGN(const bool found, store_->get(record_key(RecordType::header), value));
    if (!found) return false;
    SIBYL_ASSIGN(schema::Header header, schema::decode_header(value));
    if (schema_ && schema_->version == header.version) return false;
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->version = header.version;
    snapshot->next_storage_id = header.next_storage_id;
    const schema::SnapshotPtr before = std::exchange(schema_, std::move(snapshot));
    base::Status read = read_records();
    // The records are read in several parts, so another server may have changed them meanwhile.
    if (read && use_ == Use::in_cluster) {
      const auto again = store_->get(record_key(RecordType::header), after);
      if (!again) read = base::fail(again.error());
    }
    if (!read || (use_ == Use::in_cluster && after != value)) schema_ = before;
    if (!read) return base::fail(read.error());
    if (use_ == Use::in_cluster && after != value) continue;
    host_id_ = header.host_id;
    if (before) schema_ = share_unchanged(*before, *schema_);
    return true;
  }
}

base::Result<bool> Catalogue::refresh() {
  const schema::SnapshotPtr before = schema_;
  SIBYL_ASSIGN(const bool changed, read_newer());
  if (changed) set_purge_policy(*before);
  return changed;
}

void Catalogue::settle(const Bytes& version) {
  const bool all = schema_->version == version;
  auto policy = std::make_shared<storage::PurgePolicy>(*purge_policy_);
  const auto erased = std::erase_if(retired_, [&](const Retired& retired) {
    if (!all && retired.version != version) return false;
    policy->tables.erase(retired.storage_id);
    return true;
  });
  if (erased == 0) return;
  purge_policy_ = std::move(policy);
  store_->set_purge_policy(purge_policy_);
}

namespace {

// Returns the highest table id of any record.
uint32_t highest_table_id(storage::Store& store) {
  auto records = store.iterate({}, {});
  records->seek_to_last();
  if (!records->valid() || records->key().size() < 4) return 0;
  return base::read_big_endian<uint32_t>(records->key());
}

// Recreates a lost keyspace. Its replication is unknown, so it gets one replica. On a single server, the
// replication has no effect.
void make_keyspace(const std::string& name, MutableKeyspaces& keyspaces, WriteSet& writes) {
  Keyspace keyspace;
  keyspace.name = name;
  keyspace.replication = {{"class", "org.apache.cassandra.locator.SimpleStrategy"},
                          {"replication_factor", "1"}};
  writes.put(record_key(RecordType::keyspace, name), schema::encode(keyspace));
  keyspaces[name] = std::make_shared<Keyspace>(std::move(keyspace));
}

}  // namespace

base::Result<std::vector<std::string>> Catalogue::repair(storage::Store& store) {
  std::vector<std::string> repaired;
  WriteSet writes;
  MutableKeyspaces keyspaces;
  bool has_header = false, has_records = false;
  const Bytes begin = catalogue_begin();
  auto records = store.iterate(begin, row::table_end(row::catalogue_table_id));
  for (records->seek_to_first(); records->valid(); records->next()) {
    BytesView rest = records->key().substr(begin.size());
    const auto type = rest.empty() ? RecordType::header : static_cast<RecordType>(rest[0]);
    has_records = true;
    if (type == RecordType::header && schema::decode_header(records->value())) has_header = true;
    if (type == RecordType::header || type == RecordType::build_progress) continue;
    rest.remove_prefix(1);
    const std::string keyspace = types::decode_raw_key(rest).value_or("");
    if (type != RecordType::keyspace && !keyspaces.contains(keyspace)) {
      make_keyspace(keyspace, keyspaces, writes);
      repaired.push_back("the definition of keyspace " + keyspace +
                         " was lost; it was recreated with SimpleStrategy");
    }
    if (const auto read = read_record(type, records->value(), keyspaces); !read) {
      writes.erase(Bytes(records->key()));
      repaired.push_back("a definition in keyspace " + keyspace + " was removed: " + read.error().message());
    }
  }
  SIBYL_TRY(records->status());
  const uint32_t highest = highest_table_id(store);
  if (!has_header && (has_records || highest > 0)) {
    const uint32_t next = std::max(highest + 1, storage::PurgePolicy::first_table_id);
    writes.put(record_key(RecordType::header),
               schema::encode(schema::Header{types::random_uuid(), types::random_uuid(), next}));
    repaired.push_back("the header of the catalogue was lost; the server has a new host id");
  }
  if (!writes.empty()) SIBYL_TRY(store.commit(std::move(writes)));
  return repaired;
}

base::Status Catalogue::begin() {
  // In a cluster, only this server has the catalogue and can write it.
  const Bytes end =
      use_ == Use::alone ? Bytes(16, '\xff') : row::table_begin(storage::PurgePolicy::first_table_id);
  auto records = store_->iterate({}, end);
  records->seek_to_first();
  if (records->valid()) return base::fail(not_ours("it holds records but no catalogue"));
  SIBYL_TRY(records->status());
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->version = types::random_uuid();
  add_system_keyspaces(*snapshot);
  host_id_ = types::random_uuid();
  WriteSet writes;
  writes.put(record_key(RecordType::header),
             schema::encode(schema::Header{host_id_, snapshot->version, snapshot->next_storage_id}));
  SIBYL_TRY(store_->commit(std::move(writes)));
  schema_ = std::move(snapshot);
  return {};
}

base::Status Catalogue::read_records() {
  MutableKeyspaces keyspaces;
  Bytes begin = catalogue_begin();
  auto records = store_->iterate(begin, row::table_end(row::catalogue_table_id));
  for (records->seek_to_first(); records->valid(); records->next()) {
    BytesView rest = records->key().substr(begin.size());
    if (rest.empty()) return base::fail(not_ours("a record of the catalogue has no type"));
    auto type = static_cast<RecordType>(rest[0]);
    if (type == RecordType::header || type == RecordType::build_progress) continue;
    SIBYL_TRY(read_record(type, records->value(), keyspaces));
  }
  SIBYL_TRY(records->status());
  auto snapshot = std::make_shared<Snapshot>(*schema_);
  for (auto& [name, keyspace] : keyspaces) snapshot->keyspaces.insert_or_assign(name, std::move(keyspace));
  add_system_keyspaces(*snapshot);
  schema_ = std::move(snapshot);
  return {};
}

base::Status Catalogue::change(const Snapshot& next, const std::vector<uint32_t>& dropped_storage_ids,
                               WriteSet also) {
  auto snapshot = std::make_shared<Snapshot>(next);
  snapshot->version = types::random_uuid();
  WriteSet writes = difference(*schema_, *snapshot);
  writes.put(record_key(RecordType::header),
             schema::encode(schema::Header{host_id_, snapshot->version, snapshot->next_storage_id}));
  for (uint32_t id : dropped_storage_ids) {
    if (use_ == Use::alone) writes.erase_range(row::table_begin(id), row::table_end(id));
    writes.erase(build_progress_key(id));
  }
  writes.append(std::move(also));
  SIBYL_TRY(store_->commit(std::move(writes)));
  const schema::SnapshotPtr before = std::exchange(schema_, std::move(snapshot));
  set_purge_policy(*before);
  return {};
}

namespace {

// Sets the policies for the records of a table and its indexes, or of a view.
void put_policies(const schema::Table& table, int64_t min_grace_seconds, storage::PurgePolicy& policy) {
  const int64_t grace = std::max<int64_t>(table.options.gc_grace_seconds, min_grace_seconds);
  policy.tables.insert_or_assign(table.storage_id, {grace, table.is_view()});
  for (const schema::Index& index : table.indexes) policy.tables.insert_or_assign(index.storage_id, {grace});
}

void erase_policies(const schema::Table& table, storage::PurgePolicy& policy) {
  policy.tables.erase(table.storage_id);
  for (const schema::Index& index : table.indexes) policy.tables.erase(index.storage_id);
}

}  // namespace

// Applies only the differences, since rebuilding a policy of thousands of tables for each definition is slow.
void Catalogue::set_purge_policy(const Snapshot& before) {
  auto policy = purge_policy_ ? std::make_shared<storage::PurgePolicy>(*purge_policy_)
                              : std::make_shared<storage::PurgePolicy>();
  // In a cluster, an old batch may be applied again within this time.
  const int64_t min_grace = use_ == Use::in_cluster ? min_gc_grace_seconds : 0;
  const auto visit = [&](const std::string&, const schema::TablePtr& old, const schema::TablePtr& next) {
    if (old) erase_policies(*old, *policy);
    if (next) put_policies(*next, min_grace, *policy);
  };
  schema::compare_keyspaces(before, *schema_, [&](const Keyspace& old, const Keyspace& next) {
    if (old.is_system || next.is_system) return;
    schema::compare(old.tables, next.tables, visit);
    schema::compare(old.views, next.views, visit);
  });
  if (use_ == Use::in_cluster && purge_policy_) {
    for (const auto& [id, table] : purge_policy_->tables) {
      if (policy->tables.contains(id)) continue;
      policy->tables.insert_or_assign(id, table);
      retired_.push_back({schema_->version, id, table});
    }
  }
  policy->next_table_id = schema_->next_storage_id;
  purge_policy_ = std::move(policy);
  store_->set_purge_policy(purge_policy_);
}

}  // namespace sibyl::engine
