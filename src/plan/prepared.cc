#include "plan/prepared.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/explain/explain.h"
#include "plan/guardrails_check.h"
#include "plan/naming_hints.h"
#include "plan/statements/modify.h"
#include "plan/statements/select.h"
#include "plan/terms/term.h"
#include "plan/terms/user_functions.h"
#include "types/keys/murmur3.h"

namespace sibyl::plan {

using base::invalid;

namespace {

struct Planner {
  const std::shared_ptr<const cql::Statement>& statement;
  Binder& binder;
  Prepared& prepared;

  base::Status operator()(const cql::Select& select) const {
    return prepare_select(select, binder, prepared);
  }
  base::Status operator()(const cql::Insert& insert) const {
    return prepare_modification(insert, binder, prepared);
  }
  base::Status operator()(const cql::Update& update) const {
    return prepare_modification(update, binder, prepared);
  }
  base::Status operator()(const cql::Delete& statement) const {
    return prepare_modification(statement, binder, prepared);
  }
  base::Status operator()(const cql::Batch& batch) const { return prepare_batch(batch, binder, prepared); }

  base::Status operator()(const cql::Use& use) const {
    if (binder.schema().find_keyspace(use.keyspace) == nullptr)
      return invalid(fmt::format("Keyspace '{}' does not exist", use.keyspace));
    prepared.plan = Use{use.keyspace};
    return {};
  }
  base::Status operator()(const cql::Truncate& truncate) const {
    SIBYL_ASSIGN(schema::TablePtr table, binder.table(truncate.table));
    const schema::KeyspacePtr keyspace = binder.schema().find_keyspace(table->keyspace);
    if (table->is_virtual || (keyspace && (keyspace->is_virtual || keyspace->is_system)))
      return invalid(fmt::format("Truncation is not supported by table {}.{}", table->keyspace, table->name));
    if (table->is_view())
      return invalid("Cannot TRUNCATE materialized view directly; must truncate base table instead");
    prepared.tables = {table};
    prepared.plan = Truncate{std::move(table)};
    return {};
  }
  base::Status operator()(const cql::Describe&) const {
    prepared.plan = Describe{statement};
    return {};
  }

  base::Status operator()(const cql::CreateKeyspace&) const { return definition(); }
  base::Status operator()(const cql::AlterKeyspace&) const { return definition(); }
  base::Status operator()(const cql::DropKeyspace&) const { return definition(); }
  base::Status operator()(const cql::CreateTable&) const { return definition(); }
  base::Status operator()(const cql::AlterTable&) const { return definition(); }
  base::Status operator()(const cql::DropTable&) const { return definition(); }
  base::Status operator()(const cql::CreateType&) const { return definition(); }
  base::Status operator()(const cql::AlterType&) const { return definition(); }
  base::Status operator()(const cql::DropType&) const { return definition(); }

  base::Status operator()(const cql::CreateIndex&) const { return definition(); }
  base::Status operator()(const cql::DropIndex&) const { return definition(); }

  base::Status operator()(const cql::CreateView&) const {
    if (statement->bind_markers > 0)
      return invalid("Bind variables are not allowed in CREATE MATERIALIZED VIEW statements");
    return definition();
  }
  base::Status operator()(const cql::AlterView&) const { return definition(); }
  base::Status operator()(const cql::DropView&) const { return definition(); }
  base::Status operator()(const cql::CreateFunction&) const { return definition(); }
  base::Status operator()(const cql::DropFunction&) const { return definition(); }
  base::Status operator()(const cql::CreateAggregate&) const { return definition(); }
  base::Status operator()(const cql::DropAggregate&) const { return definition(); }
  base::Status operator()(const cql::CreateTrigger&) const { return definition(); }
  base::Status operator()(const cql::DropTrigger&) const { return definition(); }
  base::Status operator()(const cql::CreateRole&) const { return role_statement(); }
  base::Status operator()(const cql::AlterRole&) const { return role_statement(); }
  base::Status operator()(const cql::DropRole&) const { return role_statement(); }
  base::Status operator()(const cql::GrantRole&) const { return role_statement(); }
  base::Status operator()(const cql::ListRoles&) const { return role_statement(); }
  base::Status operator()(const cql::GrantPermission&) const { return role_statement(); }
  base::Status operator()(const cql::ListPermissions&) const { return role_statement(); }
  base::Status operator()(const cql::AddIdentity&) const { return role_statement(); }
  base::Status operator()(const cql::DropIdentity&) const { return role_statement(); }
  base::Status operator()(const cql::Explain& explain) const {
    if (std::holds_alternative<cql::Explain>(explain.statement->node))
      return invalid("EXPLAIN cannot be explained");
    // EXPLAIN takes no values, so the markers of the inner statement are reported but not bound.
    auto explained = std::make_shared<Prepared>();
    // Shares ownership with the EXPLAIN statement that contains it.
    const std::shared_ptr<const cql::Statement> inner(statement, explain.statement.get());
    Binder own(binder.schema(), binder.keyspace(), inner->bind_markers);
    SIBYL_TRY(std::visit(Planner{inner, own, *explained}, inner->node));
    explained->markers = own.take_markers();
    explained->warnings = own.take_warnings();
    explained->functions = own.take_uses();
    explained->calls = own.take_calls();
    explained->user_types = own.take_user_types();
    prepared.tables = explained->tables;
    prepared.result = explanation_columns();
    prepared.plan = Explain{statement, std::move(explained)};
    return {};
  }

