// Collects the facts about a table that must be split, and its reads.
#include <algorithm>
#include <cmath>

#include "advisor/review/split.h"
#include "advisor/review/table.h"

namespace sibyl::advisor {
namespace {

using Want = SplitRead::Want;

std::vector<std::string> compared_by_equality(const cql::Select& select) {
  std::vector<std::string> out;
  for (const cql::Relation& relation : select.where) {
    const bool equal = relation.op == cql::Operator::equal || relation.op == cql::Operator::in;
    if (equal && relation.target == cql::Relation::Target::column)
      out.insert(out.end(), relation.columns.begin(), relation.columns.end());
  }
  return out;
}

bool is_bounded(const cql::Select& select, const std::string& column, bool from_below) {
  return std::any_of(select.where.begin(), select.where.end(), [&](const cql::Relation& relation) {
    if (relation.columns.empty() || relation.columns[0] != column) return false;
    const bool below = relation.op == cql::Operator::greater ||
                       relation.op == cql::Operator::greater_or_equal ||
                       relation.op == cql::Operator::between;
    return !from_below || below;
  });
}

// The number of rows that satisfies the read; none: all rows, or unknown.
std::optional<double> rows_wanted(const StatementFacts& statement) {
  const cql::Select& select = *statement.select();
  const plan::Explanation::TableUse& use = statement.explanation.uses[0];
  // With filters, aggregates or groups, the number of rows to read is unknown.
  if (!use.filters.empty() || use.aggregates || use.groups) return std::nullopt;
  for (const cql::ExpressionPtr* limit : {&select.limit, &select.per_partition_limit}) {
    if (*limit == nullptr) continue;
    if (const auto* literal = std::get_if<cql::Literal>(&(*limit)->node)) return read_number(literal->text);
    if (statement.observed && statement.observed->calls > 0)
      return statement.observed->rows_returned / statement.observed->calls;
  }
  return statement.rows;
}

// Returns true if the latest rows come first.
bool is_latest_first(const schema::Column& time, const cql::Select& select,
                     const plan::Explanation::TableUse& use) {
  for (const cql::Ordering& ordering : select.order_by)
    if (ordering.column == time.name) return ordering.descending;
  return time.descending != use.reversed;
}

// Describes how a read of several rows of a key selects rows by `time`.
void read_in_time(const SplitSituation& situation, const StatementFacts& statement,
                  const schema::Column& time, SplitRead& read) {
  const schema::Table& table = *situation.table.table;
  const cql::Select& select = *statement.select();
  if (read.names({time.name})) {
    read.want = Want::moment;
    return;
  }
  // Only rows in time order can be read bucket by bucket.
  read.arrival = situation.key_growth;
  for (size_t i = 0; i < table.clustering_count && &table.clustering(i) != &time; ++i) {
    const std::optional<double> distinct = situation.table.column(table.clustering(i)).distinct;
    if (!distinct || !read.names({table.clustering(i).name})) return;
    read.arrival /= std::max(1.0, *distinct);
  }
  read.rows = rows_wanted(statement).value_or(0);
  const bool back = is_latest_first(time, select, statement.explanation.uses[0]);
  read.onward = !back && is_bounded(select, time.name, true);
  if (read.rows > 0)
    read.want = back || read.onward ? Want::newest : Want::first;
  else if (is_bounded(select, time.name, false))
    read.want = Want::range;
}

SplitRead read_of(const SplitSituation& situation, const StatementFacts& statement) {
  using Access = plan::Explanation::Access;
  const plan::Explanation::TableUse& use = statement.explanation.uses[0];
  SplitRead read;
  if (use.partitions) read.keys = static_cast<double>(*use.partitions);
  if (!use.partitions && statement.partitions) read.keys = std::max(1.0, *statement.partitions);
  read.equal = compared_by_equality(*statement.select());
  read.plain = use.clustering.empty() && use.filters.empty();
  read.reversed = use.reversed;
  const bool by_key = use.access == Access::partitions || (use.access == Access::index && use.partitions);
  if (!by_key) {
    read.want = use.access == Access::rows ? Want::row : Want::without_key;
    read.keys = use.access == Access::rows ? read.keys : 1;
  } else if (const schema::Column* time = time_column(situation.table)) {
    read_in_time(situation, statement, *time, read);
  } else {
    read.rows = rows_wanted(statement).value_or(0);
    read.want = read.rows > 0 ? Want::first : Want::whole;
  }
  return read;
}

// The share of a median key; 0: unknown.
double median_share(double values, double skew) {
  if (skew <= 0) return 1 / std::max(1.0, values);
  return std::pow(std::max(1.0, values / 2), -skew) / zipf_sum(values, skew);
}

// If a period is part of the key, each of the other values gets its rows within that period.
void find_period(SplitSituation& situation) {
  const TableFacts& facts = situation.table;
  double share = 1, keys = 1;
  for (size_t i = 0; i < facts.table->partition_key_count; ++i) {
    const schema::Column& column = facts.table->partition_key(i);
    const ColumnFacts& known = facts.column(column);
    if (!known.is_period) {
      if (!known.distinct) return;
      share *= median_share(*known.distinct, known.skew);
      keys *= *known.distinct;
    } else if (situation.period.empty() && known.growth) {
      situation.period = column.name;
      situation.period_seconds = 1 / *known.growth;
    } else {
      return;
    }
  }
  situation.partitions = keys;
  situation.key_growth = *facts.growth * share;
  situation.busiest = std::max(*facts.growth * facts.hottest_share(), situation.key_growth);
  if (const auto rows = facts.rows_per_partition())
    situation.busiest = std::max(situation.busiest, rows->max / situation.period_seconds);
}

void find_added_bytes(SplitSituation& situation) {
  const auto with = [&](bool hash, bool time) {
    Shape shape = shape_of(*situation.table.table);
    if (time) shape.add_to_partition({shape.free_name("bucket"), "timestamp", false});
    if (time && !situation.period.empty()) shape.remove_from_partition(situation.period);
    if (hash) shape.add_to_partition({shape.free_name("hash_prefix"), "int", false});
    return additional_bytes(situation.table, shape);
  };
  situation.hash_bytes = with(true, false);
  situation.time_bytes = with(false, true);
  situation.both_bytes = with(true, true);
}

}  // namespace

bool SplitRead::names(const std::vector<std::string>& columns) const {
  return !columns.empty() && std::all_of(columns.begin(), columns.end(), [&](const std::string& column) {
    return std::find(equal.begin(), equal.end(), column) != equal.end();
  });
}

bool SplitSituation::wants(Want want) const {
  return std::any_of(reads.begin(), reads.end(), [&](const SplitRead& read) { return read.want == want; });
}

double SplitSituation::row_bytes(bool hash, bool time) const {
  return table.row_bytes + more_bytes +
         (hash && time ? both_bytes
          : hash       ? hash_bytes
          : time       ? time_bytes
                       : 0);
}

SplitSituation situation_of(const ReviewModel& model, const TableFacts& table) {
  SplitSituation out{.model = model, .table = table, .period = {}, .reads = {}};
  if (const auto rows =
          table.rows_per_partition_after(std::min(model.target.horizon, table.max_prediction_seconds()))) {
    out.rows = rows->max;
    out.bytes = table.bytes_of(*rows).max;
  }
  out.rate = hottest_rate(model, table, true);
  out.partitions = table.partitions.value_or(1);
  if (table.growth && table.has_period()) {
    find_period(out);
  } else if (table.growth && table.partitions) {
    out.key_growth = *table.growth * median_share(*table.partitions, table.skew);
    out.busiest = std::max(*table.growth * table.hottest_share(), out.key_growth);
  }
  find_added_bytes(out);
  return out;
}

void find_reads(SplitSituation& situation) {
  double rates = 0;
  for (const StatementFacts& statement : situation.model.statements) {
    if (statement.select() == nullptr || statement.explanation.uses.empty()) continue;
    if (situation.model.find(*statement.explanation.uses[0].table) != &situation.table) continue;
    situation.reads.push_back(read_of(situation, statement));
    situation.reads.back().share = statement.rate * statement.times;
    rates += situation.reads.back().share;
  }
  // Without statements, assume a read of all rows of a key.
  if (situation.reads.empty()) {
    situation.reads.emplace_back();
    // No statement names a proposed table. If it is a history, assume reads of a part of its rows.
    const bool proposed = situation.model.find(*situation.table.table) != &situation.table;
    if (proposed && time_column(situation.table) != nullptr) {
      situation.reads.back().want = SplitRead::Want::range;
      situation.reads.back().arrival = situation.key_growth;
    }
  }
  for (SplitRead& read : situation.reads)
    read.share = rates > 0 ? read.share / rates : 1 / static_cast<double>(situation.reads.size());
}

SplitRead read_of_own(const SplitSituation& situation, const StatementFacts& statement) {
  const schema::Table& table = *situation.table.table;
  const plan::Explanation::TableUse& use = statement.explanation.uses[0];
  const cql::Select& select = *statement.select();
  SplitRead read;
  read.share = 1;
  const schema::Column* time = time_column(situation.table);
  const bool in_time = time != nullptr && &table.clustering(0) == time;
  if (use.aggregates || use.groups || (time != nullptr && !in_time)) return read;
  const auto* limit = select.limit != nullptr ? std::get_if<cql::Literal>(&select.limit->node) : nullptr;
  read.rows = limit != nullptr ? read_number(limit->text).value_or(0) : statement.rows.value_or(0);
  read.arrival = situation.key_growth;
  if (read.rows <= 0) return read;
  const bool back = in_time && is_latest_first(*time, select, {});
  read.onward = in_time && !back && is_bounded(select, time->name, true);
  read.want = back || read.onward ? Want::newest : Want::first;
  return read;
}

std::optional<double> cost_of(const SplitSituation& situation, const Taken& taken, double writes_each) {
  const TableFacts& table = situation.table;
  if (table.reads <= 0 && table.writes <= 0) return std::nullopt;
  double read = 0;
  for (const SplitRead& one : situation.reads)
    read += one.share * situation.model.cost.read(one.keys * taken(one), 0);
  return table.reads * read + table.writes * writes_each * situation.model.cost.insert;
}

double mean_of(const SplitSituation& situation, const Taken& taken) {
  double sum = 0, shares = 0, plain = 0, count = 0;
  for (const SplitRead& read : situation.reads) {
    if (!read.is_of_partitions()) continue;
    sum += read.share * taken(read);
    shares += read.share;
    plain += taken(read);
    ++count;
  }
  // Statements that name whole rows read one partition, however the rows of a key are split.
  const bool only_rows = !situation.reads.empty() &&
                         std::all_of(situation.reads.begin(), situation.reads.end(),
                                     [](const SplitRead& read) { return read.want == SplitRead::Want::row; });
  if (only_rows) return 1;
  if (count == 0) return taken(SplitRead{});
  return shares > 0 ? sum / shares : plain / count;
}

}  // namespace sibyl::advisor
