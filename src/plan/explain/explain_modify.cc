#include "plan/explain/explain_modify.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/explain/explain_select.h"
#include "plan/statements/modify.h"
#include "plan/terms/term_text.h"

namespace sibyl::plan {
namespace {

using Access = Explanation::Access;
using Step = Explanation::Step;
using TableUse = Explanation::TableUse;

// Facts about the statement that are in its text but not in its plan.
struct Written {
  SortedRelations keys;
  bool if_exists = false, if_not_exists = false;
  size_t conditions = 0;

  bool is_conditional() const { return if_exists || if_not_exists || conditions > 0; }
};

std::string why_read(const Operation& operation) {
  const std::string& name = operation.column->name;
  switch (operation.kind) {
    case Operation::Kind::add_to_counter:
    case Operation::Kind::subtract_counter:
      return fmt::format("counter {} needs its current value", name);
    case Operation::Kind::set_index:
    case Operation::Kind::remove_index:
      return fmt::format("the position in list {} must be found", name);
    default:
      return fmt::format("the values to remove must be found in list {}", name);
  }
}

std::vector<std::string> reasons_to_read(const Modification& plan, const Written& written) {
  std::vector<std::string> reasons;
  if (written.if_not_exists) reasons.emplace_back("IF NOT EXISTS");
  if (written.if_exists) reasons.emplace_back("IF EXISTS");
  if (written.conditions > 0)
    reasons.push_back(fmt::format("{} condition{}", written.conditions, written.conditions == 1 ? "" : "s"));
  for (const auto* operations : {&plan.static_operations, &plan.row_operations})
    for (const Operation& operation : *operations)
      if (operation.reads_first()) reasons.push_back(why_read(operation));
  if (plan.table->needs_index_maintenance())
    reasons.emplace_back("indexes and views are updated in the same write");
  return reasons;
}

const char* action_of(const Modification& plan) {
  if (!plan.deletes_rows()) {
    const bool is_delete = plan.kind == Modification::Kind::delete_;
    if (is_delete) return "delete columns";
    return plan.names_rows ? "write row" : "write static columns";
  }
  if (plan.names_rows && plan.table->clustering_count > 0) return "delete row";
  return plan.where && plan.where->restricts_clustering() ? "delete range of rows" : "delete partition";
}

std::string detail_of(const Modification& plan, bool reads) {
  const size_t columns = plan.static_operations.size() + plan.row_operations.size();
  if (plan.deletes_rows())
    return fmt::format("a tombstone covers all of it{}", reads ? "" : "; nothing is read");
  if (plan.json != nullptr) return "the columns are taken from the JSON text";
  return fmt::format("{} column{} in one atomic write{}", columns, columns == 1 ? "" : "s",
                     reads ? "" : "; nothing is read");
}

void describe(const Modification& plan, const Written& written, Explanation& out) {
  TableUse use;
  use.table = plan.table;
  use.access = plan.names_rows ? Access::rows : Access::partitions;
  use.partitions = written.keys.partitions;
  use.writes = true;
  use.clustering = written.keys.clustering;
  const std::string name = qualified(*plan.table);
  const std::string partitions = counted(use.partitions);
  const std::string rows = plan.table->clustering_count == 0        ? "its one row"
                           : plan.names_rows || plan.deletes_rows() ? joined(written.keys.clustering)
                                                                    : "its static columns";
  const std::vector<std::string> reasons = reasons_to_read(plan, written);
  use.reads = !reasons.empty();
  if (use.reads)
    out.steps.push_back({"read before write", name, partitions, rows,
                         fmt::format("under the partition's lock: {}", fmt::join(reasons, "; "))});
  out.steps.push_back(
      {action_of(plan), name, partitions, rows,
       fmt::format("by key: {}; {}", joined(written.keys.partition), detail_of(plan, use.reads))});
  out.uses.push_back(std::move(use));
}

}  // namespace

void explain_modification(const cql::Insert& insert, const Modification& plan, Explanation& out) {
  Written written;
  written.if_not_exists = insert.if_not_exists;
  for (size_t i = 0; i < insert.columns.size(); ++i) {
    const schema::Column* column = plan.table->find(insert.columns[i]);
    const std::string text = fmt::format("{} = {}", insert.columns[i], text_of(*insert.values[i]));
    if (column->is_partition_key()) written.keys.partition.push_back(text);
    if (column->is_clustering()) written.keys.clustering.push_back(text);
  }
  if (insert.json != nullptr) written.keys.partition = {"taken from the JSON text"};
  describe(plan, written, out);
}

void explain_modification(const cql::Update& update, const Modification& plan, Explanation& out) {
  Written written;
  written.if_exists = update.if_exists;
  written.conditions = update.conditions.size();
  written.keys = sort_relations(*plan.table, update.where, true, {});
  describe(plan, written, out);
}

void explain_modification(const cql::Delete& statement, const Modification& plan, Explanation& out) {
  Written written;
  written.if_exists = statement.if_exists;
  written.conditions = statement.conditions.size();
  written.keys = sort_relations(*plan.table, statement.where, true, {});
  describe(plan, written, out);
}

}  // namespace sibyl::plan
