#include "advisor/design/program.h"

#include <Cbc_C_Interface.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <tuple>

namespace sibyl::advisor {
namespace {

struct Row {
  std::vector<int> columns;
  std::vector<double> coefficients;
  double lower = 0, upper = 0;
};

constexpr double infinity = 1e30;

struct ModelDeleter {
  void operator()(Cbc_Model* model) const { Cbc_deleteModel(model); }
};
using ModelPtr = std::unique_ptr<Cbc_Model, ModelDeleter>;

class Solver {
 public:
  explicit Solver(const Program& program) : program_(program) {}

  base::Result<Solution> run();

 private:
  struct Column {
    double cost = 0;
    bool integer = false;
    double lower = 0;
  };
  struct Found {
    std::vector<double> values;
    double objective = 0, bound = 0;
    bool proven = false;
  };

  int add_column(double cost, bool integer, double lower = 0) {
    columns_.push_back({cost, integer, lower});
    return static_cast<int>(columns_.size()) - 1;
  }
  void build();
  void add_demand(const Demand& demand);
  void add_use(const Demand& demand, const Read& read, int choice, std::map<std::string, Row>& uses);
  bool is_shared(const Demand& demand, const Read& read) const;
  int shared_read(const Demand& demand, const Read& read, size_t table);
  base::Result<Found> solve_for(const std::vector<double>& objective, double seconds,
                                const std::vector<double>* start) const;
  Solution read(const Found& found) const;
  std::optional<ReadPlan> bind(const Demand& demand, const ReadPlan& plan, const Found& found) const;
  void drop_unread_tables(Solution& solution) const;
  double cost_of(const Solution& solution) const;
  std::vector<double> tie_breaker() const;
  std::vector<double> start_from(const Solution& solution) const;

