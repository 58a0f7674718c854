#include "advisor/design/lookup.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace sibyl::advisor {
namespace {

// Longer plans are considered only if there is no shorter one.
constexpr size_t usual_reads = 3, max_reads = 5;

// Tables that are equivalent for the requirement. The first represents all of them.
struct AccessPath {
  std::vector<Place> places;
  std::string use;                       // text about how the key is bound; equal texts mean equal cost
  std::vector<FieldReference> provides;  // the fields of the requirement that the tables return, in order
  std::vector<size_t> nodes;             // the nodes of the requirement that the tables cover, in order
  std::vector<bool> members;             // per table

  const Place& place() const { return places[0]; }
};

struct State {
  std::vector<std::vector<bool>> known;  // known[node][field]: the value is known
  std::vector<bool> covered;             // per node
  std::vector<double> node_rows;
  std::vector<bool> equal_done, range_done;
  std::vector<size_t> source;  // for each covered node, the read that found it
  double rows = 1;
  bool ordered = false;
  std::vector<Read> reads;
  std::vector<size_t> paths;  // the access path of each read
};

class Search {
 public:
  Search(const Model& model, const CostModel& cost, const std::vector<Layout>& tables,
         const Requirement& need, size_t limit)
      : model_(model), cost_(cost), tables_(tables), need_(need), limit_(limit) {}

  std::vector<ReadPlan> run();

 private:
  void find_paths();
  void add_place(Place place);
  std::string use_of(const Place& place) const;
  std::vector<FieldReference> provided_by(const Place& place) const;
  void widen();
  State start() const;
  void extend(const State& state, std::vector<State>& longer);
  bool is_dominated(const std::vector<size_t>& paths, double cost) const;
  bool applicable(const State& state, const Place& place) const;
  bool joins(const State& state, const Place& place) const;
  bool useful(const State& state, const AccessPath& way) const;
  State apply(const State& state, size_t way) const;
  void restrict_clustering(const Place& place, State& state, Read& read, double& fan) const;
  bool gives_order(const Layout& table, const std::vector<size_t>& nodes, size_t equal) const;
  void filter(State& state) const;
  bool rest_is_single(const State& state) const;
  void limit_rows(State& state, Read& read, double& fan) const;
  Read::Periods periods_of(const Place& place, const Read& read) const;
  double rows_of_period(const Place& place, double rows) const;
  double asked_again(const Place& place, double rows) const;
  double periods_read(const Place& place, const Read& read, double rows) const;
  bool depends_on_last(const State& state, const Place& place) const;
  bool complete(const State& state) const;
  void finish(const State& state);
  std::string key_text(const Place& place, const Read& read) const;

  FieldReference at(const Place& place, FieldReference field) const {
    return {place.nodes[field.node], field.field};
  }
  bool knows(const State& state, FieldReference field) const { return state.known[field.node][field.field]; }
  bool is_given(FieldReference field) const {
    return std::any_of(need_.given.begin(), need_.given.end(),
                       [&](const KnownField& given) { return given.field == field; });
  }
  double selectivity(FieldReference field) const {
    return 1 / model_.distinct(need_.graph.nodes()[field.node].entity, field.field);
  }

