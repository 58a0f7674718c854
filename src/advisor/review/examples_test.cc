// Each section of docs/advisor-examples.md states the findings of its first block. Its second block, marked
// `fixed`, must have no errors or warnings.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <set>

#include "advisor/review/examples_test.h"

namespace sibyl::advisor {
namespace {

std::set<std::string> found(const Review& review) {
  std::set<std::string> out;
  for (const Finding& finding : review.findings)
    out.insert(fmt::format("{} {}", to_string(finding.severity), finding.id()));
  return out;
}

std::set<std::string> stated(const std::string& findings) {
  std::set<std::string> out;
  if (findings == "none") return out;
  for (size_t from = 0; from < findings.size();) {
    const size_t end = std::min(findings.find(", ", from), findings.size());
    out.insert(findings.substr(from, end - from));
    from = end + 2;
  }
  return out;
}

TEST(Examples, HaveTheStatedFindings) {
  const std::vector<Example> examples = read_examples();
  EXPECT_GE(examples.size(), 25u);
  for (const Example& example : examples) {
    EXPECT_EQ(found(review_of(example.model)), stated(example.findings)) << example.title;
    if (example.fixed.empty()) {
      EXPECT_EQ(example.findings, "none") << example.title;
    } else {
      const Review fixed = review_of(example.fixed);
      EXPECT_NE(fixed.worst().value_or(Severity::note), Severity::error) << example.title << ids(fixed);
      EXPECT_NE(fixed.worst().value_or(Severity::note), Severity::warning) << example.title << ids(fixed);
    }
  }
}

// The same model with other units: the rows and the target are seven times as large.
TEST(Examples, FollowFromRatios) {
  for (const Example& example : read_examples()) {
    Workload workload = workload_of(example.model);
    bool sized = false;
    for (TableStatistics& statistics : workload.statistics)
      for (Option& option : statistics.options) {
        if (option.name != "row") continue;
        option.value = fmt::format("{}", 7 * read_bytes(option.value).value_or(0));
        sized = true;
      }
    if (!sized || example.model.find("products_by_category") != std::string::npos) continue;
    workload.target.partition_bytes = 700e6;
    const auto review = review_workloads({workload}, {});
    ASSERT_TRUE(review.has_value()) << example.title;
    EXPECT_EQ(found(*review), stated(example.findings)) << example.title;
  }
}

}  // namespace
}  // namespace sibyl::advisor
