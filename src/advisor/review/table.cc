// Reviews the size, the load and the spread of partitions.
#include "advisor/review/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advisor/review/fix.h"
#include "advisor/review/judgement/hot.h"
#include "advisor/review/judgement/unknown.h"
#include "advisor/review/split.h"

namespace sibyl::advisor {
namespace {

using types::Kind;

constexpr double seconds_per_day = 86'400;
// Bytes that are too few to be worth spreading if every node has some of the partitions.
constexpr double small_spread_table = 20e6;

class TableReviewer {
 public:
  TableReviewer(const ReviewModel& model, const TableFacts& table, Review& review)
      : model_(model), facts_(table), table_(*table.table), review_(review) {}

  void run() {
    review_load();
    review_unknown(model_, facts_, review_);
    review_key(model_, facts_, review_);
    review_.tables.push_back(std::move(out_));
  }

  // Reviews only size, load and spread.
  void review_load() {
    measure();
    growth();
    review_hot(model_, facts_, out_.spread, review_);
    low_cardinality();
  }

 private:
  void measure() {
    out_.name = facts_.name;
    out_.columns = review_columns(table_);
    if (table_.is_view()) out_.view_of = table_.view->base_table;
    out_.rows = facts_.rows;
    out_.partitions = facts_.partitions;
    out_.row_bytes = facts_.row_bytes;
    if (facts_.rows) out_.bytes = *facts_.rows * facts_.row_bytes;
    out_.reads = facts_.reads;
    out_.writes = facts_.writes;
    share_ = out_.hottest_share = facts_.hottest_share();
    if (const double requests = facts_.reads + facts_.writes; requests > 0 && share_ > 0)
      out_.hottest_share = (hottest(true) + hottest(false)) / requests;
    out_.hottest_read = facts_.read_key;
    out_.hottest_write = facts_.write_key;
    out_.origin = facts_.origin;
    if (const auto rows = facts_.rows_per_partition()) out_.now = facts_.bytes_of(*rows);
    list_inputs();
    out_.horizon_seconds = prediction_seconds();
    out_.horizon = sizes_after(prediction_seconds());
    if (!out_.horizon) bound_by_key();
    follow_growth();
    if (out_.horizon && out_.horizon->max > model_.target.partition_bytes)
      out_.days_to_target = time_to_target(prediction_seconds()) / seconds_per_day;
    spread();
  }

  // If the clustering columns have few values, partitions are small, whatever else is unknown.
  void bound_by_key() {
    const double most = facts_.capacity_of_partition();
    const Sizes sizes = facts_.bytes_of({most, most, most, most});
    if (sizes.max > model_.target.partition_bytes) return;
    out_.now = out_.horizon = sizes;
    out_.inputs.push_back(
        {fmt::format("at most {} rows per partition, by the values of its clustering columns",
                     count_text(most)),
         Origin::estimated});
  }

  // Lists the numbers from which the sizes follow.
  void list_inputs() {
    const auto add = [&](std::string text, Origin origin) {
      out_.inputs.push_back({std::move(text), origin});
    };
    if (facts_.rows) add(count_of(*facts_.rows, "row"), facts_.rows_origin());
    if (facts_.rows || facts_.growth)
      add(fmt::format("{} per row", size_text(facts_.row_bytes)), facts_.row_is_declared ? Origin::declared
                                                                  : facts_.origin == Origin::measured
                                                                      ? Origin::measured
                                                                      : Origin::estimated);
    if (facts_.partitions && table_.clustering_count > 0)
      add(fmt::format("{}{}", count_of(*facts_.partitions, "partition"),
                      facts_.skew > 0 ? fmt::format(", Zipf {:.3g}", facts_.skew) : ""),
          facts_.partitions_origin());
    if (facts_.growth) out_.inputs.push_back(growth_evidence(facts_));
    if (facts_.growth && !facts_.rows) add("it starts empty: rows= is not declared", Origin::estimated);
    if (facts_.retention) add("kept for " + duration_text(*facts_.retention), Origin::declared);
    if (const auto period = period_evidence()) out_.inputs.push_back(*period);
  }

