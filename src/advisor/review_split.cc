// Which way to split partitions that are too large or too hot.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "advisor/review_buckets.h"
#include "advisor/review_fix.h"

namespace sibyl::advisor {
namespace {

constexpr const char* copied = " and a table in the order of reads";

// What a read of the table asks for, as far as a split changes what it takes.
struct Read {
  enum class Want { row, newest, range, whole, elsewhere };
  Want want = Want::whole;   // of one key; elsewhere: asks for no key, so that no split matters to it
  double rows = 0;           // Want::newest: how many
  double arrival = 0;        // Want::newest: of the rows that it looks at, per second
  double keys = 1;           // that it names
  double share = 0;          // of the table's reads
  bool names_first = false;  // compares the first clustering column by =, which a hash prefix is made of

  bool is_of_partitions() const { return want != Want::row && want != Want::elsewhere; }
};

struct Situation {
  const ReviewModel& model;
  const TableFacts& table;
  double bytes = 0;       // of the largest partition at the horizon
  double rate = 0;        // writes per second to the hottest
  double key_growth = 0;  // rows per second of a middling key
  double busiest = 0;     // and of the busiest
  double least = 1;       // partitions of a hash prefix
  bool is_new = false;    // made for its reads
  std::vector<Read> reads;

  bool wants(Read::Want want) const {
    return std::any_of(reads.begin(), reads.end(), [&](const Read& read) { return read.want == want; });
  }
};

bool is_equal_to(const cql::Select& select, const std::string& column) {
  return std::any_of(select.where.begin(), select.where.end(), [&](const cql::Relation& relation) {
    return (relation.op == cql::Operator::equal || relation.op == cql::Operator::in) &&
           relation.target == cql::Relation::Target::column &&
           std::find(relation.columns.begin(), relation.columns.end(), column) != relation.columns.end();
  });
}

// The rows that are enough for it; none: it wants all there are, or nobody knows.
std::optional<double> rows_wanted(const StatementFacts& statement) {
  const cql::Select& select = *statement.select();
  const plan::Explanation::TableUse& use = statement.explanation.uses[0];
  // Of rows that are filtered, counted or grouped nobody knows how many have to be looked at.
  if (!use.filters.empty() || use.aggregates || use.groups) return std::nullopt;
  for (const cql::ExpressionPtr* limit : {&select.limit, &select.per_partition_limit}) {
    if (*limit == nullptr) continue;
    if (const auto* literal = std::get_if<cql::Literal>(&(*limit)->node)) return read_number(literal->text);
    if (statement.observed && statement.observed->calls > 0)
      return statement.observed->rows_returned / statement.observed->calls;
  }
  return statement.rows;
}

Read read_of(const Situation& situation, const StatementFacts& statement) {
  using Access = plan::Explanation::Access;
  const plan::Explanation::TableUse& use = statement.explanation.uses[0];
  const schema::Table& table = *situation.table.table;
  const cql::Select& select = *statement.select();
  Read read;
  if (use.partitions) read.keys = static_cast<double>(*use.partitions);
  if (!use.partitions && statement.partitions) read.keys = std::max(1.0, *statement.partitions);
  read.names_first = table.clustering_count > 0 && is_equal_to(select, table.clustering(0).name);
  const bool by_key = use.access == Access::partitions || (use.access == Access::index && use.partitions);
  if (!by_key) {
    read.want = use.access == Access::rows ? Read::Want::row : Read::Want::elsewhere;
    read.keys = use.access == Access::rows ? read.keys : 1;
    return read;
  }
  const schema::Column* time = time_column(table);
  if (time == nullptr) {
    read.rows = rows_wanted(statement).value_or(0);
    read.want = read.rows > 0 ? Read::Want::newest : Read::Want::whole;
    return read;
  }
  if (is_equal_to(select, time->name)) {
    read.want = Read::Want::row;
    return read;
  }
  // Only rows that lie in the order of time can be read bucket by bucket.
  read.arrival = situation.key_growth;
  for (size_t i = 0; i < table.clustering_count && &table.clustering(i) != time; ++i) {
    const std::optional<double> distinct = situation.table.column(table.clustering(i)).distinct;
    if (!distinct || !is_equal_to(select, table.clustering(i).name)) return read;
    read.arrival /= std::max(1.0, *distinct);
  }
  read.rows = rows_wanted(statement).value_or(0);
  const bool bounded =
      std::any_of(select.where.begin(), select.where.end(), [&](const cql::Relation& relation) {
        return !relation.columns.empty() && relation.columns[0] == time->name;
      });
  if (read.rows > 0)
    read.want = Read::Want::newest;
  else if (bounded)
    read.want = Read::Want::range;
  return read;
}

void find_reads(Situation& situation) {
  double rates = 0;
  for (const StatementFacts& statement : situation.model.statements) {
    if (statement.select() == nullptr || statement.explanation.uses.empty()) continue;
    if (situation.model.find(*statement.explanation.uses[0].table) != &situation.table) continue;
    situation.reads.push_back(read_of(situation, statement));
    situation.reads.back().share = statement.rate * statement.times;
    rates += situation.reads.back().share;
  }
  // Where no statement is known, reads want what a key has.
  if (situation.reads.empty()) situation.reads.emplace_back();
  for (Read& read : situation.reads)
    read.share = rates > 0 ? read.share / rates : 1 / static_cast<double>(situation.reads.size());
}

Situation situation_of(const ReviewModel& model, const TableFacts& table) {
  Situation out{.model = model, .table = table, .reads = {}};
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
  return out;
}

// The partitions that a read takes of a split.
using Taken = std::function<double(const Read&)>;

// Work per second, each read at its own price; unknown when the rates are.
std::optional<double> cost_of(const Situation& situation, const Taken& taken, double writes_each) {
  const TableFacts& table = situation.table;
  if (table.reads <= 0 && table.writes <= 0) return std::nullopt;
  double read = 0;
  for (const Read& one : situation.reads)
    read += one.share * situation.model.cost.read(one.keys * taken(one), 0);
  return table.reads * read + table.writes * writes_each * situation.model.cost.insert;
}

// The mean over reads of partitions, those of one row and those that ask for no key left out.
double mean_of(const Situation& situation, const Taken& taken) {
  double sum = 0, shares = 0, plain = 0, count = 0;
  for (const Read& read : situation.reads) {
    if (!read.is_of_partitions()) continue;
    sum += read.share * taken(read);
    shares += read.share;
    plain += taken(read);
    ++count;
  }
  if (count == 0) return taken(Read{});
  return shares > 0 ? sum / shares : plain / count;
}

double hash_partitions(const Read& read, double modulo) {
  return read.is_of_partitions() && !read.names_first ? modulo : 1;
}

Choice hash_choice(const Situation& situation, double modulo) {
  const ReviewTarget& target = situation.model.target;
  Choice choice;
  choice.name = fmt::format("hash prefix modulo {}", count_text(modulo));
  choice.partitions = choice.partitions_p95 = choice.modulo = modulo;
  choice.largest_bytes = situation.bytes / modulo;
  choice.hottest_rate = situation.rate / modulo;
  choice.fits = choice.largest_bytes <= target.partition_bytes * (1 + 1e-9) &&
                choice.hottest_rate <= target.partition_rate * (1 + 1e-9) && modulo >= situation.least;
  choice.cost = cost_of(situation, [&](const Read& read) { return hash_partitions(read, modulo); }, 1);
  return choice;
}

// Writes stay spread; a second table with the rows that reads want, in their order, takes every write once
// more: of one key into one partition. Who wants all of a key asks the hash prefixes.
Choice copy_choice(const Situation& situation, double modulo) {
  const Taken taken = [&](const Read& read) {
    return read.want == Read::Want::newest ? 1 : hash_partitions(read, modulo);
  };
  Choice choice = hash_choice(situation, modulo);
  choice.name += copied;
  choice.partitions = mean_of(situation, taken);
  choice.partitions_p95 = situation.wants(Read::Want::whole) ? modulo : 1;
  choice.hottest_rate = situation.rate;
  choice.fits = situation.rate <= situation.model.target.partition_rate;
  choice.cost = cost_of(situation, taken, 2);
  return choice;
}

struct TimeChoice {
  Choice choice;
  BucketWidth width;
  double all = 1;       // buckets that are kept
  double newest = 0;    // the most rows that some read wants
  double expected = 1;  // buckets of such a read, and in 95 of 100 cases
  double expected_p95 = 1;
};

// The most demanding of those that want the newest rows.
const Read* newest_read(const Situation& situation) {
  const Read* most = nullptr;
  for (const Read& read : situation.reads) {
    if (read.want != Read::Want::newest || read.arrival <= 0) continue;
    if (most == nullptr || read.rows / read.arrival > most->rows / most->arrival) most = &read;
  }
  return most;
}

double time_partitions(const Situation& situation, const TimeChoice& time, const Read& read) {
  switch (read.want) {
    case Read::Want::row:
    case Read::Want::elsewhere:
      return 1;
    case Read::Want::newest:
      return std::min(time.all, TimeBucket{read.arrival, time.width.seconds, read.rows}.expected());
    case Read::Want::range:
      return 1 + situation.model.cost.range_selectivity * (time.all - 1);
    case Read::Want::whole:
      break;
  }
  return time.all;
}

// The buckets that suffice for 95 of 100 reads of partitions.
double quantile_of(const Situation& situation, const TimeChoice& time) {
  constexpr double rest = 0.05;
  double shares = 0;
  for (const Read& read : situation.reads) shares += read.is_of_partitions() ? read.share : 0;
  const auto suffices = [&](double buckets) {
    double above = 0;
    for (const Read& read : situation.reads) {
      if (!read.is_of_partitions() || buckets >= time.all) continue;
      const double weight = shares > 0 ? read.share / shares : 1;
      const TimeBucket bucket{read.arrival, time.width.seconds, read.rows};
      above += weight * (read.want == Read::Want::newest                    ? bucket.chance_above(buckets)
                         : time_partitions(situation, time, read) > buckets ? 1
                                                                            : 0);
    }
    return above <= rest;
  };
  double least = 1, most = 1;
  while (most < time.all && !suffices(most)) most *= 2;
  for (least = std::floor(most / 2) + 1; least < most;) {
    const double middle = std::floor((least + most) / 2);
    if (suffices(middle))
      most = middle;
    else
      least = middle + 1;
  }
  return std::min(most, time.all);
}

// How far back rows of the table lie at the horizon.
double time_kept(const Situation& situation) {
  const TableFacts& table = situation.table;
  const double reached = std::min(situation.model.target.horizon, table.farthest());
  const double before = table.rows && table.growth ? *table.rows / *table.growth : 0;
  return table.retention ? std::min(*table.retention, before + reached) : before + reached;
}

std::optional<TimeChoice> time_choice(const Situation& situation) {
  const ReviewTarget& target = situation.model.target;
  if (time_column(*situation.table.table) == nullptr || situation.key_growth <= 0) return std::nullopt;
  const Read* newest = newest_read(situation);
  // Who wants more than the newest few is served best by the widest that the target holds.
  const bool more =
      newest == nullptr || situation.wants(Read::Want::whole) || situation.wants(Read::Want::range);
  TimeChoice out;
  out.width = choose_width(more ? situation.key_growth : newest->arrival, more ? 1e18 : newest->rows,
                           situation.busiest, situation.table.row_bytes, target.partition_bytes);
  out.all = std::ceil(time_kept(situation) / out.width.seconds) + 1;
  const Taken taken = [&](const Read& read) { return time_partitions(situation, out, read); };
  if (newest != nullptr) {
    out.newest = newest->rows;
    out.expected = taken(*newest);
    out.expected_p95 =
        std::min(out.all, TimeBucket{newest->arrival, out.width.seconds, newest->rows}.quantile(0.95));
  }
  Choice& choice = out.choice;
  choice.name = "time bucket of " + duration_text(out.width.seconds);
  choice.width = out.width.seconds;
  choice.largest_bytes = situation.busiest * out.width.seconds * situation.table.row_bytes;
  choice.hottest_rate = situation.rate;
  choice.fits = choice.largest_bytes <= target.partition_bytes * (1 + 1e-9) &&
                choice.hottest_rate <= target.partition_rate * (1 + 1e-9);
  choice.partitions = mean_of(situation, taken);
  choice.partitions_p95 = quantile_of(situation, out);
  // Compared as hash prefixes are: by partitions, however many requests ask for them.
  choice.cost = cost_of(situation, taken, 1);
  return out;
}

void choose(std::vector<Choice>& choices) {
  Choice* best = nullptr;
  const auto value = [](const Choice& choice) { return choice.cost.value_or(choice.partitions); };
  for (Choice& choice : choices) {
    if (!choice.fits) continue;
    if (!choice.cost && choice.name.ends_with(copied)) continue;
    if (best == nullptr || value(choice) < value(*best)) best = &choice;
  }
  if (best != nullptr) best->chosen = true;
}

// What reads take of buckets, each kind of them.
std::string bucket_cost(const Situation& situation, const TimeChoice& time) {
  std::vector<std::string> parts;
  if (time.newest > 0)
    parts.push_back(
        fmt::format("{} {:.2f} partitions on average and {:.0f} in 95 of 100 cases (rows arriving at random)",
                    situation.wants(Read::Want::whole) || situation.wants(Read::Want::range)
                        ? fmt::format("The newest {} rows take", count_text(time.newest))
                        : std::string("A read takes"),
                    time.expected, time.expected_p95));
  if (situation.wants(Read::Want::range))
    parts.push_back(fmt::format("{} range of time {} partitions", parts.empty() ? "A" : "a",
                                count_text(time_partitions(situation, time, {.want = Read::Want::range}))));
  if (situation.wants(Read::Want::whole))
    parts.push_back(
        fmt::format("{} read of everything {} partitions", parts.empty() ? "A" : "a", count_text(time.all)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

void write_time_fix(const Situation& situation, const TimeChoice& time, Split& split) {
  const schema::Table& table = *situation.table.table;
  const std::string width = duration_text(time.width.seconds);
  split.fix = fmt::format(
      "Split by time: one partition for every {} of {}. A read starts with the current bucket and goes back "
      "until it has enough rows.",
      width.starts_with("1 ") ? width.substr(2) : width, time_column(table)->name);
  split.proposal.partition.push_back(
      {"bucket", "timestamp",
       fmt::format("{} rounded down to a multiple of {}", time_column(table)->name, width)});
  const std::string reads = bucket_cost(situation, time);
  split.cost = fmt::format(
      "{}{}{}writes stay one partition; rows have to be moved once.", reads,
      time.width.bounded_by_size && !reads.empty() ? ", the width being bounded by the size target" : "",
      reads.empty() ? "Reads and " : "; ");
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
  split.proposal.partition.push_back(
      {"hash_prefix", "int", fmt::format("hash of {} modulo {}", by, count_text(modulo))});
  split.fix =
      fmt::format("Spread each partition over {} by a hash prefix; a read of all asks every one of them.",
                  count_text(modulo));
  split.cost = fmt::format("A read takes {} partitions instead of 1; writes stay one partition.{}",
                           count_text(modulo), copy ? "" : ratio_text(situation.model.cost, modulo));
  if (!copy) return;
  split.fix +=
      " Reads outnumber writes, so keep a second table in the order of reads for them, such as the "
      "newest rows alone, or the columns that they need.";
  split.proposal.to_read = true;
  split.cost = "Every row is written twice; a read takes 1 partition.";
}

Split split(const Situation& situation) {
  const ReviewTarget& target = situation.model.target;
  const double modulo = std::max(situation.least, least_modulo(situation.bytes, target.partition_bytes,
                                                               situation.rate, target.partition_rate));
  Split split;
  const std::optional<TimeChoice> time = time_choice(situation);
  if (time) split.choices.push_back(time->choice);
  std::vector<double> modulos = {2, 4, 10, modulo};
  std::sort(modulos.begin(), modulos.end());
  modulos.erase(std::unique(modulos.begin(), modulos.end()), modulos.end());
  std::erase(modulos, 1.0);
  for (const double each : modulos) split.choices.push_back(hash_choice(situation, each));
  // A bounded number of rows can be kept apart for reads; buckets of time do that without a second table.
  if (modulo > 1 && !situation.is_new && situation.wants(Read::Want::newest) && !(time && time->choice.fits))
    split.choices.push_back(copy_choice(situation, modulo));
  choose(split.choices);
  for (const Choice& choice : split.choices) {
    if (!choice.chosen) continue;
    if (time && choice.name == time->choice.name)
      write_time_fix(situation, *time, split);
    else
      write_hash_fix(situation, choice.modulo, choice.name.ends_with(copied), split);
  }
  return split;
}

// The table as `shape` has it, with the rows and values of the one that it is made from.
TableFacts facts_of(const TableFacts& base, const Shape& shape) {
  schema::Table table = *base.table;
  table.view = nullptr;
  table.indexes.clear();
  table.columns.clear();
  const auto add = [&](const std::string& name, schema::ColumnKind kind, bool descending) {
    schema::Column column = *base.table->find(name);
    column.kind = kind;
    column.descending = descending;
    table.columns.push_back(std::move(column));
  };
  for (const std::string& name : shape.partition) add(name, schema::ColumnKind::partition_key, false);
  for (const Shape::Order& order : shape.clustering)
    add(order.name, schema::ColumnKind::clustering, order.descending);
  for (const Shape::Column& column : shape.columns)
    if (!shape.in_key(column.name)) add(column.name, schema::ColumnKind::regular, false);
  table.finish();
  TableFacts out = base;
  out.table = std::make_shared<const schema::Table>(std::move(table));
  out.name = shape.name;
  out.partition_bytes.reset();
  out.read_share = out.write_share = out.request_skew = std::nullopt;
  if (shape.partition == shape_of(*base.table).partition) return out;
  out.p50 = out.p99 = out.max = std::nullopt;
  out.skew = 0;
  out.partitions = 1;
  const bool one_key = base.table->partition_key_count == 1;
  for (size_t i = 0; i < out.table->partition_key_count; ++i) {
    const schema::Column& column = out.table->partition_key(i);
    ColumnFacts& known = out.columns.at(column.name);
    const bool was_key = one_key && base.table->partition_key(0).name == column.name;
    if (!known.distinct && was_key) known.distinct = base.partitions;
    out.skew = std::max(out.skew, was_key ? base.skew : known.skew);
    known.is_period = is_time(column) && (known.growth || !known.distinct);
    if (known.distinct && out.partitions)
      *out.partitions *= *known.distinct;
    else
      out.partitions.reset();
  }
  if (out.partitions && out.rows) out.partitions = std::min(*out.partitions, *out.rows);
  return out;
}

// What a statement asks of a table that was made for it.
Read read_of_own(const Situation& situation, const StatementFacts& statement) {
  const schema::Table& table = *situation.table.table;
  const plan::Explanation::TableUse& use = statement.explanation.uses[0];
  const cql::Select& select = *statement.select();
  Read read;
  read.share = 1;
  const schema::Column* time = time_column(table);
  const bool in_time = time != nullptr && &table.clustering(0) == time;
  if (use.aggregates || use.groups || (time != nullptr && !in_time)) return read;
  const auto* limit = select.limit != nullptr ? std::get_if<cql::Literal>(&select.limit->node) : nullptr;
  read.rows = limit != nullptr ? read_number(limit->text).value_or(0) : statement.rows.value_or(0);
  read.arrival = situation.key_growth;
  if (read.rows > 0) read.want = Read::Want::newest;
  return read;
}

// nullopt: its partitions stay below the target, or nobody knows.
std::optional<Split> split_of_new(const ReviewModel& model, const TableFacts& base, const Shape& shape,
                                  const StatementFacts& statement) {
  TableFacts facts = facts_of(base, shape);
  facts.reads = statement.rate * statement.times;
  Situation situation = situation_of(model, facts);
  if (facts.table->clustering_count == 0 || situation.bytes <= model.target.partition_bytes)
    return std::nullopt;
  situation.is_new = true;
  situation.reads.push_back(read_of_own(situation, statement));
  return split(situation);
}

}  // namespace

Split split_partitions(const ReviewModel& model, const TableFacts& table, double least) {
  Situation situation = situation_of(model, table);
  situation.least = least;
  find_reads(situation);
  return split(situation);
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
  proposal.beside = std::move(shape);
  finding.proposal = std::make_shared<const Proposal>(std::move(proposal));
  return is_split;
}

}  // namespace sibyl::advisor
