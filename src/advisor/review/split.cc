// Chooses a way to split partitions that are too large or too hot.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "advisor/review/buckets.h"
#include "advisor/review/judgement/held.h"
#include "advisor/review/judgement/unknown.h"
#include "advisor/review/split.h"
#include "advisor/review/split_given.h"
#include "advisor/review/table.h"

namespace sibyl::advisor {
namespace {

using Want = SplitRead::Want;

// --- Choosing

// The cost by the declared rates; without a read rate, the cost of one read.
double value_of(const SplitSituation& situation, const Choice& choice) {
  const bool known = choice.cost && situation.table.reads > 0;
  return known ? *choice.cost : situation.model.cost.read(choice.partitions, 0);
}

// The name of the choice without its time bucket.
std::string stem_of_choice(const Choice& choice) {
  return choice.name.substr(0, choice.name.find("time bucket"));
}

// Narrow time buckets make small partitions, which are easier to move, repair and compact. They are preferred
// as long as reads cost hardly more.
void choose(const SplitSituation& situation, std::vector<Choice>& choices) {
  constexpr double hardly = 1.125;
  Choice* best = nullptr;
  for (Choice& choice : choices) {
    if (!choice.fits || (choice.second_table && situation.table.reads <= 0)) continue;
    if (best == nullptr || value_of(situation, choice) < value_of(situation, *best)) best = &choice;
  }
  if (best == nullptr) return;
  for (Choice& choice : choices) {
    if (best->width <= 0 || choice.width <= 0 || choice.width >= best->width || !choice.fits) continue;
    if (stem_of_choice(choice) != stem_of_choice(*best)) continue;
    if (value_of(situation, choice) <= hardly * value_of(situation, *best)) best = &choice;
  }
  best->chosen = true;
}

// --- Time

// Describes what each kind of read costs with time buckets.
std::string bucket_cost(const SplitSituation& situation, const TimeChoice& time) {
  std::vector<std::string> parts;
  const bool others =
      situation.wants(Want::whole) || situation.wants(Want::range) || situation.wants(Want::first);
  constexpr double hardly_more_than_one = 1.005;
  const std::string newest =
      others ? fmt::format("The newest {} rows take", count_text(time.newest)) : std::string("A read takes");
  if (time.newest > 0 && time.expected < hardly_more_than_one)
    parts.push_back(newest + " 1 partition (if rows arrive at random)");
  else if (time.newest > 0)
    parts.push_back(fmt::format(
        "{} {:.2f} partitions on average and at most {:.0f} in 95% of cases (if rows arrive at random)",
        newest, time.expected, time.expected_p95));
  const auto add = [&](Want want, const char* what) {
    if (!situation.wants(want)) return;
    SplitRead read;
    read.want = want;
    parts.push_back(fmt::format("{} {} {} partitions", parts.empty() ? "A" : "a", what,
                                count_text(time_partitions(situation, time, read))));
  };
  add(Want::range, "read of a time range takes");
  add(Want::first, "read of the oldest rows takes up to");
  add(Want::whole, "read of everything takes");
  return fmt::format("{}", fmt::join(parts, ", "));
}

// A read of the oldest rows needs few buckets only if it remembers where the previous read ended.
std::string place_advice(const SplitSituation& situation, const std::vector<TimeChoice>& times) {
  const auto first = std::find_if(situation.reads.begin(), situation.reads.end(), [](const SplitRead& read) {
    return read.want == Want::first && read.arrival > 0;
  });
  if (first == situation.reads.end() || times.empty()) return {};
  SplitRead onward = *first;
  onward.want = Want::newest;
  return fmt::format(
      " If reads of the oldest rows remember their position ({} > ?), they take {:.2f} partitions with a {}.",
      time_column(situation.table)->name, time_partitions(situation, times.front(), onward),
      times.front().choice.name);
}

// Describes how a read finds its buckets.
std::string describe_reads(const SplitSituation& situation, const TimeChoice& time) {
  const std::string asks = time.modulo > 1 ? fmt::format("starts with all {:.0f} prefixes of", time.modulo)
                                           : std::string("starts with");
  const auto onward = [](const SplitRead& read) { return read.want == Want::newest && read.onward; };
  if (std::any_of(situation.reads.begin(), situation.reads.end(), onward))
    return fmt::format("A read {} the bucket of its bound and continues until it has enough rows.", asks);
  if (time.newest > 0)
    return fmt::format("A read {} the current bucket and goes back until it has enough rows.", asks);
  return time.modulo > 1
             ? fmt::format("A read takes all {:.0f} prefixes of every bucket in its time range.", time.modulo)
             : "A read takes every bucket in its time range.";
}

// If only the busiest keys need so short a period, advises longer periods for the others, whose reads then
// cost less.
std::string own_widths_advice(const SplitSituation& situation, const TimeChoice& time) {
  constexpr double several = 4, day = 86'400;
  if (!time.bounded || time.expected < several || situation.key_growth <= 0) return {};
  const double wanted = time.newest / situation.key_growth;
  const double fits = situation.model.target.partition_bytes /
                      (situation.key_growth * situation.row_bytes(time.modulo > 1, true));
  const double width = std::min(std::ceil(wanted / day) * day, std::floor(fits / day) * day);
  if (width < several * time.width) return {};
  return fmt::format(
      " Only the busiest keys need so short a period. If each key has its own period, stored in a table of "
      "keys, the median key needs a period of {}, and a read of it takes {:.1f} partitions.",
      duration_text(width), 1 + time.newest / (situation.key_growth * width));
}

Proposal::Added hash_column(const HashBasis& basis, double modulo) {
  return {"hash_prefix", "int", fmt::format("hash of {} modulo {:.0f}", listed(basis.columns), modulo), "",
          modulo};
}

// "minute", "10 minutes".
std::string every_text(double seconds) {
  const std::string text = duration_text(seconds);
  return text.starts_with("1 ") ? text.substr(2) : text;
}

void write_time_fix(const SplitSituation& situation, const TimeChoice& time, Split& split) {
  const std::string& column = time_column(situation.table)->name;
  const std::string width = duration_text(time.width);
  split.fix = fmt::format("Split by time{}: one partition for every {} of {}{}{}. {}",
                          time.modulo > 1 ? " and by a hash prefix" : "", every_text(time.width), column,
                          time.modulo > 1 ? fmt::format(" and each of {:.0f} prefixes", time.modulo) : "",
                          situation.period.empty()
                              ? ""
                              : fmt::format(", instead of one for every {} of {}",
                                            every_text(situation.period_seconds), situation.period),
                          describe_reads(situation, time));
  split.proposal.partition.push_back({"bucket", "timestamp",
                                      fmt::format("{} rounded down to a multiple of {}", column, width),
                                      situation.period, 0, time.width});
  if (time.modulo > 1)
    split.proposal.partition.push_back(hash_column(basis_of(situation, time.modulo), time.modulo));
  const std::string reads = bucket_cost(situation, time);
  split.cost = fmt::format("{}{}{}writes still take one partition; the rows must be copied once.", reads,
                           time.bounded && !reads.empty() ? " (the width is limited by the size target)" : "",
                           reads.empty() ? "Reads and " : "; ") +
               own_widths_advice(situation, time);
}

// --- Hashes

// Names the ratio of reads to writes above which a second table costs less than reading every bucket.
std::string ratio_text(const CostModel& cost, double modulo) {
  constexpr double hardly_any = 0.01;
  if (modulo <= 1 || cost.insert / ((modulo - 1) * cost.partition) < hardly_any) return {};
  return fmt::format(
      " Above {} reads per write, a second table that holds only the rows that reads want is cheaper.",
      count_text(cost.insert / ((modulo - 1) * cost.partition)));
}

// True if only the largest keys exceed the target: 99% of them fit in one partition.
bool few_keys_are_large(const SplitSituation& situation) {
  const ReviewTarget& target = situation.model.target;
  const auto rows = situation.table.rows_per_partition_after(situation.model.horizon_of(situation.table));
  constexpr double several = 100;
  return rows && situation.rate <= target.partition_rate && situation.least <= 1 &&
         situation.table.partitions.value_or(0) >= several &&
         situation.table.bytes_of(*rows).p99 * several <= situation.bytes &&
         situation.table.bytes_of(*rows).p99 <= target.partition_bytes;
}

void write_hash_fix(const SplitSituation& situation, const Choice& choice, Split& split) {
  const double modulo = choice.modulo;
  const std::string number = fmt::format("{:.0f}", modulo);
  split.proposal.partition.push_back(hash_column(basis_of(situation, modulo), modulo));
  split.fix = fmt::format(
      "Spread each partition over {} partitions by a hash prefix; a read of all rows reads each of them.",
      number);
  const bool several = std::any_of(situation.reads.begin(), situation.reads.end(),
                                   [](const SplitRead& read) { return read.is_of_partitions(); });
  split.cost =
      several ? fmt::format("A read takes {} partitions instead of 1; a write still takes one.{}", number,
                            choice.second_table ? "" : ratio_text(situation.model.cost, modulo))
              : fmt::format(
                    "No cost for the present statements: none reads several rows of one key. Reading all "
                    "rows of a key would take {} partitions.",
                    number);
  if (several && few_keys_are_large(situation))
    split.fix += fmt::format(
        " Only the largest keys need {}: 99% of the keys fit in one partition. If the application stores the "
        "number of prefixes of each key, its reads and writes use as many.",
        number);
  if (!choice.second_table) return;
  const FirstRows first = first_rows(situation);
  split.proposal.first_rows = first.rows;
  split.proposal.first_reversed = first.reversed;
  split.fix += fmt::format(
      " {} add a second table with the first {:.0f} rows of each key. Write rows that belong among them to "
      "it "
      "as well, and delete the others when it holds twice as many.",
      situation.table.writes > 0 ? "Reads outnumber writes, so"
                                 : "No writes are declared; if reads outnumber them,",
      first.rows);
  split.cost = fmt::format(
      "First rows are written twice. A read of them takes 1 partition; if deletes leave too "
      "few, they must be copied again from the {} prefixes.",
      number);
}

// --- Partitions of one row

// Counters of one key can be split and added up.
void split_counter(const SplitSituation& situation, double modulo, Split& split) {
  for (const double each : {2.0, 4.0, 10.0, modulo}) {
    if (std::any_of(split.choices.begin(), split.choices.end(),
                    [&](const Choice& choice) { return choice.modulo == each; }))
      continue;
    Choice choice;
    choice.name = fmt::format("random shard below {:.0f}", each);
    choice.partitions = choice.partitions_p95 = choice.modulo = each;
    choice.largest_bytes = situation.bytes + situation.hash_bytes;
    choice.hottest_rate = situation.rate / each;
    choice.fits = choice.hottest_rate <= situation.model.target.partition_rate * (1 + 1e-9);
    choice.cost = cost_of(situation, [&](const SplitRead&) { return each; }, 1);
    split.choices.push_back(std::move(choice));
  }
  std::sort(split.choices.begin(), split.choices.end(),
            [](const Choice& left, const Choice& right) { return left.modulo < right.modulo; });
  choose(situation, split.choices);
  split.proposal.partition.push_back(
      {"shard", "int", fmt::format("a random number from 0 to {:.0f} for each write", modulo - 1), ""});
  split.fix = fmt::format(
      "Count each key in {:.0f} rows: a write picks a random one, a read adds up all of them.", modulo);
  split.cost = fmt::format("A read takes {:.0f} partitions instead of 1; a write still takes one.", modulo);
}

// All writes to a row have the same hash, so no prefix can spread them. Only the application can help.
Split split_of_one_row(const SplitSituation& situation) {
  const ReviewTarget& target = situation.model.target;
  const double modulo = std::max(situation.least, least_modulo(0, 1, situation.rate, target.partition_rate));
  Split split;
  if (modulo > 1 && situation.table.table->is_counter) {
    split_counter(situation, modulo, split);
  } else if (modulo > 1) {
    split.fix = fmt::format(
        "All writes of a key replace the same row, so no key can spread them. Collect the changes of hot "
        "keys in the application and write only the last one: with one write in {0:.0f}, the hottest key "
        "gets {1}. If each write is a separate event, give it its own row: add a timeuuid as clustering "
        "column, and a random shard below {0:.0f} to the partition key.",
        modulo, rate_text(situation.rate / modulo));
    split.cost = fmt::format(
        "Changes become visible late, and collected changes are lost if the process fails. Events are read "
        "from {:.0f} partitions.",
        modulo);
  } else {
    split.fix =
        "A single row fills the partition, so no key can split it. Store its large values in chunks "
        "(LARGE_CELL), or elsewhere with a reference to them.";
    split.cost = "A read of the whole value reads all its chunks.";
  }
  return split;
}

// A possible split: its figures, and the function that writes it.
struct SplitOption {
  Choice choice;
  std::function<void(Split&)> write;
};

// Lists the possible splits by time and by a hash.
std::vector<SplitOption> added_options(const SplitSituation& situation) {
  std::vector<SplitOption> out;
  const double modulo = least_fitting_modulo(situation);
  const std::vector<TimeChoice> times = time_choices(situation);
  for (const TimeChoice& time : times)
    out.push_back(
        {time.choice, [&situation, time](Split& split) { write_time_fix(situation, time, split); }});
  std::vector<double> modulos = {2, 4, 10, modulo};
  std::sort(modulos.begin(), modulos.end());
  modulos.erase(std::unique(modulos.begin(), modulos.end()), modulos.end());
  std::erase(modulos, 1.0);
  std::vector<Choice> hashes;
  for (const double each : modulos) hashes.push_back(hash_choice(situation, each));
  // A fixed number of rows can be stored separately for reads. Time buckets achieve the same without a second
  // table.
  const bool in_time = std::any_of(
      times.begin(), times.end(), [](const TimeChoice& time) { return time.choice.fits && time.newest > 0; });
  if (!in_time)
    if (std::optional<Choice> copy = copy_choice(situation, modulo)) hashes.push_back(*copy);
  for (const Choice& hash : hashes)
    out.push_back({hash, [&situation, hash](Split& split) { write_hash_fix(situation, hash, split); }});
  return out;
}

void write_given_fix(const std::vector<std::string>& columns, bool with_more, Split& split) {
  split.proposal.promoted = columns;
  const std::string moved =
      fmt::format("Move {} from the clustering columns to the partition key: every statement gives {}.",
                  listed(columns), columns.size() == 1 ? "it" : "them");
  split.fix = with_more ? moved + " " + split.fix : moved;
  if (with_more) return;
  split.cost = fmt::format(
      "No cost for the present statements, but the rows must be copied once. A read without {} is no longer "
      "possible.",
      listed(columns));
}

// Clustering columns that become part of the partition key, if necessary with a period or a hash.
struct GivenOptions {
  std::vector<TableFacts> facts;
  std::vector<std::unique_ptr<SplitSituation>> situations;
  std::vector<SplitOption> options;
};

void add_given_options(const SplitSituation& situation, GivenOptions& out) {
  const std::vector<std::vector<std::string>> sets = given_columns(situation);
  out.facts.reserve(sets.size());
  for (const std::vector<std::string>& columns : sets) {
    Choice choice = given_choice(situation, columns);
    const bool fits = choice.fits, one_row = columns.size() == situation.table.table->clustering_count;
    out.options.push_back(
        {std::move(choice), [columns](Split& split) { write_given_fix(columns, false, split); }});
    if (fits) return;
    if (one_row) continue;
    const TableFacts& facts = out.facts.emplace_back(facts_with_given(situation.table, columns));
    auto part = std::make_unique<SplitSituation>(situation_of(situation.model, facts));
    divide_by_given(situation, columns, *part);
    for (SplitOption& more : added_options(*part)) {
      if (!more.choice.fits) continue;
      more.choice.name = fmt::format("{} in the partition key and {}", listed(columns), more.choice.name);
      out.options.push_back({more.choice, [columns, write = std::move(more.write)](Split& split) {
                               write(split);
                               write_given_fix(columns, true, split);
                             }});
    }
    out.situations.push_back(std::move(part));
  }
}

Split split(const SplitSituation& situation) {
  if (situation.table.table->clustering_count == 0) return split_of_one_row(situation);
  GivenOptions given;
  if (!situation.is_new) add_given_options(situation, given);
  std::vector<SplitOption> options = std::move(given.options);
  for (SplitOption& option : added_options(situation)) options.push_back(std::move(option));
  Split split;
  split.proposal.least = situation.least;
  for (const SplitOption& option : options) split.choices.push_back(option.choice);
  choose(situation, split.choices);
  for (size_t i = 0; i < options.size(); ++i) {
    if (!split.choices[i].chosen) continue;
    options[i].write(split);
    if (split.proposal.promoted.empty()) split.cost += place_advice(situation, time_choices(situation));
  }
  // No request reads so many prefixes; such a choice only distracts from the chosen one.
  constexpr double too_many = 1000;
  std::erase_if(split.choices, [](const Choice& one) { return !one.chosen && one.modulo > too_many; });
  return split;
}

// Returns nullopt if partitions stay below the target, or if their size is unknown.
std::optional<Split> split_of_new(const ReviewModel& model, const TableFacts& base, const Shape& shape,
                                  const StatementFacts& statement) {
  TableFacts facts = facts_of(base, shape);
  facts.row_bytes += additional_bytes(base, shape);
  facts.reads = statement.rate * statement.times;
  SplitSituation situation = situation_of(model, facts);
  situation.least = least_spread(model, facts);
  const ReviewTarget& target = model.target;
  if (facts.table->clustering_count == 0 || (situation.bytes <= target.partition_bytes &&
                                             situation.rate <= target.partition_rate && situation.least <= 1))
    return std::nullopt;
  situation.is_new = true;
  situation.reads.push_back(read_of_own(situation, statement));
  return split(situation);
}

}  // namespace

Split split_partitions(const ReviewModel& model, const TableFacts& table, double least, double more_bytes) {
  SplitSituation situation = situation_of(model, table);
  situation.least = least;
  situation.more_bytes = more_bytes;
  find_reads(situation);
  return split(situation);
}

std::optional<Split> split_by_given(const ReviewModel& model, const TableFacts& table, double least) {
  SplitSituation situation = situation_of(model, table);
  situation.least = least;
  find_reads(situation);
  for (const std::vector<std::string>& columns : given_columns(situation)) {
    Choice choice = given_choice(situation, columns);
    if (!choice.fits) continue;
    Split split;
    split.proposal.least = least;
    choice.chosen = true;
    split.choices.push_back(std::move(choice));
    write_given_fix(columns, false, split);
    return split;
  }
  return std::nullopt;
}

std::string hash_source(const ReviewModel& model, const TableFacts& table, double modulo) {
  SplitSituation situation = situation_of(model, table);
  find_reads(situation);
  return listed(basis_of(situation, modulo).columns);
}

bool propose_within_target(const ReviewModel& model, const TableFacts& base, Shape shape,
                           const StatementFacts& statement, Finding& finding) {
  std::optional<Split> split = split_of_new(model, base, shape, statement);
  const bool is_split = split && !split->fix.empty();
  Proposal proposal;
  if (is_split) {
    finding.choices = std::move(split->choices);
    finding.fix = std::move(split->fix);
    finding.cost = std::move(split->cost);
    proposal.partition = std::move(split->proposal.partition);
  }
  const std::string first = missing_values(model, base, shape);
  const std::string faults = is_split ? std::string() : shortcomings(model, base, shape, {});
  for (const std::string& text : {first, faults})
    if (!text.empty()) finding.caution += (finding.caution.empty() ? "" : " ") + text;
  proposal.beside = std::move(shape);
  finding.proposal = std::make_shared<const Proposal>(std::move(proposal));
  return is_split;
}

}  // namespace sibyl::advisor