  // The length of the periods in the partition key, and where it comes from.
  std::optional<Evidence> period_evidence() const {
    const std::optional<double> width = facts_.period_width();
    if (!width) return std::nullopt;
    for (size_t i = 0; i < table_.partition_key_count; ++i) {
      const schema::Column& column = table_.partition_key(i);
      const ColumnFacts& known = facts_.column(column);
      if (!known.is_period || 1 / *known.growth > *width) continue;
      return Evidence{fmt::format("a period of {} in {}{}", duration_text(*width), column.name,
                                  known.growth_is_usual ? ", by its name and type" : ""),
                      known.growth_is_usual ? Origin::estimated : Origin::declared};
    }
    return std::nullopt;
  }

  // The Zipf exponent of the other partitions, if the largest one is known separately.
  double skew_of_others() const {
    if (facts_.p50 && facts_.p99 && facts_.rows && facts_.partitions)
      return zipf_of_quantiles(*facts_.rows, *facts_.partitions, {facts_.p50, facts_.p99, {}});
    return facts_.key_skew();
  }

  void spread() {
    const std::optional<double> periods = facts_.has_period() ? periods_kept() : std::nullopt;
    const std::optional<double> keys = periods ? facts_.keys() : facts_.partitions;
    if (!keys) return;
    const auto dominant = facts_.origin == Origin::measured ? std::nullopt : facts_.dominant_share();
    SpreadInput input{.partitions = *keys,
                      .periods = periods.value_or(1),
                      .byte_skew = dominant ? skew_of_others() : facts_.key_skew(),
                      .read_skew = request_skew(false),
                      .write_skew = request_skew(true),
                      .top_share = dominant.value_or(0),
                      .reads = facts_.reads,
                      .writes = facts_.writes,
                      .nodes = model_.target.nodes,
                      .replicas = model_.target.replicas,
                      .vnodes = model_.target.vnodes,
                      .is_period = {}};
    for (size_t i = 0; periods && i < table_.partition_key_count; ++i)
      input.is_period.push_back(facts_.column(table_.partition_key(i)).is_period);
    out_.spread = spread_over_nodes(table_, input);
    input.nodes *= 2;
    out_.spread_doubled = spread_over_nodes(table_, input);
  }

  // The number of periods kept: from the existing rows, otherwise from the retention, otherwise from the
  // horizon.
  std::optional<double> periods_kept() const {
    const std::optional<double> width = facts_.period_width();
    if (!width || !facts_.keys()) return std::nullopt;
    double kept = facts_.retention.value_or(model_.target.horizon);
    if (facts_.rows.value_or(0) > 0 && facts_.growth) kept = std::min(kept, *facts_.rows / *facts_.growth);
    return std::max(1.0, kept / *width);
  }

  void follow_growth() {
    constexpr int steps = 24;
    for (int i = 0; i <= steps && out_.horizon; ++i) {
      const double seconds = prediction_seconds() * i / steps;
      if (const std::optional<Sizes> sizes = sizes_after(seconds)) out_.growth.push_back({seconds, *sizes});
    }
  }

  std::optional<Sizes> sizes_after(double seconds) const {
    const auto rows = facts_.rows_per_partition_after(seconds);
    return rows ? std::optional(facts_.bytes_of(*rows)) : std::nullopt;
  }

  // The time when the largest partition reaches the target, by bisection. REQUIRES: it does so within
  // `seconds`.
  double time_to_target(double seconds) const {
    double from = 0, to = seconds;
    for (int i = 0; i < 60; ++i) {
      const double middle = (from + to) / 2;
      const std::optional<Sizes> sizes = sizes_after(middle);
      (sizes && sizes->max > model_.target.partition_bytes ? to : from) = middle;
    }
    return to < 1 ? 0 : to;
  }

  // The length of the prediction: the horizon, limited by the observed period.
  double prediction_seconds() const {
    return std::min(model_.target.horizon, facts_.max_prediction_seconds());
  }

  Finding begin(Verdict verdict, Severity severity, std::string message) const {
    return begin_finding(facts_, verdict, severity, std::move(message));
  }

