#include "plan/statements/modify.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "plan/statements/attributes.h"
#include "plan/statements/masks.h"
#include "plan/statements/modify_operations.h"
#include "plan/statements/selection_terms.h"
#include "plan/terms/existing_column.h"

namespace sibyl::plan {

using base::ErrorCode;
using ModificationPtr = std::shared_ptr<const Modification>;

namespace {

// Builds one modification: the common part of INSERT, UPDATE and DELETE.
class ModificationBuilder {
 public:
  ModificationBuilder(Binder& binder, Modification::Kind kind)
      : binder_(binder), plan_(std::make_shared<Modification>()) {
    plan_->kind = kind;
  }

  base::Status open(const cql::QualifiedName& name, const cql::Attributes& attributes) {
    SIBYL_ASSIGN(plan_->table, binder_.table(name));
    const schema::Table& table = *plan_->table;
    SIBYL_ASSIGN(plan_->attributes, bind_attributes(attributes, binder_, table.keyspace, table.name));
    const schema::KeyspacePtr keyspace = binder_.schema().find_keyspace(table.keyspace);
    if (table.is_virtual || (keyspace && (keyspace->is_virtual || keyspace->is_system)))
      return base::invalid(
          fmt::format("Modification is not supported by table {}.{}", table.keyspace, table.name));
    plan_->reads_first = table.needs_index_maintenance();
    return {};
  }

  base::Status set_conditions(const std::vector<cql::Condition>& conditions, bool if_exists) {
    if (if_exists) set_existence(Conditions::Kind::exists);
    if (conditions.empty()) return {};
    if (plan_->attributes.timestamp) return refuse_timestamp();
    SIBYL_ASSIGN(plan_->conditions, bind_conditions(conditions, table(), binder_));
    return {};
  }
  void set_existence(Conditions::Kind kind) {
    auto conditions = std::make_unique<Conditions>();
    conditions->kind = kind;
    plan_->conditions = std::move(conditions);
  }
  bool is_conditional() const { return plan_->conditions != nullptr; }

  const schema::Table& table() const { return *plan_->table; }
  Modification& plan() { return *plan_; }

  void add(Operation operation) {
    plan_->reads_first = plan_->reads_first || operation.reads_first();
    (operation.column->is_static() ? plan_->static_operations : plan_->row_operations)
        .push_back(std::move(operation));
  }

  // True if the statement writes and checks static columns only.
  bool only_static() const {
    const bool asks_rows = plan_->conditions && !plan_->conditions->regular.empty();
    return plan_->row_operations.empty() && !plan_->static_operations.empty() && !asks_rows;
  }

  // Refuses clauses that cannot be combined with conditions.
  base::Status check_conditions() const {
    if (!plan_->conditions) return {};
    if (table().is_counter) return base::invalid("Conditional updates are not supported on counter tables");
    if (plan_->attributes.timestamp) return refuse_timestamp();
    if (plan_->kind != Modification::Kind::delete_ || plan_->names_rows) return {};
    if (plan_->deletes_rows() || !plan_->row_operations.empty()) {
      return base::invalid(
          "DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to "
          "delete non static columns");
    }
    if (!plan_->conditions->regular.empty()) {
      return base::invalid(
          "DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to use "
          "IF condition on non static columns");
    }
    return {};
  }

  // Binds the rows of UPDATE and DELETE.
  base::Status bind_where(const std::vector<cql::Relation>& where) {
    if (names_whole_key(where)) return bind_key_terms(where);
    const Purpose purpose = plan_->kind == Modification::Kind::delete_ ? Purpose::delete_ : Purpose::update;
    SIBYL_ASSIGN(plan_->where,
                 bind_restrictions(binder_, plan_->table, where, purpose, false, only_static()));
    // The last clustering columns of a compact table's row may be null.
    const bool may_name_prefix = table().is_compact() && plan_->kind == Modification::Kind::update;
    plan_->names_rows = !only_static() &&
                        (table().clustering_count == 0 || plan_->where->names_whole_row() || may_name_prefix);
    return {};
  }

  base::Result<std::shared_ptr<Modification>> finish() {
    SIBYL_TRY(check_conditions());
    const schema::Table& table = *plan_->table;
    plan_->is_counter = table.is_counter;
    const auto by_id = [](const Operation& left, const Operation& right) {
      return left.column->id < right.column->id;
    };
    std::stable_sort(plan_->static_operations.begin(), plan_->static_operations.end(), by_id);
    std::stable_sort(plan_->row_operations.begin(), plan_->row_operations.end(), by_id);
    if (table.has_masks && plan_->conditions) SIBYL_TRY(bind_masks());
    if (table.has_masks) plan_->revealed_masks = revealed_masks(*plan_);
    return std::move(plan_);
  }

