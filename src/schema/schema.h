// The schema: immutable snapshots of keyspaces, tables and types.
//
// A change creates a new Snapshot that shares every unchanged Keyspace and Table with the old one, so
// comparing pointers shows whether a table changed. Their maps share what is unchanged as well, so a change
// costs the same in a schema of thousands of tables. Snapshots are thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/persistent_map.h"
#include "types/type.h"

namespace sibyl::schema {

using base::Bytes;
using types::TypePtr;

enum class ColumnKind : uint8_t { partition_key, clustering, static_, regular };
// As in system_schema.columns.
const char* to_string(ColumnKind kind);

// MASKED WITH: users without permission to see the value see the result of this function instead. Its first
// argument is the value; `arguments` are the others.
struct ColumnMask {
  std::string keyspace;  // keyspace of the function; "system" for built-in functions
  std::string function;
  std::vector<TypePtr> argument_types;  // types of `arguments`, without the first argument of the function
  std::vector<std::optional<Bytes>> arguments;

  // Returns the text that DESCRIBE prints: system.mask_inner(1, null).
  std::string text() const;
  bool operator==(const ColumnMask& other) const;
};
using ColumnMaskPtr = std::shared_ptr<const ColumnMask>;

struct Column {
  std::string name;
  TypePtr type;
  ColumnKind kind = ColumnKind::regular;
  uint32_t id = 0;  // identifies the column in records; never reused within the table
  // Position within the partition key or the clustering columns; -1 for other columns.
  int position = -1;
  bool descending = false;  // clustering columns
  ColumnMaskPtr mask;       // nullptr: none
  bool is_hidden = false;   // in a compact table: statements cannot name it. Set by finish().

  bool is_partition_key() const { return kind == ColumnKind::partition_key; }
  bool is_clustering() const { return kind == ColumnKind::clustering; }
  bool is_primary_key() const { return is_partition_key() || is_clustering(); }
  bool is_static() const { return kind == ColumnKind::static_; }
  bool is_regular() const { return kind == ColumnKind::regular; }
};

struct DroppedColumn {
  std::string name;
  TypePtr type;
  ColumnKind kind = ColumnKind::regular;
  int64_t dropped_micros = 0;
};

// Table options (WITH). Maps are sorted by key, as Cassandra prints them.
struct TableOptions {
  std::string additional_write_policy = "99p";
  bool allow_auto_snapshot = true;
  double bloom_filter_fp_chance = 0.01;
  std::map<std::string, std::string> caching = {{"keys", "ALL"}, {"rows_per_partition", "NONE"}};
  bool cdc = false;
  std::string comment;
  std::map<std::string, std::string> compaction = {
      {"class", "org.apache.cassandra.db.compaction.SizeTieredCompactionStrategy"},
      {"max_threshold", "32"},
      {"min_threshold", "4"}};
  std::map<std::string, std::string> compression = {
      {"chunk_length_in_kb", "16"}, {"class", "org.apache.cassandra.io.compress.LZ4Compressor"}};
  double crc_check_chance = 1.0;
  int32_t default_time_to_live = 0;
  std::map<std::string, Bytes> extensions;
  int32_t gc_grace_seconds = 864'000;
  bool incremental_backups = true;
  int32_t max_index_interval = 2048;
  int32_t memtable_flush_period_in_ms = 0;
  std::string memtable = "default";
  int32_t min_index_interval = 128;
  std::string read_repair = "BLOCKING";
  std::string speculative_retry = "99p";

  bool operator==(const TableOptions&) const = default;
};

// A secondary index of a table. Its entries are records under `storage_id`, written together with the rows
// they refer to.
struct Index {
  enum class Target : uint8_t { simple, values, keys, entries, full };
  std::string name;
  bool is_custom = false;  // CREATE CUSTOM INDEX, or USING a class
  // The options as in system_schema.indexes: target, class_name, ...
  std::map<std::string, std::string> options;
  uint32_t column_id = 0;
  Target target = Target::simple;
  uint32_t storage_id = 0;
  // true: rows that are older than the index have entries; before, queries do not use it.
  bool is_built = false;

  bool operator==(const Index&) const = default;
};

struct Table;
using TablePtr = std::shared_ptr<const Table>;

// COMPACT STORAGE, a form of tables that is older than CQL 3. Its rows exist only while one of their columns
// has a value.
enum class Compact : uint8_t {
  none,
  // A table without declared clustering columns. The declared columns are static. A clustering column and a
  // regular column exist too, which are hidden until DROP COMPACT STORAGE.
  static_,
  // A table with clustering columns and one other column. If no other column was declared, it is hidden and
  // has the type empty. The last clustering columns of a row may be null.
  dense,
};

// Properties of a table that is a materialized view.
struct ViewDefinition {
  std::string base_table;  // in the same keyspace
  Bytes base_id;
  bool include_all_columns = false;  // SELECT *: columns added to the base table are added to the view
  std::string where_clause;          // the relations as in system_schema.views: CQL, joined by AND
  bool is_built = false;             // true: the view contains the rows that are older than the view

