// CREATE TABLE and DROP TABLE.
#include "plan/definitions/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "plan/definitions/draft.h"
#include "plan/options/options.h"
#include "plan/statements/masks.h"
#include "plan/terms/written_types.h"
#include "types/identifier.h"
#include "types/print.h"
#include "types/uuid.h"

namespace sibyl::plan {

using base::ErrorCode;
using schema::Change;
using schema::ColumnKind;

namespace {

constexpr size_t max_table_name_length = 222;

// Checks that need only the text, no schema.
base::Status check_written(const cql::CreateTable& statement) {
  const std::string& table = statement.table.name;
  std::set<std::string> seen;
  size_t keys = statement.partition_keys.size();
  for (const cql::ColumnDefinition& column : statement.columns) {
    if (!seen.insert(column.name).second) {
      return base::fail(
          base::Error(ErrorCode::invalid,
                      fmt::format("Duplicate column '{}' declaration for table '{}'", column.name, table))
              .at(column.position));
    }
    if (column.is_primary_key) ++keys;
  }
  if (keys > 1)
    return base::invalid(
        fmt::format("Multiple PRIMARY KEY specified for table '{}' (exactly one required)", table));
  std::set<std::string> ordered;
  for (const cql::ClusteringOrder& order : statement.clustering_order) {
    if (!ordered.insert(order.column).second) {
      return base::invalid(fmt::format("Duplicate column '{}' in CLUSTERING ORDER BY clause for table '{}'",
                                       order.column, table));
    }
  }
  return {};
}

base::Error missing_primary_key(const cql::CreateTable& statement) {
  const std::string column =
      statement.columns.empty() ? "id" : types::quote_identifier(statement.columns[0].name);
  return base::Error(ErrorCode::invalid,
                     fmt::format("No PRIMARY KEY specifed for table '{}' (exactly one required)",
                                 statement.table.name))
      .with_hint(
          fmt::format("every table needs a key that identifies its rows: end the column list with "
                      "PRIMARY KEY ({}), or with PRIMARY KEY ((partition columns), clustering columns)",
                      column));
}

std::unexpected<base::Error> refuse(std::string message, std::string hint) {
  return base::fail(base::Error(ErrorCode::invalid, std::move(message)).with_hint(std::move(hint)));
}

// Builds the columns of a new table, with checks in Cassandra's order.
class TableBuilder {
 public:
  TableBuilder(const cql::CreateTable& statement, const schema::Snapshot& schema,
               const schema::Keyspace& keyspace, schema::Table& table)
      : statement_(statement), schema_(schema), keyspace_(keyspace), table_(table) {}

  base::Status build() {
    SIBYL_TRY(resolve_types());
    SIBYL_TRY(read_keys());
    SIBYL_TRY(check_clustering_order());
    if (statement_.compact_storage) SIBYL_TRY(check_compact());
    if (!statement_.compact_storage && clustering_.empty() && has_static())
      return base::invalid(
          "Static columns are only useful (and thus allowed) if the table has at least one clustering "
          "column");
    SIBYL_TRY(check_counters());
    add_columns();
    return {};
  }

 private:
  struct Entry {
    const cql::ColumnDefinition* definition;
    types::TypePtr type;
    schema::ColumnMaskPtr mask;
  };

  base::Status resolve_types() {
    for (const cql::ColumnDefinition& column : statement_.columns) {
      auto type = resolve_type(column.type, keyspace_);
      if (!type)
        return base::fail(type.error().position() ? type.error() : type.error().at(column.type.position));
      schema::ColumnMaskPtr mask;
      if (column.mask) {
        SIBYL_ASSIGN(mask, bind_mask(*column.mask, schema_, table_, column.name, *type));
      }
      columns_.emplace(column.name, Entry{&column, std::move(*type), std::move(mask)});
    }
    for (const auto& [name, entry] : columns_) {
      if (!entry.type->is_multi_cell() || entry.type->is_collection()) continue;
      for (const types::TypePtr& field : entry.type->parameters())
        if (field->is_multi_cell())
          return refuse("Non-frozen UDTs with nested non-frozen collections are not supported",
                        fmt::format("write {} frozen<{}>: its value is then always replaced as a whole",
                                    types::quote_identifier(name), entry.type->cql_name()));
    }
    return {};
  }

  base::Status read_keys() {
    for (const cql::ColumnDefinition& column : statement_.columns)
      if (column.is_primary_key) partition_.push_back(column.name);
    if (!statement_.partition_keys.empty()) partition_ = statement_.partition_keys.front();
    clustering_ = statement_.clustering_columns;
    for (const std::string& name : partition_) SIBYL_TRY(check_key(name));
    for (const std::string& name : clustering_) SIBYL_TRY(check_key(name));
    return {};
  }

