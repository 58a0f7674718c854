// Reviews the load of single partitions: by their rate, and by their share of the rows and requests.
#include "advisor/review/judgement/hot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advisor/review/judgement/periods.h"
#include "advisor/review/table.h"

namespace sibyl::advisor {
namespace {

class HotReviewer {
 public:
  HotReviewer(const ReviewModel& model, const TableFacts& facts, const std::optional<Spread>& spread,
              Review& review)
      : model_(model),
        facts_(facts),
        spread_(spread),
        review_(review),
        writes_(hottest_rate(model, facts, true)),
        reads_(hottest_rate(model, facts, false)),
        by_writes_(writes_ > ceiling() * rounding_up || writes_ >= reads_) {}

  void run() {
    if (names_moments()) return;
    const bool both = std::min(writes_, reads_) >= little * ceiling();
    const double load = both ? writes_ + reads_ : std::max(writes_, reads_);
    load > ceiling() * rounding_up ? by_rate() : by_share();
  }

 private:
  // A partition with three eighths of the rows or requests keeps a cluster from growing: with three replicas, more
  // than eight nodes do not help.
  static constexpr double large_share = 0.375, most = 0.5;
  // Below this part of the targets for one partition, a large share costs little.
  static constexpr double little = 0.1;
  static constexpr double rounding_up = 1 + 1e-9;

  static std::string percent_text(double share) { return fmt::format("{:.3g}%", 100 * share); }

  double ceiling() const { return model_.target.partition_rate; }
  double nodes() const { return static_cast<double>(model_.target.nodes); }

  // A time in the partition key that is no period, such as the time of an event: every moment has a partition of its
  // own, so none of them stays busy.
  bool names_moments() const {
    for (size_t i = 0; i < facts_.table->partition_key_count; ++i) {
      const schema::Column& column = facts_.table->partition_key(i);
      const ColumnFacts& known = facts_.column(column);
      if (known.is_period && !known.growth && !is_named_like_period(column.name)) return true;
    }
    return false;
  }

  std::string message_of_rate() const {
    const double one = by_writes_ ? writes_ : reads_;
    if (one > ceiling() * rounding_up)
      return fmt::format("The hottest partition gets {} {}; the target for one partition is {}.",
                         rate_text(one), by_writes_ ? "writes" : "reads", rate_text(ceiling()));
    return fmt::format(
        "The hottest partition gets {} reads and {} writes; the target for one partition is {} "
        "requests.",
        rate_text(reads_), rate_text(writes_), rate_text(ceiling()));
  }

  void by_rate() {
    const double requests = writes_ + reads_;
    Finding finding = begin_finding(facts_, Verdict::hot_partition,
                                    counted_briefly()                            ? Severity::note
                                    : std::max(writes_, reads_) > 10 * ceiling() ? Severity::error
                                                                                 : Severity::warning,
                                    message_of_rate());
    finding.evidence.push_back({rates_text(), facts_.rate_origin});
    if (counted_briefly())
      finding.evidence.push_back(
          {fmt::format("counted for {} only", duration_text(*facts_.observed_seconds)), Origin::measured});
    add_share(finding);
    // If neither reads nor writes are too many alone, both must be divided.
    const bool together = std::max(writes_, reads_) <= ceiling() * rounding_up;
    const double least = together ? std::ceil(requests / ceiling()) : 1;
    fix(finding, by_writes_, std::max(least, least_spread(model_, facts_)), together ? requests : reads_);
    review_.findings.push_back(std::move(finding));
  }

  // Divides the partitions if writes or rows are the problem, otherwise multiplies them.
  void fix(Finding& finding, bool divide, double least, double reads) const {
    if (const Finding* split = find_split(facts_, review_); divide && split != nullptr) {
      finding.proposal = split->proposal;
      finding.cost = "No additional cost.";
    } else if (divide) {
      split_finding(model_, facts_, least, finding);
    } else {
      copy_rows(finding, reads);
    }
  }

  // Proposes copies of each row under several keys; a read uses any one of them.
  void copy_rows(Finding& finding, double reads) const {
    const double copies = std::ceil(reads / ceiling());
    Proposal proposal;
    proposal.partition.push_back(
        {"copy", "int", fmt::format("0 to {:.0f}; write all of them, read a random one", copies - 1), ""});
    finding.proposal = std::make_shared<const Proposal>(std::move(proposal));
    finding.fix = fmt::format(
        "Store {} copies of each row under different keys and read any one of them, or cache the rows of the "
        "hottest keys in the application.",
        count_text(copies));
    finding.cost = fmt::format(
        "Every change is written {} times{}; a cache returns changes late.", count_text(copies),
        facts_.writes > 0
            ? fmt::format(" ({} instead of {})", rate_text(facts_.writes * copies), rate_text(facts_.writes))
            : "");
  }

  void add_share(Finding& finding) const {
    const std::optional<double>& measured = by_writes_ ? facts_.write_share : facts_.read_share;
    const double share = (by_writes_ ? writes_ : reads_) / (by_writes_ ? facts_.writes : facts_.reads);
    if (measured && *measured >= share * (1 - 1e-9))
      finding.evidence.push_back(
          {fmt::format("{} of the {} on {}", percent_text(share), by_writes_ ? "writes" : "reads",
                       by_writes_ ? facts_.write_key : facts_.read_key),
           Origin::measured});
    else
      finding.evidence.push_back(
          {fmt::format("{} of the {} on one key{}", percent_text(share), by_writes_ ? "writes" : "reads",
                       facts_.has_period() ? ", in the current period" : ""),
           Origin::estimated});
  }

