// Which way to split partitions that are too large or too hot.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advisor/review_buckets.h"
#include "advisor/review_fix.h"

namespace sibyl::advisor {
namespace {

struct Situation {
  const ReviewModel& model;
  const TableFacts& table;
  double bytes = 0;        // of the largest partition at the horizon
  double rate = 0;         // writes per second to the hottest
  double key_growth = 0;   // rows per second of a middling key
  double busiest = 0;      // and of the busiest
  double newest = 0;       // rows that the reads want; 0: the whole partition, or unknown
  bool needs_all = false;  // some read wants the whole partition
};

// How many of the newest rows the queries ask for.
void find_need(Situation& situation) {
  for (const StatementFacts& statement : situation.model.statements) {
    const cql::Select* select = statement.select();
    if (select == nullptr || statement.explanation.uses.empty()) continue;
    const plan::Explanation::TableUse& use = statement.explanation.uses[0];
    if (situation.model.find(*use.table) != &situation.table) continue;
    if (use.access == plan::Explanation::Access::rows) continue;
    std::optional<double> limit = statement.rows;
    if (select->limit != nullptr) {
      if (const auto* literal = std::get_if<cql::Literal>(&select->limit->node))
        limit = read_number(literal->text);
      else if (statement.observed && statement.observed->calls > 0)
        limit = statement.observed->rows_returned / statement.observed->calls;
    } else if (!limit) {
      situation.needs_all = true;
    }
    if (limit) situation.newest = std::max(situation.newest, *limit);
  }
}

Situation situation_of(const ReviewModel& model, const TableFacts& table) {
  Situation out{model, table};
  if (const auto rows = table.rows_per_partition_after(std::min(model.target.horizon, table.farthest())))
    out.bytes = table.bytes_of(*rows).max;
  out.rate = table.writes * table.hottest_share();
  if (table.growth && table.partitions) {
    out.busiest = *table.growth * table.hottest_share();
    const double median = table.skew > 0 ? std::pow(std::max(1.0, *table.partitions / 2), -table.skew) /
                                               zipf_sum(*table.partitions, table.skew)
                                         : 1 / *table.partitions;
    out.key_growth = *table.growth * median;
    out.busiest = std::max(out.busiest, out.key_growth);
  }
  find_need(out);
  return out;
}

// Work per second; unknown when the rates are.
std::optional<double> cost_of(const Situation& situation, double read, double writes_each) {
  const TableFacts& table = situation.table;
  if (table.reads <= 0 && table.writes <= 0) return std::nullopt;
  return table.reads * read + table.writes * writes_each * situation.model.cost.insert;
}

Choice hash_choice(const Situation& situation, double modulo) {
  const ReviewTarget& target = situation.model.target;
  Choice choice;
  choice.name = fmt::format("hash prefix modulo {}", count_text(modulo));
  choice.partitions = choice.partitions_p95 = choice.modulo = modulo;
  choice.largest_bytes = situation.bytes / modulo;
  choice.hottest_rate = situation.rate / modulo;
  choice.fits = choice.largest_bytes <= target.partition_bytes * (1 + 1e-9) &&
                choice.hottest_rate <= target.partition_rate * (1 + 1e-9);
  choice.cost = cost_of(situation, situation.model.cost.read(modulo, 0), 1);
  return choice;
}

// Writes stay spread; a second table with the rows that reads want, in their order, takes every write once
// more: of one key into one partition.
Choice copy_choice(const Situation& situation, double modulo) {
  Choice choice = hash_choice(situation, modulo);
  choice.name += " and a table in the order of reads";
  choice.partitions = choice.partitions_p95 = 1;
  choice.hottest_rate = situation.rate;
  choice.fits = situation.rate <= situation.model.target.partition_rate;
  choice.cost = cost_of(situation, situation.model.cost.read(1, 0), 2);
  return choice;
}

struct TimeChoice {
  Choice choice;
  BucketWidth width;
};

std::optional<TimeChoice> time_choice(const Situation& situation) {
  const ReviewTarget& target = situation.model.target;
  if (time_column(*situation.table.table) == nullptr || situation.key_growth <= 0) return std::nullopt;
  // Without a need for the newest few the width is what the target holds.
  const double wanted = situation.newest > 0 && !situation.needs_all ? situation.newest : 0;
  TimeChoice out;
  out.width = choose_width(situation.key_growth, wanted > 0 ? wanted : 1e18, situation.busiest,
                           situation.table.row_bytes, target.partition_bytes);
  Choice& choice = out.choice;
  choice.name = "time bucket of " + duration_text(out.width.seconds);
  choice.width = out.width.seconds;
  choice.largest_bytes = situation.busiest * out.width.seconds * situation.table.row_bytes;
  choice.hottest_rate = situation.rate;
  choice.fits = choice.largest_bytes <= target.partition_bytes * (1 + 1e-9) &&
                choice.hottest_rate <= target.partition_rate * (1 + 1e-9);
  if (wanted > 0) {
    const TimeBucket bucket{situation.key_growth, out.width.seconds, wanted};
    choice.partitions = bucket.expected();
    choice.partitions_p95 = bucket.quantile(0.95);
  } else {
    const double kept = std::min(situation.table.retention.value_or(situation.model.target.horizon),
                                 situation.model.target.horizon);
    choice.partitions = choice.partitions_p95 = std::ceil(kept / out.width.seconds) + 1;
  }
  // Compared as hash prefixes are: by partitions, however many requests ask for them.
  choice.cost = cost_of(situation, situation.model.cost.read(choice.partitions, 0), 1);
  return out;
}

void choose(std::vector<Choice>& choices) {
  Choice* best = nullptr;
  const auto value = [](const Choice& choice) { return choice.cost.value_or(choice.partitions); };
  for (Choice& choice : choices) {
    if (!choice.fits) continue;
    if (!choice.cost && choice.name.find(" and a table") != std::string::npos) continue;
    if (best == nullptr || value(choice) < value(*best)) best = &choice;
  }
  if (best != nullptr) best->chosen = true;
}

void write_time_fix(const Situation& situation, const TimeChoice& time, Split& split) {
  const schema::Table& table = *situation.table.table;
  const std::string width = duration_text(time.width.seconds);
  const Shape shape = with_partition_column(table, "bucket", "timestamp");
  split.fix = fmt::format(
      "Split by time: one partition for every {} of {}. A read starts with the current bucket and goes back "
      "until it has enough rows.",
      width.starts_with("1 ") ? width.substr(2) : width, time_column(table)->name);
  split.cql =
      fmt::format("-- bucket: {} rounded down to a multiple of {}\n", time_column(table)->name, width) +
      shape.cql();
  split.cost = fmt::format(
      "A read takes {:.2f} partitions on average and {:.0f} in 95 of 100 cases (rows arriving at random){}; "
      "writes stay one partition; rows have to be moved once.",
      time.choice.partitions, time.choice.partitions_p95,
      time.width.bounded_by_size ? ", the width being bounded by the size target" : "");
}

// The ratio of reads to writes from which a second table costs less than asking every bucket.
std::string ratio_text(const CostModel& cost, double modulo) {
  constexpr double hardly_any = 0.01;
  if (modulo <= 1 || cost.insert / ((modulo - 1) * cost.partition) < hardly_any) return {};
  return fmt::format(" From {} reads per write on, a second table in the order of reads is cheaper.",
                     count_text(cost.insert / ((modulo - 1) * cost.partition)));
}

void write_hash_fix(const Situation& situation, double modulo, bool copy, Split& split) {
  const schema::Table& table = *situation.table.table;
  const std::string by = table.clustering_count > 0 ? table.clustering(0).name : "the row's key";
  const Shape shape = with_partition_column(table, "hash_prefix", "int");
  split.fix =
      fmt::format("Spread each partition over {} by a hash prefix; a read of all asks every one of them.",
                  count_text(modulo));
  split.cql = fmt::format("-- hash_prefix: hash of {} modulo {}\n", by, count_text(modulo)) + shape.cql();
  split.cost = fmt::format("A read takes {} partitions instead of 1; writes stay one partition.{}",
                           count_text(modulo), copy ? "" : ratio_text(situation.model.cost, modulo));
  if (!copy) return;
  split.fix +=
      " Reads outnumber writes, so keep a second table in the order of reads for them, such as the "
      "newest rows alone, or the columns that they need.";
  Shape ordered = shape_of(table);
  ordered.name += "_to_read";
  split.cql +=
      "-- for reads: rows that they no longer want are deleted, or expire by USING TTL\n" + ordered.cql();
  split.cost = "Every row is written twice; a read takes 1 partition.";
}

}  // namespace

Split split_partitions(const ReviewModel& model, const TableFacts& table) {
  const Situation situation = situation_of(model, table);
  const double modulo = least_modulo(situation.bytes, model.target.partition_bytes, situation.rate,
                                     model.target.partition_rate);
  Split split;
  const std::optional<TimeChoice> time = time_choice(situation);
  if (time) split.choices.push_back(time->choice);
  std::vector<double> modulos = {2, 4, 10, modulo};
  std::sort(modulos.begin(), modulos.end());
  modulos.erase(std::unique(modulos.begin(), modulos.end()), modulos.end());
  std::erase(modulos, 1.0);
  for (const double each : modulos) split.choices.push_back(hash_choice(situation, each));
  // A bounded number of rows can be kept apart for reads; buckets of time do that without a second table.
  if (modulo > 1 && situation.newest > 0 && !situation.needs_all && !(time && time->choice.fits))
    split.choices.push_back(copy_choice(situation, modulo));
  choose(split.choices);
  for (const Choice& choice : split.choices) {
    if (!choice.chosen) continue;
    if (time && choice.name == time->choice.name)
      write_time_fix(situation, *time, split);
    else
      write_hash_fix(situation, choice.partitions > 1 ? choice.partitions : modulo,
                     choice.name.find(" and a table") != std::string::npos, split);
  }
  return split;
}

}  // namespace sibyl::advisor