  base::Status check_key(const std::string& name) {
    const std::string& table = statement_.table.name;
    auto found = columns_.find(name);
    if (found == columns_.end())
      return refuse(
          fmt::format("Unknown column '{}' referenced in PRIMARY KEY for table '{}'", name, table),
          fmt::format("declare {} with its type in the list of columns", types::quote_identifier(name)));
    if (!keys_.insert(name).second)
      return base::invalid(
          fmt::format("Duplicate column '{}' in PRIMARY KEY clause for table '{}'", name, table));
    const types::Type& type = *found->second.type;
    if (type.is_multi_cell() && type.is_collection())
      return refuse(fmt::format("Invalid non-frozen collection type {} for PRIMARY KEY column '{}'",
                                type.cql_name(), name),
                    fmt::format("write frozen<{}>", type.cql_name()));
    if (type.is_multi_cell()) {
      return refuse(fmt::format("Invalid non-frozen user-defined type \"{}.{}\" for PRIMARY KEY column '{}'",
                                type.keyspace(), type.name(), name),
                    fmt::format("write frozen<{}>", type.cql_name()));
    }
    if (type.is_counter())
      return base::invalid(fmt::format("counter type is not supported for PRIMARY KEY column '{}'", name));
    if (type.references(types::Kind::duration))
      return base::invalid(fmt::format("duration type is not supported for PRIMARY KEY column '{}'", name));
    if (found->second.definition->is_static)
      return base::invalid(fmt::format("Static column '{}' cannot be part of the PRIMARY KEY", name));
    return {};
  }

  base::Status check_clustering_order() {
    std::string other_columns;
    for (const cql::ClusteringOrder& order : statement_.clustering_order)
      if (std::find(clustering_.begin(), clustering_.end(), order.column) == clustering_.end())
        other_columns += (other_columns.empty() ? "" : ", ") + order.column;
    if (!other_columns.empty()) {
      return base::invalid(fmt::format(
          "Only clustering key columns can be defined in CLUSTERING ORDER directive: [{}] are not "
          "clustering columns",
          other_columns));
    }
    for (size_t i = 0; i < statement_.clustering_order.size(); ++i) {
      const std::string& written = statement_.clustering_order[i].column;
      const std::string& expected = clustering_[i];
      if (written == expected) continue;
      const bool later =
          std::any_of(statement_.clustering_order.begin(), statement_.clustering_order.end(),
                      [&](const cql::ClusteringOrder& order) { return order.column == expected; });
      if (!later) return base::invalid(fmt::format("Missing CLUSTERING ORDER for column {}", expected));
      return base::invalid(fmt::format(
          "The order of columns in the CLUSTERING ORDER directive must match that of the clustering "
          "columns ({} must appear before {})",
          expected, written));
    }
    return {};
  }

  bool has_static() const {
    return std::any_of(columns_.begin(), columns_.end(),
                       [](const auto& column) { return column.second.definition->is_static; });
  }

  // The names of the columns that are not part of the primary key.
  std::vector<std::string> other_columns() const {
    std::vector<std::string> names;
    for (const auto& [name, entry] : columns_)
      if (!keys_.contains(name)) names.push_back(name);
    return names;
  }

  base::Status check_compact() const {
    const std::vector<std::string> others = other_columns();
    if (std::any_of(others.begin(), others.end(),
                    [&](const std::string& name) { return columns_.at(name).type->is_multi_cell(); }))
      return refuse("Non-frozen collections and UDTs are not supported with COMPACT STORAGE",
                    "write frozen<...>, or omit COMPACT STORAGE");
    if (has_static())
      return refuse("Static columns are not supported in COMPACT STORAGE tables", "omit COMPACT STORAGE");
    if (clustering_.empty() && others.empty())
      return refuse("No definition found that is not part of the PRIMARY KEY", "omit COMPACT STORAGE");
    if (!clustering_.empty() && others.size() > 1)
      return refuse(fmt::format("COMPACT STORAGE with composite PRIMARY KEY allows no more than one column "
                                "not part of the PRIMARY KEY (got: {})",
                                fmt::join(others, ", ")),
                    "omit COMPACT STORAGE");
    return {};
  }

