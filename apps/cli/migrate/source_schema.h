// The schema of a server as its tables in system_schema describe it. Works with Cassandra 3.11 to 5.0 and
// Sibyl.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/connection.h"

namespace sibyl::cli::migrate {

// A row of a schema table. Columns that are null or that the server's version does not have are absent.
class SchemaRow {
 public:
  struct Value {
    types::TypePtr type;
    base::Bytes bytes;
  };

  void set(const std::string& column, Value value) { values_[column] = std::move(value); }
  bool has(const std::string& column) const { return values_.contains(column); }
  const std::map<std::string, Value>& values() const { return values_; }
  // These return an empty value if the column is absent.
  std::string text(const std::string& column) const;
  int64_t integer(const std::string& column) const;
  bool boolean(const std::string& column) const;
  std::vector<std::string> texts(const std::string& column) const;  // Returns the texts of a list or a set.
  std::vector<std::pair<std::string, std::string>> map(const std::string& column) const;

 private:
  std::map<std::string, Value> values_;
};

struct SourceColumn {
  std::string name, kind, type;  // kind: partition_key, clustering, static, regular
  int position = -1;
  bool is_descending = false;
  std::optional<SchemaRow> mask;  // its row in column_masks

  bool is_key() const { return kind == "partition_key" || kind == "clustering"; }
};

struct SourceTable {
  std::string keyspace, name;
  SchemaRow row;                      // the row in system_schema's tables or views
  std::vector<SourceColumn> columns;  // partition key, clustering key, then the others by name
  std::vector<SchemaRow> indexes;
  std::vector<std::string> triggers;

  bool is_view() const { return row.has("base_table_name"); }
  bool is_counter() const;
  // True for tables with COMPACT STORAGE, and for tables of Thrift.
  bool is_compact() const;
  std::string quoted_name() const;
};

struct SourceKeyspace {
  std::string name;
  SchemaRow row;
  std::vector<SchemaRow> types, functions, aggregates;
  std::vector<SourceTable> tables, views;
};

// Returns true for keyspaces that every server has for itself.
bool is_system_keyspace(const std::string& name);

// Reads the named keyspaces, or all except the server's own. Unknown names are errors.
base::Result<std::vector<SourceKeyspace>> read_schema(client::Connection& source,
                                                      const std::vector<std::string>& names);

// Runs a query and returns all rows.
base::Result<std::vector<SchemaRow>> read_rows(client::Connection& server, const std::string& query,
                                               std::span<const types::ValueView> values = {});

}  // namespace sibyl::cli::migrate
