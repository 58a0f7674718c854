#include "advisor/trial/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "advisor/workload/stored_size.h"

namespace sibyl::advisor {
namespace {

using Access = plan::Explanation::Access;
using TableUse = plan::Explanation::TableUse;

constexpr double least_calls = 10, least_rows = 100;  // fewer give no usable statistics

// Partition size as a function of the share of smaller partitions. It is known at a few points. In between it
// is curved by one common parameter, which is chosen to meet the mean.
class SizeCurve {
 public:
  explicit SizeCurve(const SizeQuantiles& known) {
    add(0, std::min(1.0, known.p50));
    add(0.5, known.p50);
    if (known.p90) add(0.9, *known.p90);
    if (known.p99) add(0.99, *known.p99);
    add(1, known.max);
  }

  double at(double share, double bend) const {
    size_t next = 1;
    while (next + 1 < places_.size() && share > places_[next].share) ++next;
    const Place &low = places_[next - 1], &high = places_[next];
    const double part = std::clamp((share - low.share) / (high.share - low.share), 0.0, 1.0);
    return low.size * std::pow(high.size / low.size, std::pow(part, bend));
  }

  // Returns the curvature for which `count` sizes, including the largest, have this mean.
  double bend_for(double count, double largest, double mean) const {
    // The range of the curvature's logarithm; a larger curvature gives smaller sizes.
    double low = -7, high = 7;
    for (int i = 0; i < 50; ++i) {
      const double middle = (low + high) / 2;
      (mean_with(std::exp(middle), count, largest) > mean ? low : high) = middle;
    }
    return std::exp((low + high) / 2);
  }

 private:
  struct Place {
    double share, size;
  };

  void add(double share, double size) {
    if (!places_.empty()) size = std::max(size, places_.back().size);
    places_.push_back({share, std::max(size, 1e-9)});
  }

  double mean_with(double bend, double count, double largest) const {
    constexpr int parts = 100;
    double sum = 0;
    for (size_t i = 1; i < places_.size(); ++i) {
      const double width = (places_[i].share - places_[i - 1].share) / parts;
      for (int part = 0; part < parts; ++part)
        sum += width * at(places_[i - 1].share + (part + 0.5) * width, bend);
    }
    return sum + (largest - at(1 - 0.5 / count, bend)) / count;
  }