  base::Status check_counters() {
    size_t counters = 0, others = 0;
    for (const auto& [name, entry] : columns_) {
      if (keys_.contains(name)) continue;
      ++(entry.type->is_counter() ? counters : others);
    }
    if (counters == 0) return {};
    if (others != 0)
      return refuse("Cannot mix counter and non counter columns in the same table",
                    "keep the counters in a table of their own with the same key");
    if (table_.options.default_time_to_live > 0)
      return base::invalid("Cannot set default_time_to_live on a table with counters");
    return {};
  }

  void add_columns() {
    for (const std::string& name : partition_) add(name, ColumnKind::partition_key, false);
    for (const std::string& name : clustering_) {
      const auto order =
          std::find_if(statement_.clustering_order.begin(), statement_.clustering_order.end(),
                       [&](const cql::ClusteringOrder& entry) { return entry.column == name; });
      const bool is_descending = order != statement_.clustering_order.end() && order->descending;
      add(name, ColumnKind::clustering, is_descending || is_reversed(columns_.at(name).definition->type));
    }
    const bool is_static_compact = statement_.compact_storage && clustering_.empty();
    for (const std::string& name : other_columns()) {
      const bool is_static = is_static_compact || columns_.at(name).definition->is_static;
      add(name, is_static ? ColumnKind::static_ : ColumnKind::regular, false);
    }
    if (statement_.compact_storage) add_hidden();
    table_.finish();
  }

  // The columns of a compact table that were not declared.
  void add_hidden() {
    table_.compact = clustering_.empty() ? schema::Compact::static_ : schema::Compact::dense;
    const auto is_counter = [](const schema::Column& column) { return column.type->is_counter(); };
    const bool has_counters = std::any_of(table_.columns.begin(), table_.columns.end(), is_counter);
    const bool has_value = other_columns().size() == 1 && !clustering_.empty();
    if (clustering_.empty())
      add_default("column", 1, ColumnKind::clustering, types::scalar(types::Kind::text));
    if (has_value) return;
    const types::Kind kind = !clustering_.empty() ? types::Kind::empty
                             : has_counters       ? types::Kind::counter
                                                  : types::Kind::blob;
    add_default("value", 0, ColumnKind::regular, types::scalar(kind));
  }

  // Adds a column with the first free name: column1, column2, ...; value, value1, ...
  void add_default(const std::string& prefix, int number, ColumnKind kind, types::TypePtr type) {
    const auto name_of = [&] { return number == 0 ? prefix : prefix + std::to_string(number); };
    while (columns_.contains(name_of())) ++number;
    schema::Column column;
    column.name = name_of();
    column.type = std::move(type);
    column.kind = kind;
    column.id = table_.next_column_id++;
    table_.columns.push_back(std::move(column));
  }

  void add(const std::string& name, ColumnKind kind, bool descending) {
    schema::Column column;
    column.name = name;
    column.type = columns_.at(name).type;
    column.mask = columns_.at(name).mask;
    column.kind = kind;
    column.id = table_.next_column_id++;
    column.descending = descending;
    table_.columns.push_back(std::move(column));
  }

  const cql::CreateTable& statement_;
  const schema::Snapshot& schema_;
  const schema::Keyspace& keyspace_;
  schema::Table& table_;
  std::map<std::string, Entry> columns_;
  std::vector<std::string> partition_, clustering_;
  std::set<std::string> keys_;
};

bool id_is_taken(const schema::Snapshot& schema, const base::Bytes& id) {
  for (const auto& [name, keyspace] : schema.keyspaces)
    for (const auto& [table_name, table] : keyspace->tables)
      if (table->id == id) return true;
  return false;
}

base::Status check_features(const cql::CreateTable& statement, const DefinitionContext& context) {
  for (const cql::ColumnDefinition& column : statement.columns)
    if (column.mask) SIBYL_TRY(check_masking(context));
  return {};
}

}  // namespace

base::Status check_table_name(const std::string& keyspace, const std::string& name) {
  const bool is_word = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!is_word) {
    return base::fail(
        ErrorCode::config,
        fmt::format("{}.{}: Table name must not be empty or not contain non-alphanumeric-underscore "
                    "characters (got \"{}\")",
                    keyspace, name, name));
  }
  if (name.size() > max_table_name_length) {
    return base::fail(
        ErrorCode::config,
        fmt::format("{}.{}: Table name must not be more than {} characters long (got {} characters for "
                    "\"{}\")",
                    keyspace, name, max_table_name_length, name.size(), name));
  }
  return {};
}

base::Status check_masking(const DefinitionContext& context) {
  if (context.masks_columns) return {};
  return base::invalid(
      "Cannot mask columns because dynamic data masking is not enabled. You can enable it with the "
      "dynamic_data_masking_enabled property on cassandra.yaml");
}

