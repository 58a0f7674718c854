#include "advisor/design/design.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "advisor/design/assumed.h"
#include "advisor/design/write.h"
#include "advisor/review/review_model.h"
#include "advisor/workload/growth.h"

namespace sibyl::advisor {
namespace {

constexpr int support_rounds = 2;

class Designer {
 public:
  // `assumed` must outlive the object.
  Designer(const Assumed& assumed, const DesignOptions& options)
      : assumed_(assumed),
        workload_(assumed.workload),
        model_(workload_.model),
        options_(options),
        growth_(growth_of(workload_)),
        horizon_(horizon_of(workload_)),
        later_(model_after(assumed.today, growth_, horizon_)),
        candidates_(model_) {}

  base::Result<Design> run();

 private:
  void choose_statements();
  void propose();
  void propose_support(const std::vector<Layout>& tables);
  void drop_oversized_tables();
  double preference_of(const Layout& table) const;
  std::optional<TimeField> time_of(const Layout& table) const;
  void demand_queries();
  void demand_maintenance();
  void add_demand(const Requirement& need, const Statement& statement, std::optional<size_t> table);
  base::Status check_plans() const;
  void drop_unused();
  double writes_to(const Layout& table) const;
  double stated_cost() const;
  bool is_stated(const Statement& statement) const;
  Design report(const Solution& solution) const;

  double weight(const Statement& statement) const { return workload_.weight(statement, mix_); }
  size_t group_of(const Statement& statement) const;