  const Model& model_;
  const CostModel& cost_;
  const std::vector<Layout>& tables_;
  const Requirement& need_;
  const size_t limit_;
  size_t examined_ = 0;
  std::vector<AccessPath> paths_;
  std::vector<ReadPlan> plans_;
  std::vector<std::vector<size_t>> sets_;   // access paths of each plan
  std::vector<std::vector<bool>> implied_;  // every table of one access path can serve the other
};

void Search::find_paths() {
  for (size_t i = 0; i < tables_.size(); ++i) {
    for (size_t from = 0; from < tables_[i].graph.size(); ++from) {
      for (size_t node = 0; node < need_.graph.size(); ++node) {
        auto nodes = tables_[i].graph.embed(need_.graph, from, node, &model_);
        // Each place is reported once, from its first node.
        if (nodes && std::all_of(nodes->begin(), nodes->begin() + static_cast<ptrdiff_t>(from),
                                 [](size_t placed) { return placed == SIZE_MAX; }))
          add_place({i, std::move(*nodes)});
      }
    }
  }
  widen();
}

// Describes the properties that determine the cost: the fields that bind the key, the number of rows and
// their order.
std::string Search::use_of(const Place& place) const {
  const Layout& table = tables_[place.table];
  std::vector<FieldReference> partition, equal;
  for (const FieldReference field : table.partition) partition.push_back(at(place, field));
  std::sort(partition.begin(), partition.end());
  size_t next = 0;
  while (next < table.clustering.size() && is_given(at(place, table.clustering[next])))
    equal.push_back(at(place, table.clustering[next++]));
  std::sort(equal.begin(), equal.end());
  std::string text = fmt::format("{:.9g} {}", rows_per_key(model_, table), table.buckets);
  if (table.period) {
    const FieldReference field = at(place, table.period->field);
    text += fmt::format(" every {:.9g} of {}.{}", table.period->seconds, field.node, field.field);
  }
  for (const FieldReference field : partition) text += fmt::format(" {}.{}", field.node, field.field);
  for (const FieldReference field : equal) text += fmt::format(" ={}.{}", field.node, field.field);
  if (next < table.clustering.size()) {
    const FieldReference field = at(place, table.clustering[next]);
    for (const Predicate& range : need_.ranges) {
      if (range.field == field) text += fmt::format(" >{}.{}", field.node, field.field);
    }
  }
  if (gives_order(table, place.nodes, next)) text += " ordered";
  return text;
}

std::vector<FieldReference> Search::provided_by(const Place& place) const {
  std::vector<FieldReference> fields;
  const Layout& table = tables_[place.table];
  const auto add = [&](FieldReference field) {
    for (size_t node = 0; node < place.nodes.size(); ++node) {
      if (place.nodes[node] == field.node && in_layout(table, {node, field.field}) &&
          !contains(fields, field))
        fields.push_back(field);
    }
  };
  for (const FieldReference field : need_.wanted) add(field);
  for (const Predicate& range : need_.ranges) add(range.field);
  for (const KnownField& given : need_.given) add(given.field);
  for (size_t node = 0; node < need_.graph.size(); ++node) add(key_of(model_, need_.graph, node));
  std::sort(fields.begin(), fields.end());
  return fields;
}

void Search::add_place(Place place) {
  AccessPath way;
  way.use = use_of(place);
  way.provides = provided_by(place);
  way.nodes = place.nodes;
  std::erase(way.nodes, SIZE_MAX);
  std::sort(way.nodes.begin(), way.nodes.end());
  for (AccessPath& other : paths_) {
    if (other.use != way.use || other.provides != way.provides || other.nodes != way.nodes) continue;
    other.members[place.table] = true;
    other.places.push_back(std::move(place));
    return;
  }
  way.members.resize(tables_.size());
  way.members[place.table] = true;
  way.places.push_back(std::move(place));
  paths_.push_back(std::move(way));
}

// A table that returns more fields at the same cost can replace a table that returns fewer.
void Search::widen() {
  std::vector<AccessPath> wide = paths_;
  for (AccessPath& way : wide) {
    for (const AccessPath& other : paths_) {
      if (&other - paths_.data() == &way - wide.data() || other.use != way.use) continue;
      if (!std::includes(other.provides.begin(), other.provides.end(), way.provides.begin(),
                         way.provides.end()))
        continue;
      if (!std::includes(other.nodes.begin(), other.nodes.end(), way.nodes.begin(), way.nodes.end()))
        continue;
      for (const Place& place : other.places) {
        if (way.members[place.table]) continue;
        way.members[place.table] = true;
        way.places.push_back(place);
      }
    }
  }
  paths_ = std::move(wide);
  implied_.assign(paths_.size(), std::vector<bool>(paths_.size()));
  for (size_t a = 0; a < paths_.size(); ++a) {
    for (size_t b = 0; b < paths_.size(); ++b) {
      bool subset = true;
      for (size_t t = 0; t < tables_.size() && subset; ++t)
        subset = !paths_[a].members[t] || paths_[b].members[t];
      implied_[a][b] = subset;
    }
    std::stable_sort(
        paths_[a].places.begin() + 1, paths_[a].places.end(), [&](const Place& x, const Place& y) {
          return layout_row_bytes(model_, tables_[x.table]) < layout_row_bytes(model_, tables_[y.table]);
        });
  }
}

State Search::start() const {
  State state;
  for (const Graph::Node& node : need_.graph.nodes())
    state.known.emplace_back(model_.entities[node.entity].fields.size());
  for (const KnownField& given : need_.given) state.known[given.field.node][given.field.field] = true;
  state.covered.resize(need_.graph.size());
  state.node_rows.assign(need_.graph.size(), 1);
  state.source.assign(need_.graph.size(), 0);
  state.equal_done.resize(need_.given.size());
  state.range_done.resize(need_.ranges.size());
  return state;
}

// Returns true if the whole partition key is known and, for a later read, the table is connected with the
// rows found.
bool Search::applicable(const State& state, const Place& place) const {
  const Layout& table = tables_[place.table];
  for (const FieldReference field : table.partition) {
    if (at(place, field).node == SIZE_MAX || !knows(state, at(place, field))) return false;
  }
  return state.reads.empty() || joins(state, place);
}

// Returns true if rows of the table can be joined with the rows found. The entities that both contain must
// be bound by key, or determined by entities that are.
bool Search::joins(const State& state, const Place& place) const {
  const Layout& table = tables_[place.table];
  std::vector<bool> same(table.graph.size());
  bool any = false;
  for (const FieldReference field : table.partition) {
    if (field != key_of(model_, table.graph, field.node) || !state.covered[place.nodes[field.node]]) continue;
    any = true;
    const std::vector<bool> determined = table.graph.determined_by(model_, field.node);
    for (size_t i = 0; i < same.size(); ++i) same[i] = same[i] || determined[i];
  }
  if (!any) return false;
  for (size_t i = 0; i < same.size(); ++i) {
    if (place.nodes[i] != SIZE_MAX && state.covered[place.nodes[i]] && !same[i]) return false;
  }
  return true;
}

bool Search::useful(const State& state, const AccessPath& way) const {
  return std::any_of(way.nodes.begin(), way.nodes.end(), [&](size_t node) { return !state.covered[node]; }) ||
         std::any_of(way.provides.begin(), way.provides.end(),
                     [&](FieldReference field) { return !knows(state, field); });
}

void Search::restrict_clustering(const Place& place, State& state, Read& read, double& fan) const {
  const Layout& table = tables_[place.table];
  const auto apply_given = [&](FieldReference field, bool reduces) {
    bool found = false;
    for (size_t i = 0; i < need_.given.size(); ++i) {
      if (need_.given[i].field != field) continue;
      found = true;
      if (!state.equal_done[i] && reduces) fan *= selectivity(field);
      state.equal_done[i] = true;
    }
    return found;
  };
  for (const FieldReference field : table.partition) apply_given(at(place, field), false);
  while (read.equal < table.clustering.size() && apply_given(at(place, table.clustering[read.equal]), true))
    ++read.equal;
  if (read.equal == table.clustering.size()) return;
  const FieldReference next = at(place, table.clustering[read.equal]);
  bool reduced = false;
  for (size_t i = 0; i < need_.ranges.size(); ++i) {
    if (need_.ranges[i].field != next) continue;
    read.range = true;
    reduced = reduced || !state.range_done[i];
    state.range_done[i] = true;
  }
  if (reduced) fan *= cost_.range_selectivity;
}

// Returns true if rows of one partition come in the requested order or its reverse.
bool Search::gives_order(const Layout& table, const std::vector<size_t>& nodes, size_t equal) const {
  size_t next = equal;
  std::optional<bool> reversed;
  for (const OrderTerm& term : need_.order) {
    if (is_given(term.field)) continue;
    if (next == table.clustering.size()) return false;
    const FieldReference field = table.clustering[next];
    if (FieldReference{nodes[field.node], field.field} != term.field) return false;
    const bool opposite = table.descending[next] != term.descending;
    if (reversed && *reversed != opposite) return false;
    reversed = opposite;
    ++next;
  }
  return true;
}

// Applies predicates that the key does not serve, but that can be checked on the rows read.
void Search::filter(State& state) const {
  double kept = 1;
  for (size_t i = 0; i < need_.given.size(); ++i) {
    const FieldReference field = need_.given[i].field;
    if (state.equal_done[i] || !state.covered[field.node]) continue;
    const bool readable = contains(paths_[state.paths.back()].provides, field);
    if (!readable) continue;
    state.equal_done[i] = true;
    kept *= selectivity(field);
  }
  std::vector<FieldReference> ranged;
  for (size_t i = 0; i < need_.ranges.size(); ++i) {
    if (state.range_done[i] || !knows(state, need_.ranges[i].field)) continue;
    state.range_done[i] = true;
    if (!contains(ranged, need_.ranges[i].field)) ranged.push_back(need_.ranges[i].field);
  }
  for (size_t i = 0; i < ranged.size(); ++i) kept *= cost_.range_selectivity;
  state.rows *= kept;
  for (size_t node = 0; node < state.covered.size(); ++node) {
    if (state.covered[node]) state.node_rows[node] *= kept;
  }
}

// Returns true if every further read finds exactly one row for each row found so far.
bool Search::rest_is_single(const State& state) const {
  std::vector<bool> reached(need_.graph.size());
  for (size_t node = 0; node < reached.size(); ++node) {
    if (!state.covered[node]) continue;
    const std::vector<bool> determined = need_.graph.determined_by(model_, node);
    for (size_t i = 0; i < reached.size(); ++i) reached[i] = reached[i] || determined[i];
  }
  return std::all_of(reached.begin(), reached.end(), [](bool value) { return value; });
}

void Search::limit_rows(State& state, Read& read, double& fan) const {
  const auto done = [](const std::vector<bool>& flags) {
    return std::all_of(flags.begin(), flags.end(), [](bool flag) { return flag; });
  };
  if (!need_.limit || !state.ordered || !done(state.equal_done) || !done(state.range_done)) return;
  if (!rest_is_single(state)) return;
  read.limited = true;
  fan = std::min(fan, *need_.limit);
}

Read::Periods Search::periods_of(const Place& place, const Read& read) const {
  const Layout& table = tables_[place.table];
  if (!table.period) return Read::Periods::none;
  const FieldReference field = at(place, table.period->field);
  if (is_given(field)) return Read::Periods::one;
  // If rows are ordered by time only, the newest rows are in the newest periods.
  const auto term = std::find_if(need_.order.begin(), need_.order.end(),
                                 [&](const OrderTerm& one) { return !is_given(one.field); });
  if (read.limited && (term == need_.order.end() || (term->field == field && term->descending)))
    return Read::Periods::newest;
  const bool ranged = std::any_of(need_.ranges.begin(), need_.ranges.end(),
                                  [&](const Predicate& range) { return range.field == field; });
  return ranged ? Read::Periods::range : Read::Periods::all;
}

// The rows that the read finds in one period, if it finds `rows` in all periods.
double Search::rows_of_period(const Place& place, double rows) const {
  const Layout& table = tables_[place.table];
  return std::max(1e-9, table.period->rows * rows / rows_per_key(model_, table));
}

// The factor for periods that are read without finding enough rows: all of the smaller ones, and half of the
// last larger one.
double Search::asked_again(const Place& place, double rows) const {
  if (!tables_[place.table].period) return 1;
  const double each = *need_.limit / rows_of_period(place, rows);
  return 1 + 0.5 * std::min(each, 1 / each);
}

double Search::periods_read(const Place& place, const Read& read, double rows) const {
  if (read.periods == Read::Periods::none || read.periods == Read::Periods::one) return 1;
  const Layout::Period& period = *tables_[place.table].period;
  if (read.periods == Read::Periods::newest)
    return std::min(period.count, 1 + *need_.limit / rows_of_period(place, rows));
  return read.periods == Read::Periods::all ? period.count : 1 + cost_.range_selectivity * (period.count - 1);
}

// Given values are identified by their operand, found values by the path to them.
std::string Search::key_text(const Place& place, const Read& read) const {
  const Layout& table = tables_[place.table];
  std::string text;
  const auto bind = [&](FieldReference field) {
    for (const KnownField& given : need_.given) {
      if (given.field == field) return given.value.text;
    }
    // Without predicates, the result depends only on the given values.
    const bool simple = need_.ranges.empty() && need_.given.size() == 1 && !need_.limit;
    return simple ? need_.given[0].value.text + ">" + path_text(model_, need_.graph, field)
                  : requirement_text(model_, need_, true) + ">" + path_text(model_, need_.graph, field);
  };
  for (const FieldReference field : table.partition) text += "," + bind(at(place, field));
  for (size_t i = 0; i < read.equal; ++i) text += "=" + bind(at(place, table.clustering[i]));
  if (read.range) {
    for (const Predicate& range : need_.ranges) {
      if (range.field == at(place, table.clustering[read.equal]))
        text += to_string(range.comparison) + range.value.text;
    }
  }
  if (read.limited) text += fmt::format("#{}", *need_.limit);
  return fmt::format("{}*{:.9g}/{:.9g}", text, read.partitions, read.rows);
}

State Search::apply(const State& before, size_t way) const {
  State state = before;
  const Place& place = paths_[way].place();
  const Layout& table = tables_[place.table];
  Read read;
  read.places = paths_[way].places;
  read.first = state.reads.empty();
  double keys = 1;
  for (const FieldReference field : table.partition) {
    const FieldReference placed = at(place, field);
    if (state.covered[placed.node]) keys = std::max(keys, state.node_rows[placed.node]);
  }
  // A key that the statement gives is a single key, however many rows were found before.
  const bool all_given = std::all_of(table.partition.begin(), table.partition.end(),
                                     [&](FieldReference field) { return is_given(at(place, field)); });
  if (all_given) keys = 1;
  double fan = rows_per_key(model_, table);
  restrict_clustering(place, state, read, fan);
  for (const size_t node : paths_[way].nodes) {
    if (!state.covered[node]) state.source[node] = state.reads.size();
    state.covered[node] = true;
  }
  for (const FieldReference field : paths_[way].provides) state.known[field.node][field.field] = true;
  const double all = fan;
  if (read.first) {
    state.ordered = gives_order(table, place.nodes, read.equal);
    limit_rows(state, read, fan);
  }
  // Every bucket may contain the first rows, so each is read up to the limit.
  read.rows = keys * (read.limited ? std::min(all, fan * table.buckets * asked_again(place, all)) : fan);
  read.periods = periods_of(place, read);
  read.partitions = keys * table.buckets * periods_read(place, read, all);
  read.cost = cost_.read(read.partitions, read.rows);
  read.key = key_text(place, read);
  for (const size_t node : paths_[way].nodes) {
    if (!before.covered[node]) state.node_rows[node] = keys * fan;
  }
  state.rows *= fan;
  state.reads.push_back(std::move(read));
  state.paths.push_back(way);
  filter(state);
  return state;
}

bool Search::complete(const State& state) const {
  const auto done = [](const std::vector<bool>& flags) {
    return std::all_of(flags.begin(), flags.end(), [](bool flag) { return flag; });
  };
  if (!done(state.covered) || !done(state.equal_done) || !done(state.range_done)) return false;
  return std::all_of(need_.wanted.begin(), need_.wanted.end(),
                     [&](FieldReference field) { return knows(state, field); });
}

void Search::finish(const State& state) {
  ReadPlan plan;
  plan.reads = state.reads;
  plan.rows = need_.limit ? std::min(state.rows, *need_.limit) : state.rows;
  for (const Read& read : plan.reads) plan.cost += read.cost;
  // A single row is always in order.
  plan.sort = !need_.order.empty() && !state.ordered && state.rows > 1;
  if (plan.sort) plan.cost += cost_.sort;
  sets_.push_back(state.paths);
  plans_.push_back(std::move(plan));
}

// True if the last read depends on the one before. Independent reads are tried in only one order.
bool Search::depends_on_last(const State& state, const Place& place) const {
  const bool first_matters = !need_.order.empty() || need_.limit.has_value();
  if (state.reads.size() <= (first_matters ? 1 : 0)) return true;
  return std::any_of(tables_[place.table].partition.begin(), tables_[place.table].partition.end(),
                     [&](FieldReference field) {
                       const FieldReference placed = at(place, field);
                       return !is_given(placed) && state.source[placed.node] + 1 == state.reads.size();
                     });
}

// Returns true if a known plan costs no more and could use the same tables. More reads only add cost, so such
// a path can be dropped.
bool Search::is_dominated(const std::vector<size_t>& paths, double cost) const {
  for (size_t i = 0; i < plans_.size(); ++i) {
    if (plans_[i].cost > cost) continue;
    const bool serves = std::all_of(sets_[i].begin(), sets_[i].end(), [&](size_t needed) {
      return std::any_of(paths.begin(), paths.end(), [&](size_t way) { return implied_[way][needed]; });
    });
    if (serves) return true;
  }
  return false;
}

void Search::extend(const State& state, std::vector<State>& longer) {
  for (size_t i = 0; i < paths_.size() && examined_ < limit_; ++i) {
    if (!applicable(state, paths_[i].place()) || !useful(state, paths_[i])) continue;
    if (!state.paths.empty() && i < state.paths.back() && !depends_on_last(state, paths_[i].place()))
      continue;
    ++examined_;
    State next = apply(state, i);
    double cost = 0;
    for (const Read& read : next.reads) cost += read.cost;
    if (is_dominated(next.paths, cost)) continue;
    if (complete(next)) {
      finish(next);
    } else {
      longer.push_back(std::move(next));
    }
  }
}

std::vector<ReadPlan> Search::run() {
  find_paths();
  std::vector<State> states = {start()};
  // Short plans first, so that longer plans with the same tables can be dropped.
  for (size_t reads = 1; reads <= max_reads && !states.empty(); ++reads) {
    if (reads > usual_reads && !plans_.empty()) break;
    std::vector<State> longer;
    for (const State& state : states) extend(state, longer);
    states = std::move(longer);
  }
  std::vector<size_t> order(plans_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return plans_[a].cost < plans_[b].cost; });
  std::vector<ReadPlan> found = std::move(plans_), kept;
  std::vector<std::vector<size_t>> sets = std::move(sets_);
  plans_.clear();
  sets_.clear();
  for (const size_t i : order) {
    if (is_dominated(sets[i], found[i].cost)) continue;
    plans_.push_back(found[i]);
    sets_.push_back(sets[i]);
    kept.push_back(std::move(found[i]));
  }
  return kept;
}

}  // namespace

