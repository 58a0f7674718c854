#include "plan/definitions/alter_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/definitions/draft.h"
#include "plan/definitions/indexes.h"
#include "plan/definitions/tables.h"
#include "plan/definitions/views.h"
#include "plan/options/options.h"
#include "plan/statements/masks.h"
#include "plan/terms/written_types.h"

namespace sibyl::plan {

using base::ErrorCode;
using schema::Change;
using schema::ColumnKind;

namespace {

std::string qualified(const schema::Table& table) {
  return table.keyspace + "." + table.name;
}

const char* kind_name(ColumnKind kind) {
  return kind == ColumnKind::static_ ? "STATIC" : "REGULAR";
}

// Changes a copy of the table. Returns false if there is nothing to do.
class TableChange {
 public:
  TableChange(const schema::Snapshot& schema, const schema::Keyspace& keyspace, const schema::Table& old,
              schema::Table& table, const DefinitionContext& context)
      : schema_(schema), keyspace_(keyspace), old_(old), table_(table), context_(context) {}

  base::Result<bool> operator()(const cql::AlterTable::Add& add) {
    bool changed = false;
    for (const cql::ColumnDefinition& column : add.columns) {
      SIBYL_ASSIGN(const bool added, add_column(column, add.if_not_exists));
      changed = changed || added;
    }
    if (changed) SIBYL_TRY(check_counters());
    return changed;
  }

  base::Result<bool> operator()(const cql::AlterTable::Drop& drop) {
    bool changed = false;
    for (const std::string& name : drop.columns) {
      SIBYL_ASSIGN(const bool dropped, drop_column(name, drop));
      changed = changed || dropped;
    }
    return changed;
  }

  base::Result<bool> operator()(const cql::AlterTable::Rename& rename) {
    for (const auto& [from, to] : rename.names) {
      const schema::Column* column = old_.find(from);
      if (!column)
        return base::invalid(fmt::format("Undefined column name {} in table {}", from, qualified(old_)));
      if (!column->is_primary_key())
        return base::invalid(fmt::format("Cannot rename non PRIMARY KEY column {}", from));
      if (find(to)) {
        return base::invalid(fmt::format(
            "Cannot rename column {} to {} in table '{}'; another column with that name already exists", from,
            to, qualified(old_)));
      }
      if (const std::string indexes = dependent_indexes(old_, *column); !indexes.empty())
        return base::invalid(fmt::format(
            "Can't rename column {} because it has dependent secondary indexes ({})", from, indexes));
      if (schema::Column* found = find(from)) found->name = to;
    }
    return !rename.names.empty();
  }

  base::Result<bool> operator()(const cql::AlterTable::AlterType&) {
    return base::invalid("Altering column types is no longer supported");
  }

  base::Result<bool> operator()(const cql::AlterTable::Mask& mask) {
    schema::Column* column = find(mask.column);
    if (column == nullptr) {
      if (mask.if_exists) return false;
      return base::invalid(
          fmt::format("Column with name '{}' doesn't exist on table '{}'", mask.column, old_.name));
    }
    schema::ColumnMaskPtr next;
    if (mask.mask) {
      SIBYL_ASSIGN(next, bind_mask(*mask.mask, schema_, old_, column->name, column->type));
    }
    const bool is_same = next && column->mask ? *next == *column->mask : next == column->mask;
    column->mask = std::move(next);
    return !is_same;
  }

  base::Result<bool> operator()(const cql::AlterTable::With& with) {
    SIBYL_ASSIGN(const PropertySet properties,
                 PropertySet::of(with.properties, context_.guardrails->table_properties.ignored));
    // As in Cassandra, bounds are checked together with the defaults, not with the table's own options.
    schema::TableOptions alone;
    SIBYL_TRY(read_table_options(properties, true, alone));
    SIBYL_TRY(check_table_options(properties, alone));
    SIBYL_ASSIGN(const std::optional<base::Bytes> id, read_table_id(properties));
    if (id) return base::fail(ErrorCode::config, "Cannot alter table id.");
    SIBYL_TRY(read_table_options(properties, false, table_.options));
    if (table_.is_counter && table_.options.default_time_to_live > 0)
      return base::invalid("Cannot set default_time_to_live on a table with counters");
    if (!old_.views.empty() && table_.options.gc_grace_seconds == 0)
      return base::invalid(
          "Cannot alter gc_grace_seconds of the base table of a materialized view to 0, since this value is "
          "used to TTL undelivered updates. Setting gc_grace_seconds too low might cause undelivered updates "
          "to expire before being replayed.");
    return !(table_.options == old_.options);
  }