  const Assumed& assumed_;
  const Workload& workload_;
  const Model& model_;
  const DesignOptions& options_;
  const ModelGrowth growth_;
  const double horizon_;
  const Model later_;  // the model at the horizon; partition sizes and space are checked against it
  std::string mix_;
  std::vector<const Statement*> queries_, changes_;
  Candidates candidates_;
  std::vector<Layout> tables_;
  Program program_;
  std::vector<DemandOrigin> origins_;  // per demand
  std::map<std::string, std::vector<ReadPlan>> known_plans_;
};

size_t Designer::group_of(const Statement& statement) const {
  for (size_t i = 0; i < workload_.groups.size(); ++i) {
    if (workload_.groups[i].name == statement.group) return i;
  }
  // A statement without a group forms its own group.
  return workload_.groups.size() + static_cast<size_t>(&statement - workload_.statements.data());
}

bool Designer::is_stated(const Statement& statement) const {
  if (options_.complete_schema.empty()) return false;
  return std::none_of(workload_.groups.begin(), workload_.groups.end(),
                      [&](const Group& group) { return group.name == statement.group && group.write; });
}

void Designer::choose_statements() {
  for (const Statement& statement : workload_.statements) {
    if (weight(statement) <= 0 || is_stated(statement)) continue;
    (statement.is_query() ? queries_ : changes_).push_back(&statement);
  }
}

void Designer::propose() {
  const bool completing = !options_.complete_schema.empty();
  for (const Statement* query : queries_) {
    if (!completing) candidates_.add_for(requirement_of(*query), true);
  }
  for (const Layout& layout : workload_.layouts) {
    if (completing ? layout.schema == options_.complete_schema : options_.use_layouts)
      candidates_.add(layout);
  }
  const size_t given = candidates_.tables().size();
  if (!completing) candidates_.add_unions();
  for (int round = 0; round < support_rounds; ++round)
    propose_support(std::vector<Layout>(candidates_.tables()));
  if (!completing) candidates_.add_unions();
  tables_ = candidates_.tables();
  for (size_t i = 0; i < tables_.size(); ++i) {
    Program::Table table;
    table.forced = completing && i < given;
    program_.tables.push_back(table);
  }
}

void Designer::propose_support(const std::vector<Layout>& tables) {
  std::map<std::string, Requirement> needs;
  for (const Statement* change : changes_) {
    for (const Layout& table : tables) {
      for (const MaintenanceUnit& unit : maintenance_of(model_, options_.cost, *change, table)) {
        for (const Requirement& need : unit.needs)
          needs.try_emplace(requirement_text(model_, need, false), need);
      }
    }
  }
  for (const auto& [text, need] : needs) candidates_.add_for(need, true);
}

double Designer::writes_to(const Layout& table) const {
  double writes = 0;
  for (const Statement* change : changes_) {
    for (const MaintenanceUnit& unit : maintenance_of(model_, options_.cost, *change, table))
      writes += weight(*change) * unit.rows;
  }
  return writes;
}

// Returns nothing for entities that do not grow. If rows are older than `longest`, the number of rows per
// period cannot be predicted.
std::optional<TimeField> Designer::time_of(const Layout& table) const {
  constexpr double longest = 20 * 365 * 86400.0;
  for (const FieldReference field : table.clustering) {
    const size_t entity = table.graph.nodes()[field.node].entity;
    if (!is_creation_time(model_.entities[entity].fields[field.field])) continue;
    const auto kept = time_kept(assumed_.today, growth_, entity, horizon_);
    if (!kept || *kept - horizon_ > longest) continue;
    return TimeField{field, *kept};
  }
  return std::nullopt;
}

// If tables cost the same, prefers those whose partitions are many and small, so that they spread over nodes.
double Designer::preference_of(const Layout& table) const {
  constexpr double few_bytes = 20e6, per_node = 10, small = 100e3, for_tenfold = 0.1;
  double factor = 1;
  const double share = hottest_share(later_, table) / std::max(1.0, table.buckets);
  if (layout_stored_bytes(later_, table) > few_bytes && !table.period)
    factor += std::min(1.0, share * per_node * static_cast<double>(ReviewTarget().nodes));
  const double largest = rows_of_largest_partition(later_, table) * layout_stored_row_bytes(later_, table);
  return factor + for_tenfold * std::max(0.0, std::log10(largest / small));
}

void Designer::drop_oversized_tables() {
  const Limits limits{workload_.target.partition_bytes.value_or(ReviewTarget().partition_bytes),
                      workload_.target.partition_rate};
  const bool by_default = !workload_.target.partition_bytes && !workload_.target.partition_rate;
  std::vector<Layout> kept;
  std::vector<Program::Table> kept_program;
  for (size_t i = 0; i < tables_.size(); ++i) {
    // Keeps the tables that the file states, unless the file also states a target.
    if (by_default && program_.tables[i].forced) {
      kept.push_back(std::move(tables_[i]));
      kept_program.push_back(program_.tables[i]);
      continue;
    }
    const double writes = limits.partition_rate ? writes_to(tables_[i]) : 0;
    Layout by_time = tables_[i];
    const bool fits = fit_to_limits(later_, limits, writes, tables_[i]);
    const std::optional<TimeField> time = time_of(by_time);
    const bool is_split = !fits || tables_[i].buckets > 1;
    const bool fits_by_time =
        is_split && time && !program_.tables[i].forced && fit_by_time(later_, limits, writes, *time, by_time);
    for (Layout* layout : {fits ? &tables_[i] : nullptr, fits_by_time ? &by_time : nullptr}) {
      if (layout == nullptr) continue;
      kept.push_back(std::move(*layout));
      kept_program.push_back(program_.tables[i]);
    }
  }
  tables_ = std::move(kept);
  program_.tables = std::move(kept_program);
}

void Designer::add_demand(const Requirement& need, const Statement& statement, std::optional<size_t> table) {
  Demand demand;
  demand.weight = weight(statement);
  demand.table = table;
  demand.group = group_of(statement);
  const std::string text = requirement_text(model_, need, true);
  const auto [place, added] = known_plans_.try_emplace(text);
  if (added) place->second = find_plans(model_, options_.cost, tables_, need);
  demand.plans = place->second;
  // Values of unnamed markers are not shared.
  for (ReadPlan& plan : demand.plans) {
    for (Read& read : plan.reads) {
      if (read.key.find('?') != std::string::npos) read.key += statement.name;
    }
  }
  program_.demands.push_back(std::move(demand));
}

void Designer::demand_queries() {
  for (const Statement* query : queries_) {
    origins_.push_back({query, SIZE_MAX, 0, 0});
    add_demand(requirement_of(*query), *query, std::nullopt);
  }
}

void Designer::demand_maintenance() {
  for (const Statement* change : changes_) {
    for (size_t table = 0; table < tables_.size(); ++table) {
      const std::vector<MaintenanceUnit> units =
          maintenance_of(model_, options_.cost, *change, tables_[table]);
      for (size_t u = 0; u < units.size(); ++u) {
        const MaintenanceUnit& unit = units[u];
        program_.tables[table].maintenance +=
            weight(*change) * unit.rows *
            ((unit.insert ? options_.cost.insert : 0) + (unit.remove ? options_.cost.remove : 0));
        for (size_t n = 0; n < unit.needs.size(); ++n) {
          origins_.push_back({change, table, u, n});
          add_demand(unit.needs[n], *change, table);
        }
      }
    }
  }
}

base::Status Designer::check_plans() const {
  for (size_t i = 0; i < program_.demands.size(); ++i) {
    const bool forced = origins_[i].table != SIZE_MAX && program_.tables[origins_[i].table].forced;
    if (!program_.demands[i].plans.empty() || (origins_[i].table != SIZE_MAX && !forced)) continue;
    return base::fail(
        base::Error(base::ErrorCode::invalid,
                    fmt::format("{}:{}: no table within the limits answers '{}'", workload_.file,
                                origins_[i].statement->line, origins_[i].statement->name))
            .with_hint(fmt::format(
                "Raise @target partition, or reduce the query: fewer fields or a narrower WHERE.{}{}",
                assumed_.notes.empty() ? "" : " Declare what is assumed: ",
                fmt::join(assumed_.notes, "; "))));
  }
  return {};
}

// Tables that no plan reads only add cost. Without them the program is smaller.
void Designer::drop_unused() {
  std::vector<bool> used(tables_.size());
  bool changed = true;
  std::vector<bool> alive(tables_.size(), true);
  while (changed) {
    changed = false;
    std::fill(used.begin(), used.end(), false);
    for (const Demand& demand : program_.demands) {
      if (demand.table && !alive[*demand.table]) continue;
      for (const ReadPlan& plan : demand.plans) {
        for (const Read& read : plan.reads) {
          for (const Place& place : read.places) used[place.table] = true;
        }
      }
    }
    for (size_t i = 0; i < tables_.size(); ++i) {
      if (!alive[i] || used[i] || program_.tables[i].forced) continue;
      alive[i] = false;
      changed = true;
    }
  }
  for (size_t d = program_.demands.size(); d-- > 0;) {
    if (!program_.demands[d].table || alive[*program_.demands[d].table]) continue;
    program_.demands.erase(program_.demands.begin() + static_cast<ptrdiff_t>(d));
    origins_.erase(origins_.begin() + static_cast<ptrdiff_t>(d));
  }
}

double Designer::stated_cost() const {
  double cost = 0;
  for (const StatedPlan& plan : workload_.plans) {
    if (plan.schema != options_.complete_schema) continue;
    Statement probe;
    probe.group = plan.name;
    for (const Statement& statement : workload_.statements) {
      if (statement.name == plan.name) probe.group = statement.group;
    }
    if (is_stated(probe))
      cost += workload_.weight(probe.group, {}, mix_) * evaluate_plan(options_.cost, workload_, plan);
  }
  return cost;
}

Design Designer::report(const Solution& solution) const {
  Design design = write_design(workload_, later_, options_.cost, mix_, tables_, program_, origins_, solution);
  if (growth_.any()) design.horizon = horizon_;
  design.assumptions = assumed_.notes;
  design.queries += stated_cost();
  design.bound = solution.bound + stated_cost();
  design.proven = solution.proven;
  design.candidates = tables_.size();
  for (const Demand& demand : program_.demands) design.plans += demand.plans.size();
  return design;
}

base::Result<Design> Designer::run() {
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<std::string> mixes = workload_.mix_names();
  mix_ = options_.mix.empty() && !mixes.empty() ? mixes[0] : options_.mix;
  if (!mix_.empty() && std::find(mixes.begin(), mixes.end(), mix_) == mixes.end()) {
    return base::fail(base::Error(base::ErrorCode::invalid, fmt::format("unknown mix '{}'", mix_))
                          .with_hint(fmt::format("expected one of {}", fmt::join(mixes, ", "))));
  }
  choose_statements();
  if (queries_.empty() && options_.complete_schema.empty())
    return base::invalid(fmt::format("{}: no @query over entities has a weight in this mix", workload_.file));
  propose();
  drop_oversized_tables();
  demand_queries();
  demand_maintenance();
  SIBYL_TRY(check_plans());
  drop_unused();
  // If tables have the same size, prefer the shorter key. A column adds less than a byte to the size here.
  for (size_t i = 0; i < tables_.size(); ++i) {
    program_.tables[i].bytes =
        layout_stored_bytes(later_, tables_[i]) + 0.01 * static_cast<double>(tables_[i].clustering.size());
    program_.tables[i].preference = preference_of(tables_[i]);
  }
  program_.space_bytes = options_.space_bytes ? options_.space_bytes : workload_.target.space_bytes;
  program_.share = options_.share;
  program_.seconds = options_.seconds;
  auto solved = solve(program_);
  if (!solved && program_.space_bytes && growth_.any())
    return base::fail(
        base::Error(solved.error().code(), solved.error().message())
            .with_hint(fmt::format("Space is computed for {} from now, at the rates of the INSERTs. Change "
                                   "it with @target horizon=1d or @entity retention=30d.",
                                   duration_text(horizon_))));
  SIBYL_ASSIGN(const Solution solution, std::move(solved));
  Design design = report(solution);
  const std::chrono::duration<double> used = std::chrono::steady_clock::now() - begin;
  design.seconds = used.count();
  return design;
}

}  // namespace

base::Result<Design> design_tables(const Workload& workload, const DesignOptions& options) {
  const Assumed assumed = assume(workload);
  return Designer(assumed, options).run();
}

}  // namespace sibyl::advisor
