#include "plan/explain/explain.h"

#include <fmt/format.h>

#include "plan/explain/explain_modify.h"
#include "plan/explain/explain_select.h"
#include "plan/statements/modify.h"
#include "plan/statements/select.h"

namespace sibyl::plan {
namespace {

using Access = Explanation::Access;
using Step = Explanation::Step;
using TableUse = Explanation::TableUse;

struct Explainer {
  const Prepared& prepared;
  Explanation& out;

  void operator()(const cql::Select& select) const {
    explain_select(select, *std::get<std::shared_ptr<const Select>>(prepared.plan), prepared, out);
  }
  void operator()(const cql::Insert& insert) const { modification(insert); }
  void operator()(const cql::Update& update) const { modification(update); }
  void operator()(const cql::Delete& statement) const { modification(statement); }

  void operator()(const cql::Batch& batch) const {
    const Batch& plan = *std::get<std::shared_ptr<const Batch>>(prepared.plan);
    bool reads_first = false;
    for (size_t i = 0; i < batch.statements.size(); ++i) {
      std::visit([&](const auto& one) { explain_modification(one, *plan.statements[i], out); },
                 batch.statements[i]);
      reads_first = reads_first || out.uses.back().reads;
    }
    out.steps.push_back({"commit", "", "", "",
                         reads_first
                             ? "all statements in one atomic write, under the locks of their partitions"
                             : "all statements in one atomic write; readers see all of it or nothing"});
  }

  void operator()(const cql::Truncate&) const {
    const schema::TablePtr& table = std::get<Truncate>(prepared.plan).table;
    out.uses.push_back({.table = table, .writes = true});
    out.steps.push_back({"truncate", qualified(*table), "all", "all",
                         "drops all records of the table as one range; reads no row"});
  }
  void operator()(const cql::Use& use) const {
    out.steps.push_back({"use keyspace", use.keyspace, "", "", "changes only the session"});
  }
  void operator()(const cql::Describe&) const {
    out.steps.push_back({"describe", "", "", "", "answers from the schema in memory; reads no data"});
  }
  template <typename Definition>
  void operator()(const Definition&) const {
    out.steps.push_back({"define", "", "", "", "changes the schema; rewrites no data"});
  }

 private:
  template <typename Statement>
  void modification(const Statement& statement) const {
    explain_modification(statement, *std::get<std::shared_ptr<const Modification>>(prepared.plan), out);
  }
};

}  // namespace

Explanation explain(const cql::Statement& statement, const Prepared& prepared) {
  Explanation out;
  std::visit(Explainer{prepared, out}, statement.node);
  return out;
}

ResultMetadataPtr explanation_columns() {
  static const ResultMetadataPtr columns = [] {
    auto metadata = std::make_shared<ResultMetadata>();
    metadata->columns.push_back({"system", "explain", "step", types::scalar(types::Kind::int_)});
    for (const char* name : {"action", "target", "partitions", "rows", "detail"})
      metadata->columns.push_back({"system", "explain", name, types::scalar(types::Kind::text)});
    return metadata;
  }();
  return columns;
}

}  // namespace sibyl::plan