  base::Result<bool> operator()(const cql::AlterTable::DropCompactStorage&) {
    if (!old_.is_compact())
      return base::invalid("Cannot DROP COMPACT STORAGE on table without COMPACT STORAGE");
    table_.compact = schema::Compact::none;
    return true;
  }

 private:
  schema::Column* find(const std::string& name) {
    auto found = std::find_if(table_.columns.begin(), table_.columns.end(),
                              [&](const schema::Column& column) { return column.name == name; });
    return found == table_.columns.end() ? nullptr : &*found;
  }

  base::Result<bool> add_column(const cql::ColumnDefinition& definition, bool if_not_exists) {
    SIBYL_ASSIGN(types::TypePtr type, resolve_type(definition.type, keyspace_));
    schema::ColumnMaskPtr mask;
    if (definition.mask) {
      SIBYL_ASSIGN(mask, bind_mask(*definition.mask, schema_, old_, definition.name, type));
    }
    if (find(definition.name)) {
      if (if_not_exists) return false;
      return base::invalid(fmt::format("Column with name '{}' already exists", definition.name));
    }
    if (old_.is_compact()) return base::invalid("Cannot add new column to a COMPACT STORAGE table");
    if (definition.is_static && old_.clustering_count == 0) {
      return base::invalid(
          "Static columns are only useful (and thus allowed) if the table has at least one clustering "
          "column");
    }
    if (type->is_multi_cell() && !type->is_collection()) {
      for (const types::TypePtr& field : type->parameters()) {
        if (field->is_multi_cell()) {
          return base::invalid(
              "Non-frozen UDTs with nested non-frozen collections are not supported for column " +
              definition.name);
        }
      }
    }
    const ColumnKind kind = definition.is_static ? ColumnKind::static_ : ColumnKind::regular;
    SIBYL_TRY(check_dropped(definition.name, *type, kind));
    schema::Column column;
    column.name = definition.name;
    column.mask = std::move(mask);
    column.type = std::move(type);
    column.kind = kind;
    column.id = table_.next_column_id++;
    table_.columns.push_back(std::move(column));
    return true;
  }

  base::Status check_dropped(const std::string& name, const types::Type& type, ColumnKind kind) {
    for (const schema::DroppedColumn& dropped : old_.dropped_columns) {
      if (dropped.name != name) continue;
      if (!may_replace_dropped(type, *dropped.type)) {
        return base::invalid(fmt::format(
            "Cannot add a column '{}' of type {}, incompatible with previously dropped column '{}' of "
            "type {}",
            name, type.cql_name(), name, dropped.type->cql_name()));
      }
      if (dropped.kind != kind) {
        return base::invalid(fmt::format(
            "Cannot re-add previously dropped column '{}' of kind {}, incompatible with previous kind {}",
            name, kind_name(kind), kind_name(dropped.kind)));
      }
      if (old_.is_counter) return base::invalid("Cannot re-add previously dropped counter column " + name);
    }
    return {};
  }

  base::Status check_counters() {
    const bool was_counter = old_.is_counter;
    for (const schema::Column& column : table_.columns) {
      if (column.is_primary_key() || column.type->is_counter() == was_counter) continue;
      return base::fail(ErrorCode::config,
                        fmt::format("{}: Cannot have a {} column (\"{}\") in a {} table", qualified(old_),
                                    was_counter ? "non counter" : "counter", column.name,
                                    was_counter ? "counter" : "non counter"));
    }
    return {};
  }