 private:
  base::Status definition() const {
    if (statement->bind_markers > 0) return invalid("Bind variables are not allowed in schema statements");
    prepared.plan = Definition{statement};
    return {};
  }
  // Statements about roles are run by the engine, because they depend on the current role.
  base::Status role_statement() const {
    prepared.plan = Definition{statement};
    return {};
  }
};

}  // namespace

namespace {

// A length before each text keeps different types from giving the same bytes.
void append_name(base::Bytes& out, std::string_view name) {
  fmt::format_to(std::back_inserter(out), "{}:{}", name.size(), name);
}

void append_type(base::Bytes& out, const types::Type& type) {
  fmt::format_to(std::back_inserter(out), "{}{}{}(", static_cast<int>(type.kind()),
                 type.is_frozen() ? "f" : "m", type.dimension());
  append_name(out, type.keyspace());
  append_name(out, type.name());
  for (const std::string& field : type.field_names()) append_name(out, field);
  for (const types::TypePtr& parameter : type.parameters()) append_type(out, *parameter);
  out.push_back(')');
}

bool is_same_column(const schema::Column& left, const schema::Column& right) {
  return left.name == right.name && left.id == right.id && left.kind == right.kind &&
         left.position == right.position && left.descending == right.descending &&
         *left.type == *right.type &&
         (left.mask == right.mask || (left.mask && right.mask && *left.mask == *right.mask));
}

// Compares everything except whether the index is built.
bool is_same_index(schema::Index left, const schema::Index& right) {
  left.is_built = right.is_built;
  return left == right;
}

// Like is_same_index(), but the table may have been truncated, after which the index has other records.
bool is_same_renewed_index(schema::Index left, const schema::Index& right) {
  left.storage_id = right.storage_id;
  return is_same_index(std::move(left), right);
}

bool is_same_for_statements(const schema::Table& left, const schema::Table& right) {
  return left.id == right.id && left.options.default_time_to_live == right.options.default_time_to_live &&
         left.options.gc_grace_seconds == right.options.gc_grace_seconds && left.compact == right.compact &&
         std::equal(left.columns.begin(), left.columns.end(), right.columns.begin(), right.columns.end(),
                    is_same_column) &&
         std::equal(left.indexes.begin(), left.indexes.end(), right.indexes.begin(), right.indexes.end(),
                    left.storage_id == right.storage_id ? is_same_index : is_same_renewed_index);
}

bool is_current_type(const schema::UserTypePtr& type, const schema::Snapshot& schema) {
  const schema::KeyspacePtr keyspace = schema.find_keyspace(type->keyspace);
  return keyspace && keyspace->find_type(type->name) == type;
}

bool can_become_invalid(const Prepared& prepared) {
  return prepared.profile.is_read() || prepared.profile.is_write();
}

}  // namespace

base::Bytes metadata_id(const ResultMetadata& metadata) {
  base::Bytes hashed(1, '\0'), id;
  for (const ColumnSpec& column : metadata.columns) {
    append_name(hashed, column.keyspace);
    append_name(hashed, column.table);
    append_name(hashed, column.name);
    append_type(hashed, *column.type);
  }
  // Two 64-bit hashes that differ in the first byte of the input.
  for (const char salt : {'\0', '\1'}) {
    hashed[0] = salt;
    types::encode_token(types::murmur3_token(hashed), id);
  }
  return id;
}

Validity validity(const Prepared& prepared, const schema::Snapshot& schema) {
  Validity found = Validity::current;
  for (const schema::TablePtr& table : prepared.tables) {
    const schema::TablePtr now = schema.find_table(table->keyspace, table->name);
    if (now == table) continue;
    found = Validity::stale;
    if (!can_become_invalid(prepared)) return found;
    if (!now || !is_same_for_statements(*table, *now)) return Validity::invalid;
  }
  const bool uses_others =
      !std::all_of(prepared.functions.begin(), prepared.functions.end(),
                   [&](const FunctionUse& use) {
                     return overloads_of(schema, use.keyspace, use.name) == use.overloads;
                   }) ||
      !std::all_of(prepared.user_types.begin(), prepared.user_types.end(),
                   [&](const schema::UserTypePtr& type) { return is_current_type(type, schema); });
  if (!uses_others) return found;
  return can_become_invalid(prepared) ? Validity::invalid : Validity::stale;
}

bool is_same_for_clients(const Prepared& left, const Prepared& right) {
  return left.result_id == right.result_id && left.partition_key_markers == right.partition_key_markers &&
         metadata_id({left.markers}) == metadata_id({right.markers});
}

base::Result<std::shared_ptr<Prepared>> prepare(std::shared_ptr<const cql::Statement> statement,
                                                std::string text, std::string keyspace,
                                                schema::SnapshotPtr schema, const Guardrails& guardrails) {
  auto prepared = std::make_shared<Prepared>();
  prepared->text = std::move(text);
  prepared->keyspace = std::move(keyspace);
  const bool is_explain = std::holds_alternative<cql::Explain>(statement->node);
  Binder binder(*schema, prepared->keyspace, is_explain ? 0 : statement->bind_markers);
  if (const base::Status planned = std::visit(Planner{statement, binder, *prepared}, statement->node);
      !planned)
    return base::fail(with_naming_hint(planned.error(), *statement, {*schema, prepared->keyspace}));
  prepared->markers = binder.take_markers();
  prepared->functions = binder.take_uses();
  prepared->calls = binder.take_calls();
  prepared->user_types = binder.take_user_types();
  for (std::string& warning : binder.take_warnings()) prepared->warnings.push_back(std::move(warning));
  SIBYL_TRY(check_statement(*statement, *prepared, guardrails, prepared->warnings));
  prepared->result_id = metadata_id(prepared->result ? *prepared->result : ResultMetadata{});
  prepared->profile = make_execution_profile(*prepared, binder.is_compute_heavy());
  return prepared;
}

}  // namespace sibyl::plan