  std::vector<Place> places_;
};

double calls_of(const StatementFacts& statement) {
  return statement.observed ? statement.observed->calls : 0;
}

// For a view, its base table, which has the same rows.
TableFacts* find_base(ReviewModel& model, const schema::Table& table) {
  const std::string& name = table.is_view() ? table.view->base_table : table.name;
  for (TableFacts& facts : model.tables) {
    if (facts.table->keyspace == table.keyspace && facts.table->name == name) return &facts;
  }
  return nullptr;
}

// Columns compared by = with an unknown number of distinct values, and the combined selectivity of the other
// compared columns.
struct Compared {
  std::vector<const schema::Column*> unknown;
  double kept = 1;
  size_t count = 0;  // all compared columns
};

template <typename Wanted>
Compared compared_columns(const TableFacts& table, const cql::Select& select, Wanted wanted) {
  Compared out;
  for (const cql::Relation& relation : select.where) {
    if (relation.target != cql::Relation::Target::column || relation.op != cql::Operator::equal) continue;
    const schema::Column* column = table.table->find(relation.columns[0]);
    if (column == nullptr || !wanted(*column)) continue;
    ++out.count;
    if (const auto& distinct = table.column(*column).distinct)
      out.kept /= *distinct;
    else
      out.unknown.push_back(column);
  }
  return out;
}

// Estimates distinct values from the fact that `found` of `from` rows match.
void estimate_values(TableFacts& table, const Compared& compared, double from, double found,
                     std::vector<std::string>& notes) {
  if (compared.unknown.empty() || from <= 0) return;
  const double kept = std::clamp(found / (from * compared.kept), 1e-12, 1.0);
  const double each = std::pow(1 / kept, 1 / static_cast<double>(compared.unknown.size()));
  for (const schema::Column* column : compared.unknown) {
    ColumnFacts& facts = table.columns.at(column->name);
    facts.distinct = std::clamp(std::round(each), 1.0, table.rows.value_or(each));
    facts.distinct_origin = Origin::estimated;
    notes.push_back(fmt::format("{}.{}: {} values, estimated from the rows that statements returned",
                                table.name, column->name, count_text(*facts.distinct)));
  }
}

void estimate_values(ReviewModel& model, const StatementFacts& statement, std::vector<std::string>& notes) {
  if (calls_of(statement) <= 0 || statement.error || statement.select() == nullptr) return;
  if (statement.explanation.uses.empty()) return;
  const TableUse& use = statement.explanation.uses[0];
  TableFacts* table = find_base(model, *use.table);
  if (table == nullptr || !table->rows || use.has_limit || use.aggregates || use.groups) return;
  const double calls = statement.observed->calls;
  const double read = statement.observed->rows_read / calls;
  const double returned = std::max(0.5, statement.observed->rows_returned) / calls;
  const cql::Select& select = *statement.select();
  const auto filtered = [&](const schema::Column& column) {
    return std::find(use.filtered_columns.begin(), use.filtered_columns.end(), column.name) !=
           use.filtered_columns.end();
  };
  if (use.access == Access::index || use.table->is_view()) {
    estimate_values(*table, compared_columns(*table, select, [](const auto&) { return true; }), *table->rows,
                    returned, notes);
    return;
  }
  estimate_values(*table, compared_columns(*table, select, filtered), read, returned, notes);
  if (use.access != Access::partitions || !table->partitions || statement.observed->partitions_read <= 0)
    return;
  const double each = statement.observed->rows_read / statement.observed->partitions_read;
  const auto clusters = [&](const schema::Column& column) {
    return column.is_clustering() && !filtered(column);
  };
  const Compared compared = compared_columns(*table, select, clusters);
  if (use.clustering.size() == compared.count)
    estimate_values(*table, compared, *table->rows / *table->partitions, std::max(0.5, each), notes);
}

bool has_open_size(const types::Type& type) {
  switch (type.kind()) {
    case types::Kind::text:
    case types::Kind::ascii:
    case types::Kind::blob:
    case types::Kind::list:
    case types::Kind::set:
    case types::Kind::map:
      return true;
    default:
      return false;
  }
}

// Scales the sizes of undeclared columns so that rows have the measured size.
void estimate_sizes(TableFacts& table) {
  if (table.origin != Origin::measured || table.row_bytes <= 0) return;
  std::vector<std::pair<ColumnFacts*, double>> open;
  for (const schema::Column& column : table.table->columns) {
    ColumnFacts& facts = table.columns.at(column.name);
    if (!facts.size && !facts.elements && has_open_size(*column.type))
      open.emplace_back(&facts, value_size(*column.type, 0, 0));
  }
  if (open.empty()) return;
  constexpr double least_size = 4;
  double low = -5, high = 15;  // the range of the factor's logarithm
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    for (const auto& [facts, usual] : open) facts->size = std::max(least_size, usual * std::exp(middle));
    (estimated_row_bytes(table) < table.row_bytes ? low : high) = middle;
  }
}

// If partitions are too large to load, at least this many are kept, each with only its latest rows.
constexpr double least_partitions = 10;

void scale_table(TableFacts& facts, double scale, std::vector<std::string>& notes) {
  if (facts.rows) facts.rows = std::max(1.0, std::round(*facts.rows * scale));
  double kept = scale;  // share of the partitions
  if (facts.partitions && *facts.partitions > 0) {
    const double before = *facts.partitions;
    facts.partitions = std::max(std::min(before, least_partitions), std::round(before * scale));
    if (facts.rows) facts.partitions = std::min(*facts.partitions, *facts.rows);
    kept = *facts.partitions / before;
    if (facts.table->clustering_count > 0 && facts.rows && kept > 1.5 * scale)
      notes.push_back(fmt::format("{}: partitions have {} rows instead of {}, at the same intervals of time",
                                  facts.name, count_text(*facts.rows / *facts.partitions),
                                  count_text(*facts.rows / scale / before)));
  }
  // The arrival rate per partition stays the same.
  if (facts.growth) facts.growth = *facts.growth * kept;
  for (auto& [name, column] : facts.columns) {
    if (!column.distinct) continue;
    const schema::Column* known = facts.table->find(name);
    if (known->is_partition_key() && facts.table->partition_key_count == 1)
      column.distinct = facts.partitions.value_or(*column.distinct);
    column.distinct = std::min(*column.distinct, facts.rows.value_or(*column.distinct));
  }
}

// For a recorded statement that does not name its partitions, the recorded values scale with the table.
void scale_statement(StatementFacts& statement, double scale) {
  if (!statement.observed || statement.select() == nullptr || statement.explanation.uses.empty()) return;
  const TableUse& use = statement.explanation.uses[0];
  if (use.partitions || use.has_limit || use.access == Access::rows || use.access == Access::partitions)
    return;
  if (statement.partitions) statement.partitions = *statement.partitions * scale;
  statement.observed->rows_read *= scale;
  if (!use.aggregates) statement.observed->rows_returned *= scale;
}

}  // namespace