  bool operator==(const ViewDefinition&) const = default;
};

struct Table {
  std::string keyspace;
  std::string name;
  Bytes id;                 // uuid visible to drivers
  uint32_t storage_id = 0;  // identifies the table in records; never reused
  bool is_virtual = false;  // the server creates the rows (system tables)
  bool is_counter = false;
  Compact compact = Compact::none;
  bool has_masks = false;  // some column has a mask
  uint32_t next_column_id = 1;
  // Partition key, clustering columns, then static columns and regular columns, each in name order: the order
  // of `SELECT *`.
  std::vector<Column> columns;
  size_t partition_key_count = 0;
  size_t clustering_count = 0;
  size_t static_count = 0;
  TableOptions options;
  std::vector<DroppedColumn> dropped_columns;
  std::vector<Index> indexes;   // in name order
  std::vector<TablePtr> views;  // the views of this table, in name order; maintained by Keyspace::put_view
  std::shared_ptr<const ViewDefinition> view;  // set if this table is a view, which only the server writes

  bool is_view() const { return view != nullptr; }
  bool is_compact() const { return compact != Compact::none; }
  // Returns true if a write must maintain indexes or views, and therefore reads first.
  bool needs_index_maintenance() const { return !indexes.empty() || !views.empty(); }
  const Index* find_index(std::string_view index) const;

  // These return nullptr if there is no such column. find() ignores hidden columns.
  const Column* find(std::string_view column) const;
  const Column* find_even_hidden(std::string_view column) const;
  const Column* find_by_id(uint32_t id) const;
  const Column& partition_key(size_t i) const { return columns[i]; }
  const Column& clustering(size_t i) const { return columns[partition_key_count + i]; }
  bool has_static() const { return static_count != 0; }
  // Returns the position in `columns` of a column of this table.
  size_t index_of(const Column& column) const { return static_cast<size_t>(&column - columns.data()); }

  // Sorts `columns` into the order above, sets positions, counts, is_counter, has_masks and is_hidden, raises
  // next_column_id above every id, and builds the maps behind find(). Must be called after each change of
  // `columns`. Key columns keep the order in which they were added. REQUIRES: there is a partition key
  // column; names and ids are unique.
  void finish();

 private:
  struct NameHash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
  };
  std::unordered_map<std::string, size_t, NameHash, std::equal_to<>> by_name_;
  std::unordered_map<uint32_t, size_t> by_id_;
};

struct UserType {
  std::string keyspace;
  std::string name;
  std::vector<std::string> field_names;
  std::vector<TypePtr> field_types;
  // The type of a column that is declared with this user type.
  TypePtr as_type(bool frozen) const;
};
using UserTypePtr = std::shared_ptr<const UserType>;

// A user-defined function (LANGUAGE lua or java).
struct UserFunction {
  std::string keyspace;
  std::string name;
  std::vector<std::string> argument_names;
  std::vector<TypePtr> argument_types;
  TypePtr return_type;
  bool called_on_null_input = false;
  std::string language;
  std::string body;
};
using UserFunctionPtr = std::shared_ptr<const UserFunction>;

struct UserAggregate {
  std::string keyspace;
  std::string name;
  std::vector<TypePtr> argument_types;
  std::string state_function;  // the function (state, arguments...) -> state, in the same keyspace
  TypePtr state_type;
  std::string final_function;              // (state) -> result; empty: none
  std::optional<Bytes> initial_condition;  // a value of state_type
  TypePtr return_type;
};
using UserAggregatePtr = std::shared_ptr<const UserAggregate>;

// Identifies an overload: `name(int, text)`, with types in CQL notation.
std::string signature_of(std::string_view name, const std::vector<TypePtr>& argument_types);

struct Keyspace {
  std::string name;
  std::map<std::string, std::string> replication;  // includes "class", fully qualified
  bool durable_writes = true;
  bool is_virtual = false;  // system_virtual_schema, system_views
  bool is_system = false;   // users cannot change it
  base::PersistentMap<std::string, TablePtr> tables;
  base::PersistentMap<std::string, UserTypePtr> types;
  base::PersistentMap<std::string, TablePtr> views;               // see put_view
  base::PersistentMap<std::string, UserFunctionPtr> functions;    // by signature_of
  base::PersistentMap<std::string, UserAggregatePtr> aggregates;  // by signature_of

  // Adds or replaces a view, both here and in its base table, which is replaced by one that includes the
  // view. REQUIRES: the base table exists.
  void put_view(TablePtr view);
  void erase_view(std::string_view view);
  // Returns the table that has an index of this name; nullptr if there is none.
  TablePtr find_indexed_table(std::string_view index) const;

  // Finds a table or a view.
  TablePtr find_table(std::string_view table) const;
  UserTypePtr find_type(std::string_view type) const;
};
using KeyspacePtr = std::shared_ptr<const Keyspace>;

struct Snapshot {
  Bytes version;                    // uuid; drivers compare it for schema agreement
  uint32_t next_storage_id = 1024;  // smaller ids are system tables
  base::PersistentMap<std::string, KeyspacePtr> keyspaces;

  KeyspacePtr find_keyspace(std::string_view keyspace) const;
  TablePtr find_table(std::string_view keyspace, std::string_view table) const;
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

// The effect of a definition, for the protocol's SCHEMA_CHANGE and for drivers' events.
struct Change {
  enum class Kind { created, updated, dropped };
  enum class Target { keyspace, table, type, function, aggregate };
  Kind kind = Kind::created;
  Target target = Target::keyspace;
  std::string keyspace;
  std::string name;                         // empty for a keyspace
  std::vector<std::string> argument_types;  // functions and aggregates
};

}  // namespace sibyl::schema