 private:
  base::Status bind_masks() {
    for (const schema::Column& column : plan_->table->columns) {
      SIBYL_ASSIGN(TermPtr shown, apply_mask(binder_, column, std::make_shared<InputTerm>(column.type, 0)));
      plan_->masks.push_back(column.mask ? std::move(shown) : nullptr);
    }
    return {};
  }

  static std::unexpected<base::Error> refuse_timestamp() {
    return base::invalid("Cannot provide custom timestamp for conditional updates");
  }

  // True if `=` gives every partition key column exactly once, and all or none of the clustering columns, as
  // the operations require.
  bool names_whole_key(const std::vector<cql::Relation>& where) const {
    std::set<std::string> seen;
    size_t partition = 0, clustering = 0;
    for (const cql::Relation& relation : where) {
      if (relation.target != cql::Relation::Target::column || relation.op != cql::Operator::equal ||
          !relation.value || relation.columns.size() != 1)
        return false;
      const schema::Column* column = table().find(relation.columns[0]);
      if (!column || !column->is_primary_key() || !seen.insert(column->name).second) return false;
      ++(column->is_partition_key() ? partition : clustering);
    }
    if (partition != table().partition_key_count) return false;
    if (only_static()) return clustering == 0;
    if (clustering == table().clustering_count) return true;
    return clustering == 0 && plan_->deletes_rows();
  }

  base::Status bind_key_terms(const std::vector<cql::Relation>& where) {
    plan_->partition_key.resize(table().partition_key_count);
    const bool names_rows =
        where.size() == table().partition_key_count + table().clustering_count && !only_static();
    if (names_rows) plan_->clustering.resize(table().clustering_count);
    for (const cql::Relation& relation : where) {
      const schema::Column& column = *table().find(relation.columns[0]);
      SIBYL_ASSIGN(TermPtr term, binder_.term(*relation.value, spec_of(table(), column)));
      const auto position = static_cast<size_t>(column.position);
      (column.is_partition_key() ? plan_->partition_key : plan_->clustering)[position] = std::move(term);
    }
    plan_->names_rows = names_rows;
    return {};
  }