std::vector<double> fit_sizes(uint64_t count, const SizeQuantiles& quantiles, double mean) {
  const auto all = static_cast<double>(count);
  const SizeCurve curve(quantiles);
  const double rest = all - 1;  // at least one row for each other partition
  const bool fits = quantiles.max + rest <= all * mean;
  const double largest =
      fits ? quantiles.max
           : std::min(quantiles.max, std::max({quantiles.p99.value_or(quantiles.p50), mean, all * mean / 2}));
  const double bend = curve.bend_for(all, largest, mean);
  std::vector<double> sizes;
  sizes.reserve(count);
  sizes.push_back(largest);
  for (uint64_t i = 1; i < count; ++i)
    sizes.push_back(std::min(largest, curve.at(1 - (static_cast<double>(i) + 0.5) / all, bend)));
  return sizes;
}

base::Status check_recorded(const ReviewModel& model, const std::string& source) {
  double calls = 0, rows = 0;
  bool declares_statements = false, declares_rows = false;
  std::set<const TableFacts*> used;
  for (const StatementFacts& statement : model.statements) {
    if (statement.error) continue;
    calls += calls_of(statement);
    declares_statements = declares_statements || !statement.observed;
    for (const TableUse& use : statement.explanation.uses) {
      const TableFacts* table = model.find(*use.table);
      if (table == nullptr || !used.insert(table).second) continue;
      rows += table->rows.value_or(0);
      declares_rows = declares_rows || (table->rows && table->origin != Origin::measured);
    }
  }
  const auto refuse = [](std::string message, const char* hint) {
    return base::fail(base::Error(base::ErrorCode::invalid, std::move(message)).with_hint(hint));
  };
  if (calls < least_calls && !declares_statements)
    return refuse(
        fmt::format(
            "{} has recorded {} calls of statements on these tables, which is too few for a measurement",
            source, count_text(calls)),
        "Let applications use it for a while and try again, or declare statements in a file in addition to "
        "--live (docs/advisor-format.md).");
  if (rows < least_rows && !declares_rows)
    return refuse(
        fmt::format("the tables that statements use hold {} rows in {}, which is too few for a measurement",
                    count_text(rows), source),
        "Fill them and try again, or declare the expected number of rows in a file in addition to --live: -- "
        "@table people rows=1M partitions=1M");
  return {};
}

void fit_columns(ReviewModel& model, std::vector<std::string>& notes) {
  std::vector<const StatementFacts*> statements;
  for (const StatementFacts& statement : model.statements) statements.push_back(&statement);
  // If several statements compare the same column, use the one with the most calls.
  std::stable_sort(statements.begin(), statements.end(),
                   [](const auto* left, const auto* right) { return calls_of(*left) > calls_of(*right); });
  for (const StatementFacts* statement : statements) estimate_values(model, *statement, notes);
  for (TableFacts& table : model.tables) estimate_sizes(table);
}

void scale_model(ReviewModel& model, double scale, std::vector<std::string>& notes) {
  for (TableFacts& table : model.tables) scale_table(table, scale, notes);
  for (StatementFacts& statement : model.statements) scale_statement(statement, scale);
}

}  // namespace sibyl::advisor
