// What the database knows of its keyspaces, tables and types: immutable snapshots.
//
// A change makes a new Snapshot that shares every unchanged Keyspace and Table with the old one, so a pointer
// compare says whether a table changed. Snapshots may be read by any number of threads.
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
#include "types/type.h"

namespace sibyl::schema {

using base::Bytes;
using types::TypePtr;

enum class ColumnKind : uint8_t { partition_key, clustering, static_, regular };
// As system_schema.columns spells it.
const char* to_string(ColumnKind kind);

// MASKED WITH: what a column shows to those who may not see what it holds, a function of the value and of
// these arguments.
struct ColumnMask {
  std::string keyspace;  // the function's; "system" for the server's own
  std::string function;
  std::vector<TypePtr> argument_types;  // without the column's own, which comes first
  std::vector<std::optional<Bytes>> arguments;

  // As DESCRIBE writes it: system.mask_inner(1, null).
  std::string text() const;
  bool operator==(const ColumnMask& other) const;
};
using ColumnMaskPtr = std::shared_ptr<const ColumnMask>;

struct Column {
  std::string name;
  TypePtr type;
  ColumnKind kind = ColumnKind::regular;
  uint32_t id = 0;          // names the column in records; never reused within the table
  int position = -1;        // within the partition key or the clustering columns; -1 for others
  bool descending = false;  // clustering columns
  ColumnMaskPtr mask;       // nullptr: none

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

// The options of D3. Maps keep their keys sorted, as Cassandra prints them.
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

// A secondary index of a table. Its entries are records of `storage_id`, written with the rows they point to.
struct Index {
  enum class Target : uint8_t { simple, values, keys, entries, full };
  std::string name;
  bool is_custom = false;                      // CREATE CUSTOM INDEX, or USING a class
  std::map<std::string, std::string> options;  // as system_schema.indexes shows them: target, class_name, ...
  uint32_t column_id = 0;
  Target target = Target::simple;
  uint32_t storage_id = 0;
  bool is_built = false;  // rows from before the index have their entries; until then queries cannot use it

  bool operator==(const Index&) const = default;
};

struct Table;
using TablePtr = std::shared_ptr<const Table>;

// What makes a table a materialized view.
struct ViewDefinition {
  std::string base_table;  // of the same keyspace
  Bytes base_id;
  bool include_all_columns = false;  // SELECT *: columns added to the base are added here
  std::string where_clause;          // as system_schema.views shows it: CQL relations joined by AND
  bool is_built = false;             // rows from before the view are in it

  bool operator==(const ViewDefinition&) const = default;
};

struct Table {
  std::string keyspace;
  std::string name;
  Bytes id;                 // the uuid drivers see
  uint32_t storage_id = 0;  // names the table in records; never reused
  bool is_virtual = false;  // its rows are made by the server (system tables)
  bool is_counter = false;
  bool has_masks = false;  // some column has one
  uint32_t next_column_id = 1;
  // Partition key, clustering columns, then static and regular columns each in name order: `SELECT *`'s
  // order.
  std::vector<Column> columns;
  size_t partition_key_count = 0;
  size_t clustering_count = 0;
  size_t static_count = 0;
  TableOptions options;
  std::vector<DroppedColumn> dropped_columns;
  std::vector<Index> indexes;                  // in name order
  std::vector<TablePtr> views;                 // those over this table, in name order; Keyspace keeps them so
  std::shared_ptr<const ViewDefinition> view;  // set: this table is a view, written by the server alone

  bool is_view() const { return view != nullptr; }
  // Whether a write must look after indexes or views, and so reads first.
  bool needs_upkeep() const { return !indexes.empty() || !views.empty(); }
  const Index* find_index(std::string_view index) const;

  // nullptr when there is none.
  const Column* find(std::string_view column) const;
  const Column* find_by_id(uint32_t id) const;
  const Column& partition_key(size_t i) const { return columns[i]; }
  const Column& clustering(size_t i) const { return columns[partition_key_count + i]; }
  bool has_static() const { return static_count != 0; }
  // Index of a column of this table in `columns`.
  size_t index_of(const Column& column) const { return static_cast<size_t>(&column - columns.data()); }

  // Sorts the columns into the order above, sets positions, counts, is_counter and has_masks, raises
  // next_column_id above every id, and builds the indexes behind find(). Call after each change of `columns`;
  // key columns keep the order they were added in. REQUIRES: a partition key column; names and ids without
  // duplicates.
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
  // The type of a column declared with it.
  TypePtr as_type(bool frozen) const;
};
using UserTypePtr = std::shared_ptr<const UserType>;

// A function in a language of its own (LANGUAGE lua).
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
  std::string state_function;  // (state, arguments...) -> state, of the same keyspace
  TypePtr state_type;
  std::string final_function;              // (state) -> result; empty: none
  std::optional<Bytes> initial_condition;  // a value of state_type
  TypePtr return_type;
};
using UserAggregatePtr = std::shared_ptr<const UserAggregate>;

// Names an overload: `name(int, text)`, types as CQL prints them.
std::string signature_of(std::string_view name, const std::vector<TypePtr>& argument_types);

struct Keyspace {
  std::string name;
  std::map<std::string, std::string> replication;  // "class" included, fully qualified
  bool durable_writes = true;
  bool is_virtual = false;  // system_virtual_schema, system_views
  bool is_system = false;   // may not be changed by users
  std::map<std::string, TablePtr, std::less<>> tables;
  std::map<std::string, UserTypePtr, std::less<>> types;
  std::map<std::string, TablePtr, std::less<>> views;               // see put_view
  std::map<std::string, UserFunctionPtr, std::less<>> functions;    // by signature_of
  std::map<std::string, UserAggregatePtr, std::less<>> aggregates;  // by signature_of

  // A view, new or changed: here and in its base table, which is replaced by one that knows the view.
  // REQUIRES: the base table exists.
  void put_view(TablePtr view);
  void erase_view(std::string_view view);
  // The table that has an index of this name; nullptr when none has.
  TablePtr find_indexed_table(std::string_view index) const;

  // A table or a view.
  TablePtr find_table(std::string_view table) const;
  UserTypePtr find_type(std::string_view type) const;
};
using KeyspacePtr = std::shared_ptr<const Keyspace>;

struct Snapshot {
  Bytes version;                    // uuid; drivers compare it for schema agreement
  uint32_t next_storage_id = 1024;  // below are the system tables'
  std::map<std::string, KeyspacePtr, std::less<>> keyspaces;

  KeyspacePtr find_keyspace(std::string_view keyspace) const;
  TablePtr find_table(std::string_view keyspace, std::string_view table) const;
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

// What a definition changed, as the protocol's SCHEMA_CHANGE and drivers' events need it.
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