Requirement requirement_of(const Statement& query) {
  Requirement need;
  need.graph = query.graph;
  need.wanted = query.select;
  need.order = query.order;
  need.limit = query.limit;
  for (const Predicate& predicate : query.where) {
    if (predicate.comparison == Comparison::equal) {
      need.given.push_back({predicate.field, predicate.value});
    } else {
      need.ranges.push_back(predicate);
    }
  }
  return need;
}

std::string requirement_text(const Model& model, const Requirement& need, bool values) {
  std::string text;
  const auto path = [&](FieldReference field) { return path_text(model, need.graph, field); };
  std::vector<std::string> parts;
  for (const FieldReference field : need.wanted) parts.push_back(path(field));
  for (size_t node = 0; node < need.graph.size(); ++node)
    parts.push_back(path(key_of(model, need.graph, node)) + "!");
  std::sort(parts.begin(), parts.end());
  text = fmt::format("{}", fmt::join(parts, ","));
  for (const KnownField& given : need.given)
    text += fmt::format(" {}={}", path(given.field), values ? given.value.text : "");
  for (const Predicate& range : need.ranges)
    text += fmt::format(" {}{}{}", path(range.field), to_string(range.comparison),
                        values ? range.value.text : "");
  for (const OrderTerm& term : need.order)
    text += fmt::format(" by {}{}", path(term.field), term.descending ? "-" : "+");
  if (need.limit) text += fmt::format(" limit {}", *need.limit);
  return text;
}

std::vector<ReadPlan> find_plans(const Model& model, const CostModel& cost, const std::vector<Layout>& tables,
                                 const Requirement& need, size_t limit) {
  return Search(model, cost, tables, need, limit).run();
}

}  // namespace sibyl::advisor
