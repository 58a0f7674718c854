// Compares latency goals with measured latencies, or with lower bounds.
#include <fmt/format.h>

#include <algorithm>

#include "advisor/review/statement.h"

namespace sibyl::advisor {
namespace {

// An upper bound of what one thread of any database can read. A statement that takes too long even at this
// rate cannot meet its goal.
constexpr double best_bytes_per_second = 1e9;

struct Goal {
  const char* name;
  double wanted = 0;                 // seconds
  std::optional<double> measured{};  // the measured latency at the same quantile
  double calls = 0;                  // minimum number of calls for the quantile
};

void add_work(const QueryReview& query, Finding& finding) {
  if (query.rows_read && query.partitions)
    finding.evidence.push_back({fmt::format("reads {} rows from {} partitions", count_text(*query.rows_read),
                                            count_text(*query.partitions)),
                                query.calls ? Origin::measured : Origin::estimated});
}

// Other findings about the statement are the most likely cause.
void add_fix(const QueryReview& query, const Review& review, Finding& finding) {
  for (const Finding& other : review.findings) {
    if (other.table != finding.table || other.query != finding.query) continue;
    finding.fix = fmt::format("Fix {} first: it is the most likely cause.", to_string(other.verdict));
    finding.cost = "No additional cost.";
    return;
  }
  if (query.rows_read.value_or(1) > 100) {
    finding.fix =
        "Read fewer rows: use a LIMIT, pages, a narrower range, or a table that holds only the rows needed.";
    finding.cost = "More requests if the remaining rows are needed as well.";
    return;
  }
  finding.fix =
      "The tables do not explain the latency. Check the machine and its other load (sibyl advise --measure "
      "runs the statement alone), or set a goal that can be met.";
  finding.cost = "None.";
}

Finding begin(const StatementFacts& statement, const QueryReview& query, Severity severity,
              std::string message) {
  Finding finding;
  finding.verdict = Verdict::latency_goal;
  finding.severity = severity;
  finding.table = query.table;
  finding.query = query.name;
  finding.file = statement.file;
  finding.line = statement.line;
  finding.message = std::move(message);
  return finding;
}

bool compare_measured(const StatementFacts& statement, const QueryReview& query, const Goal& goal,
                      Review& review) {
  if (!goal.measured || query.calls.value_or(0) < goal.calls || *goal.measured <= goal.wanted) return false;
  Finding finding =
      begin(statement, query, *goal.measured > 10 * goal.wanted ? Severity::error : Severity::warning,
            fmt::format("The {} latency is {}; the goal is {}.", goal.name, time_text(*goal.measured),
                        time_text(goal.wanted)));
  finding.evidence.push_back({statement.observed->text, Origin::measured});
  finding.evidence.push_back(
      {fmt::format("{} of {} calls: {}", goal.name, count_text(*query.calls), time_text(*goal.measured)),
       Origin::measured});
  finding.evidence.push_back({fmt::format("goal: {}", time_text(goal.wanted)), Origin::declared});
  add_work(query, finding);
  add_fix(query, review, finding);
  review.findings.push_back(std::move(finding));
  return true;
}

// Without a measurement, only goals that no machine can meet are reported.
void compare_work(const StatementFacts& statement, const TableFacts& table, const QueryReview& query,
                  const Goal& goal, Review& review) {
  const double bytes = query.rows_read.value_or(0) * table.row_bytes;
  const double least = bytes / best_bytes_per_second;
  if (least <= goal.wanted) return;
  Finding finding = begin(statement, query, Severity::error,
                          fmt::format("Cannot be answered within {}: reading {} takes {} at 1 GB/s.",
                                      time_text(goal.wanted), size_text(bytes), time_text(least)));
  finding.evidence.push_back(
      {fmt::format("goal for {}: {}", goal.name, time_text(goal.wanted)), Origin::declared});
  add_work(query, finding);
  add_fix(query, review, finding);
  review.findings.push_back(std::move(finding));
}

}  // namespace

void review_latency(const StatementFacts& statement, const TableFacts* table, const QueryReview& query,
                    Review& review) {
  if (statement.error) return;
  const Goal goals[] = {{"p99", query.goal_p99.value_or(0), query.latency_p99, 100},
                        {"p50", query.goal_p50.value_or(0), query.latency_p50, 10}};
  for (const Goal& goal : goals) {
    if (goal.wanted <= 0) continue;
    if (compare_measured(statement, query, goal, review)) return;
    if (goal.measured || statement.select() == nullptr || table == nullptr) continue;
    const size_t before = review.findings.size();
    compare_work(statement, *table, query, goal, review);
    if (review.findings.size() > before) return;
  }
}

}  // namespace sibyl::advisor