  const Program& program_;
  std::vector<Column> columns_;
  std::vector<Row> rows_;
  std::vector<std::vector<int>> choices_;                     // choices by demand and plan
  using SharedKey = std::tuple<size_t, size_t, std::string>;  // group, table and key
  std::map<SharedKey, std::set<size_t>> users_;
  std::map<SharedKey, int> shared_;  // by group, table and key
};

void Solver::build() {
  for (const Program::Table& table : program_.tables)
    add_column(table.maintenance, true, table.forced ? 1 : 0);
  for (size_t d = 0; d < program_.demands.size() && program_.share; ++d) {
    for (const ReadPlan& plan : program_.demands[d].plans) {
      for (const Read& read : plan.reads) {
        for (const Place& place : read.places)
          users_[{program_.demands[d].group, place.table, read.key}].insert(d);
      }
    }
  }
  for (const Demand& demand : program_.demands) add_demand(demand);
  if (!program_.space_bytes) return;
  Row space;
  space.lower = -infinity;
  space.upper = *program_.space_bytes;
  for (size_t i = 0; i < program_.tables.size(); ++i) {
    space.columns.push_back(static_cast<int>(i));
    space.coefficients.push_back(program_.tables[i].bytes);
  }
  rows_.push_back(std::move(space));
}

// If tables and shared reads are integral, the cheapest plan is a vertex of the linear program, so plans need
// no branching. A read needs one of its tables, or a shared read of one of them.
void Solver::add_demand(const Demand& demand) {
  std::vector<int> choices;
  std::map<std::string, Row> uses;
  Row one;
  one.lower = one.upper = demand.table ? 0 : 1;
  for (const ReadPlan& plan : demand.plans) {
    double cost = plan.cost;
    for (const Read& read : plan.reads) cost -= is_shared(demand, read) ? read.cost : 0;
    const int column = add_column(demand.weight * cost, false);
    choices.push_back(column);
    one.columns.push_back(column);
    one.coefficients.push_back(1);
    for (const Read& read : plan.reads) add_use(demand, read, column, uses);
  }
  if (demand.table) {
    one.columns.push_back(static_cast<int>(*demand.table));
    one.coefficients.push_back(-1);
  }
  rows_.push_back(std::move(one));
  for (auto& [text, row] : uses) rows_.push_back(std::move(row));
  choices_.push_back(std::move(choices));
}

void Solver::add_use(const Demand& demand, const Read& read, int choice, std::map<std::string, Row>& uses) {
  const bool shared = is_shared(demand, read);
  std::string text = shared ? read.key : "";
  for (const Place& place : read.places) {
    // The table exists whenever its own maintenance is required.
    if (!shared && demand.table == place.table) return;
    text += fmt::format("|{}", place.table);
  }
  const auto [entry, added] = uses.try_emplace(std::move(text));
  Row& row = entry->second;
  if (added) {
    row.lower = -infinity;
    for (const Place& place : read.places) {
      row.columns.push_back(shared ? shared_read(demand, read, place.table) : static_cast<int>(place.table));
      row.coefficients.push_back(-1);
    }
  }
  if (std::find(row.columns.begin(), row.columns.end(), choice) != row.columns.end()) return;
  row.columns.push_back(choice);
  row.coefficients.push_back(1);
}

// Returns true if another demand of the group may use the same read.
bool Solver::is_shared(const Demand& demand, const Read& read) const {
  return program_.share && std::any_of(read.places.begin(), read.places.end(), [&](const Place& place) {
           return users_.at({demand.group, place.table, read.key}).size() > 1;
         });
}

int Solver::shared_read(const Demand& demand, const Read& read, size_t table) {
  const auto [entry, added] = shared_.try_emplace({demand.group, table, read.key}, 0);
  if (!added) return entry->second;
  entry->second = add_column(demand.weight * read.cost, true);
  Row row;
  row.lower = -infinity;
  row.columns = {entry->second, static_cast<int>(table)};
  row.coefficients = {1, -1};
  rows_.push_back(std::move(row));
  return entry->second;
}

base::Result<Solver::Found> Solver::solve_for(const std::vector<double>& objective, double seconds,
                                              const std::vector<double>* start) const {
  const ModelPtr model(Cbc_newModel());
  Cbc_setLogLevel(model.get(), 0);
  std::vector<std::vector<std::pair<int, double>>> by_column(columns_.size());
  for (size_t row = 0; row < rows_.size(); ++row) {
    for (size_t i = 0; i < rows_[row].columns.size(); ++i)
      by_column[static_cast<size_t>(rows_[row].columns[i])].emplace_back(static_cast<int>(row),
                                                                         rows_[row].coefficients[i]);
  }
  std::vector<CoinBigIndex> starts = {0};
  std::vector<int> indexes;
  std::vector<double> values, lower, upper, row_lower, row_upper;
  for (size_t i = 0; i < columns_.size(); ++i) {
    for (const auto& [row, value] : by_column[i]) {
      indexes.push_back(row);
      values.push_back(value);
    }
    starts.push_back(static_cast<CoinBigIndex>(indexes.size()));
    lower.push_back(columns_[i].lower);
    upper.push_back(1);
  }
  for (const Row& row : rows_) {
    row_lower.push_back(row.lower);
    row_upper.push_back(row.upper);
  }
  Cbc_loadProblem(model.get(), static_cast<int>(columns_.size()), static_cast<int>(rows_.size()),
                  starts.data(), indexes.data(), values.data(), lower.data(), upper.data(), objective.data(),
                  row_lower.data(), row_upper.data());
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].integer) Cbc_setInteger(model.get(), static_cast<int>(i));
  }
  if (start != nullptr) {
    std::vector<int> marked(columns_.size());
    for (size_t i = 0; i < marked.size(); ++i) marked[i] = static_cast<int>(i);
    Cbc_setMIPStartI(model.get(), static_cast<int>(marked.size()), marked.data(), start->data());
  }
  // CBC 2.10 crashes if the time limit expires and it has to undo its preprocessing.
  Cbc_setParameter(model.get(), "preprocess", "off");
  Cbc_setMaximumSeconds(model.get(), seconds);
  Cbc_setAllowableFractionGap(model.get(), 1e-9);
  Cbc_setAllowableGap(model.get(), 1e-10);
  Cbc_solve(model.get());
  const double* best = Cbc_bestSolution(model.get());
  if (best == nullptr) {
    if (Cbc_isProvenInfeasible(model.get()) != 0)
      return base::invalid("no choice of tables answers every query within the space allowed");
    return base::invalid(fmt::format("no choice of tables found within {} s", seconds));
  }
  Found found;
  found.values.assign(best, best + columns_.size());
  found.objective = Cbc_getObjValue(model.get());
  found.proven = Cbc_isProvenOptimal(model.get()) != 0;
  found.bound = found.proven ? found.objective : Cbc_getBestPossibleObjValue(model.get());
  return found;
}

// Binds every read of the plan to its narrowest chosen table. Returns nothing if a read has none.
std::optional<ReadPlan> Solver::bind(const Demand& demand, const ReadPlan& plan, const Found& found) const {
  ReadPlan bound = plan;
  for (Read& read : bound.reads) {
    const bool shared = is_shared(demand, read);
    const auto there = std::find_if(read.places.begin(), read.places.end(), [&](const Place& place) {
      if (!shared) return found.values[place.table] > 0.5;
      return found.values[static_cast<size_t>(shared_.at({demand.group, place.table, read.key}))] > 0.5;
    });
    if (there == read.places.end()) return std::nullopt;
    read.places = {Place(*there)};
  }
  return bound;
}

Solution Solver::read(const Found& found) const {
  Solution solution;
  for (size_t i = 0; i < program_.tables.size(); ++i) solution.tables.push_back(found.values[i] > 0.5);
  for (const Demand& demand : program_.demands) {
    std::optional<ReadPlan> best;
    size_t choice = 0;
    for (size_t p = 0; p < demand.plans.size(); ++p) {
      if (demand.table && !solution.tables[*demand.table]) break;
      if (best && demand.plans[p].cost >= best->cost) continue;
      auto bound = bind(demand, demand.plans[p], found);
      if (!bound) continue;
      best = std::move(bound);
      choice = p;
    }
    solution.plans.push_back(std::move(best));
    solution.choices.push_back(choice);
  }
  drop_unread_tables(solution);
  solution.cost = cost_of(solution);
  return solution;
}