  base::Result<bool> drop_column(const std::string& name, const cql::AlterTable::Drop& drop) {
    const schema::Column* column = old_.find_even_hidden(name);
    if (!column) {
      if (drop.if_exists) return false;
      return base::invalid(fmt::format("Column {} was not found in table '{}'", name, qualified(old_)));
    }
    if (column->is_primary_key()) return base::invalid("Cannot drop PRIMARY KEY column " + name);
    // Rows of a compact table exist only while this column has a value. Cassandra fails with an assertion
    // here.
    if (old_.is_compact() && column->is_regular())
      return base::fail(base::Error(ErrorCode::invalid,
                                    fmt::format("Cannot drop column {} of a COMPACT STORAGE table", name))
                            .with_hint("first ALTER TABLE ... DROP COMPACT STORAGE"));
    if (column->type->is_multi_cell() && !column->type->is_collection()) {
      return base::invalid(
          fmt::format("Cannot drop non-frozen column {} of user type {}", name, column->type->cql_name()));
    }
    if (const std::string indexes = dependent_indexes(old_, *column); !indexes.empty())
      return base::invalid(fmt::format(
          "Cannot drop column {} because it has dependent secondary indexes ({})", name, indexes));
    if (!old_.views.empty())
      return base::invalid(
          fmt::format("Cannot drop column {} on base table {} with materialized views", name, old_.name));
    if (std::erase_if(table_.columns, [&](const schema::Column& entry) { return entry.name == name; }) == 0)
      return false;
    std::erase_if(table_.dropped_columns,
                  [&](const schema::DroppedColumn& entry) { return entry.name == name; });
    table_.dropped_columns.push_back(
        {name, expand_user_types(column->type), column->kind, drop.timestamp.value_or(context_.now_micros)});
    return true;
  }

  const schema::Snapshot& schema_;
  const schema::Keyspace& keyspace_;
  const schema::Table& old_;
  schema::Table& table_;
  const DefinitionContext& context_;
};

// Checks that Cassandra makes before it looks up the table.
base::Status check_written(const cql::AlterTable& statement, const DefinitionContext& context) {
  if (const auto* with = std::get_if<cql::AlterTable::With>(&statement.action)) {
    SIBYL_ASSIGN(const PropertySet properties, PropertySet::of(with->properties));
    schema::TableOptions options;
    return read_table_options(properties, true, options);
  }
  if (const auto* mask = std::get_if<cql::AlterTable::Mask>(&statement.action); mask && mask->mask)
    return check_masking(context);
  if (const auto* add = std::get_if<cql::AlterTable::Add>(&statement.action)) {
    for (const cql::ColumnDefinition& column : add->columns)
      if (column.mask) SIBYL_TRY(check_masking(context));
  }
  return {};
}

}  // namespace

base::Result<DefinitionResult> define_table(const cql::AlterTable& statement, Draft& draft) {
  SIBYL_ASSIGN(const std::string keyspace_name, draft.keyspace_name(statement.table));
  const std::string& name = statement.table.name;
  SIBYL_TRY(
      draft.check_may_change(keyspace_name, "ALTER", fmt::format("<table {}.{}>", keyspace_name, name)));
  SIBYL_TRY(check_written(statement, draft.context()));
  schema::KeyspacePtr old = draft.schema().find_keyspace(keyspace_name);
  schema::TablePtr old_table = old ? old->find_table(name) : nullptr;
  if (!old_table) {
    if (statement.if_exists) return draft.unchanged();
    return base::invalid(fmt::format("Table '{}.{}' doesn't exist", keyspace_name, name));
  }
  if (old_table->is_view())
    return base::invalid(
        "Cannot use ALTER TABLE on a materialized view; use ALTER MATERIALIZED VIEW instead");
  auto table = std::make_shared<schema::Table>(*old_table);
  SIBYL_ASSIGN(
      const bool changed,
      std::visit(TableChange(draft.schema(), *old, *old_table, *table, draft.context()), statement.action));
  if (!changed) return draft.unchanged();
  draft.warn_about_options(table->options, &old_table->options);
  table->finish();
  auto keyspace = draft.change(*old);
  keyspace->tables.insert_or_assign(name, table);
  // Drivers also cache the definitions of views.
  for (const std::string& view : change_views(*old_table, *table, *keyspace))
    draft.further_changes.push_back(
        change_of(Change::Kind::updated, Change::Target::table, keyspace_name, view));
  return draft.with(std::move(keyspace),
                    change_of(Change::Kind::updated, Change::Target::table, keyspace_name, name));
}

}  // namespace sibyl::plan
