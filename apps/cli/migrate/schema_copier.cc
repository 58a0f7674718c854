#include "cli/migrate/schema_copier.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "cli/migrate/definitions.h"
#include "types/print.h"

namespace sibyl::cli::migrate {
namespace {

constexpr auto build_poll = std::chrono::milliseconds(200);

// "column name" to "kind type", for comparing tables.
std::map<std::string, std::string> shape_of(const SourceTable& table) {
  std::map<std::string, std::string> shape;
  for (const SourceColumn& column : table.columns)
    shape[column.name] =
        fmt::format("{}{} {}", column.kind, column.is_key() ? column.position : 0, column.type);
  return shape;
}

}  // namespace

base::Result<bool> SchemaCopier::define(const std::string& statement) {
  const auto result = target_->query(statement);
  if (result) return true;
  if (!target_->is_connected()) return base::fail(result.error());
  refusal_ = result.error().message();
  return false;
}

base::Status SchemaCopier::copy_tables(std::vector<SourceKeyspace>& keyspaces) {
  for (SourceKeyspace& keyspace : keyspaces) {
    SIBYL_TRY(create_keyspace(keyspace));
    SIBYL_TRY(create_types(keyspace));
    SIBYL_TRY(create_functions(keyspace));
    SIBYL_TRY(create_tables(keyspace));
  }
  return {};
}

base::Status SchemaCopier::create_keyspace(const SourceKeyspace& keyspace) {
  SIBYL_ASSIGN(const bool made, define(migrate::create_keyspace(keyspace)));
  if (made) return {};
  const std::string why = refusal_;
  SIBYL_ASSIGN(const bool simpler, define(create_keyspace_with_one_copy(keyspace)));
  if (!simpler)
    return base::fail(base::ErrorCode::invalid,
                      fmt::format("The target refuses the keyspace {}: {}", keyspace.name, refusal_));
  report_.add_note(fmt::format("keyspace {} has one copy on the target: {}", keyspace.name, why));
  return {};
}

base::Status SchemaCopier::create_types(const SourceKeyspace& keyspace) {
  std::vector<const SchemaRow*> left;
  for (const SchemaRow& type : keyspace.types) left.push_back(&type);
  std::string why;
  for (size_t before = left.size() + 1; !left.empty() && left.size() < before;) {
    before = left.size();
    std::vector<const SchemaRow*> failed;
    for (const SchemaRow* type : left) {
      SIBYL_ASSIGN(const bool made, define(create_type(*type)));
      if (!made) failed.push_back(type);
      if (!made) why = refusal_;
    }
    left = std::move(failed);
  }
  for (const SchemaRow* type : left)
    report_.add_loss(fmt::format("type {}.{}", keyspace.name, type->text("type_name")), why);
  return {};
}

base::Status SchemaCopier::create_functions(const SourceKeyspace& keyspace) {
  for (const SchemaRow& function : keyspace.functions) {
    SIBYL_ASSIGN(const bool made, define(create_function(function)));
    if (!made)
      report_.add_loss("function " + signature(function, "function_name"),
                       fmt::format("written in {}: {}", function.text("language"), refusal_));
  }
  for (const SchemaRow& aggregate : keyspace.aggregates) {
    SIBYL_ASSIGN(const bool made, define(create_aggregate(aggregate)));
    if (!made) report_.add_loss("aggregate " + signature(aggregate, "aggregate_name"), refusal_);
  }
  return {};
}

base::Status SchemaCopier::create_tables(SourceKeyspace& keyspace) {
  std::vector<SourceTable> made_tables;
  for (SourceTable& table : keyspace.tables) {
    const std::string title = "table " + table.quoted_name();
    for (const std::string& trigger : table.triggers)
      report_.add_loss("trigger " + trigger + " of " + table.quoted_name(), "triggers are not copied");
    if (table.is_compact()) {
      report_.add_loss(
          title, "it has COMPACT STORAGE; run ALTER TABLE ... DROP COMPACT STORAGE on the source first");
      continue;
    }
    SIBYL_ASSIGN(bool made, define(create_table(table, TableOptions::all)));
    if (!made) {
      const std::string why = refusal_;
      SIBYL_ASSIGN(made, define(create_table(table, TableOptions::essential)));
      if (made) report_.add_note(fmt::format("{} has default options on the target: {}", title, why));
    }
    if (!made) {
      report_.add_loss(title, refusal_);
      continue;
    }
    SIBYL_TRY(check_columns(table));
    made_tables.push_back(std::move(table));
  }
  keyspace.tables = std::move(made_tables);
  return {};
}

// Compares the columns, because the table may have existed before.
base::Status SchemaCopier::check_columns(const SourceTable& table) {
  const types::ValueView values[] = {types::ValueView::of(table.keyspace), types::ValueView::of(table.name)};
  SIBYL_ASSIGN(
      const std::vector<SchemaRow> rows,
      read_rows(*target_, "SELECT * FROM system_schema.columns WHERE keyspace_name = ? AND table_name = ?",
                values));
  SourceTable other;
  for (const SchemaRow& row : rows) {
    SourceColumn& column = other.columns.emplace_back();
    column.name = row.text("column_name");
    column.kind = row.text("kind");
    column.type = row.text("type");
    column.position = static_cast<int>(row.integer("position"));
  }
  const auto source = shape_of(table), target = shape_of(other);
  if (source == target) return {};
  std::string differing;
  for (const auto& [name, shape] : source)
    if (!target.contains(name) || target.at(name) != shape)
      differing += (differing.empty() ? "" : ", ") + name;
  for (const auto& [name, shape] : target)
    if (!source.contains(name)) differing += (differing.empty() ? "" : ", ") + name;
  return base::fail(
      base::Error(base::ErrorCode::invalid, fmt::format("The target has a table {} with other columns ({})",
                                                        table.quoted_name(), differing))
          .with_hint("drop it there, or change it to match the source"));
}

base::Status SchemaCopier::copy_indexes_and_views(const std::vector<SourceKeyspace>& keyspaces) {
  for (const SourceKeyspace& keyspace : keyspaces) {
    for (const SourceTable& table : keyspace.tables) {
      for (const SchemaRow& index : table.indexes) {
        const std::string name = index.text("index_name");
        SIBYL_ASSIGN(const bool made, define(create_index(table, index)));
        if (made)
          indexes_.emplace_back(keyspace.name, name);
        else
          report_.add_loss(fmt::format("index {} on {}", name, table.quoted_name()), refusal_);
      }
    }
    SIBYL_TRY(create_views(keyspace));
  }
  return {};
}

base::Status SchemaCopier::create_views(const SourceKeyspace& keyspace) {
  for (const SourceTable& view : keyspace.views) {
    const std::string base = view.row.text("base_table_name");
    // If the table of a view was not chosen or not created, the view has no base.
    const bool has_base =
        std::ranges::find(keyspace.tables, base, &SourceTable::name) != keyspace.tables.end();
    const std::string title = "view " + view.quoted_name();
    if (!has_base) {
      report_.add_loss(title, fmt::format("its table {} was not copied", base));
      continue;
    }
    SIBYL_ASSIGN(bool made, define(create_view(view, TableOptions::all)));
    if (!made) {
      SIBYL_ASSIGN(made, define(create_view(view, TableOptions::essential)));
    }
    if (made)
      views_.emplace_back(keyspace.name, view.name);
    else
      report_.add_loss(title, refusal_);
  }
  return {};
}

base::Status SchemaCopier::wait_for_builds() {
  const auto is_listed = [&](const char* query,
                             const std::pair<std::string, std::string>& wanted) -> base::Result<bool> {
    const types::ValueView values[] = {types::ValueView::of(wanted.first),
                                       types::ValueView::of(wanted.second)};
    SIBYL_ASSIGN(const client::Result result, target_->query(query, values));
    return result.row_count() > 0;
  };
  const auto wait = [&](const char* query, const auto& names) -> base::Status {
    for (const auto& name : names) {
      while (true) {
        SIBYL_ASSIGN(const bool is_built, is_listed(query, name));
        if (is_built) break;
        std::this_thread::sleep_for(build_poll);
      }
    }
    return {};
  };
  // In "IndexInfo", the column table_name holds the keyspace.
  SIBYL_TRY(
      wait("SELECT index_name FROM system.\"IndexInfo\" WHERE table_name = ? AND index_name = ?", indexes_));
  return wait("SELECT view_name FROM system.built_views WHERE keyspace_name = ? AND view_name = ?", views_);
}

}  // namespace sibyl::cli::migrate
