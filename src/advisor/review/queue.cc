// Reviews tables that are used as queues, and counters mixed with other columns.
#include "advisor/review/queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advisor/review/judgement/expiry.h"
#include "cql/printer.h"

namespace sibyl::advisor {
namespace {

using Access = plan::Explanation::Access;

// Finds a read from the front of a partition: one with a LIMIT and without a bound that skips deleted rows. A
// read of the largest values of a column that is not a time is a ranking, not a queue.
const StatementFacts* find_front_read(const ReviewModel& model, const TableFacts& table) {
  for (const StatementFacts& statement : model.statements) {
    if (statement.select() == nullptr || statement.error || statement.explanation.uses.empty()) continue;
    const plan::Explanation::TableUse& use = statement.explanation.uses[0];
    if (model.find(*use.table) != &table || use.access != Access::partitions) continue;
    if (!use.has_limit) continue;
    const Front front = front_of(use, *statement.select());
    if (front.column == nullptr || front.is_bounded) continue;
    if (front.from_least || table.is_time(*front.column)) return &statement;
  }
  return nullptr;
}

// Finds a read of the largest values of a column that is not a time: the first places of a ranking.
const StatementFacts* find_ranking_read(const ReviewModel& model, const TableFacts& table) {
  for (const StatementFacts& statement : model.statements) {
    if (statement.select() == nullptr || statement.error || statement.ad_hoc) continue;
    if (statement.explanation.uses.empty()) continue;
    const plan::Explanation::TableUse& use = statement.explanation.uses[0];
    if (model.find(*use.table) != &table || use.access != Access::partitions || !use.has_limit) continue;
    const Front front = front_of(use, *statement.select());
    if (front.column != nullptr && !front.is_bounded && !table.is_time(*front.column)) return &statement;
  }
  return nullptr;
}

// Finds a statement that deletes single rows.
const StatementFacts* find_delete(const ReviewModel& model, const TableFacts& table) {
  for (const StatementFacts& statement : model.statements) {
    const auto* remove = std::get_if<cql::Delete>(&statement.tree->node);
    if (remove == nullptr || statement.error || statement.explanation.uses.empty()) continue;
    if (!remove->targets.empty() || model.find(*statement.explanation.uses[0].table) != &table) continue;
    if (!statement.explanation.uses[0].clustering.empty()) return &statement;
  }
  return nullptr;
}

// Finds the read with the most tombstones per call.
const StatementFacts* find_worst_read(const ReviewModel& model, const TableFacts& table) {
  const StatementFacts* worst = nullptr;
  const auto each = [](const StatementFacts& statement) {
    return statement.observed->tombstones_read / std::max(1.0, statement.observed->calls);
  };
  for (const StatementFacts& statement : model.statements) {
    if (!statement.observed || statement.select() == nullptr || statement.explanation.uses.empty()) continue;
    if (model.find(*statement.explanation.uses[0].table) != &table) continue;
    if (worst == nullptr || each(statement) > each(*worst)) worst = &statement;
  }
  return worst;
}

// The share of a partition's rows that a SELECT without LIMIT reads: 1, or less if it compares leading clustering
// columns by =. 0: it reads a range, or the number of values is not known.
double share_of_partition(const ReviewModel& model, const TableFacts& table,
                          const StatementFacts& statement) {
  if (statement.select() == nullptr || statement.error || statement.ad_hoc) return 0;
  if (statement.explanation.uses.empty()) return 0;
  const plan::Explanation::TableUse& use = statement.explanation.uses[0];
  if (model.find(*use.table) != &table || use.access != Access::partitions || use.has_limit) return 0;
  double share = 1;
  for (const cql::Relation& relation : statement.select()->where) {
    const schema::Column* column =
        relation.columns.size() == 1 ? use.table->find(relation.columns[0]) : nullptr;
    if (column == nullptr || !column->is_clustering()) continue;
    const std::optional<double>& values = table.column(*column).distinct;
    if (relation.op != cql::Operator::equal || !values) return 0;
    share /= *values;
  }
  return use.filters.empty() ? share : 1;
}

// A read of a whole partition, or of the rows with one value, which meets every tombstone among them.
struct WholeRead {
  const StatementFacts* statement = nullptr;
  double share = 0;  // of the partition's rows
};

WholeRead find_whole_read(const ReviewModel& model, const TableFacts& table) {
  WholeRead out;
  for (const StatementFacts& statement : model.statements)
    if (const double share = share_of_partition(model, table, statement); share > out.share)
      out = {&statement, share};
  return out;
}

constexpr double few_tombstones = 100;

Finding begin(const TableFacts& table, const StatementFacts* read, bool severe) {
  Finding finding;
  finding.verdict = Verdict::tombstone_scan;
  finding.severity = severe ? Severity::error : Severity::warning;
  finding.table = table.name;
  finding.file = table.file;
  finding.line = table.line;
  if (read == nullptr) return finding;
  finding.query = read->name;
  finding.file = read->file;
  finding.line = read->line;
  if (read->observed) finding.evidence.push_back({read->observed->text, Origin::measured});
  return finding;
}

// `tombstones`: how many tombstones a read scans; nullopt: unknown.
void fix_queue(const TableFacts& table, const StatementFacts& read, const StatementFacts& remove,
               std::optional<double> tombstones, Finding& finding) {
  const Front front = front_of(read.explanation.uses[0], *read.select());
  const schema::Column* time = time_column(table);
  constexpr double hour = 3600;
  Proposal proposal;
  proposal.partition.push_back({"bucket", "timestamp",
                                time != nullptr ? time->name + " rounded down to the hour"
                                                : std::string("the hour in which the row is inserted"),
                                "", 0, hour});
  proposal.queue = {read.name, front.column->name, front.from_least, tombstones, std::nullopt};
  if (remove.rate > 0 && table.hottest_share() > 0)
    proposal.queue->rate = remove.rate * remove.times * table.hottest_share();
  finding.proposal = std::make_shared<const Proposal>(std::move(proposal));
  finding.fix = fmt::format(
      "Continue after the last row taken ({} {} the last one taken), and add a time period to the partition "
      "key, so that a consumed period is never read again.",
      front.column->name, front.from_least ? ">" : "<");
  finding.cost =
      "The consumer must remember its position. Just after the hour changes, it reads two partitions.";
}

// Reports tombstones that reads have actually scanned, whatever the statements are.
void review_measured(const ReviewModel& model, const TableFacts& table, Review& review) {
  if (*table.tombstones_p99 < few_tombstones) return;
  const StatementFacts* front = find_front_read(model, table);
  const StatementFacts* remove = find_delete(model, table);
  const bool queue = front != nullptr && remove != nullptr && table.table->clustering_count > 0;
  Finding finding =
      begin(table, queue ? front : find_worst_read(model, table), *table.tombstones_p99 >= many_tombstones);
  finding.message =
      queue
          ? "The table is used as a queue: a read of its front scans the tombstones of all rows taken before."
          : "Reads scan many deleted or expired cells.";
  finding.evidence.push_back(
      {fmt::format(
           "1% of reads scan at least {} tombstones{}", count_text(*table.tombstones_p99),
           table.tombstones_max ? fmt::format("; the maximum is {}", count_text(*table.tombstones_max)) : ""),
       Origin::measured});
  if (queue) {
    const bool seen = front->observed && front->observed->calls > 0 && front->observed->tombstones_read > 0;
    fix_queue(table, *front, *remove,
              seen ? front->observed->tombstones_read / front->observed->calls : *table.tombstones_p99,
              finding);
  } else {
    finding.fix =
        "Delete whole partitions, or ranges that are not read again. Do not write nulls: each null is a "
        "tombstone.";
    finding.cost = fmt::format("Existing tombstones remain until gc_grace_seconds ({}) have passed.",
                               duration_text(table.table->options.gc_grace_seconds));
  }
  review.findings.push_back(std::move(finding));
}

// The tombstones that deletes leave in the busiest partition. If the row is inserted again, its tombstone is
// gone.
std::optional<double> tombstones_of(const TableFacts& table, const StatementFacts& remove) {
  if (remove.rate <= 0 || table.hottest_share() <= 0) return std::nullopt;
  const double kept =
      remove.rate * remove.times * table.hottest_share() * table.table->options.gc_grace_seconds;
  return std::min(kept, table.capacity_of_partition());
}

// The tombstones that a read from the front meets. If far fewer rows are deleted than arrive, the table is
// not a queue: the tombstones lie among the rows that stay. A read of the newest rows meets the tombstones
// among them, even if most rows are deleted.
std::optional<double> tombstones_at_front(const TableFacts& table, const StatementFacts& read,
                                          const StatementFacts& remove) {
  const std::optional<double> all = tombstones_of(table, remove);
  const double come = std::max(table.inserts, table.growth.value_or(0)), go = remove.rate * remove.times;
  const Front front = front_of(read.explanation.uses[0], *read.select());
  constexpr double few = 0.5;
  const bool stays = come > go && (go < few * come || !front.from_least);
  if (!all || !stays) return all;
  return std::min(*all, limit_of_read(read) * go / (come - go));
}

// Returns a table with one row for each place of the ranking. A change replaces the row, so it leaves no
// tombstone. `ranked` is the column that orders the rows.
Shape places_of(const TableFacts& table, const schema::Column& ranked) {
  Shape shape = shape_of(*table.table);
  shape.name = stem_of(shape.name) + "_places";
  const auto first = std::find_if(shape.clustering.begin(), shape.clustering.end(),
                                  [&](const Shape::Order& one) { return one.name == ranked.name; });
  shape.clustering.erase(first, shape.clustering.end());
  for (Shape::Column& column : shape.columns) column.is_static = false;
  const std::string place = shape.free_name("place");
  shape.columns.insert(shape.columns.begin() + static_cast<ptrdiff_t>(shape.partition.size()),
                       {place, "int", false});
  shape.clustering.push_back({place, false});
  return shape;
}

// Reports reads of a ranking whose rows change their places: each change deletes a row and inserts another
// one. Tombstones are as frequent among the first rows as elsewhere. Returns true if it reports a read.
bool review_ranking(const ReviewModel& model, const TableFacts& table, Review& review) {
  const StatementFacts* read = find_ranking_read(model, table);
  const StatementFacts* remove = find_delete(model, table);
  if (read == nullptr || remove == nullptr || table.table->is_view()) return false;
  const std::optional<double> all = tombstones_of(table, *remove);
  const auto rows = table.rows_per_partition();
  if (!all || !rows || rows->max <= 0) return false;
  const double wanted = limit_of_read(*read), met = *all * std::min(1.0, wanted / rows->max);
  constexpr double several = 10;
  if (met < few_tombstones || met < several * wanted) return false;
  Finding finding = begin(table, read, met > very_many_tombstones);
  finding.message = "A read of the first rows also reads the tombstones of rows that have left their place.";
  finding.evidence.push_back(
      {fmt::format("{} tombstones for {} rows: {} deletes, kept for {}, spread evenly over {} rows",
                   count_text(met), count_text(wanted), rate_text(remove->rate * remove->times),
                   duration_text(table.table->options.gc_grace_seconds), count_text(rows->max)),
       Origin::estimated});
  Shape shape = places_of(table, *front_of(read->explanation.uses[0], *read->select()).column);
  finding.fix = fmt::format(
      "Keep the current values in a table by key, where an UPDATE leaves no tombstone, and write the first "
      "{} "
      "places to {} from time to time: each place is one row, which the next one replaces.",
      count_text(wanted), shape.name);
  finding.cost = "The order is as old as the last run. Nothing is deleted any more.";
  propose(finding, std::move(shape));
  review.findings.push_back(std::move(finding));
  return true;
}

// The clustering column by whose value the statement takes a part of a partition; nullptr: it takes all of it.
const schema::Column* part_column(const TableFacts& table, const StatementFacts& read) {
  for (const cql::Relation& relation : read.select()->where) {
    const schema::Column* column =
        relation.columns.size() == 1 ? table.table->find(relation.columns[0]) : nullptr;
    if (column != nullptr && column->is_clustering()) return column;
  }
  return nullptr;
}

void fix_churn(const TableFacts& table, const WholeRead& read, double tombstones, Finding& finding) {
  const double grace = table.table->options.gc_grace_seconds;
  const double wanted = std::max(1.0, std::floor(grace * many_tombstones / tombstones));
  const schema::Column* part = part_column(table, *read.statement);
  finding.fix = fmt::format(
      "{} rows instead of deleting them if the same keys come back (UPDATE … SET gone = true), add a "
      "period of time to the partition key, or keep tombstones for a shorter time: gc_grace_seconds = "
      "{:.0f}.",
      part != nullptr && read.share < 1
          ? fmt::format(
                "If rows are deleted because their {0} changes, take {0} out of the key: its change is "
                "then an UPDATE, which leaves no tombstone, and the read filters by it. Otherwise, mark",
                part->name)
          : "Mark",
      wanted);
  finding.cost = "A shorter gc_grace_seconds must still exceed the longest absence of a replica.";
}

// Rows come and go in all places of a partition, and reads take all of it or all rows with one value.
void review_churn(const ReviewModel& model, const TableFacts& table, const WholeRead& read, Review& review) {
  const StatementFacts* remove = find_delete(model, table);
  if (read.statement == nullptr || remove == nullptr) return;
  std::optional<double> tombstones = tombstones_of(table, *remove);
  if (!tombstones || *tombstones * read.share < many_tombstones) return;
  *tombstones *= read.share;
  Finding finding = begin(table, read.statement, *tombstones >= very_many_tombstones);
  finding.message =
      read.share < 1
          ? "A read of some rows of a partition also reads the tombstones of the rows deleted among them."
          : "A read of a partition also reads the tombstones of the rows that were deleted from it.";
  finding.evidence.push_back(
      {fmt::format("{} tombstones per read of the busiest partition: {} deletes, kept for {}",
                   count_text(*tombstones), rate_text(remove->rate * remove->times),
                   duration_text(table.table->options.gc_grace_seconds)),
       Origin::estimated});
  fix_churn(table, read, *tombstones, finding);
  review.findings.push_back(std::move(finding));
}

// True if all keys of a partition come back within gc_grace_seconds: a row that is inserted again replaces its
// tombstone, so the table is not a queue.
bool keys_come_back(const TableFacts& table, const StatementFacts& remove) {
  const double deleted =
      remove.rate * remove.times * table.hottest_share() * table.table->options.gc_grace_seconds;
  return deleted > table.capacity_of_partition();
}

}  // namespace

Front front_of(const plan::Explanation::TableUse& use, const cql::Select& select) {
  const auto compares = [&](const schema::Column& column, auto wanted) {
    return std::any_of(select.where.begin(), select.where.end(), [&](const cql::Relation& relation) {
      return !relation.columns.empty() && relation.columns[0] == column.name && wanted(relation.op);
    });
  };
  using cql::Operator;
  Front front;
  for (size_t i = 0; i < use.table->clustering_count && front.column == nullptr; ++i) {
    const schema::Column& column = use.table->clustering(i);
    const auto by_equals = [](Operator op) { return op == Operator::equal || op == Operator::in; };
    if (!compares(column, by_equals)) front.column = &column;
  }
  if (front.column == nullptr) return front;
  front.from_least = front.column->descending == use.reversed;
  front.is_bounded = compares(*front.column, [&](Operator op) {
    return front.from_least ? op == Operator::greater || op == Operator::greater_or_equal
                            : op == Operator::less || op == Operator::less_or_equal;
  });
  return front;
}

double limit_of_read(const StatementFacts& read) {
  constexpr double usual = 100;
  const cql::Select& select = *read.select();
  for (const cql::ExpressionPtr* limit : {&select.limit, &select.per_partition_limit})
    if (const auto* literal = *limit != nullptr ? std::get_if<cql::Literal>(&(*limit)->node) : nullptr)
      return read_number(literal->text).value_or(usual);
  return usual;
}

void review_queue(const ReviewModel& model, const TableFacts& table, Review& review) {
  if (table.tombstones_p99) return review_measured(model, table, review);
  if (table.table->clustering_count == 0) return;
  review_expiry(model, table, review);
  const StatementFacts* read = find_front_read(model, table);
  const StatementFacts* remove = find_delete(model, table);
  if (read == nullptr && review_ranking(model, table, review)) return;
  if (read == nullptr || remove == nullptr)
    return review_churn(model, table, find_whole_read(model, table), review);
  if (keys_come_back(table, *remove)) return review_churn(model, table, {read, 1}, review);
  const double grace = table.table->options.gc_grace_seconds;
  const std::optional<double> tombstones = tombstones_at_front(table, *read, *remove);
  if (tombstones && *tombstones < few_tombstones)
    return review_churn(model, table, find_whole_read(model, table), review);
  Finding finding = begin(table, read, tombstones && *tombstones > very_many_tombstones);
  finding.message =
      "The table is used as a queue: a read of its front scans the tombstones of all rows taken before.";
  finding.evidence.push_back(
      {fmt::format("{} deletes the rows that {} reads first", remove->name, read->name), Origin::estimated});
  if (tombstones)
    finding.evidence.push_back(
        {fmt::format("{} tombstones per read: {} deletes, kept for {}", count_text(*tombstones),
                     rate_text(remove->rate * remove->times), duration_text(grace)),
         Origin::estimated});
  fix_queue(table, *read, *remove, tombstones, finding);
  review.findings.push_back(std::move(finding));
}

void review_mixed(const MixedTable& mixed, Review& review) {
  const auto& create = std::get<cql::CreateTable>(mixed.tree->node);
  Shape plain, counters;
  plain.keyspace = counters.keyspace = create.table.keyspace;
  plain.name = create.table.name;
  counters.name = create.table.name + "_counters";
  if (!create.partition_keys.empty()) plain.partition = create.partition_keys[0];
  for (const cql::ColumnDefinition& column : create.columns)
    if (column.is_primary_key) plain.partition.push_back(column.name);
  for (const std::string& name : create.clustering_columns) {
    const auto order = std::find_if(create.clustering_order.begin(), create.clustering_order.end(),
                                    [&](const cql::ClusteringOrder& one) { return one.column == name; });
    plain.clustering.push_back({name, order != create.clustering_order.end() && order->descending});
  }
  counters.partition = plain.partition;
  counters.clustering = plain.clustering;
  std::string names;
  for (const cql::ColumnDefinition& column : create.columns) {
    const std::string type = cql::print(column.type);
    const bool key = plain.in_key(column.name), counter = type == "counter";
    if (counter) names += (names.empty() ? "" : ", ") + column.name;
    if (key || !counter) plain.columns.push_back({column.name, type, column.is_static});
    if (key || counter) counters.columns.push_back({column.name, type, column.is_static});
  }
  Finding finding;
  finding.verdict = Verdict::counter_mix;
  finding.severity = Severity::error;
  finding.table = create.table.name;
  finding.file = mixed.file;
  finding.line = mixed.line;
  finding.message = "A table cannot have both counters and other non-key columns.";
  finding.evidence.push_back({"counters: " + names, Origin::declared});
  finding.fix =
      "Put the counters into a separate table with the same key. Statements on the table are reviewed when "
      "it is "
      "divided.";
  finding.cql = plain.cql() + counters.cql();
  finding.fix_kind = FixKind::new_table;
  finding.cost =
      "Reading both takes two partitions. Counters are changed only by UPDATE, and an update must not be "
      "retried.";
  review.findings.push_back(std::move(finding));
}

}  // namespace sibyl::advisor
