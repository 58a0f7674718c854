// Builds trials of designs: tables are filled from a population, plans run step by step.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "advisor/design/candidates.h"
#include "advisor/trial/plans.h"
#include "advisor/workload/growth.h"
#include "advisor/workload/population.h"
#include "cql/printer.h"
#include "types/compare.h"
#include "types/uuid.h"
#include "types/value.h"

namespace sibyl::advisor {
namespace {

using ParameterSource = Parameter::Source;

std::optional<base::Bytes> bucket_cell(uint64_t number) {
  base::Bytes bytes;
  base::append_big_endian(bytes, static_cast<uint32_t>(number));
  return bytes;
}

// A time in milliseconds since 1970.
int64_t millis_of(const types::Type& type, base::BytesView value) {
  if (type.kind() == types::Kind::date)
    return (static_cast<int64_t>(base::read_big_endian<uint32_t>(value)) - (int64_t{1} << 31)) * 86'400'000;
  const auto high = base::read_big_endian<uint64_t>(value.substr(0, 8));
  if (type.kind() != types::Kind::timeuuid) return static_cast<int64_t>(high);
  constexpr int64_t ticks_to_epoch = 0x01b2'1dd2'1381'4000;  // 100 ns intervals since 1582
  const auto ticks = static_cast<int64_t>(types::reorder_time_high(high) & 0x0fff'ffff'ffff'ffffu);
  return (ticks - ticks_to_epoch) / 10'000;
}

// Periods have numbers, and are represented by their start.
int64_t period_number(const Layout::Period& period, int64_t millis) {
  return millis / static_cast<int64_t>(period.seconds * 1000);
}
std::optional<base::Bytes> period_cell(const Layout::Period& period, int64_t number) {
  base::Bytes out;
  base::append_big_endian(out, static_cast<uint64_t>(number * static_cast<int64_t>(period.seconds * 1000)));
  return out;
}

bool holds(const types::Type& type, const base::Bytes& left, Comparison comparison,
           const base::Bytes& right) {
  const int order = types::compare(type, left, right);
  switch (comparison) {
    case Comparison::equal:
      return order == 0;
    case Comparison::less:
      return order < 0;
    case Comparison::less_or_equal:
      return order <= 0;
    case Comparison::greater:
      return order > 0;
    case Comparison::greater_or_equal:
      break;
  }
  return order >= 0;
}

// A row that a look-up has found so far: its known fields.
using FoundRow = std::map<FieldReference, std::optional<base::Bytes>>;

// Runs one planned statement.
class PlanRunner {
 public:
  PlanRunner(const Workload& workload, const Statement& statement, const PlannedStatement& planned,
             const Design& design, const Population& population, Trial& trial)
      : population_(population), inserts_(statement.kind == StatementKind::insert) {
    const Option* skew = find_option(statement.options, "skew");
    const double exponent = skew != nullptr ? read_zipf(skew->value).value_or(0) : 0;
    for (size_t e = 0; exponent > 0 && e < workload.model.entities.size(); ++e)
      ranks_.emplace_back(population.count(e), exponent);
    key_operand_ = statement.key.text;
    entity_ = statement.entity();
    key_field_ = workload.model.entities[entity_].key;
    for (const PlannedStep& step : planned.steps) {
      const bool requests = step.kind != PlannedStep::Kind::client;
      Step& added = steps_.emplace_back(Step{step, requests ? trial.place(step.cql) : 0, 1, {}, 0, 0});
      if (requests) split(design.tables[step.table].layout, added);
      lookups_ = std::max(lookups_, step.lookup + 1);
      for (const size_t lookup : step.lookups) lookups_ = std::max(lookups_, lookup + 1);
    }
  }

  base::Status run(TrialSession& connection, Random& random) {
    GivenValues given(population_, random, ranks_);
    if (inserts_) given.set(key_operand_, entity_, key_field_, population_.count(entity_) + next_instance_++);
    std::vector<std::vector<FoundRow>> found(lookups_, std::vector<FoundRow>(1));
    for (const Step& step : steps_) {
      switch (step.planned.kind) {
        case PlannedStep::Kind::read:
          SIBYL_TRY(read(step, connection, given, found[step.planned.lookup]));
          break;
        case PlannedStep::Kind::client:
          check(step.planned, given, found[step.planned.lookup]);
          break;
        default:
          SIBYL_TRY(write(step, connection, given, found, 0, std::vector<const FoundRow*>(lookups_)));
      }
    }
    return {};
  }

 private:
  struct Step {
    PlannedStep planned;
    size_t statement = 0;
    double buckets = 1;
    std::optional<Layout::Period> period;
    size_t entity = 0, field = 0;  // the field that periods are computed from
  };

  static void split(const Layout& layout, Step& step) {
    step.buckets = std::max(1.0, layout.buckets);
    step.period = layout.period;
    if (!layout.period) return;
    step.entity = layout.graph.nodes()[layout.period->field.node].entity;
    step.field = layout.period->field.field;
  }

  int64_t period_of(const Step& step, const base::Bytes& time) const {
    return period_number(*step.period, millis_of(population_.type(step.entity, step.field), time));
  }

  // The first and the last period that a read covers.
  std::pair<int64_t, int64_t> periods_of(const Step& step, GivenValues& given) const {
    if (!step.period || step.planned.periods == Read::Periods::none) return {0, 0};
    const auto last = static_cast<int64_t>(population_.last_moment(step.entity, step.field));
    std::pair<int64_t, int64_t> out = {period_number(*step.period, synthetic_epoch()),
                                       period_number(*step.period, synthetic_epoch() + last)};
    for (const Parameter& bound : step.planned.period_bounds) {
      const std::optional<base::Bytes> value = given.value(bound);
      if (!value) continue;
      const int64_t at = period_of(step, *value);
      const bool upper =
          bound.comparison == Comparison::less || bound.comparison == Comparison::less_or_equal;
      if (bound.comparison == Comparison::equal)
        out = {at, at};
      else if (upper)
        out.second = std::min(out.second, at);
      else
        out.first = std::max(out.first, at);
    }
    return out;
  }

  static std::optional<base::Bytes> cell(const Parameter& parameter, GivenValues& given,
                                         const FoundRow* found) {
    if (parameter.source != ParameterSource::found) return given.value(parameter);
    if (found == nullptr) return std::nullopt;
    const auto place = found->find(parameter.field);
    return place != found->end() ? place->second : std::nullopt;
  }

  base::Status read(const Step& step, TrialSession& connection, GivenValues& given,
                    std::vector<FoundRow>& rows) const {
    std::vector<FoundRow> next;
    const bool each_bucket =
        std::any_of(step.planned.parameters.begin(), step.planned.parameters.end(),
                    [](const auto& one) { return one.source == ParameterSource::bucket; });
    const auto buckets = static_cast<uint64_t>(each_bucket ? step.buckets : 1);
    const auto [first, last] = periods_of(step, given);
    for (const FoundRow& row : rows) {
      const size_t before = next.size();
      for (int64_t period = last; period >= first; --period) {
        for (uint64_t bucket = 0; bucket < buckets; ++bucket)
          SIBYL_TRY(read_one(step, connection, given, row, period, bucket, next));
        if (step.planned.enough && static_cast<double>(next.size() - before) >= *step.planned.enough) break;
      }
    }
    rows = std::move(next);
    return {};
  }

  base::Status read_one(const Step& step, TrialSession& connection, GivenValues& given, const FoundRow& row,
                        int64_t period, uint64_t bucket, std::vector<FoundRow>& found) const {
    Cells values;
    for (const Parameter& parameter : step.planned.parameters)
      values.push_back(parameter.source == ParameterSource::bucket   ? bucket_cell(bucket)
                       : parameter.source == ParameterSource::period ? period_cell(*step.period, period)
                                                                     : cell(parameter, given, &row));
    SIBYL_ASSIGN(const std::vector<Cells> answer, connection.run(step.statement, values));
    for (const Cells& cells : answer) {
      FoundRow& more = found.emplace_back(row);
      for (size_t i = 0; i < cells.size() && i < step.planned.results.size(); ++i)
        more[step.planned.results[i]] = cells[i];
    }
    return {};
  }

  void check(const PlannedStep& step, GivenValues& given, std::vector<FoundRow>& rows) const {
    for (const auto& [field, parameter] : step.checks) {
      const std::optional<base::Bytes> wanted = given.value(parameter);
      const types::Type& type = population_.type(parameter.entity, parameter.entity_field);
      std::erase_if(rows, [&, place = field, how = parameter.comparison](const FoundRow& row) {
        const auto known = row.find(place);
        return known == row.end() || !known->second || !wanted || !holds(type, *known->second, how, *wanted);
      });
    }
    if (!step.order.empty())
      std::stable_sort(rows.begin(), rows.end(), [&](const FoundRow& left, const FoundRow& right) {
        return comes_before(step, left, right);
      });
    if (step.keep && static_cast<double>(rows.size()) > *step.keep)
      rows.resize(static_cast<size_t>(*step.keep));
  }

  bool comes_before(const PlannedStep& step, const FoundRow& left, const FoundRow& right) const {
    for (const PlannedStep::Term& term : step.order) {
      const auto one = left.find(term.field), other = right.find(term.field);
      if (one == left.end() || other == right.end() || !one->second || !other->second) continue;
      const int order =
          types::compare(population_.type(term.entity, term.entity_field), *one->second, *other->second);
      if (order != 0) return term.descending ? order > 0 : order < 0;
    }
    return false;
  }

  // Writes once for each combination of rows that the look-ups from `from` on found.
  base::Status write(const Step& step, TrialSession& connection, GivenValues& given,
                     const std::vector<std::vector<FoundRow>>& found, size_t from,
                     std::vector<const FoundRow*> chosen) const {
    if (from < step.planned.lookups.size()) {
      const size_t lookup = step.planned.lookups[from];
      for (const FoundRow& row : found[lookup]) {
        chosen[lookup] = &row;
        SIBYL_TRY(write(step, connection, given, found, from + 1, chosen));
      }
      return {};
    }
    Cells values;
    uint64_t hash = 0;
    std::optional<size_t> bucket, period;
    std::optional<base::Bytes> time;
    for (const Parameter& parameter : step.planned.parameters) {
      if (parameter.source == ParameterSource::bucket) bucket = values.size();
      if (parameter.source == ParameterSource::period) period = values.size();
      const bool computed =
          parameter.source == ParameterSource::bucket || parameter.source == ParameterSource::period;
      // A large value is written in one piece, as chunk 0.
      const bool chunk = parameter.source == ParameterSource::chunk;
      values.push_back(chunk      ? bucket_cell(0)
                       : computed ? std::nullopt
                                  : cell(parameter, given, chosen[parameter.lookup]));
      if (parameter.is_period_time) time = values.back();
      if (parameter.is_clustering) hash = hash_cell(hash, values.back());
    }
    if (bucket) values[*bucket] = bucket_cell(hash % static_cast<uint64_t>(step.buckets));
    if (period && time) values[*period] = period_cell(*step.period, period_of(step, *time));
    SIBYL_TRY(connection.run(step.statement, values));
    return {};
  }

  const Population& population_;
  bool inserts_;
  std::vector<Ranks> ranks_;  // ranks of the requested instances; empty: uniform
  std::string key_operand_;
  size_t entity_ = 0, key_field_ = 0;
  uint64_t next_instance_ = 0;
  size_t lookups_ = 1;
  std::vector<Step> steps_;
};

bool is_counter(const Population& population, const Layout& layout, FieldReference field) {
  return population.type(layout.graph.nodes()[field.node].entity, field.field).is_counter();
}

struct Loading {
  DesignedTable table;
  size_t statement = 0;
};

base::Status load_table(const Population& population, const Loading& loading, const Trial::Sink& sink) {
  const Layout& layout = loading.table.layout;
  return population.each_row(layout.graph, [&](const std::vector<uint64_t>& row) {
    Cells values;
    uint64_t hash = 0;
    std::optional<base::Bytes> period;
    const auto add = [&](FieldReference field) {
      values.emplace_back(
          population.value(layout.graph.nodes()[field.node].entity, field.field, row[field.node]));
    };
    for (const auto& [field, name] : loading.table.columns) {
      if (is_counter(population, layout, field)) continue;
      add(field);
      if (contains(layout.clustering, field)) hash = hash_cell(hash, values.back());
      if (!layout.period || layout.period->field != field) continue;
      const types::Type& type = population.type(layout.graph.nodes()[field.node].entity, field.field);
      period = period_cell(*layout.period, period_number(*layout.period, millis_of(type, *values.back())));
    }
    if (layout.period) values.push_back(period);
    if (needs_bucket(layout))
      values.push_back(bucket_cell(hash % static_cast<uint64_t>(std::max(1.0, layout.buckets))));
    if (layout.is_chunked) values.push_back(bucket_cell(0));
    return sink(loading.statement, values);
  });
}

Work work_of(const PlannedStatement& planned) {
  Work work;
  for (const PlannedStep& step : planned.steps) {
    switch (step.kind) {
      case PlannedStep::Kind::read:
        work.requests += 1;
        work.partitions += step.partitions;
        work.rows += step.rows;
        break;
      case PlannedStep::Kind::insert:
        work.inserts += step.rows;
        break;
      case PlannedStep::Kind::remove:
        work.removes += step.rows;
        break;
      case PlannedStep::Kind::client:
        work.sorts += step.sorts ? 1 : 0;
    }
  }
  return work;
}

std::string insert_into(const Population& population, const DesignedTable& table) {
  std::vector<std::string> columns, counters;
  for (const auto& [field, name] : table.columns)
    (is_counter(population, table.layout, field) ? counters : columns).push_back(cql::print_name(name));
  // The rows of counters begin with their first increment.
  for (std::string& one : counters) one = fmt::format("{0} = {0} + 1", one);
  if (!counters.empty())
    return fmt::format("UPDATE {} SET {} WHERE {} = ?", cql::print_name(table.layout.name),
                       fmt::join(counters, ", "), columns[0]);
  if (table.layout.period) columns.push_back(cql::print_name(table.period_column));
  if (needs_bucket(table.layout)) columns.push_back(cql::print_name(table.bucket_column));
  if (table.layout.is_chunked) columns.push_back(cql::print_name(table.chunk_column));
  return fmt::format("INSERT INTO {} ({}) VALUES ({})", cql::print_name(table.layout.name),
                     fmt::join(columns, ", "),
                     fmt::join(std::vector<std::string>(columns.size(), "?"), ", "));
}

}  // namespace

uint64_t hash_cell(uint64_t hash, const std::optional<base::Bytes>& cell) {
  if (!cell) return mix(hash, 1);
  for (const char one : *cell) hash = hash * 1'099'511'628'211u + static_cast<unsigned char>(one);
  return mix(hash, cell->size());
}

GivenValues::GivenValues(const Population& population, Random& random, const std::vector<Ranks>& ranks)
    : population_(population), random_(random), ranks_(ranks) {}

void GivenValues::set(const std::string& operand, size_t entity, size_t field, uint64_t instance) {
  values_[name_of(operand, entity, field)] = population_.value(entity, field, instance);
}

std::string GivenValues::name_of(const std::string& operand, size_t entity, size_t field) {
  return operand == "?" || operand.empty() ? fmt::format("?{}.{}", entity, field) : operand;
}

std::optional<base::Bytes> GivenValues::value(const Parameter& parameter) {
  const std::string name = name_of(parameter.operand, parameter.entity, parameter.entity_field);
  const auto [place, added] = values_.try_emplace(name);
  if (!added) return place->second;
  constexpr double kept = 0.1;  // the share of rows that a range selects, as assumed by the cost model
  switch (parameter.comparison) {
    case Comparison::equal: {
      const uint64_t count = population_.count(parameter.entity);
      const uint64_t instance =
          ranks_.empty() ? random_.below(count) : ranks_[parameter.entity].at(random_.unit());
      place->second = population_.value(parameter.entity, parameter.entity_field, instance);
      break;
    }
    case Comparison::less:
    case Comparison::less_or_equal:
      place->second = population_.quantile(parameter.entity, parameter.entity_field, kept);
      break;
    default:
      place->second = population_.quantile(parameter.entity, parameter.entity_field, 1 - kept);
  }
  return place->second;
}

size_t Trial::place(const std::string& text, const std::string& keyspace) {
  for (size_t i = 0; i < statements.size(); ++i) {
    if (statements[i].text == text && statements[i].keyspace == keyspace) return i;
  }
  statements.push_back({text, keyspace});
  return statements.size() - 1;
}

double rows_of(const Design& design) {
  double rows = 0;
  for (const DesignedTable& table : design.tables) rows += table.rows;
  return rows;
}

Workload scaled(Workload workload, double scale) {
  // The arrival rate per key stays the same.
  const ModelGrowth growth = growth_of(workload);
  for (size_t i = 0; i < workload.model.entities.size(); ++i) {
    if (growth.entities[i] > 0) workload.model.entities[i].growth = growth.entities[i] * scale;
  }
  for (size_t i = 0; i < workload.model.relationships.size(); ++i) {
    if (growth.relationships[i] > 0) workload.model.relationships[i].growth = growth.relationships[i] * scale;
  }
  for (Entity& entity : workload.model.entities) {
    entity.count = std::max(1.0, std::round(entity.count * scale));
    for (Field& field : entity.fields) field.distinct = std::min(field.distinct, entity.count);
  }
  for (Relationship& relationship : workload.model.relationships)
    relationship.links = std::max(1.0, std::round(relationship.links * scale));
  return workload;
}

base::Result<Trial> make_trial(const Workload& workload, const Design& design, const TrialOptions& options,
                               const std::string& schema) {
  if (design.shared) return base::invalid("shared reads are not measured: each statement runs separately");
  const auto population = std::make_shared<Population>(workload.model, options.seed);
  Trial trial;
  trial.name = schema.empty() ? "design" : schema;
  trial.rows = rows_of(design);
  std::vector<Loading> loads;
  for (const DesignedTable& table : design.tables) {
    trial.definitions.push_back({table.definition, Trial::trial_keyspace});
    loads.push_back({table, trial.place(insert_into(*population, table))});
  }
  trial.load = [population, loads](const Trial::Sink& sink) -> base::Status {
    for (const Loading& loading : loads) SIBYL_TRY(load_table(*population, loading, sink));
    return {};
  };
  for (const PlannedStatement& planned : design.statements) {
    const auto statement =
        std::find_if(workload.statements.begin(), workload.statements.end(),
                     [&](const Statement& candidate) { return candidate.name == planned.name; });
    if (statement == workload.statements.end()) continue;
    const auto runner =
        std::make_shared<PlanRunner>(workload, *statement, planned, design, *population, trial);
    Operation operation;
    operation.name = planned.name;
    operation.group = planned.group;
    operation.weight = planned.weight;
    operation.work = work_of(planned);
    // The operation keeps the population alive.
    operation.run = [population, runner](TrialSession& connection, Random& random) {
      return runner->run(connection, random);
    };
    trial.operations.push_back(std::move(operation));
  }
  if (!schema.empty()) add_stated(workload, design, schema, population, trial);
  return trial;
}

}  // namespace sibyl::advisor
