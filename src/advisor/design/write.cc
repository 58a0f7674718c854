#include "advisor/design/write.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include "advisor/review/review_model.h"
#include "cql/printer.h"

namespace sibyl::advisor {
namespace {

// The column of the read's table for a field of the requirement; empty if the table has none.
std::string column_of(const DesignedTable& table, const Read& read, FieldReference field) {
  const std::vector<size_t>& nodes = read.place().nodes;
  for (size_t node = 0; node < nodes.size(); ++node) {
    if (nodes[node] == field.node && in_layout(table.layout, {node, field.field}))
      return table.column({node, field.field});
  }
  return {};
}

class ReadWriter {
 public:
  ReadWriter(const std::vector<DesignedTable>& tables, const std::vector<size_t>& table_of,
             const Requirement& need, const ReadPlan& plan, size_t lookup)
      : tables_(tables), table_of_(table_of), need_(need), plan_(plan), lookup_(lookup) {}

  std::vector<PlannedStep> run();

 private:
  const DesignedTable& table(size_t read) const {
    return tables_[table_of_[plan_.reads[read].place().table]];
  }
  FieldReference placed(size_t read, FieldReference field) const {
    return {plan_.reads[read].place().nodes[field.node], field.field};
  }
  // The entity field that a field of the requirement takes its values from.
  Parameter domain(FieldReference wanted) const {
    Parameter parameter;
    parameter.entity = need_.graph.nodes()[wanted.node].entity;
    parameter.entity_field = wanted.field;
    return parameter;
  }
  void bind(const Operand& value, FieldReference wanted, Comparison comparison, PlannedStep& step) const;
  std::string where(size_t index, PlannedStep& step) const;
  std::string equal_to(size_t index, FieldReference field, std::set<size_t>& from, PlannedStep& step) const;
  std::vector<std::string> selected(size_t index, PlannedStep& step) const;
  std::string order(size_t index) const;
  std::string filters(size_t index, PlannedStep& step) const;
  bool served(size_t index, FieldReference field, bool range) const;
  bool comes_apart() const {
    const Read::Periods periods = plan_.reads[0].periods;
    return table(0).layout.buckets > 1 || (periods != Read::Periods::none && periods != Read::Periods::one);
  }
  // Returns true if periods are read from the newest on, so that rows arrive in order.
  bool is_walked() const {
    return table(0).layout.buckets <= 1 && plan_.reads[0].periods == Read::Periods::newest;
  }
  void add_periods(size_t index, std::vector<std::string>& parts, PlannedStep& step) const;
  bool is_limited() const { return plan_.reads[0].limited; }
  void add_sequence(size_t index, std::vector<PlannedStep>& steps) const;

