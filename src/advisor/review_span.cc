// Statements that ask for a stretch of time, period by period.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advisor/review_buckets.h"
#include "advisor/review_statement.h"

namespace sibyl::advisor {

// Beginning anywhere, it touches span / width + 1 periods on average.
void bound_of_span(const StatementFacts& statement, const TableFacts& table, QueryReview& out) {
  const plan::Explanation::TableUse& use = statement.explanation.uses[0];
  const std::optional<double> width = table.period_width();
  const double each = use.partitions ? static_cast<double>(*use.partitions) : 1;
  out.formula = fmt::format("{}⌈{} / {}⌉ + 1 periods, a request each",
                            each > 1 ? fmt::format("{} x ", count_text(each)) : "",
                            duration_text(*statement.span), width ? duration_text(*width) : "width");
  out.bound = "n";
  if (!width) return;
  out.bound = count_text(each * most_periods(*statement.span, *width));
  out.partitions = each * (*statement.span / *width + 1);
}

void describe_periods(const ReviewModel& model, const StatementFacts& statement, const TableFacts& table,
                      const QueryReview& query, Finding& finding) {
  const double width = *table.period_width(), span = *statement.span;
  finding.message = fmt::format("{} lie in {} partitions, each a request of its own.", duration_text(span),
                                count_text(*query.partitions));
  finding.evidence.push_back({fmt::format("at most {}: {}", query.bound, query.formula), Origin::estimated});
  const auto rows = table.rows_per_partition();
  const double largest = rows ? table.bytes_of(*rows).max : 0;
  const double wider = largest > 0 ? std::floor(model.target.partition_bytes / largest) : 1;
  const double times = std::min(wider, std::ceil(span / width));
  if (times >= 2) {
    finding.fix = fmt::format("Periods of {} keep to the target, too: {:.1f} partitions then.",
                              duration_text(times * width), span / (times * width) + 1);
    finding.cost = "Rows have to be moved once; reads of less time find larger partitions.";
    return;
  }
  finding.fix = "The target allows no wider periods: send the requests side by side, a few at a time.";
  finding.cost = fmt::format("By the cost model {:.1f} times a read of one partition.", *query.partitions);
}

}  // namespace sibyl::advisor