  Binder& binder_;
  std::shared_ptr<Modification> plan_;
};

std::string join(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

// The last clustering columns of a compact table's row may be null.
base::Status bind_clustering_prefix(const schema::Table& table, std::vector<TermPtr>& terms) {
  const auto first_missing = std::find(terms.begin(), terms.end(), nullptr);
  const auto given =
      std::find_if(first_missing, terms.end(), [](const TermPtr& term) { return term != nullptr; });
  if (given != terms.end())
    return base::invalid(fmt::format(
        "PRIMARY KEY column \"{}\" cannot be restricted as preceding column \"{}\" is not restricted",
        table.clustering(static_cast<size_t>(given - terms.begin())).name,
        table.clustering(static_cast<size_t>(first_missing - terms.begin())).name));
  terms.erase(first_missing, terms.end());
  return {};
}

// Binds the key columns of an INSERT.
base::Status bind_insert_keys(const cql::Insert& insert, ModificationBuilder& builder, Binder& binder) {
  const schema::Table& table = builder.table();
  Modification& plan = builder.plan();
  plan.partition_key.resize(table.partition_key_count);
  plan.clustering.resize(table.clustering_count);
  bool sets_clustering = false;
  for (size_t i = 0; i < insert.columns.size(); ++i) {
    const schema::Column& column = *table.find(insert.columns[i]);
    if (!column.is_primary_key()) continue;
    SIBYL_ASSIGN(TermPtr term, binder.term(*insert.values[i], spec_of(table, column)));
    const auto position = static_cast<size_t>(column.position);
    (column.is_partition_key() ? plan.partition_key : plan.clustering)[position] = std::move(term);
    sets_clustering = sets_clustering || column.is_clustering();
  }
  const auto missing = [&](const std::vector<TermPtr>& terms, size_t first) {
    std::vector<std::string> names;
    for (size_t i = 0; i < terms.size(); ++i)
      if (!terms[i]) names.push_back(table.columns[first + i].name);
    return names;
  };
  if (auto names = missing(plan.partition_key, 0); !names.empty())
    return base::invalid("Some partition key parts are missing: " + join(names));
  if (!sets_clustering && builder.only_static()) {
    plan.clustering.clear();
    plan.names_rows = false;
    return {};
  }
  if (sets_clustering && table.is_compact()) return bind_clustering_prefix(table, plan.clustering);
  if (auto names = missing(plan.clustering, table.partition_key_count); !names.empty())
    return base::invalid("Some clustering keys are missing: " + join(names));
  return {};
}

base::Result<std::shared_ptr<Modification>> bind_insert_json(const cql::Insert& insert,
                                                             ModificationBuilder& builder, Binder& binder) {
  const schema::Table& table = builder.table();
  const ColumnSpec receiver{table.keyspace, table.name, "[json]", types::scalar(types::Kind::text)};
  auto json = std::make_unique<JsonValues>();
  SIBYL_ASSIGN(json->text, binder.term(*insert.json, receiver));
  json->default_unset = insert.default_unset;
  // Cassandra writes all columns, and then fails to find the hidden ones.
  if (table.compact == schema::Compact::static_)
    return base::fail(
        base::Error(ErrorCode::invalid, fmt::format("Undefined column name {} in table {}.{}",
                                                    table.clustering(0).name, table.keyspace, table.name))
            .with_hint("INSERT JSON does not work with this COMPACT STORAGE table: use INSERT with VALUES"));
  builder.plan().json = std::move(json);
  return builder.finish();
}

base::Result<std::shared_ptr<Modification>> bind(const cql::Insert& insert, Binder& binder) {
  ModificationBuilder builder(binder, Modification::Kind::insert);
  SIBYL_TRY(builder.open(insert.table, insert.attributes));
  const schema::Table& table = builder.table();
  if (insert.if_not_exists) builder.set_existence(Conditions::Kind::not_exists);
  if (table.is_counter)
    return base::invalid("INSERT statements are not allowed on counter tables, use UPDATE instead");
  if (insert.json) return bind_insert_json(insert, builder, binder);
  if (insert.columns.size() != insert.values.size()) return base::invalid("Unmatched column names/values");
  std::set<std::string_view> seen;
  for (const std::string& name : insert.columns)
    if (!seen.insert(name).second) return base::invalid("The column names contains duplicates");
  for (size_t i = 0; i < insert.columns.size(); ++i) {
    SIBYL_ASSIGN(const schema::Column* column, existing_column(table, insert.columns[i]));
    if (column->is_primary_key()) continue;
    SIBYL_ASSIGN(Operation operation, bind_set(*insert.values[i], table, *column, binder));
    builder.add(std::move(operation));
  }
  SIBYL_TRY(bind_insert_keys(insert, builder, binder));
  return builder.finish();
}

base::Result<std::shared_ptr<Modification>> bind(const cql::Update& update, Binder& binder) {
  SIBYL_TRY(check_compatible(update.assignments));
  ModificationBuilder builder(binder, Modification::Kind::update);
  SIBYL_TRY(builder.open(update.table, update.attributes));
  SIBYL_TRY(builder.set_conditions(update.conditions, update.if_exists));
  const schema::Table& table = builder.table();
  for (const cql::Assignment& assignment : update.assignments) {
    SIBYL_ASSIGN(const schema::Column* column, existing_column(table, assignment.column));
    if (column->is_primary_key())
      return base::invalid(fmt::format("PRIMARY KEY part {} found in SET part", column->name));
    SIBYL_ASSIGN(Operation operation,
                 bind_assignment(assignment, table, *column, binder, builder.is_conditional()));
    builder.add(std::move(operation));
  }
  SIBYL_TRY(builder.bind_where(update.where));
  return builder.finish();
}

base::Result<std::shared_ptr<Modification>> bind(const cql::Delete& statement, Binder& binder) {
  ModificationBuilder builder(binder, Modification::Kind::delete_);
  SIBYL_TRY(builder.open(statement.table, statement.attributes));
  SIBYL_TRY(builder.set_conditions(statement.conditions, statement.if_exists));
  const schema::Table& table = builder.table();
  for (const cql::DeleteTarget& target : statement.targets) {
    SIBYL_ASSIGN(const schema::Column* column, existing_column(table, target.column));
    if (column->is_primary_key()) {
      return base::invalid(
          fmt::format("Invalid identifier {} for deletion (should not be a PRIMARY KEY part)", column->name));
    }
    SIBYL_ASSIGN(Operation operation, bind_removal(target, table, *column, binder));
    builder.add(std::move(operation));
  }
  SIBYL_TRY(builder.bind_where(statement.where));
  SIBYL_TRY(builder.check_conditions());
  return builder.finish();
}

std::vector<uint16_t> partition_key_markers(const Modification& plan) {
  if (plan.where) return plan.where->partition_key_markers();
  std::vector<uint16_t> markers;
  for (const TermPtr& term : plan.partition_key) {
    if (!term || term->marker_index() < 0) return {};
    markers.push_back(static_cast<uint16_t>(term->marker_index()));
  }
  return markers;
}

// Checks what can be checked only after everything is bound, including all statements of a batch.
base::Status check_bound(const Modification& plan) {
  if (plan.is_counter && plan.attributes.timestamp)
    return base::invalid("Cannot provide custom timestamp for counter updates");
  if (plan.is_counter && plan.attributes.time_to_live)
    return base::invalid("Cannot provide custom TTL for counter updates");
  if (plan.table->is_view()) return base::invalid("Cannot directly modify a materialized view");
  return {};
}

template <typename Statement>
base::Status prepare(const Statement& statement, Binder& binder, Prepared& prepared) {
  SIBYL_ASSIGN(std::shared_ptr<Modification> plan, bind(statement, binder));
  SIBYL_TRY(check_bound(*plan));
  if (plan->conditions)
    plan->conditional = std::make_unique<ConditionalResult>(conditional_result({plan}, false));
  prepared.tables = {plan->table};
  prepared.partition_key_markers = partition_key_markers(*plan);
  prepared.plan = ModificationPtr(std::move(plan));
  return {};
}

}  // namespace

base::Status prepare_modification(const cql::Insert& insert, Binder& binder, Prepared& prepared) {
  return prepare(insert, binder, prepared);
}
base::Status prepare_modification(const cql::Update& update, Binder& binder, Prepared& prepared) {
  return prepare(update, binder, prepared);
}
base::Status prepare_modification(const cql::Delete& statement, Binder& binder, Prepared& prepared) {
  return prepare(statement, binder, prepared);
}

base::Status prepare_batch(const cql::Batch& batch, Binder& binder, Prepared& prepared) {
  auto plan = std::make_shared<Batch>();
  plan->kind = batch.kind;
  SIBYL_ASSIGN(Attributes attributes, bind_attributes(batch.attributes, binder, "[batch]", "[batch]"));
  for (const cql::Modification& statement : batch.statements) {
    SIBYL_ASSIGN(ModificationPtr bound,
                 std::visit([&](const auto& node) { return bind(node, binder); }, statement));
    plan->statements.push_back(std::move(bound));
  }
  if (attributes.time_to_live) return base::invalid("Global TTL on the BATCH statement is not supported.");
  plan->timestamp = std::move(attributes.timestamp);
  SIBYL_TRY(check_batch(plan->kind, plan->timestamp != nullptr, plan->statements));
  for (const ModificationPtr& statement : plan->statements) SIBYL_TRY(check_bound(*statement));
  if (has_conditions(plan->statements))
    plan->conditional = std::make_unique<ConditionalResult>(conditional_result(plan->statements, true));

  std::set<schema::TablePtr> tables;
  for (const ModificationPtr& statement : plan->statements) tables.insert(statement->table);
  prepared.tables.assign(tables.begin(), tables.end());
  if (tables.size() == 1) {
    for (const ModificationPtr& statement : plan->statements)
      if (auto markers = partition_key_markers(*statement); !markers.empty())
        prepared.partition_key_markers = std::move(markers);
  }
  prepared.plan = std::shared_ptr<const Batch>(std::move(plan));
  return {};
}

bool has_conditions(const std::vector<ModificationPtr>& statements) {
  const auto is_conditional = [](const ModificationPtr& statement) {
    return statement->conditions != nullptr;
  };
  return std::any_of(statements.begin(), statements.end(), is_conditional);
}

base::Status check_batch(cql::Batch::Kind kind, bool has_timestamp,
                         const std::vector<std::shared_ptr<const Modification>>& statements) {
  const bool is_counter = kind == cql::Batch::Kind::counter;
  const bool is_conditional = has_conditions(statements);
  if (has_timestamp && is_conditional)
    return base::invalid("Cannot provide custom timestamp for conditional BATCH");
  if (has_timestamp && is_counter) return base::invalid("Cannot provide custom timestamp for counter BATCH");
  bool has_counters = false, has_others = false;
  for (const ModificationPtr& statement : statements) {
    if (has_timestamp && statement->attributes.timestamp)
      return base::invalid("Timestamp must be set either on BATCH or individual statements");
    (statement->is_counter ? has_counters : has_others) = true;
  }
  if (has_timestamp && has_counters)
    return base::invalid("Cannot provide custom timestamp for a BATCH containing counters");
  if (is_counter && has_others)
    return base::invalid("Cannot include non-counter statement in a counter batch");
  if (has_counters && has_others)
    return base::invalid("Counter and non-counter mutations cannot exist in the same batch");
  if (kind == cql::Batch::Kind::logged && has_counters)
    return base::invalid("Cannot include a counter statement in a logged batch");
  const auto is_other_table = [&](const ModificationPtr& statement) {
    const schema::Table &one = *statement->table, &first = *statements.front()->table;
    return one.keyspace != first.keyspace || one.name != first.name;
  };
  if (is_conditional && std::any_of(statements.begin(), statements.end(), is_other_table))
    return base::invalid("Batch with conditions cannot span multiple tables");
  return {};
}

}  // namespace sibyl::plan