  const std::vector<DesignedTable>& tables_;
  const std::vector<size_t>& table_of_;
  const Requirement& need_;
  const ReadPlan& plan_;
  const size_t lookup_;
};

// A literal is part of the text and needs no parameter.
void ReadWriter::bind(const Operand& value, FieldReference wanted, Comparison comparison,
                      PlannedStep& step) const {
  if (!value.is_marker()) return;
  Parameter parameter = domain(wanted);
  parameter.operand = value.text;
  parameter.comparison = comparison;
  step.parameters.push_back(std::move(parameter));
}

// `column = value`, where the value is given or found by an earlier read.
std::string ReadWriter::equal_to(size_t index, FieldReference field, std::set<size_t>& from,
                                 PlannedStep& step) const {
  const std::string& column = table(index).column(field);
  const FieldReference wanted = placed(index, field);
  for (const KnownField& given : need_.given) {
    if (given.field != wanted) continue;
    bind(given.value, wanted, Comparison::equal, step);
    return fmt::format("{} = {}", cql::print_name(column), marker_text(given.value, column));
  }
  std::string name = column;
  for (size_t before = index; before-- > 0;) {
    if (const std::string found = column_of(table(before), plan_.reads[before], wanted); !found.empty()) {
      from.insert(before);
      name = found;
    }
  }
  Parameter found = domain(wanted);
  found.source = Parameter::Source::found;
  found.lookup = lookup_;
  found.field = wanted;
  step.parameters.push_back(std::move(found));
  return fmt::format("{} = :{}", cql::print_name(column), cql::print_name(name));
}

void ReadWriter::add_periods(size_t index, std::vector<std::string>& parts, PlannedStep& step) const {
  using Periods = Read::Periods;
  const DesignedTable& asked = table(index);
  const Layout::Period& period = *asked.layout.period;
  const FieldReference field = placed(index, period.field);
  parts.push_back(fmt::format("{0} = :{0}", cql::print_name(asked.period_column)));
  step.parameters.emplace_back().source = Parameter::Source::period;
  step.periods = plan_.reads[index].periods;
  const auto add_bound = [&](const Operand& value, Comparison comparison) {
    Parameter& bound = step.period_bounds.emplace_back(domain(field));
    bound.operand = value.text;
    bound.comparison = comparison;
  };
  for (const KnownField& given : need_.given)
    if (given.field == field) add_bound(given.value, Comparison::equal);
  for (const Predicate& range : need_.ranges)
    if (range.field == field) add_bound(range.value, range.comparison);
  const std::string width = duration_text(period.seconds);
  if (step.periods == Periods::newest) step.enough = need_.limit;
  switch (step.periods) {
    case Periods::one:
      step.note = fmt::format("{} = {}", asked.period_column, period_text(asked));
      break;
    case Periods::newest:
      step.note = fmt::format("for each period of {}, from the newest on until there are {:.0f} rows", width,
                              *need_.limit);
      break;
    case Periods::range:
      step.note = fmt::format("for each period of {} within the range", width);
      break;
    default:
      step.note = fmt::format("for each period of {}: {:.0f} at the horizon", width, period.count);
  }
}

std::string ReadWriter::where(size_t index, PlannedStep& step) const {
  const Read& read = plan_.reads[index];
  const Layout& layout = table(index).layout;
  std::vector<std::string> parts;
  std::set<size_t> from;
  std::string& note = step.note;
  for (const FieldReference field : layout.partition) parts.push_back(equal_to(index, field, from, step));
  if (layout.period) add_periods(index, parts, step);
  if (needs_bucket(layout)) {
    parts.push_back(fmt::format("{0} = :{0}", cql::print_name(table(index).bucket_column)));
    step.parameters.emplace_back().source = Parameter::Source::bucket;
    note += fmt::format("{}for each bucket 0 to {:.0f}", note.empty() ? "" : ", ", layout.buckets - 1);
  }
  for (size_t i = 0; i < read.equal; ++i) parts.push_back(equal_to(index, layout.clustering[i], from, step));
  if (read.range) {
    const FieldReference field = layout.clustering[read.equal];
    for (const Predicate& range : need_.ranges) {
      if (range.field != placed(index, field)) continue;
      bind(range.value, range.field, range.comparison, step);
      parts.push_back(fmt::format("{} {} {}", cql::print_name(table(index).column(field)),
                                  to_string(range.comparison),
                                  marker_text(range.value, table(index).column(field))));
    }
  }
  for (const size_t before : from)
    note = fmt::format("for each row of read {}{}{}", before + 1, note.empty() ? "" : ", ", note);
  return fmt::format("{}", fmt::join(parts, " AND "));
}

bool ReadWriter::served(size_t index, FieldReference field, bool range) const {
  const Read& read = plan_.reads[index];
  const Layout& layout = table(index).layout;
  for (const FieldReference key : layout.partition) {
    if (placed(index, key) == field) return true;
  }
  for (size_t i = 0; i < read.equal; ++i) {
    if (placed(index, layout.clustering[i]) == field) return true;
  }
  return range && read.range && placed(index, layout.clustering[read.equal]) == field;
}

// The columns to select: wanted fields, keys for later reads, and fields to check or to sort by.
std::vector<std::string> ReadWriter::selected(size_t index, PlannedStep& step) const {
  std::vector<FieldReference> fields = need_.wanted;
  for (size_t later = index + 1; later < plan_.reads.size(); ++later) {
    const Layout& layout = table(later).layout;
    for (const FieldReference field : layout.partition) fields.push_back(placed(later, field));
    for (size_t i = 0; i < plan_.reads[later].equal; ++i)
      fields.push_back(placed(later, layout.clustering[i]));
  }
  for (const Predicate& range : need_.ranges) {
    if (!served(index, range.field, true)) fields.push_back(range.field);
  }
  for (const KnownField& given : need_.given) {
    if (!served(index, given.field, false)) fields.push_back(given.field);
  }
  if (plan_.sort || comes_apart()) {
    for (const OrderTerm& term : need_.order) fields.push_back(term.field);
  }
  std::vector<std::string> columns;
  const auto add = [&](const std::string& column, FieldReference field) {
    const std::string printed = column.empty() ? "" : cql::print_name(column);
    if (printed.empty() || std::find(columns.begin(), columns.end(), printed) != columns.end()) return;
    columns.push_back(printed);
    step.results.push_back(field);
  };
  for (const FieldReference field : fields) add(column_of(table(index), plan_.reads[index], field), field);
  if (columns.empty()) add(table(index).columns[0].second, {SIZE_MAX, SIZE_MAX});
  return columns;
}

std::string ReadWriter::order(size_t index) const {
  const Read& read = plan_.reads[index];
  if (!read.first || plan_.sort || need_.order.empty()) return {};
  const Layout& layout = table(index).layout;
  std::vector<std::string> terms;
  bool as_stored = true;
  size_t next = read.equal;
  for (const OrderTerm& term : need_.order) {
    if (next >= layout.clustering.size() || placed(index, layout.clustering[next]) != term.field) continue;
    as_stored = as_stored && layout.descending[next] == term.descending;
    terms.push_back(cql::print_name(table(index).column(layout.clustering[next])) +
                    (term.descending ? " DESC" : " ASC"));
    ++next;
  }
  return as_stored || terms.empty() ? "" : fmt::format(" ORDER BY {}", fmt::join(terms, ", "));
}

// Predicates to check on the rows of this read.
std::string ReadWriter::filters(size_t index, PlannedStep& step) const {
  std::vector<std::string> checks;
  const auto earlier = [&](FieldReference field, bool range) {
    for (size_t before = 0; before < index; ++before) {
      if (served(before, field, range) || !column_of(table(before), plan_.reads[before], field).empty())
        return true;
    }
    return served(index, field, range);
  };
  const auto add = [&](FieldReference field, Comparison comparison, const Operand& value, bool range) {
    const std::string column = column_of(table(index), plan_.reads[index], field);
    if (column.empty() || earlier(field, range)) return;
    checks.push_back(fmt::format("{} {} {}", column, to_string(comparison), marker_text(value, column)));
    Parameter parameter = domain(field);
    parameter.operand = value.text;
    parameter.comparison = comparison;
    step.checks.emplace_back(field, std::move(parameter));
  };
  for (const KnownField& given : need_.given) add(given.field, Comparison::equal, given.value, false);
  for (const Predicate& range : need_.ranges) add(range.field, range.comparison, range.value, true);
  return fmt::format("{}", fmt::join(checks, " AND "));
}

// Adds a client step that sorts rows and keeps as many as requested.
void ReadWriter::add_sequence(size_t index, std::vector<PlannedStep>& steps) const {
  PlannedStep step;
  step.kind = PlannedStep::Kind::client;
  step.lookup = lookup_;
  step.sorts = plan_.sort;
  std::vector<std::string> terms;
  for (const OrderTerm& term : need_.order) {
    if (!plan_.sort && (!comes_apart() || is_walked())) break;
    const auto given = [&](const KnownField& one) { return one.field == term.field; };
    if (std::any_of(need_.given.begin(), need_.given.end(), given)) continue;
    std::string column;
    for (size_t read = index + 1; read-- > 0 && column.empty();)
      column = column_of(table(read), plan_.reads[read], term.field);
    const Parameter about = domain(term.field);
    step.order.push_back({term.field, about.entity, about.entity_field, term.descending});
    terms.push_back(column + (term.descending ? " DESC" : ""));
  }
  step.keep = need_.limit;
  if (step.order.empty() && !step.keep) return;
  if (!step.order.empty())
    step.cql = fmt::format("{} {}",
                           plan_.sort               ? "sort the rows by"
                           : table(0).layout.period ? "merge the rows of all partitions by"
                                                    : "merge the rows of all buckets by",
                           fmt::join(terms, ", "));
  if (step.keep)
    step.cql += fmt::format("{}keep the first {:.0f}", step.cql.empty() ? "" : " and ", *step.keep);
  steps.push_back(std::move(step));
}

std::vector<PlannedStep> ReadWriter::run() {
  std::vector<PlannedStep> steps;
  for (size_t i = 0; i < plan_.reads.size(); ++i) {
    const Read& read = plan_.reads[i];
    PlannedStep step;
    step.kind = PlannedStep::Kind::read;
    step.table = table_of_[read.place().table];
    step.lookup = lookup_;
    const std::string restricted = where(i, step);
    step.cql = fmt::format("SELECT {} FROM {} WHERE {}{}", fmt::join(selected(i, step), ", "),
                           cql::print_name(table(i).layout.name), restricted, order(i));
    if (read.limited) step.cql += fmt::format(" LIMIT {:.0f}", *need_.limit);
    step.cql += ";";
    step.partitions = read.partitions;
    step.rows = read.rows;
    step.cost = read.cost;
    steps.push_back(std::move(step));
    PlannedStep check;
    if (const std::string checks = filters(i, check); !checks.empty()) {
      check.kind = PlannedStep::Kind::client;
      check.lookup = lookup_;
      check.cql = "keep the rows with " + checks;
      steps.push_back(std::move(check));
    }
    // If each bucket was read up to the LIMIT, merge them: only the first rows of all buckets are looked up
    // further.
    if (i == 0 && is_limited() && comes_apart()) add_sequence(i, steps);
  }
  const bool unlimited = need_.limit && !is_limited();
  if (plan_.sort || unlimited || (comes_apart() && !is_limited()))
    add_sequence(plan_.reads.size() - 1, steps);
  return steps;
}

}  // namespace

std::string marker_text(const Operand& value, const std::string& column) {
  if (!value.is_marker()) return value.text;
  return ":" + cql::print_name(value.is_named() ? value.text.substr(1) : column);
}

std::vector<PlannedStep> write_reads(const Workload&, const std::vector<DesignedTable>& tables,
                                     const std::vector<size_t>& table_of, const Requirement& need,
                                     const ReadPlan& plan, size_t lookup) {
  return ReadWriter(tables, table_of, need, plan, lookup).run();
}

namespace {

class Assembler {
 public:
  Assembler(const Workload& workload, const Model& later, const CostModel& cost,
            const std::vector<Layout>& candidates, const Program& program,
            const std::vector<DemandOrigin>& origins, const Solution& solution)
      : workload_(workload),
        later_(later),
        cost_(cost),
        candidates_(candidates),
        program_(program),
        origins_(origins),
        solution_(solution) {}

