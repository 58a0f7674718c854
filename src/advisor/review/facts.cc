// Reads declared statistics of tables and columns, and derives further ones.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "advisor/review/judgement/periods.h"
#include "advisor/review/review_model.h"
#include "advisor/workload/spread.h"
#include "advisor/workload/stored_size.h"
#include "base/ascii.h"

namespace sibyl::advisor {
namespace {

// --- Declarations

base::Status refuse(const std::string& file, uint32_t line, const std::string& message) {
  return base::fail(base::ErrorCode::syntax, fmt::format("{}:{}: {}", file, line, message));
}

base::Status unknown(const Workload& workload, const TableStatistics& statistics, std::string_view kind,
                     const std::string& name, const std::vector<std::string>& candidates) {
  const std::string near = nearest(name, candidates);
  return refuse(workload.file, statistics.line,
                fmt::format("no {} '{}' in the schema{}", kind, name,
                            near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
}

// Declared statistics override measured ones. Measured statistics that could contradict them are removed.
void discard_measured(TableFacts& facts, const Options& options) {
  const auto declares = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(),
                       [&](const char* name) { return find_option(options, name) != nullptr; });
  };
  if (facts.origin == Origin::measured && declares({"rows", "partitions", "row", "p50", "p99", "max"})) {
    facts.origin = Origin::declared;
    facts.partition_bytes.reset();
    facts.p50 = facts.p90 = facts.p99 = facts.max = std::nullopt;
  }
  if (declares({"reads", "writes"})) facts.rate_origin = Origin::declared;
  if (declares({"skew"})) facts.read_share = facts.write_share = facts.request_skew = std::nullopt;
}

void take_table_options(TableFacts& facts, const Options& options) {
  discard_measured(facts, options);
  for (const Option& option : options) {
    const std::string& name = option.name;
    if (name == "rows") facts.rows = read_number(option.value);
    if (name == "partitions") facts.partitions = positive(read_number(option.value));
    if (name == "row") facts.row_bytes = read_bytes(option.value).value_or(0);
    if (name == "row") facts.row_is_declared = facts.row_bytes > 0;
    if (name == "growth") {
      facts.growth = positive(read_rate(option.value));
      facts.growth_is_declared = true;
      facts.growth_origin = Origin::declared;
    }
    if (name == "retention") facts.retention = positive(read_seconds(option.value));
    if (name == "reads") facts.reads = read_rate(option.value).value_or(0);
    if (name == "writes") facts.writes = read_rate(option.value).value_or(0);
    if (name == "p50") facts.p50 = positive(read_number(option.value));
    if (name == "p99") facts.p99 = positive(read_number(option.value));
    if (name == "max") facts.max = positive(read_number(option.value));
    if (name == "skew") facts.skew = read_zipf(option.value).value_or(0);
    if (name == "arrival") facts.arrival = option.value == "regular" ? Arrival::regular : Arrival::random;
  }
  const Option* fanout = find_option(options, "fanout");
  const std::optional<double> mean = fanout != nullptr ? positive(read_number(fanout->value)) : std::nullopt;
  if (mean && facts.rows && !facts.partitions) facts.partitions = std::max(1.0, *facts.rows / *mean);
  if (mean && facts.partitions && !facts.rows) facts.rows = *facts.partitions * *mean;
}

void take_column_options(ColumnFacts& facts, const Options& options) {
  for (const Option& option : options) {
    const std::string& name = option.name;
    if (name == "distinct") {
      facts.distinct = positive(read_number(option.value));
      facts.distinct_origin = Origin::declared;
    }
    if (name == "size") facts.size = positive(read_bytes(option.value));
    if (name == "skew") facts.skew = read_zipf(option.value).value_or(0);
    if (name == "growth") facts.growth = positive(read_rate(option.value));
    if (name == "time") {
      facts.ticks = ticks_of_time(option.value);
      facts.is_snowflake = option.value == "snowflake";
    }
  }
}

// For a collection: quantiles of its elements. For other columns: quantiles of the rows per value.
std::string take_quantiles(const schema::Column& column, const Options& options, TableFacts& table) {
  const auto number = [&](const char* name) {
    const Option* option = find_option(options, name);
    return option != nullptr ? positive(read_number(option->value)) : std::nullopt;
  };
  ColumnFacts& facts = table.columns[column.name];
  const std::optional<double> fanout = number("fanout");
  const Quantiles quantiles{number("p50"), number("p99"), number("max")};
  if (column.type->is_collection()) {
    for (const std::optional<double>& each : {fanout, quantiles.p50, quantiles.p99, quantiles.max})
      if (each && !facts.elements) facts.elements = each;
    if (quantiles.p99) facts.max_elements = quantiles.p99;
    if (quantiles.max) facts.max_elements = quantiles.max;
    return {};
  }
  if (fanout && table.rows && !facts.distinct) facts.distinct = std::max(1.0, *table.rows / *fanout);
  if (fanout && !facts.distinct)
    return fmt::format("fanout is the number of rows per value of {}; declare @table rows= before it",
                       column.name);
  if (!quantiles.any()) return {};
  if (column.is_partition_key() && table.table->partition_key_count == 1) {
    if (quantiles.p50) table.p50 = quantiles.p50;
    if (quantiles.p99) table.p99 = quantiles.p99;
    if (quantiles.max) table.max = quantiles.max;
    return {};
  }
  if (!table.rows || !facts.distinct)
    return fmt::format(
        "p50, p99 and max are rows per value of {}; declare @table rows= before this line, and distinct= "
        "in it",
        column.name);
  facts.skew = zipf_of_quantiles(*table.rows, *facts.distinct, quantiles);
  return {};
}

// Returns a message if the numbers contradict each other.
std::string contradiction(const TableFacts& facts) {
  // A table that is empty now may have a known number of keys.
  if (positive(facts.rows) && facts.partitions && *facts.rows < *facts.partitions)
    return fmt::format("{} has fewer rows ({}) than partitions ({})", facts.name, count_text(*facts.rows),
                       count_text(*facts.partitions));
  if (facts.p50 && facts.p99 && *facts.p50 > *facts.p99) return "p50 is above p99";
  if (facts.p99 && facts.max && *facts.p99 > *facts.max) return "p99 is above max";
  if (facts.p50 && facts.max && *facts.p50 > *facts.max) return "p50 is above max";
  if (facts.rows && facts.max && *facts.max > *facts.rows)
    return fmt::format("the largest partition of {} has more rows ({}) than the table ({})", facts.name,
                       count_text(*facts.max), count_text(*facts.rows));
  return {};
}

base::Status take(const Workload& workload, const TableStatistics& statistics, ReviewModel& model) {
  TableFacts* facts = find_table(model, statistics.table);
  if (facts == nullptr) {
    // COUNTER_MIX reports the definition; the statistics belong to the tables that replace it.
    if (is_mixed(model, statistics.table)) return {};
    std::vector<std::string> names;
    for (const TableFacts& one : model.tables) names.push_back(one.table->name);
    return unknown(workload, statistics, "table", statistics.table, names);
  }
  if (statistics.column.empty()) {
    take_table_options(*facts, statistics.options);
    return {};
  }
  auto column = facts->columns.find(statistics.column);
  if (column == facts->columns.end()) column = facts->columns.find(base::ascii_lower(statistics.column));
  if (column == facts->columns.end()) {
    std::vector<std::string> names;
    for (const auto& [name, known] : facts->columns) names.push_back(name);
    return unknown(workload, statistics, "column", statistics.column, names);
  }
  take_column_options(column->second, statistics.options);
  const std::string why = take_quantiles(*facts->table->find(column->first), statistics.options, *facts);
  return why.empty() ? base::Status() : refuse(workload.file, statistics.line, why);
}

// --- Derived statistics

std::optional<double> values_of_key(const TableFacts& facts) {
  double product = 1;
  for (size_t i = 0; i < facts.table->partition_key_count; ++i) {
    const std::optional<double>& distinct = facts.column(facts.table->partition_key(i)).distinct;
    if (!distinct) return std::nullopt;
    product *= *distinct;
  }
  return product;
}

std::optional<double> partitions_by_values(const TableFacts& facts) {
  const std::optional<double> product = values_of_key(facts);
  return product && positive(facts.rows) ? std::min(*product, *facts.rows) : product;
}

// The maximum number of distinct keys; none: unlimited or unknown.
std::optional<double> keys_of(const TableFacts& facts) {
  double product = 1;
  for (size_t i = 0; i < facts.table->partition_key_count + facts.table->clustering_count; ++i) {
    const ColumnFacts& known = facts.column(facts.table->columns[i]);
    if (!known.distinct || known.growth) return std::nullopt;
    product *= *known.distinct;
  }
  return product;
}

bool has_time_in_key(const TableFacts& facts) {
  const schema::Table& table = *facts.table;
  for (size_t i = 0; i < table.partition_key_count + table.clustering_count; ++i)
    if (facts.is_time(table.columns[i]) || is_named_like_period(table.columns[i].name)) return true;
  return false;
}

// New rows per second according to the statements. None: the table does not grow, or its growth is unknown.
std::optional<double> growth_by_statements(const TableFacts& facts, const TableRates& rates) {
  if (rates.inserts <= 0 || rates.removes_ranges) return std::nullopt;
  double removed = rates.rows_removed;
  if (rates.partitions_removed > 0) {
    const std::optional<TableFacts::Rows> each = facts.rows_per_partition();
    if (!each) return std::nullopt;
    removed += rates.partitions_removed * each->mean;
  }
  // Neither a load that has ended nor the first seconds of a server predict the future.
  constexpr double least_seconds = 10;
  if (facts.observed_seconds &&
      (rates.loads_ended.value_or(false) || *facts.observed_seconds < least_seconds))
    return std::nullopt;
  std::optional<double> net = positive(rates.inserts - removed);
  // INSERTs within a period replace the row of the summary.
  if (const auto most = facts.observed_seconds ? std::nullopt : summaries_per_second(facts)) {
    if (!std::isfinite(*most)) return std::nullopt;
    net = positive(std::min(rates.inserts, *most) - removed);
  }
  // A key without a time may be inserted again, and the INSERT then replaces the old row. The rows counted so
  // far already reflect that.
  const bool may_repeat = !has_time_in_key(facts) && !rates.makes_keys;
  if (!net || !facts.rows || !facts.observed_seconds) return may_repeat && facts.rows ? std::nullopt : net;
  // This is an upper bound of the growth. The growth is smaller if some rows existed before the observed
  // period.
  const double seen = *facts.rows / std::max(1.0, *facts.observed_seconds);
  if (may_repeat && seen > rates.inserts) return std::nullopt;
  return positive(std::min(*net, seen));
}

void find_growth(TableFacts& facts, const TableRates& rates) {
  if (facts.growth || facts.growth_is_declared) return;
  facts.growth = growth_by_statements(facts, rates);
  if (!facts.growth) return;
  facts.growth_origin = facts.observed_seconds && facts.rows ? Origin::measured : Origin::estimated;
}

// A view has the rows, values and writes of its base table, unless it has statistics of its own.
void inherit(const TableFacts& base, TableFacts& view) {
  if (!view.rows) view.rows = base.rows;
  if (!view.growth && !view.growth_is_declared) {
    view.growth = base.growth;
    view.growth_origin = base.growth_origin;
  }
  if (!view.retention) view.retention = base.retention;
  if (view.writes == 0) view.writes = base.writes;
  if (!view.observed_seconds && base.observed_seconds) view.observed_seconds = base.observed_seconds;
  for (auto& [name, known] : view.columns) {
    const auto own = base.columns.find(name);
    if (own != base.columns.end() && !known.distinct && !known.size && !known.growth) known = own->second;
  }
  if (base.table->partition_key_count != 1) return;
  ColumnFacts& key = view.columns[base.table->partition_key(0).name];
  if (!key.distinct && base.partitions) {
    key.distinct = base.partitions;
    key.distinct_origin = base.origin;
  }
  if (key.skew == 0) key.skew = base.skew;
}

const TableFacts* base_of(const ReviewModel& model, const TableFacts& view) {
  if (!view.table->is_view()) return nullptr;
  for (const TableFacts& base : model.tables)
    if (base.table->keyspace == view.table->keyspace && base.table->name == view.table->view->base_table)
      return &base;
  return nullptr;
}

// Finds by bisection the number of partitions that have these quantiles and `rows` rows in total.
double partitions_by_quantiles(double rows, const Quantiles& quantiles) {
  double from = 1, to = std::max(1.0, rows);
  for (int i = 0; i < 60; ++i) {
    const double middle = std::sqrt(from * to);
    (total_of_quantiles(middle, quantiles) > rows ? to : from) = middle;
  }
  return std::max(1.0, std::round(from));
}

// Declared quantiles of partitions imply rows or partitions that are not declared.
void derive_by_quantiles(TableFacts& facts) {
  const Quantiles quantiles{facts.p50, facts.p99, facts.max};
  if (facts.table->clustering_count == 0 || facts.has_period() || !quantiles.p50) return;
  facts.rows_are_implied = facts.partitions && !facts.rows;
  if (facts.rows_are_implied)
    facts.rows = std::max(total_of_quantiles(*facts.partitions, quantiles),
                          quantiles.max.value_or(0) + *facts.partitions - 1);
  facts.partitions_are_implied =
      positive(facts.rows) && !facts.partitions && facts.origin == Origin::declared;
  if (facts.partitions_are_implied) facts.partitions = partitions_by_quantiles(*facts.rows, quantiles);
}

StoredColumn stored(const schema::Column& column, const TableFacts& facts) {
  const ColumnFacts& known = facts.column(column);
  StoredColumn out;
  out.role = column.is_partition_key() ? StoredColumn::Role::partition
             : column.is_clustering()  ? StoredColumn::Role::clustering
             : column.is_static()      ? StoredColumn::Role::fixed
                                       : StoredColumn::Role::regular;
  out.type = column.type;
  out.size = known.size.value_or(0);
  out.elements = known.elements.value_or(0);
  const bool counted = column.is_partition_key() && facts.table->partition_key_count == 1;
  out.distinct = known.distinct.value_or(counted ? facts.partitions.value_or(0) : 0);
  return out;
}

StoredSizes sizes_of(const TableFacts& facts) {
  std::vector<StoredColumn> columns;
  for (const schema::Column& column : facts.table->columns) columns.push_back(stored(column, facts));
  return stored_sizes(columns, facts.table->options.default_time_to_live > 0);
}

// The rows over which the static columns of a partition are distributed. For a table without rows yet, its
// future rows count.
std::optional<double> rows_per_static_record(const TableFacts& facts) {
  constexpr double year = 365 * 86'400.0;
  const auto rows = facts.rows.value_or(0) > 0 || !facts.growth ? facts.rows_per_partition()
                                                                : facts.rows_per_partition_after(year);
  return rows ? std::optional(std::max(1.0, rows->mean)) : std::nullopt;
}

// Static columns are stored once per partition, whatever its number of rows.
void take_static_bytes(TableFacts& facts) {
  const std::optional<double> rows = rows_per_static_record(facts);
  facts.static_bytes = sizes_of(facts).partition;
  facts.static_bytes_per_row = rows ? facts.static_bytes / *rows : 0;
}

// A declared size of rows does not include static columns.
void take_static_sizes(TableFacts& facts) {
  if (facts.origin == Origin::measured) return;
  for (const schema::Column& column : facts.table->columns)
    if (column.is_static()) facts.static_bytes += facts.column(column).size.value_or(0);
}

// Returns true if a key value is generated for each row.
bool makes_key(const cql::Insert& insert, const schema::Table& table) {
  for (size_t i = 0; i < insert.columns.size() && i < insert.values.size(); ++i) {
    const schema::Column* column = table.find(insert.columns[i]);
    const auto* call = std::get_if<cql::FunctionCall>(&insert.values[i]->node);
    if (column == nullptr || !column->is_primary_key() || call == nullptr) continue;
    if (call->function.name == "uuid" || call->function.name == "now") return true;
  }
  return false;
}

// The declared size of a collection is that of the whole value. If its elements alone need more, it can only be
// that of one element.
void take_element_sizes(TableFacts& facts) {
  constexpr double least_element = 5;  // bytes, with its length
  for (const schema::Column& column : facts.table->columns) {
    ColumnFacts& known = facts.columns[column.name];
    if (!column.type->is_collection() || !known.size || !known.elements) continue;
    if (*known.size < least_element * *known.elements) known.size = *known.size * *known.elements;
  }
}

void derive_statistics(const TableRates& rates, const TableFacts* base, TableFacts& facts) {
  const schema::Table& table = *facts.table;
  take_element_sizes(facts);
  if (facts.reads == 0) facts.reads = rates.reads;
  if (facts.writes == 0) facts.writes = rates.writes;
  // Writes that have ended do not load partitions any more.
  if (facts.rate_origin == Origin::measured && rates.loads_ended.value_or(false))
    facts.writes = std::max(0.0, facts.writes - rates.inserts);
  if (base != nullptr) inherit(*base, facts);
  for (const schema::Column& column : table.columns) {
    ColumnFacts& known = facts.columns[column.name];
    known.is_period = is_period(table, column, known);
    if (!known.is_period || known.growth || facts.origin == Origin::measured) continue;
    known.growth = usual_growth(column);
    known.growth_is_usual = known.growth.has_value();
  }
  if (table.clustering_count == 0) facts.partitions = positive(facts.rows);
  if (!facts.partitions) {
    facts.partitions = positive(partitions_by_values(facts));
    facts.possible_partitions = positive(values_of_key(facts));
  }
  derive_by_quantiles(facts);
  facts.inserts = rates.inserts;
  facts.updates = rates.updates;
  for (const auto& [column, rate] : rates.appends)
    if (!rates.shrinks.contains(column)) facts.appends[column] = rate;
  find_growth(facts, rates);
  // New rows are written, even if only other writes are declared as statements.
  if (facts.growth && facts.rate_origin != Origin::measured)
    facts.writes = std::max(facts.writes, *facts.growth);
  if (facts.growth && facts.writes == 0) facts.writes = *facts.growth;
  facts.max_rows = keys_of(facts);
  if (table.partition_key_count == 1 && facts.skew == 0 && !facts.has_period())
    facts.skew = facts.column(table.partition_key(0)).skew;
  if (table.clustering_count == 0) facts.p50 = facts.p90 = facts.p99 = facts.max = std::nullopt;
  if (facts.row_bytes > 0) return take_static_sizes(facts);
  facts.row_bytes = estimated_row_bytes(facts);
  take_static_bytes(facts);
  // Apply the base table's ratio of actual to estimated row size.
  if (base != nullptr) facts.row_bytes *= base->row_bytes / estimated_row_bytes(*base);
}

}  // namespace

void TableRates::add(const cql::Statement& statement, size_t index, const plan::Explanation::TableUse& use,
                     double rate) {
  using Access = plan::Explanation::Access;
  (use.writes ? writes : reads) += rate;
  const auto* batch = std::get_if<cql::Batch>(&statement.node);
  if (batch != nullptr && index >= batch->statements.size()) return;
  const auto one = [&]<typename Kind>() {
    return batch != nullptr ? std::get_if<Kind>(&batch->statements[index])
                            : std::get_if<Kind>(&statement.node);
  };
  if (const cql::Insert* insert = one.operator()<cql::Insert>()) {
    inserts += rate;
    makes_keys = makes_keys || makes_key(*insert, *use.table);
  }
  if (const cql::Update* update = one.operator()<cql::Update>())
    for (const cql::Assignment& assignment : update->assignments) add(assignment, rate);
  const cql::Delete* remove = one.operator()<cql::Delete>();
  if (remove != nullptr)
    for (const cql::DeleteTarget& target : remove->targets) shrinks.insert(target.column);
  if (remove == nullptr || !remove->targets.empty() || rate <= 0) return;
  const double keys = use.partitions ? static_cast<double>(*use.partitions) : 1;
  if (use.access == Access::rows || use.table->clustering_count == 0)
    rows_removed += rate * keys;
  else if (use.clustering.empty())
    partitions_removed += rate * keys;
  else
    removes_ranges = true;
}

void TableRates::add(const cql::Assignment& assignment, double rate) {
  using Kind = cql::Assignment::Kind;
  const bool whole = assignment.element_key == nullptr && assignment.field.empty();
  if (whole) updates[assignment.column] += rate;
  if (assignment.kind == Kind::add || assignment.kind == Kind::prepend || !whole)
    appends[assignment.column] += rate;
  else
    shrinks.insert(assignment.column);
}

TableFacts* find_table(ReviewModel& model, const std::string& written) {
  for (const std::string& name : {written, base::ascii_lower(written)}) {
    for (TableFacts& facts : model.tables) {
      const schema::Table& table = *facts.table;
      if (table.name == name || table.keyspace + "." + table.name == name) return &facts;
    }
  }
  return nullptr;
}

base::Status take_statistics(const std::vector<Workload>& workloads, bool observed, ReviewModel& model) {
  for (const Workload& workload : workloads) {
    for (const TableStatistics& statistics : workload.statistics) {
      SIBYL_TRY(take(workload, statistics, model));
      // Declared statistics need not match measured ones.
      const TableFacts* facts = find_table(model, statistics.table);
      const std::string why = observed || facts == nullptr ? "" : contradiction(*facts);
      if (!why.empty()) return refuse(workload.file, statistics.line, why);
    }
  }
  return {};
}

void derive_statistics(const std::map<std::string, TableRates>& rates, ReviewModel& model) {
  for (TableFacts& facts : model.tables) {
    const auto own = rates.find(facts.name);
    derive_statistics(own == rates.end() ? TableRates{} : own->second, base_of(model, facts), facts);
  }
}

double estimated_row_bytes(const TableFacts& facts) {
  const StoredSizes sizes = sizes_of(facts);
  const std::optional<double> rows = rows_per_static_record(facts);
  return sizes.row + (rows ? sizes.partition / *rows : 0);
}

}  // namespace sibyl::advisor
