#include "plan/execution_profile.h"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "plan/prepared.h"
#include "plan/statements/modify.h"
#include "plan/statements/select.h"

namespace sibyl::plan {
namespace {

bool has_in(const Restrictions* where) {
  return where != nullptr && (where->has_partition_in() || where->has_clustering_in());
}

bool may_block(const Modification& modification) {
  return modification.reads_first || modification.is_counter || modification.conditions ||
         has_in(modification.where.get());
}

bool may_block(const Select& select) {
  // The rows of these tables are computed when they are read.
  if (select.table->is_virtual && select.table->keyspace == "system_views") return true;
  const Restrictions& where = *select.where;
  const bool is_one_partition =
      where.partitions() == Restrictions::Partitions::keys && !where.has_partition_in();
  return !is_one_partition || where.needs_filtering() || where.has_clustering_in() ||
         (select.aggregates() && !where.names_whole_row());
}

StatementKind kind_of(const Modification& modification) {
  if (modification.conditions) return StatementKind::conditional;
  if (modification.is_counter) return StatementKind::counter;
  switch (modification.kind) {
    case Modification::Kind::insert:
      return StatementKind::insert;
    case Modification::Kind::update:
      return StatementKind::update;
    case Modification::Kind::delete_:
      return StatementKind::delete_;
  }
  return StatementKind::other;
}

struct ProfileMaker {
  ExecutionProfile& profile;

  void operator()(const std::shared_ptr<const Select>& select) const {
    const Restrictions& where = *select->where;
    const bool is_range = where.partitions() == Restrictions::Partitions::range;
    const bool names_partitions = where.partitions() == Restrictions::Partitions::keys &&
                                  where.index_uses().empty() && select->nearest == nullptr;
    using Deadline = ExecutionProfile::Deadline;
    profile.kind = names_partitions ? StatementKind::select : StatementKind::scan;
    profile.deadline = select->aggregates() ? Deadline::none : is_range ? Deadline::range : Deadline::read;
    profile.may_block = may_block(*select);
    profile.may_run_long = !select->table->keyspace.starts_with("system");
    profile.reads_slice = !where.names_whole_row();
  }
  void operator()(const std::shared_ptr<const Modification>& modification) const {
    profile.kind = kind_of(*modification);
    profile.is_conditional = modification->conditional != nullptr;
    profile.may_block = may_block(*modification);
  }
  void operator()(const std::shared_ptr<const Batch>& batch) const {
    profile.kind = StatementKind::batch;
    profile.is_conditional = batch->conditional != nullptr;
    profile.may_block = batch->statements.size() > max_quick_batch_statements ||
                        std::any_of(batch->statements.begin(), batch->statements.end(),
                                    [](const auto& statement) { return may_block(*statement); });
    profile.batch_kind = batch->kind;
    profile.batch_statements = batch->statements.size();
  }
  void operator()(const Truncate&) const {
    profile.kind = StatementKind::truncate;
    profile.may_block = true;
  }
  void operator()(const Definition& definition) const {
    profile.kind = StatementKind::definition;
    profile.may_block = true;
    profile.is_about_roles = is_about_roles(*definition.statement);
  }
  void operator()(const Describe&) const { profile.may_block = true; }
  void operator()(const Use&) const {}
  void operator()(const Explain&) const {}
};

}  // namespace

const char* to_string(StatementKind kind) {
  static constexpr const char* names[statement_kinds] = {"select",   "scan",        "insert",  "update",
                                                         "delete",   "conditional", "counter", "batch",
                                                         "truncate", "definition",  "other",   "prepare"};
  return names[static_cast<size_t>(kind)];
}

ExecutionProfile make_execution_profile(const Prepared& prepared, bool is_compute_heavy) {
  ExecutionProfile profile;
  std::visit(ProfileMaker{profile}, prepared.plan);
  profile.may_block |= std::any_of(prepared.functions.begin(), prepared.functions.end(),
                                   [](const FunctionUse& use) { return !use.overloads.empty(); });
  profile.is_compute_heavy = is_compute_heavy;
  return profile;
}

bool is_about_roles(const cql::Statement& statement) {
  const auto is = [&]<typename... Nodes>(std::type_identity<Nodes>...) {
    return (std::holds_alternative<Nodes>(statement.node) || ...);
  };
  return is(std::type_identity<cql::CreateRole>(), std::type_identity<cql::AlterRole>(),
            std::type_identity<cql::DropRole>(), std::type_identity<cql::GrantRole>(),
            std::type_identity<cql::ListRoles>(), std::type_identity<cql::GrantPermission>(),
            std::type_identity<cql::ListPermissions>(), std::type_identity<cql::AddIdentity>(),
            std::type_identity<cql::DropIdentity>());
}

}  // namespace sibyl::plan