  void growth() {
    const double target = model_.target.partition_bytes, huge = 10 * target;
    const std::optional<Sizes> last = sizes_after(model_.target.horizon);
    if (!last || last->max <= target) return;
    const bool now = out_.now && out_.now->max > target;
    // An hour of observation predicts little about a year.
    const bool young = prediction_seconds() < model_.target.horizon, far = out_.horizon->max <= target;
    const Sizes& then = far ? *last : *out_.horizon;
    const double ahead = far ? model_.target.horizon : prediction_seconds();
    Finding finding = begin(Verdict::partition_growth,
                            now                 ? Severity::error
                            : young             ? Severity::note
                            : then.p99 > target ? Severity::error
                            : then.max > huge   ? Severity::error
                                                : Severity::warning,
                            "");
    finding.message =
        now ? fmt::format("The largest partition holds {}; the target is {}.", size_text(out_.now->max),
                          size_text(target))
            : fmt::format("The largest partition reaches {} in {} and {} in {}.", size_text(target),
                          duration_text(time_to_target(ahead)), size_text(then.max), duration_text(ahead));
    if (facts_.rows)
      finding.evidence.push_back(
          {fmt::format("{} rows of {}{}", count_text(*facts_.rows), size_text(facts_.row_bytes),
                       facts_.rows_are_implied ? ", by the quantiles of partitions" : ""),
           facts_.rows_origin()});
    if (facts_.partitions)
      finding.evidence.push_back(
          {fmt::format("{}{}", count_of(*facts_.partitions, "partition"),
                       facts_.skew > 0 ? fmt::format(", Zipf {:.3g}", facts_.skew) : ""),
           facts_.partitions_origin()});
    if (facts_.partition_bytes)
      finding.evidence.push_back({fmt::format("p50 {}, p99 {}, largest {} now", size_text(out_.now->p50),
                                              size_text(out_.now->p99), size_text(out_.now->max)),
                                  Origin::measured});
    if (facts_.growth) finding.evidence.push_back(growth_evidence(facts_));
    if (const auto period = period_evidence()) finding.evidence.push_back(*period);
    finding.evidence.push_back({sizes_text(then) + " after " + duration_text(ahead), Origin::estimated});
    if (far && !now)
      advise_to_wait(finding);
    else
      split_finding(model_, facts_, least_spread_(), finding);
    review_.findings.push_back(std::move(finding));
  }

  static std::string sizes_text(const Sizes& sizes) {
    const std::string p50 = size_text(sizes.p50), max = size_text(sizes.max);
    return p50 == max ? "partitions of " + max
                      : fmt::format("p50 {}, p99 {}, largest {}", p50, size_text(sizes.p99), max);
  }

  void advise_to_wait(Finding& finding) const {
    finding.fix =
        fmt::format("Review the table again after a longer observation: {} predict little about {}.",
                    duration_text(facts_.observed_seconds.value_or(0)), duration_text(model_.target.horizon));
    finding.cost = "None yet.";
  }

  double hottest(bool writes) const { return hottest_rate(model_, facts_, writes); }

  // The Zipf exponent that corresponds to the load of the hottest partition.
  double request_skew(bool writes) const {
    const double total = writes ? facts_.writes : facts_.reads;
    if (facts_.request_skew) return *facts_.request_skew;
    const bool apart = facts_.dominant_share() && facts_.skew == 0 && share_ > 0;
    if (total <= 0 || hottest(writes) == total * share_)
      return apart ? zipf_exponent(*facts_.keys(), share_) : facts_.key_skew();
    return zipf_exponent(*facts_.keys(), hottest(writes) / total);
  }

  double least_spread_() const { return least_spread(model_, facts_); }

  void low_cardinality() {
    if (least_spread_() <= 1) return;
    const double partitions = *facts_.partitions;
    const auto nodes = static_cast<double>(model_.target.nodes);
    Finding finding =
        begin(Verdict::low_cardinality, partitions < 2 * nodes ? Severity::error : Severity::warning,
              fmt::format("{} for {} nodes: the data cannot spread.", count_of(partitions, "partition"),
                          model_.target.nodes));
    for (size_t i = 0; i < table_.partition_key_count; ++i) {
      const ColumnFacts& known = facts_.column(table_.partition_key(i));
      if (known.distinct)
        finding.evidence.push_back({fmt::format("{} has {}", table_.partition_key(i).name,
                                                count_of(*known.distinct, "distinct value")),
                                    known.distinct_origin});
    }
    if (finding.evidence.empty())
      finding.evidence.push_back({count_of(partitions, "partition"), facts_.origin});
    if (out_.spread && out_.spread_doubled)
      finding.evidence.push_back(
          {fmt::format("the fullest node holds {:.1f} times the mean, {:.1f} times with {} nodes",
                       out_.spread->bytes, out_.spread_doubled->bytes, out_.spread_doubled->nodes),
           Origin::estimated});
    fix_low_cardinality(finding);
    review_.findings.push_back(std::move(finding));
  }

