// Statements that read an interval period by period.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advisor/review/buckets.h"
#include "advisor/review/by_period.h"
#include "advisor/review/statement.h"

namespace sibyl::advisor {
// An interval with a random start touches span / width + 1 periods on average.
void bound_of_span(const StatementFacts& statement, const TableFacts& table, QueryReview& out) {
  const plan::Explanation::TableUse& use = statement.explanation.uses[0];
  const std::optional<double> width = table.period_width();
  const double each = use.partitions ? static_cast<double>(*use.partitions) : 1;
  out.formula = fmt::format("{}⌈{} / {}⌉ + 1 periods, one request each",
                            each > 1 ? fmt::format("{} x ", count_text(each)) : "",
                            duration_text(*statement.span), width ? duration_text(*width) : "width");
  out.bound = "n";
  if (!width) return;
  out.bound = count_text(each * max_periods(*statement.span, *width));
  out.partitions = each * (*statement.span / *width + 1);
}

void describe_periods(const ReviewModel& model, const StatementFacts& statement, const TableFacts& table,
                      const QueryReview& query, Finding& finding) {
  const double width = *table.period_width(), span = *statement.span;
  finding.message = fmt::format("A range of {} spans {} partitions, with one request for each.",
                                duration_text(span), count_text(*query.partitions));
  finding.evidence.push_back({fmt::format("at most {}: {}", query.bound, query.formula), Origin::estimated});
  const auto rows = table.rows_per_partition();
  const double largest = rows ? table.bytes_of(*rows).max : 0;
  const double wider = largest > 0 ? std::floor(model.target.partition_bytes / largest) : 1;
  const double times = std::min(wider, std::ceil(span / width));
  if (times >= 2) {
    finding.fix =
        fmt::format("Use periods of {}: they also meet the target, and a read takes {:.1f} partitions.",
                    duration_text(times * width), span / (times * width) + 1);
    finding.cost = "The rows must be copied once. Reads of shorter ranges read larger partitions.";
    propose_periods(table, times * width, finding);
    return;
  }
  finding.fix = "The target permits no wider periods: send the requests in parallel, a few at a time.";
  finding.cost =
      fmt::format("{:.1f} times the cost of reading one partition, by the cost model.", *query.partitions);
}

}  // namespace sibyl::advisor