// Removes tables that nothing reads. A solution may contain them if they cost nothing.
void Solver::drop_unread_tables(Solution& solution) const {
  std::vector<bool> used(solution.tables.size());
  for (size_t i = 0; i < used.size(); ++i) used[i] = program_.tables[i].forced;
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t d = 0; d < solution.plans.size(); ++d) {
      const Demand& demand = program_.demands[d];
      if (!solution.plans[d] || (demand.table && !used[*demand.table])) continue;
      for (const Read& read : solution.plans[d]->reads) {
        changed = changed || !used[read.place().table];
        used[read.place().table] = true;
      }
    }
  }
  for (size_t d = 0; d < solution.plans.size(); ++d) {
    if (program_.demands[d].table && !used[*program_.demands[d].table]) solution.plans[d].reset();
  }
  solution.tables = std::move(used);
}

double Solver::cost_of(const Solution& solution) const {
  double cost = 0;
  for (size_t i = 0; i < solution.tables.size(); ++i)
    cost += solution.tables[i] ? program_.tables[i].maintenance : 0;
  std::set<std::tuple<size_t, size_t, std::string>> paid;
  for (size_t d = 0; d < solution.plans.size(); ++d) {
    if (!solution.plans[d]) continue;
    const Demand& demand = program_.demands[d];
    cost += demand.weight * solution.plans[d]->cost;
    for (const Read& read : solution.plans[d]->reads) {
      if (program_.share && !paid.emplace(demand.group, read.place().table, read.key).second)
        cost -= demand.weight * read.cost;
    }
  }
  return cost;
}

// Adds the number of tables, then their space: the space of all tables together weighs less than one table.
std::vector<double> Solver::tie_breaker() const {
  double all = 1;
  for (const Program::Table& table : program_.tables) all += table.bytes * table.preference;
  std::vector<double> objective(columns_.size());
  for (size_t i = 0; i < program_.tables.size(); ++i)
    objective[i] = 1 + program_.tables[i].bytes * program_.tables[i].preference / all;
  return objective;
}

// A solution without sharing is also valid with sharing, and a good starting point.
std::vector<double> Solver::start_from(const Solution& solution) const {
  std::vector<double> values(columns_.size());
  for (size_t i = 0; i < solution.tables.size(); ++i) values[i] = solution.tables[i] ? 1 : 0;
  for (size_t d = 0; d < solution.plans.size(); ++d) {
    if (!solution.plans[d]) continue;
    values[static_cast<size_t>(choices_[d][solution.choices[d]])] = 1;
    for (const Read& read : solution.plans[d]->reads) {
      const auto shared = shared_.find({program_.demands[d].group, read.place().table, read.key});
      if (shared != shared_.end()) values[static_cast<size_t>(shared->second)] = 1;
    }
  }
  return values;
}

base::Result<Solution> Solver::run() {
  for (const Demand& demand : program_.demands) {
    if (!demand.table && demand.plans.empty()) return base::invalid("a query has no plan");
  }
  build();
  std::vector<double> objective;
  for (const Column& column : columns_) objective.push_back(column.cost);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<double> start;
  if (program_.share) {
    Program unshared = program_;
    unshared.share = false;
    unshared.seconds = program_.seconds / 3;
    SIBYL_ASSIGN(const Solution known, solve(unshared));
    start = start_from(known);
  }
  const std::chrono::duration<double> prepared = std::chrono::steady_clock::now() - begin;
  const double first_seconds = std::max(0.5, program_.seconds - prepared.count());
  SIBYL_ASSIGN(const Found first, solve_for(objective, first_seconds, start.empty() ? nullptr : &start));
  Solution solution = read(first);
  solution.bound = std::min(first.bound, solution.cost);
  solution.proven = first.proven;
  const std::chrono::duration<double> used = std::chrono::steady_clock::now() - begin;
  const double left = std::min(program_.seconds - used.count(), program_.seconds / 3);
  if (left < 0.1) return solution;
  Row cheapest;
  cheapest.lower = -infinity;
  cheapest.upper = first.objective + 1e-9 * std::max(1.0, first.objective);
  for (size_t i = 0; i < objective.size(); ++i) {
    if (objective[i] == 0) continue;
    cheapest.columns.push_back(static_cast<int>(i));
    cheapest.coefficients.push_back(objective[i]);
  }
  rows_.push_back(std::move(cheapest));
  if (const auto second = solve_for(tie_breaker(), left, &first.values)) {
    Solution better = read(*second);
    if (better.cost <= solution.cost * (1 + 1e-7)) {
      better.bound = std::min(solution.bound, better.cost);
      better.proven = solution.proven;
      return better;
    }
  }
  return solution;
}

}  // namespace

base::Result<Solution> solve(const Program& program) {
  return Solver(program).run();
}

}  // namespace sibyl::advisor
