// Runs the plans of stated schemas exactly as written.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "advisor/design/candidates.h"
#include "advisor/trial/plans.h"
#include "cql/printer.h"

namespace sibyl::advisor {
namespace {

// Fields by entity, since stated plans do not name nodes.
using EntityField = std::pair<size_t, size_t>;
using Known = std::map<EntityField, std::optional<base::Bytes>>;

EntityField entity_field(const Layout& layout, FieldReference field) {
  return {layout.graph.nodes()[field.node].entity, field.field};
}

struct ChainRead {
  size_t statement = 0;
  std::vector<std::pair<EntityField, Comparison>> parameters;
  std::vector<EntityField> results;
};

const DesignedTable* table_of(const Design& design, const Layout& layout) {
  const std::string text = layout_text(layout);
  for (const DesignedTable& table : design.tables) {
    if (layout_text(table.layout) == text) return &table;
  }
  return nullptr;
}

// The fields that the group's statements select or compare.
std::set<EntityField> fields_of(const Workload& workload, const std::string& group) {
  std::set<EntityField> fields;
  const auto add = [&](const Statement& statement, FieldReference field) {
    fields.emplace(statement.graph.nodes()[field.node].entity, field.field);
  };
  for (const Statement& statement : workload.statements) {
    if (statement.group != group && statement.name != group) continue;
    for (const FieldReference field : statement.select) add(statement, field);
    for (const Predicate& predicate : statement.where) add(statement, predicate.field);
    for (const OrderTerm& term : statement.order) add(statement, term.field);
  }
  return fields;
}

ChainRead write_read(const Workload& workload, const Layout& layout, const DesignedTable& table,
                     const StatedRead& read, const std::set<EntityField>& wanted, Trial& trial) {
  ChainRead out;
  std::vector<std::string> columns, relations;
  const auto compare = [&](FieldReference field, Comparison comparison) {
    relations.push_back(fmt::format("{} {} ?", cql::print_name(table.column(field)), to_string(comparison)));
    out.parameters.emplace_back(entity_field(layout, field), comparison);
  };
  for (const FieldReference field : layout.partition) compare(field, Comparison::equal);
  size_t next = 0;
  while (next < layout.clustering.size() && contains(read.equal, layout.clustering[next]))
    compare(layout.clustering[next++], Comparison::equal);
  if (read.range && next < layout.clustering.size())
    compare(layout.clustering[next], Comparison::greater_or_equal);
  for (const auto& [field, name] : table.columns) {
    const EntityField what = entity_field(layout, field);
    if (!wanted.contains(what) && what.second != workload.model.entities[what.first].key) continue;
    columns.push_back(cql::print_name(name));
    out.results.push_back(what);
  }
  if (columns.empty()) {
    columns.push_back(cql::print_name(table.columns[0].second));
    out.results.push_back(entity_field(layout, table.columns[0].first));
  }
  std::string text = fmt::format("SELECT {} FROM {} WHERE {}", fmt::join(columns, ", "),
                                 cql::print_name(table.layout.name), fmt::join(relations, " AND "));
  if (read.limit) text += fmt::format(" LIMIT {:.0f}", *read.limit);
  out.statement = trial.place(text);
  return out;
}

// The cost of a plan is a sum. With one constant set to 1 and the others to 0, the cost is how often that
// constant counts.
Work work_of(const Workload& workload, const StatedPlan& plan) {
  const auto count = [&](double CostModel::* constant) {
    CostModel one;
    one.lookup = one.partition = one.row = one.insert = one.remove = one.sort = one.scanned = one.tombstone =
        0;
    one.*constant = 1;
    return evaluate_plan(one, workload, plan);
  };
  Work work;
  work.requests = count(&CostModel::lookup);
  work.partitions = count(&CostModel::partition);
  work.rows = count(&CostModel::row);
  work.inserts = count(&CostModel::insert);
  work.removes = count(&CostModel::remove);
  return work;
}

base::Status run_chain(const std::vector<ChainRead>& chain, TrialSession& connection, GivenValues& given) {
  std::vector<Known> rows(1);
  for (const ChainRead& read : chain) {
    std::vector<Known> next;
    for (const Known& row : rows) {
      Cells values;
      for (const auto& [field, comparison] : read.parameters) {
        const auto known = row.find(field);
        if (known != row.end() && comparison == Comparison::equal) {
          values.push_back(known->second);
          continue;
        }
        Parameter parameter;
        parameter.operand = comparison == Comparison::equal ? "?" : fmt::format(">{}", field.second);
        parameter.entity = field.first;
        parameter.entity_field = field.second;
        parameter.comparison = comparison;
        values.push_back(given.value(parameter));
      }
      SIBYL_ASSIGN(const std::vector<Cells> answer, connection.run(read.statement, values));
      for (const Cells& cells : answer) {
        Known& more = next.emplace_back(row);
        for (size_t i = 0; i < cells.size(); ++i) more[read.results[i]] = cells[i];
      }
    }
    rows = std::move(next);
  }
  return {};
}

}  // namespace

void add_stated(const Workload& workload, const Design& design, const std::string& schema,
                const std::shared_ptr<const Population>& population, Trial& trial) {
  for (const StatedPlan& plan : workload.plans) {
    if (plan.schema != schema) continue;
    Operation operation;
    operation.name = plan.name;
    operation.group = plan.name;
    for (const Statement& statement : workload.statements) {
      if (statement.name == plan.name) operation.group = statement.group;
    }
    const bool writes = std::any_of(workload.groups.begin(), workload.groups.end(), [&](const Group& group) {
      return group.name == operation.group && group.write;
    });
    operation.weight = workload.weight(operation.group, {}, design.mix);
    if (writes || operation.weight <= 0) continue;
    std::vector<std::vector<ChainRead>> chains;
    const std::set<EntityField> wanted = fields_of(workload, plan.name);
    for (const StatedUnit& unit : plan.units) {
      for (const std::vector<StatedRead>& stated : unit.lookups) {
        std::vector<ChainRead>& chain = chains.emplace_back();
        for (const StatedRead& read : stated) {
          const Layout& layout = workload.layouts[read.layout];
          if (const DesignedTable* table = table_of(design, layout))
            chain.push_back(write_read(workload, layout, *table, read, wanted, trial));
        }
      }
    }
    operation.work = work_of(workload, plan);
    operation.run = [chains, population](TrialSession& connection, Random& random) -> base::Status {
      static const std::vector<Ranks> evenly;
      GivenValues given(*population, random, evenly);
      for (const std::vector<ChainRead>& chain : chains) SIBYL_TRY(run_chain(chain, connection, given));
      return {};
    };
    trial.operations.push_back(std::move(operation));
  }
}

}  // namespace sibyl::advisor
