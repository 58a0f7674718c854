// Reviews reads that meet expired rows.
#include "advisor/review/judgement/expiry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advisor/review/queue.h"
#include "types/identifier.h"

namespace sibyl::advisor {
namespace {

constexpr double day_seconds = 86'400, hour_seconds = 3600;
// Hints for a replica that is down are kept for three hours. They must not outlive tombstones.
constexpr double least_grace = 3 * hour_seconds;

class ExpiryReviewer {
 public:
  ExpiryReviewer(const ReviewModel& model, const TableFacts& table)
      : model_(model),
        table_(table),
        lifetime_(table.table->options.default_time_to_live),
        grace_(table.table->options.gc_grace_seconds) {}

  // False if rows do not expire, or if their partitions end by themselves.
  bool applies() const {
    return lifetime_ > 0 && grace_ > 0 && !table_.has_period() && !table_.table->is_view() &&
           table_.growth.value_or(0) > 0 && table_.keys().value_or(0) > 0;
  }

  // The tombstones that one execution meets, at most; 0: none, or it is not known.
  double met_by(const StatementFacts& statement) const {
    if (statement.select() == nullptr || statement.error || statement.ad_hoc) return 0;
    if (statement.explanation.uses.empty()) return 0;
    const plan::Explanation::TableUse& use = statement.explanation.uses[0];
    if (model_.find(*use.table) != &table_ || use.access != plan::Explanation::Access::partitions) return 0;
    const Front front = front_of(use, *statement.select());
    if (front.column == nullptr || !use.clustering.empty()) return 0;
    const double wanted = use.has_limit ? limit_of_read(statement) : rate() * lifetime_;
    if (!use.has_limit) return dead_of(rate());
    if (!table_.is_time(*front.column)) return std::min(dead_of(rate()), wanted * grace_ / lifetime_);
    if (front.from_least) return dead_of(rate());
    // A read of the newest rows meets expired ones only if too few rows are alive.
    const double usual = *table_.growth / *table_.keys();
    return usual * lifetime_ < wanted ? dead_of(usual) : 0;
  }

  void report(const StatementFacts& read, double met, Review& review) const {
    Finding finding = begin_finding(table_, Verdict::tombstone_scan,
                                    met > very_many_tombstones ? Severity::error : Severity::warning,
                                    "A read also meets the rows that have expired.");
    finding.query = read.name;
    finding.file = read.file;
    finding.line = read.line;
    finding.evidence.push_back(
        {fmt::format("{} tombstones per read: rows live for {}, and their tombstones are kept for {} more",
                     count_text(met), duration_text(lifetime_), duration_text(grace_)),
         Origin::estimated});
    finding.evidence.push_back(growth_evidence(table_));
    const double grace = std::floor(grace_ * many_tombstones / met);
    if (grace >= least_grace && !deletes())
      shorten_grace(std::max(least_grace, std::floor(grace / hour_seconds) * hour_seconds), finding);
    else
      add_period(finding);
    review.findings.push_back(std::move(finding));
  }

  // Rows are worth the read if there are at least a quarter as many as tombstones.
  bool is_wasteful(const StatementFacts& read, double met) const {
    constexpr double several = 4;
    const double wanted = read.explanation.uses[0].has_limit
                              ? std::min(limit_of_read(read), rate() * lifetime_)
                              : rate() * lifetime_;
    return met >= many_tombstones && met >= several * wanted;
  }

 private:
  double rate() const { return *table_.growth * table_.hottest_share(); }
  double dead_of(double rate) const { return std::min(rate * grace_, table_.capacity_of_partition()); }

  bool deletes() const {
    return std::any_of(model_.statements.begin(), model_.statements.end(), [&](const StatementFacts& one) {
      return std::holds_alternative<cql::Delete>(one.tree->node) && !one.explanation.uses.empty() &&
             model_.find(*one.explanation.uses[0].table) == &table_;
    });
  }

  void shorten_grace(double grace, Finding& finding) const {
    const Shape shape = shape_of(*table_.table);
    finding.fix = fmt::format(
        "Keep tombstones for a shorter time, {}: nothing deletes rows of {}, and what has expired on one "
        "replica "
        "has expired on all.",
        duration_text(grace), table_.name);
    finding.cql = fmt::format("ALTER TABLE {}{} WITH gc_grace_seconds = {:.0f};\n",
                              shape.keyspace.empty() ? "" : types::quote_identifier(shape.keyspace) + ".",
                              types::quote_identifier(shape.name), grace);
    finding.cost =
        "gc_grace_seconds must exceed the three hours for which hints are kept. If rows are deleted as well, "
        "it "
        "must exceed the longest absence of a replica.";
  }

  void add_period(Finding& finding) const {
    const double width = lifetime_ > day_seconds ? day_seconds : hour_seconds;
    const schema::Column* time = time_column(table_);
    Proposal proposal;
    proposal.partition.push_back(
        {"bucket", "timestamp",
         fmt::format("{} rounded down to the {}", time != nullptr ? time->name : "the time of the INSERT",
                     width == day_seconds ? "day" : "hour"),
         "", 0, width});
    finding.proposal = std::make_shared<const Proposal>(std::move(proposal));
    finding.fix = fmt::format(
        "Add a period of time to the partition key, and read only periods whose rows are still alive: at "
        "most {}.",
        count_text(std::ceil(lifetime_ / width) + 1));
    finding.cost = "A read takes one request for each period.";
  }

  const ReviewModel& model_;
  const TableFacts& table_;
  double lifetime_, grace_;
};

}  // namespace

void review_expiry(const ReviewModel& model, const TableFacts& table, Review& review) {
  const ExpiryReviewer reviewer(model, table);
  if (!reviewer.applies()) return;
  const StatementFacts* worst = nullptr;
  double most = 0;
  for (const StatementFacts& statement : model.statements) {
    const double met = reviewer.met_by(statement);
    if (met <= most || !reviewer.is_wasteful(statement, met)) continue;
    worst = &statement;
    most = met;
  }
  if (worst != nullptr) reviewer.report(*worst, most, review);
}

}  // namespace sibyl::advisor