  std::string rates_text() const {
    std::vector<std::string> parts;
    if (facts_.reads > 0) parts.push_back(rate_text(facts_.reads) + " reads");
    if (facts_.writes > 0) parts.push_back(rate_text(facts_.writes) + " writes");
    return fmt::format("{} in total", fmt::join(parts, " and "));
  }

  // True if the rates were counted for only a few seconds, and may not last.
  bool counted_briefly() const {
    constexpr double minute = 60;
    return facts_.rate_origin == Origin::measured && facts_.observed_seconds &&
           *facts_.observed_seconds < minute;
  }

  // --- By share

  double ahead() const { return std::min(model_.target.horizon, facts_.max_prediction_seconds()); }

  // The share of the rows at the horizon that one partition holds; 0: unknown, or partitions stop growing.
  double share_of_rows() const {
    if (facts_.table->clustering_count == 0 || facts_.has_period() || facts_.keys().value_or(0) < 2) return 0;
    const double rows = facts_.rows_after(ahead());
    if (rows * facts_.row_bytes < small_table) return 0;
    double share = 0;
    if (const auto dominant = facts_.dominant_share(); dominant && !facts_.growth) {
      share = *dominant;
    } else {
      const auto each = facts_.rows_per_partition_after(ahead());
      share = each && rows > 0 ? each->max / rows : 0;
    }
    const bool is_small = share * rows * facts_.row_bytes < little * model_.target.partition_bytes;
    return share < most && is_small ? 0 : share;
  }

  // The whole partition key is a period, so that all requests of the present go to one partition. A key that names
  // moments, such as a timeuuid, is not meant.
  bool is_key_a_period() const {
    constexpr double minute = 60;
    return facts_.period_width().value_or(0) >= minute && facts_.keys().value_or(0) == 1;
  }

  // The share of the requests that one partition gets; 0: unknown, or too few to matter.
  double share_of_requests() const {
    constexpr double few_requests = 10;  // per second
    const double total = facts_.reads + facts_.writes, hottest = writes_ + reads_;
    // Reads of one small partition, such as the first places of a day, are cheap: caches and replicas share them.
    if (is_key_a_period()) return writes_ >= little * ceiling() ? 1 : 0;
    if (total <= 0 || facts_.keys().value_or(0) < 2) return 0;
    const bool counted = facts_.read_share || facts_.write_share;
    const double share = hottest / total;
    if (counted && total >= few_requests && share >= most) return share;
    return hottest >= little * ceiling() ? share : 0;
  }

  // Reports a partition with a large share of the rows or requests. Its replicas work alone, whatever the rates
  // are.
  void by_share() {
    const double rows = share_of_rows(), requests = share_of_requests(), share = std::max(rows, requests);
    // If there are only few partitions, LOW_CARDINALITY reports it.
    constexpr double uneven = 1.5;
    const bool even = share * facts_.keys().value_or(1) < uneven && !is_key_a_period();
    if (share < large_share * (1 - 1e-9) || even) return;
    const bool of_rows = rows >= requests;
    Finding finding = begin_finding(facts_, Verdict::hot_partition,
                                    model_.target.nodes > 1 ? Severity::warning : Severity::note,
                                    message_of_share(share, of_rows));
    add_evidence(finding);
    if (of_rows || model_.target.nodes > 1)
      fix(finding, of_rows || by_writes_, std::max(least_spread(model_, facts_), nodes()),
          ceiling() * nodes());
    else
      advise_one_server(finding);
    review_.findings.push_back(std::move(finding));
  }

  std::string message_of_share(double share, bool of_rows) const {
    if (!of_rows && is_key_a_period())
      return "All writes of the current period go to one partition, and so to its replicas only.";
    return fmt::format("One partition {} {:.0f}% of all {}, so its replicas do {} of the work.",
                       of_rows ? "holds" : "gets", 100 * share, of_rows ? "rows" : "requests",
                       share >= most ? "most" : "much");
  }

  void add_evidence(Finding& finding) const {
    if (facts_.reads + facts_.writes > 0) finding.evidence.push_back({rates_text(), facts_.rate_origin});
    if (facts_.keys() && !is_key_a_period())
      finding.evidence.push_back(
          {fmt::format("{} partition keys", count_text(*facts_.keys())), facts_.origin});
    if (!spread_) return;
    const bool everywhere = model_.target.replicas >= model_.target.nodes;
    finding.evidence.push_back(
        {everywhere
             ? "every node holds all rows, but more nodes would not relieve the replicas of this partition"
             : fmt::format("the busiest of {} nodes has {:.1f} times the mean", spread_->nodes,
                           std::max(spread_->bytes, spread_->requests)),
         Origin::estimated});
  }

  static void advise_one_server(Finding& finding) {
    finding.fix =
        "Nothing needs to change on one server. Choose a key that divides these requests before you use "
        "several.";
    finding.cost = "None.";
  }

  const ReviewModel& model_;
  const TableFacts& facts_;
  const std::optional<Spread>& spread_;
  Review& review_;
  double writes_, reads_;  // per second, to the hottest partition
  bool by_writes_;         // writes are the larger problem
};

}  // namespace

void review_hot(const ReviewModel& model, const TableFacts& table, const std::optional<Spread>& spread,
                Review& review) {
  HotReviewer(model, table, spread, review).run();
}

}  // namespace sibyl::advisor
