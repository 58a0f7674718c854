// CREATE, ALTER and DROP MATERIALIZED VIEW.
#include "plan/definitions/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/check.h"
#include "cql/parser.h"
#include "cql/printer.h"
#include "plan/definitions/draft.h"
#include "plan/definitions/tables.h"
#include "plan/evaluation/view_filter.h"
#include "plan/options/options.h"
#include "plan/restrictions/restrictions.h"
#include "plan/terms/existing_column.h"
#include "plan/terms/written_types.h"
#include "types/uuid.h"

namespace sibyl::plan {

using base::ErrorCode;
using schema::Change;
using schema::ColumnKind;

namespace {

constexpr const char* experimental =
    "Materialized views are experimental and are not recommended for production use.";

std::string join(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Builds a new view over `base`, with checks in Cassandra's order.
class ViewBuilder {
 public:
  ViewBuilder(const cql::CreateView& statement, const schema::Snapshot& schema, const schema::TablePtr& base,
              schema::Table& view)
      : statement_(statement), schema_(schema), base_(base), view_(view), name_(statement.view.name) {
    keys_ = statement.partition_key;
    keys_.insert(keys_.end(), statement.clustering_columns.begin(), statement.clustering_columns.end());
  }

  base::Status build() {
    SIBYL_TRY(check_base());
    SIBYL_TRY(read_selection());
    for (size_t i = 0; i < keys_.size(); ++i) SIBYL_TRY(check_key(i));
    SIBYL_TRY(check_clustering_order());
    SIBYL_TRY(check_key_columns());
    SIBYL_TRY(check_where());
    add_columns();
    return {};
  }

 private:
  base::Status check_base() const {
    if (base_->is_counter) return base::invalid("Materialized views are not supported on counter tables");
    if (base_->options.gc_grace_seconds == 0) {
      return base::invalid(fmt::format(
          "Cannot create materialized view '{}' for base table '{}' with gc_grace_seconds of 0, since this "
          "value is used to TTL undelivered updates. Setting gc_grace_seconds too low might cause "
          "undelivered updates to expire before being replayed.",
          name_, base_->name));
    }
    return {};
  }

  base::Status read_selection() {
    for (const cql::Selector& selector : statement_.select->selectors) {
      const std::string text = cql::print(*selector.expression);
      if (!selector.alias.empty())
        return base::invalid(
            fmt::format("Cannot use aliases when defining a materialized view (got {} AS {})", text,
                        cql::print_name(selector.alias)));
      const auto* column = std::get_if<cql::ColumnReference>(&selector.expression->node);
      if (column == nullptr)
        return base::invalid(
            fmt::format("Can only select columns by name when defining a materialized view (got {})", text));
      SIBYL_TRY(existing_column(*base_, column->name));
      selected_.insert(column->name);
    }
    for (const schema::Column& column : base_->columns) {
      if (statement_.select->selectors.empty() && !column.is_hidden) selected_.insert(column.name);
      if (column.is_static() && selected_.contains(column.name))
        return base::invalid(
            fmt::format("Cannot include static column '{}' in materialized view '{}'", column.name, name_));
    }
    return {};
  }

  base::Status check_key(size_t i) const {
    const std::string& name = keys_[i];
    const schema::Column* column = base_->find(name);
    if (column == nullptr || !selected_.contains(name))
      return base::invalid(fmt::format(
          "Unknown column '{}' referenced in PRIMARY KEY for materialized view '{}'", name, name_));
    if (std::find(keys_.begin(), keys_.begin() + static_cast<ptrdiff_t>(i), name) !=
        keys_.begin() + static_cast<ptrdiff_t>(i))
      return base::invalid(
          fmt::format("Duplicate column '{}' in PRIMARY KEY clause for materialized view '{}'", name, name_));
    const types::Type& type = *column->type;
    if (type.is_multi_cell())
      return base::invalid(fmt::format("Invalid non-frozen {} type '{}' for PRIMARY KEY column '{}'",
                                       type.is_collection() ? "collection" : "user-defined",
                                       type.class_name(), name));
    if (type.references(types::Kind::duration))
      return base::invalid(fmt::format("duration type is not supported for PRIMARY KEY column '{}'", name));
    return {};
  }

  base::Status check_clustering_order() const {
    std::vector<std::string> ordered;
    for (const cql::ClusteringOrder& order : statement_.clustering_order) ordered.push_back(order.column);
    if (!ordered.empty() && ordered != statement_.clustering_columns)
      return base::invalid(
          "Clustering key columns must exactly match columns in CLUSTERING ORDER BY directive");
    return {};
  }

  base::Status check_key_columns() const {
    std::vector<std::string> missing, others;
    for (const schema::Column& column : base_->columns)
      if (column.is_primary_key() && !is_among(keys_, column.name)) missing.push_back(column.name);
    if (!missing.empty())
      return base::invalid(fmt::format(
          "Cannot create materialized view '{}' without primary key columns {} from base table '{}'", name_,
          join(missing), base_->name));
    for (const std::string& name : keys_)
      if (!base_->find(name)->is_primary_key()) others.push_back(name);
    if (others.size() > 1)
      return base::invalid(fmt::format(
          "Cannot include more than one non-primary key column in materialized view primary key (got {})",
          join(others)));
    return {};
  }

  base::Status check_where() const {
    std::set<std::string> restricted;
    std::vector<std::string> illegal;
    bool has_token = false, has_custom = false;
    for (const cql::Relation& relation : statement_.select->where) {
      has_token = has_token || relation.target == cql::Relation::Target::token;
      has_custom = has_custom || relation.target == cql::Relation::Target::custom;
    }
    if (has_token) return base::invalid("Cannot use token relation when defining a materialized view");
    if (has_custom)
      return base::invalid(fmt::format(
          "WHERE clause for materialized view '{}' cannot contain custom index expressions", name_));
    for (const cql::Relation& relation : statement_.select->where) {
      for (const std::string& name : relation.columns) {
        SIBYL_ASSIGN(const schema::Column* column, existing_column(*base_, name));
        restricted.insert(name);
        if (relation.op != cql::Operator::is_not_null && !column->is_primary_key() &&
            !is_among(illegal, name))
          illegal.push_back(name);
      }
    }
    SIBYL_TRY(bind_where());
    std::vector<std::string> missing;
    for (const std::string& name : keys_)
      if (!restricted.contains(name)) missing.push_back(name);
    if (!missing.empty())
      return base::invalid(fmt::format(
          "Primary key columns {} must be restricted with 'IS NOT NULL' or otherwise", join(missing)));
    if (!illegal.empty())
      return base::invalid(fmt::format(
          "Non-primary key columns can only be restricted with 'IS NOT NULL' (got: {} restricted illegally)",
          fmt::join(illegal, ",")));
    return {};
  }

  // Returns the error that a SELECT with these relations would have.
  base::Status bind_where() const {
    const std::unique_ptr<cql::Statement> select = parse_where(cql::print(statement_.select->where));
    auto& relations = std::get<cql::Select>(select->node).where;
    std::erase_if(relations,
                  [](const cql::Relation& relation) { return relation.op == cql::Operator::is_not_null; });
    if (relations.empty()) return {};
    Binder binder(schema_, base_->keyspace, 0);
    SIBYL_ASSIGN(const RestrictionsPtr where,
                 bind_restrictions(binder, base_, relations, Purpose::select, true, false));
    if (where->has_partition_in() && filters_clustering(relations))
      return base::invalid(
          "Select on indexed columns and with IN clause for the PRIMARY KEY are not supported");
    return {};
  }

  static std::unique_ptr<cql::Statement> parse_where(const std::string& clause) {
    auto parsed = cql::parse_statement("SELECT * FROM v" + (clause.empty() ? "" : " WHERE " + clause));
    SIBYL_CHECK(parsed.has_value());
    return std::move(*parsed);
  }

  // True if the restricted clustering columns are not a prefix that ends with at most one range.
  bool filters_clustering(const std::vector<cql::Relation>& relations) const {
    bool ended = false;
    for (size_t i = 0; i < base_->clustering_count; ++i) {
      const auto restriction = std::find_if(relations.begin(), relations.end(), [&](const auto& relation) {
        return is_among(relation.columns, base_->clustering(i).name);
      });
      if (restriction == relations.end()) {
        ended = true;
        continue;
      }
      if (ended) return true;
      ended = restriction->op != cql::Operator::equal && restriction->op != cql::Operator::in &&
              base_->clustering(i).name == restriction->columns.back();
    }
    return false;
  }

  void add_columns() {
    const size_t parts = statement_.partition_key.size();
    for (size_t i = 0; i < keys_.size(); ++i) {
      schema::Column column = *base_->find(keys_[i]);
      column.kind = i < parts ? ColumnKind::partition_key : ColumnKind::clustering;
      if (i >= parts && !statement_.clustering_order.empty())
        column.descending = statement_.clustering_order[i - parts].descending;
      if (i < parts) column.descending = false;
      view_.columns.push_back(std::move(column));
    }
    for (const schema::Column& column : base_->columns)
      if (selected_.contains(column.name) && !is_among(keys_, column.name)) view_.columns.push_back(column);
    view_.finish();
  }

  const cql::CreateView& statement_;
  const schema::Snapshot& schema_;
  const schema::TablePtr& base_;
  schema::Table& view_;
  const std::string& name_;
  std::vector<std::string> keys_;
  std::set<std::string> selected_;
};

base::Status check_written(const cql::CreateView& statement, const std::string& keyspace) {
  std::set<std::string> ordered;
  for (const cql::ClusteringOrder& order : statement.clustering_order)
    if (!ordered.insert(order.column).second)
      return base::invalid(fmt::format("Duplicate column '{}' in CLUSTERING ORDER BY clause for view '{}'",
                                       order.column, statement.view.name));
  const std::string& base = statement.select->table.keyspace;
  if (!base.empty() && base != keyspace)
    return base::invalid("Cannot create a materialized view on a table in a different keyspace");
  return {};
}

base::Status read_options(const cql::CreateView& statement, schema::Table& view) {
  SIBYL_ASSIGN(const PropertySet properties, PropertySet::of(statement.properties));
  SIBYL_TRY(read_table_options(properties, true, view.options));
  if (view.options.default_time_to_live != 0)
    return base::invalid(
        "Cannot set default_time_to_live for a materialized view. Data in a materialized view always expire "
        "at the same time than the corresponding data in the parent table.");
  SIBYL_TRY(check_table_options(properties, view.options));
  SIBYL_ASSIGN(std::optional<base::Bytes> id, read_table_id(properties));
  if (id) view.id = std::move(*id);
  return {};
}

// A system keyspace cannot have views. Cassandra's text differs from the one for tables.
base::Status check_may_change_view(const Draft& draft, const std::string& keyspace) {
  return draft.check_may_change(keyspace, "CREATE", fmt::format("<keyspace {}>", keyspace));
}

std::unexpected<base::Error> no_such_view(const std::string& keyspace, const std::string& name) {
  return base::invalid(fmt::format("Materialized view '{}.{}' doesn't exist", keyspace, name));
}

schema::TablePtr find_view(const schema::KeyspacePtr& keyspace, const std::string& name) {
  if (!keyspace) return nullptr;
  auto found = keyspace->views.find(name);
  return found == keyspace->views.end() ? nullptr : found->second;
}

std::string rename_columns(const std::string& clause,
                           const std::vector<std::pair<std::string, std::string>>& names) {
  auto parsed = cql::parse_statement("SELECT * FROM v WHERE " + clause);
  SIBYL_CHECK(parsed.has_value());
  auto& relations = std::get<cql::Select>((*parsed)->node).where;
  for (cql::Relation& relation : relations)
    for (std::string& column : relation.columns)
      for (const auto& [from, to] : names)
        if (column == from) {
          column = to;
          break;
        }
  return cql::print(relations);
}

}  // namespace

base::Result<DefinitionResult> define_view(const cql::CreateView& statement, Draft& draft) {
  SIBYL_ASSIGN(const std::string keyspace_name, draft.keyspace_name(statement.view));
  const std::string& name = statement.view.name;
  const std::string& base_name = statement.select->table.name;
  SIBYL_TRY(check_written(statement, keyspace_name));
  if (!draft.context().guardrails->materialized_views_enabled)
    return base::invalid("Materialized views are disabled. Enable in cassandra.yaml to use.");
  SIBYL_TRY(
      draft.check_may_change(keyspace_name, "ALTER", fmt::format("<table {}.{}>", keyspace_name, base_name)));
  schema::KeyspacePtr old = draft.schema().find_keyspace(keyspace_name);
  if (!old) return base::invalid(fmt::format("Keyspace '{}' doesn't exist", keyspace_name));
  const auto base = old->tables.find(base_name);
  if (base == old->tables.end())
    return base::invalid(fmt::format("Base table '{}' doesn't exist", base_name));
  if (old->tables.contains(name))
    return base::invalid(fmt::format(
        "Cannot create materialized view '{}' - a table with the same name already exists", name));
  draft.warnings.emplace_back(experimental);
  if (old->views.contains(name)) {
    if (statement.if_not_exists) return draft.unchanged();
    return base::fail(table_already_exists(keyspace_name, name));
  }
  auto view = std::make_shared<schema::Table>();
  view->keyspace = keyspace_name;
  view->name = name;
  SIBYL_TRY(ViewBuilder(statement, draft.schema(), base->second, *view).build());
  SIBYL_TRY(read_options(statement, *view));
  SIBYL_TRY(check_table_name(keyspace_name, name));
  auto definition = std::make_shared<schema::ViewDefinition>();
  definition->base_table = base_name;
  definition->base_id = base->second->id;
  definition->include_all_columns = statement.select->selectors.empty();
  SIBYL_ASSIGN(definition->where_clause, view_clause(statement.select->where, draft.schema(), *base->second,
                                                     draft.context().now_micros));
  view->view = std::move(definition);
  if (view->id.empty()) view->id = types::next_time_uuid(draft.context().now_micros);
  view->storage_id = draft.new_storage_id();
  SIBYL_TRY(bind_view_filter(*view->view, *base->second));

  auto keyspace = draft.change(*old);
  keyspace->put_view(std::move(view));
  return draft.with(std::move(keyspace),
                    change_of(Change::Kind::created, Change::Target::table, keyspace_name, name));
}

base::Result<DefinitionResult> define_view(const cql::AlterView& statement, Draft& draft) {
  SIBYL_ASSIGN(const std::string keyspace_name, draft.keyspace_name(statement.view));
  const std::string& name = statement.view.name;
  SIBYL_TRY(check_may_change_view(draft, keyspace_name));
  schema::KeyspacePtr old = draft.schema().find_keyspace(keyspace_name);
  const schema::TablePtr old_view = find_view(old, name);
  if (!old_view) {
    if (statement.if_exists) return draft.unchanged();
    return no_such_view(keyspace_name, name);
  }
  auto view = std::make_shared<schema::Table>(*old_view);
  SIBYL_ASSIGN(const PropertySet properties, PropertySet::of(statement.properties));
  SIBYL_TRY(read_table_options(properties, false, view->options));
  SIBYL_TRY(check_table_options(properties, view->options));
  SIBYL_ASSIGN(const std::optional<base::Bytes> id, read_table_id(properties));
  if (id) return base::fail(ErrorCode::config, "Cannot alter table id.");
  if (view->options.gc_grace_seconds == 0)
    return base::invalid(
        "Cannot alter gc_grace_seconds of a materialized view to 0, since this value is used to TTL "
        "undelivered updates. Setting gc_grace_seconds too low might cause undelivered updates to expire "
        "before being replayed.");
  if (view->options.default_time_to_live > 0)
    return base::invalid(
        "Forbidden default_time_to_live detected for a materialized view. Data in a materialized view always "
        "expire at the same time than the corresponding data in the parent table. default_time_to_live must "
        "be set to zero, see CASSANDRA-12868 for more information");
  if (view->options == old_view->options) return draft.unchanged();
  auto keyspace = draft.change(*old);
  keyspace->put_view(std::move(view));
  return draft.with(std::move(keyspace),
                    change_of(Change::Kind::updated, Change::Target::table, keyspace_name, name));
}

base::Result<DefinitionResult> define_view(const cql::DropView& statement, Draft& draft) {
  SIBYL_ASSIGN(const std::string keyspace_name, draft.keyspace_name(statement.view));
  const std::string& name = statement.view.name;
  SIBYL_TRY(check_may_change_view(draft, keyspace_name));
  schema::KeyspacePtr old = draft.schema().find_keyspace(keyspace_name);
  const schema::TablePtr view = find_view(old, name);
  if (!view) {
    if (statement.if_exists) return draft.unchanged();
    return no_such_view(keyspace_name, name);
  }
  draft.dropped_storage_ids.push_back(view->storage_id);
  auto keyspace = draft.change(*old);
  keyspace->erase_view(name);
  return draft.with(std::move(keyspace),
                    change_of(Change::Kind::dropped, Change::Target::table, keyspace_name, name));
}

std::vector<std::string> change_views(const schema::Table& before, const schema::Table& after,
                                      schema::Keyspace& keyspace) {
  std::vector<std::string> names;
  std::vector<std::pair<std::string, std::string>> renamed;
  for (const schema::Column& column : before.columns)
    if (const schema::Column* now = after.find_by_id(column.id); now && now->name != column.name)
      renamed.emplace_back(column.name, now->name);
  // Iterates over a copy, because put_view() replaces the base table.
  for (const schema::TablePtr& old : std::vector<schema::TablePtr>(after.views)) {
    auto view = std::make_shared<schema::Table>(*old);
    bool changed = false;
    for (schema::Column& column : view->columns) {
      const schema::Column* source = after.find_by_id(column.id);
      if (!source || (source->name == column.name && source->mask == column.mask)) continue;
      column.name = source->name;
      column.mask = source->mask;
      changed = true;
    }
    if (old->view->include_all_columns) {
      for (const schema::Column& column : after.columns) {
        if (!column.is_regular() || before.find_by_id(column.id)) continue;
        view->columns.push_back(column);
        changed = true;
      }
    }
    if (!changed) continue;
    if (!renamed.empty()) {
      auto definition = std::make_shared<schema::ViewDefinition>(*old->view);
      definition->where_clause = rename_columns(definition->where_clause, renamed);
      view->view = std::move(definition);
    }
    view->finish();
    names.push_back(view->name);
    keyspace.put_view(std::move(view));
  }
  return names;
}

}  // namespace sibyl::plan