  void fix_low_cardinality(Finding& finding) const {
    const double wanted = least_spread_();
    if (const Finding* split = find_split(facts_, review_)) {
      finding.proposal = split->proposal;
      finding.cost = "No additional cost.";
      return;
    }
    if (std::optional<Split> given = split_by_given(model_, facts_, wanted)) {
      finding.choices = std::move(given->choices);
      finding.fix = std::move(given->fix);
      finding.cost = std::move(given->cost);
      finding.proposal = std::make_shared<const Proposal>(std::move(given->proposal));
      return;
    }
    Proposal proposal;
    proposal.partition.push_back(
        {"hash_prefix", "int",
         fmt::format("hash of {} modulo {:.0f}", hash_source(model_, facts_, wanted), wanted), "", wanted});
    finding.proposal = std::make_shared<const Proposal>(std::move(proposal));
    finding.fix = fmt::format(
        "Add to the partition key another column that every query restricts or, if there is none, a hash "
        "prefix modulo {}.",
        count_text(wanted));
    finding.cost = fmt::format("A read of all rows of one {} takes {} partitions instead of 1.",
                               table_.partition_key(0).name, count_text(wanted));
  }

  const ReviewModel& model_;
  const TableFacts& facts_;
  const schema::Table& table_;
  Review& review_;
  TableReview out_;
  double share_ = 0;  // share of writes to the hottest key, from the table's statistics only
};

}  // namespace

double hottest_rate(const ReviewModel& model, const TableFacts& facts, bool writes) {
  const double total = writes ? facts.writes : facts.reads;
  const std::optional<double>& measured = writes ? facts.write_share : facts.read_share;
  const double modelled = facts.hottest_share();
  const double share = writes ? modelled : measured.value_or(modelled);
  if (measured || !facts.keys()) return total * share;
  double rates = 0, hottest = 0;
  for (const StatementFacts& statement : model.statements) {
    for (const plan::Explanation::TableUse& use : statement.explanation.uses) {
      if (statement.skew < 0 || use.writes != writes || model.find(*use.table) != &facts) continue;
      rates += statement.rate * statement.times;
      hottest += statement.rate * statement.times / zipf_sum(*facts.keys(), statement.skew);
    }
  }
  return hottest + std::max(0.0, total - rates) * share;
}

void split_finding(const ReviewModel& model, const TableFacts& facts, double least, Finding& finding) {
  Split split = split_partitions(model, facts, least);
  finding.choices = std::move(split.choices);
  finding.fix = std::move(split.fix);
  finding.cost = std::move(split.cost);
  if (!split.is_advice()) finding.proposal = std::make_shared<const Proposal>(std::move(split.proposal));
  if (!finding.fix.empty()) return;
  finding.fix = "Add a column to the partition key that separates rows which are rarely read together.";
  finding.cost = "Reads must also give that column, or read several partitions.";
}

const Finding* find_split(const TableFacts& facts, const Review& review) {
  for (const Finding& other : review.findings) {
    if (other.table == facts.name && other.proposal != nullptr && !other.choices.empty()) return &other;
  }
  return nullptr;
}

double least_spread(const ReviewModel& model, const TableFacts& facts) {
  const schema::Table& table = *facts.table;
  if (table.clustering_count == 0 || facts.has_period() || !facts.partitions) return 1;
  const auto nodes = static_cast<double>(model.target.nodes);
  bool all_boolean = true;
  for (size_t i = 0; i < table.partition_key_count; ++i)
    all_boolean = all_boolean && table.partition_key(i).type->kind() == Kind::boolean;
  // A few seconds of observation do not predict the table's size.
  const bool seen = facts.growth_origin == Origin::measured;
  const double bytes =
      (seen ? facts.rows.value_or(0) : facts.rows_after(model.horizon_of(facts))) * facts.row_bytes;
  // Without rows, only the number of values decides.
  const bool unknown = !facts.rows && !facts.growth;
  const bool too_few = all_boolean || *facts.partitions < nodes;
  if (bytes < (too_few ? small_table : small_spread_table) && !(unknown && too_few)) return 1;
  return std::max(1.0, std::ceil(10 * nodes / *facts.partitions));
}

void review_load_and_size(const ReviewModel& model, const TableFacts& table, Review& review) {
  TableReviewer(model, table, review).review_load();
}

void review_table(const ReviewModel& model, const TableFacts& table, Review& review) {
  TableReviewer(model, table, review).run();
}

}  // namespace sibyl::advisor
