// The first screen of a report: one line for each table and each statement, the worst first.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advisor/review/review.h"

namespace sibyl::advisor {

struct VerdictLine {
  enum class State { bad, unknown, good };
  State state = State::good;
  std::optional<Severity> severity;  // severity of the worst finding; none: no finding
  bool is_table = false;
  std::string name, table;  // a statement's name and its table; for a table, both are its name
  std::string code;         // code of the worst finding; empty: no finding
  std::string text;         // the finding's message; without a finding, numbers that show that all is well
  size_t others = 0;        // further findings
};

// Findings that the baseline accepts do not count.
std::vector<VerdictLine> verdict_lines(const Review& review);

// "2 errors, 1 note", or a summary without findings.
std::string summary_of(const Review& review);

// The number of tables whose sizes are unknown.
size_t unknown_sizes(const Review& review);

// The cost of one execution: "10.5 rows of 1 partition"; "?" for unknown numbers.
std::string cost_text(const QueryReview& query);

}  // namespace sibyl::advisor