base::Error table_already_exists(const std::string& keyspace, const std::string& table) {
  base::ErrorDetails details;
  details.code = ErrorCode::already_exists;
  details.message =
      fmt::format("Cannot add already existing table \"{}\" to keyspace \"{}\"", table, keyspace);
  details.keyspace = keyspace;
  details.table = table;
  return base::Error(std::move(details));
}

base::Result<DefinitionResult> define_table(const cql::CreateTable& statement, Draft& draft) {
  SIBYL_TRY(check_written(statement));
  SIBYL_ASSIGN(const PropertySet properties,
               PropertySet::of(statement.properties, draft.context().guardrails->table_properties.ignored));
  SIBYL_ASSIGN(const std::string keyspace_name, draft.keyspace_name(statement.table));
  const bool has_inline_key =
      std::any_of(statement.columns.begin(), statement.columns.end(),
                  [](const cql::ColumnDefinition& column) { return column.is_primary_key; });
  if (statement.partition_keys.empty() && !has_inline_key) return base::fail(missing_primary_key(statement));
  SIBYL_TRY(
      draft.check_may_change(keyspace_name, "CREATE", fmt::format("<all tables in {}>", keyspace_name)));
  auto table = std::make_shared<schema::Table>();
  SIBYL_TRY(read_table_options(properties, true, table->options));
  SIBYL_TRY(check_features(statement, draft.context()));

  schema::KeyspacePtr old = draft.schema().find_keyspace(keyspace_name);
  if (!old) return base::invalid(fmt::format("Keyspace '{}' doesn't exist", keyspace_name));
  const std::string& name = statement.table.name;
  if (old->find_table(name)) {
    if (statement.if_not_exists) return draft.unchanged();
    return base::fail(table_already_exists(keyspace_name, name));
  }
  SIBYL_TRY(check_table_options(properties, table->options));
  table->keyspace = keyspace_name;
  table->name = name;
  SIBYL_TRY(TableBuilder(statement, draft.schema(), *old, *table).build());
  SIBYL_ASSIGN(std::optional<base::Bytes> id, read_table_id(properties));
  if (id && id_is_taken(draft.schema(), *id))
    return base::fail(ErrorCode::config,
                      fmt::format("Table id {} is already in use", types::format_uuid(*id)));
  SIBYL_TRY(check_table_name(keyspace_name, name));
  table->id = id ? std::move(*id) : types::next_time_uuid(draft.context().now_micros);
  table->storage_id = draft.new_storage_id();
  draft.warn_about_options(table->options, nullptr);

  auto keyspace = draft.change(*old);
  keyspace->tables.insert_or_assign(name, std::move(table));
  return draft.with(std::move(keyspace),
                    change_of(Change::Kind::created, Change::Target::table, keyspace_name, name));
}

base::Result<DefinitionResult> define_table(const cql::DropTable& statement, Draft& draft) {
  SIBYL_ASSIGN(const std::string keyspace_name, draft.keyspace_name(statement.table));
  const std::string& name = statement.table.name;
  SIBYL_TRY(draft.check_may_change(keyspace_name, "DROP", fmt::format("<table {}.{}>", keyspace_name, name)));
  schema::KeyspacePtr old = draft.schema().find_keyspace(keyspace_name);
  schema::TablePtr table = old ? old->find_table(name) : nullptr;
  if (!table) {
    if (statement.if_exists) return draft.unchanged();
    return base::invalid(fmt::format("Table '{}.{}' doesn't exist", keyspace_name, name));
  }
  if (table->is_view())
    return base::invalid(
        "Cannot use DROP TABLE on a materialized view. Please use DROP MATERIALIZED VIEW instead.");
  if (!table->views.empty()) {
    std::vector<std::string> views;
    for (const schema::TablePtr& view : table->views) views.push_back(types::quote_identifier(view->name));
    // Like Cassandra, prints the keyspace's name where the message should list the views.
    return refuse(
        fmt::format("Cannot drop a table when materialized views still depend on it ({})", keyspace_name),
        fmt::format("first DROP MATERIALIZED VIEW {}", fmt::join(views, ", ")));
  }
  draft.dropped_storage_ids.push_back(table->storage_id);
  for (const schema::Index& index : table->indexes) draft.dropped_storage_ids.push_back(index.storage_id);
  auto keyspace = draft.change(*old);
  keyspace->tables.erase(name);
  return draft.with(std::move(keyspace),
                    change_of(Change::Kind::dropped, Change::Target::table, keyspace_name, name));
}

}  // namespace sibyl::plan
