// Latency goals: what was measured, or cannot be less, against what the file wants.
#include <fmt/format.h>

#include <algorithm>

#include "advisor/measurement.h"
#include "advisor/review_statement.h"

namespace sibyl::advisor {
namespace {

// More than one thread of any database reads: what takes longer even so cannot be answered in time.
constexpr double best_bytes_per_second = 1e9;

std::string time_text(double seconds) {
  if (seconds >= 1) return duration_text(seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

struct Goal {
  const char* name;
  double wanted = 0;                 // seconds
  std::optional<double> measured{};  // the same quantile
  double calls = 0;                  // that it takes to know it
};

void add_work(const QueryReview& query, Finding& finding) {
  if (query.rows_read && query.partitions)
    finding.evidence.push_back({fmt::format("{} rows of {} partitions read", count_text(*query.rows_read),
                                            count_text(*query.partitions)),
                                query.calls ? Origin::measured : Origin::estimated});
}

// What else was found about the statement is the likeliest cause.
void add_fix(const QueryReview& query, const Review& review, Finding& finding) {
  for (const Finding& other : review.findings) {
    if (other.table != finding.table || other.query != finding.query) continue;
    finding.fix = fmt::format("Mend {} first: it is what makes this slow.", to_string(other.verdict));
    finding.cost = "Nothing more.";
    return;
  }
  if (query.rows_read.value_or(1) > 100) {
    finding.fix = "Read fewer rows: a LIMIT, pages, a narrower range, or a table that holds what is wanted.";
    finding.cost = "Further requests where the rest is wanted, too.";
    return;
  }
  finding.fix =
      "Nothing in the tables makes it slow: look at the machine and at what else it does (sibyl advise "
      "--measure "
      "runs the statement alone), or set a goal that it can meet.";
  finding.cost = "Nothing.";
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
            fmt::format("Its {} is {}; the goal is {}.", goal.name, time_text(*goal.measured),
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

// Without a measurement only what no machine can do is known.
void compare_work(const StatementFacts& statement, const TableFacts& table, const QueryReview& query,
                  const Goal& goal, Review& review) {
  const double bytes = query.rows_read.value_or(0) * table.row_bytes;
  const double least = bytes / best_bytes_per_second;
  if (least <= goal.wanted) return;
  Finding finding = begin(statement, query, Severity::error,
                          fmt::format("It cannot be answered in {}: it reads {}, which takes {} at 1 GB/s.",
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

void compare_with_goals(const Review& review, Measurement& measurement) {
  constexpr double microseconds = 1e6;
  for (MeasuredTrial& trial : measurement.trials) {
    for (const MeasuredOperation& operation : trial.operations) {
      const auto query = std::find_if(review.queries.begin(), review.queries.end(), [&](const auto& one) {
        return one.name == operation.name || one.table + "/" + one.name == operation.name;
      });
      if (query == review.queries.end()) continue;
      const double p99 = operation.latency_p99 / microseconds;
      if (query->goal_p99)
        trial.notes.push_back(fmt::format("{}: p99 {} {} its goal of {}", operation.name, time_text(p99),
                                          p99 > *query->goal_p99 ? "is above" : "meets",
                                          time_text(*query->goal_p99)));
      // Half of all calls take no longer than twice the mean; more is not known of the middle one.
      const double mean = operation.latency.value / microseconds;
      if (query->goal_p50 && mean > 2 * *query->goal_p50)
        trial.notes.push_back(fmt::format("{}: on average {}, its goal for p50 is {}", operation.name,
                                          time_text(mean), time_text(*query->goal_p50)));
    }
  }
}

}  // namespace sibyl::advisor