  Design run(const std::string& mix);

 private:
  void write_tables();
  void write_query(const Statement& statement);
  void write_change(const Statement& statement);
  void add_reads(PlannedStatement& planned, const Requirement& need, size_t demand, size_t lookup);
  void add(PlannedStatement planned);
  const ReadPlan* plan_for(const Statement& statement, size_t table, size_t unit, size_t need,
                           size_t& demand) const;

  const Workload& workload_;
  const Model& later_;
  const CostModel& cost_;
  const std::vector<Layout>& candidates_;
  const Program& program_;
  const std::vector<DemandOrigin>& origins_;
  const Solution& solution_;
  std::vector<size_t> table_of_;
  std::set<std::tuple<size_t, size_t, std::string>> done_;  // shared reads: group, table, key
  Design design_;
};

void Assembler::write_tables() {
  std::vector<std::string> taken;
  table_of_.assign(candidates_.size(), SIZE_MAX);
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (!solution_.tables[i]) continue;
    table_of_[i] = design_.tables.size();
    design_.tables.push_back(write_table(workload_.model, later_, candidates_[i], taken));
    design_.bytes += design_.tables.back().bytes;
    design_.horizon_bytes += design_.tables.back().horizon_bytes;
  }
}

const ReadPlan* Assembler::plan_for(const Statement& statement, size_t table, size_t unit, size_t need,
                                    size_t& demand) const {
  for (demand = 0; demand < origins_.size(); ++demand) {
    const DemandOrigin& origin = origins_[demand];
    if (origin.statement != &statement || origin.table != table || origin.unit != unit || origin.need != need)
      continue;
    return solution_.plans[demand] ? &*solution_.plans[demand] : nullptr;
  }
  return nullptr;
}

void Assembler::add_reads(PlannedStatement& planned, const Requirement& need, size_t demand, size_t lookup) {
  const ReadPlan& plan = *solution_.plans[demand];
  std::vector<PlannedStep> steps = write_reads(workload_, design_.tables, table_of_, need, plan, lookup);
  size_t read = 0;
  for (PlannedStep& step : steps) {
    if (step.kind == PlannedStep::Kind::read) {
      const Read& done = plan.reads[read++];
      step.shared = program_.share &&
                    !done_.emplace(program_.demands[demand].group, done.place().table, done.key).second;
      if (step.shared) step.cost = 0;
      std::vector<std::string>& users = design_.tables[step.table].read_by;
      if (std::find(users.begin(), users.end(), planned.name) == users.end()) users.push_back(planned.name);
    }
    planned.cost += step.cost;
    planned.steps.push_back(std::move(step));
  }
  if (plan.sort) planned.cost += cost_.sort;
}

void Assembler::write_query(const Statement& statement) {
  PlannedStatement planned;
  planned.name = statement.name;
  size_t demand = 0;
  if (plan_for(statement, SIZE_MAX, 0, 0, demand) == nullptr) return;
  add_reads(planned, requirement_of(statement), demand, 0);
  planned.group = statement.group;
  planned.text = print_statement(workload_.model, statement);
  planned.query = true;
  add(std::move(planned));
}

void Assembler::write_change(const Statement& statement) {
  PlannedStatement planned;
  planned.name = statement.name;
  // Look up everything before writing anything, so that look-ups find the old values.
  std::vector<PlannedStep> writes;
  size_t lookups = 0;
  for (size_t table = 0; table < candidates_.size(); ++table) {
    if (!solution_.tables[table]) continue;
    const std::vector<MaintenanceUnit> units =
        maintenance_of(workload_.model, cost_, statement, candidates_[table]);
    for (size_t u = 0; u < units.size(); ++u) {
      for (size_t n = 0; n < units[u].needs.size(); ++n) {
        size_t demand = 0;
        if (plan_for(statement, table, u, n, demand) != nullptr)
          add_reads(planned, units[u].needs[n], demand, lookups + n);
      }
      for (PlannedStep& step : write_changes(workload_.model, cost_, statement, units[u],
                                             design_.tables[table_of_[table]], table_of_[table], lookups)) {
        planned.cost += step.cost;
        writes.push_back(std::move(step));
      }
      lookups += units[u].needs.size();
    }
  }
  planned.steps.insert(planned.steps.end(), std::make_move_iterator(writes.begin()),
                       std::make_move_iterator(writes.end()));
  planned.group = statement.group;
  planned.text = print_statement(workload_.model, statement);
  planned.query = false;
  add(std::move(planned));
}

void Assembler::add(PlannedStatement planned) {
  for (const Statement& statement : workload_.statements) {
    if (statement.name == planned.name) planned.weight = workload_.weight(statement, design_.mix);
  }
  (planned.query ? design_.queries : design_.updates) += planned.weight * planned.cost;
  design_.statements.push_back(std::move(planned));
}

Design Assembler::run(const std::string& mix) {
  design_.mix = mix;
  design_.shared = program_.share;
  write_tables();
  for (const Statement& statement : workload_.statements) {
    if (workload_.weight(statement, mix) <= 0) continue;
    if (statement.is_query()) {
      write_query(statement);
    } else {
      write_change(statement);
    }
  }
  return std::move(design_);
}

}  // namespace

Design write_design(const Workload& workload, const Model& later, const CostModel& cost,
                    const std::string& mix, const std::vector<Layout>& tables, const Program& program,
                    const std::vector<DemandOrigin>& origins, const Solution& solution) {
  return Assembler(workload, later, cost, tables, program, origins, solution).run(mix);
}

}  // namespace sibyl::advisor
