// Compares reviews of random workloads with what a simulation of their rows and requests shows. The unit
// tests use a fixed part; SIBYL_ADVISOR_WORKLOADS=2400 and SIBYL_ADVISOR_SEED=1 review others.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "advisor/review/random_workload_test.h"
#include "advisor/review/test_review.h"

namespace sibyl::advisor {
namespace {

struct Tally {
  size_t good = 0, false_alarms = 0, faults = 0, missed = 0;
  std::vector<std::string> examples;
};

class WorkloadJudge {
 public:
  explicit WorkloadJudge(std::map<std::string, Tally>& tallies) : tallies_(tallies) {}

  void judge(uint64_t seed) {
    workload_ = random_workload(seed);
    auto review = review_workloads({workload_of(workload_.text)}, {});
    ASSERT_TRUE(review.has_value()) << workload_.text << review.error().message();
    review_ = std::move(*review);
    for (const Expectation& one : workload_.expectations)
      if (one.kind != "open") count(one.kind, one.fault, reported(one), one.what);
    for (const ExpectedFigure& one : workload_.figures) compare(one);
    if (workload_.is_good()) count("whole models", false, !warnings().empty(), warnings());
  }

 private:
  bool reported(const Expectation& one) const {
    return std::any_of(review_.findings.begin(), review_.findings.end(), [&](const Finding& finding) {
      return finding.verdict == one.verdict && finding.severity >= Severity::warning &&
             finding.table == one.table && finding.query == one.query;
    });
  }

  std::string warnings() const {
    std::string out;
    for (const Finding& finding : review_.findings)
      if (finding.severity >= Severity::warning)
        out += fmt::format("{}: {}\n", finding.id(), finding.message);
    return out;
  }

  void count(const std::string& kind, std::optional<bool> fault, bool found, const std::string& what) {
    if (!fault) return;
    Tally& tally = tallies_[kind];
    ++(*fault ? tally.faults : tally.good);
    if (*fault == found) return;
    ++(*fault ? tally.missed : tally.false_alarms);
    if (tally.examples.size() < 6)
      tally.examples.push_back(fmt::format("seed {}: {}: {}\n{}", workload_.seed,
                                           *fault ? "missed" : "false alarm", what, workload_.text));
  }

  std::optional<double> value_of(const ExpectedFigure& one) const {
    using Of = ExpectedFigure::Of;
    const TableReview* table = review_.find_table(one.name);
    const QueryReview* query = review_.find_query(one.name);
    if (one.of == Of::largest && table != nullptr && table->horizon) return table->horizon->max;
    if (one.of == Of::median && table != nullptr && table->horizon) return table->horizon->p50;
    for (const Finding& finding : review_.findings)
      for (const Choice& choice : finding.choices) {
        if (finding.table != one.name || !choice.chosen) continue;
        if (one.of == Of::split_largest) return choice.largest_bytes;
        if (one.of == Of::split_partitions) return choice.partitions;
      }
    if (query == nullptr) return std::nullopt;
    switch (one.of) {
      case Of::partitions:
        return query->partitions;
      case Of::partitions_p50:
        return query->partitions_p50;
      case Of::partitions_p99:
        return query->partitions_p99;
      case Of::rows_read:
        return query->rows_read;
      case Of::rows_returned:
        return query->rows_returned;
      default:
        return std::nullopt;
    }
  }

  // Compares a number with the simulation. If it agrees, it is scored like a model without faults.
  void compare(const ExpectedFigure& one) {
    const std::optional<double> value = value_of(one);
    const bool agrees =
        value && std::abs(*value - one.truth) <= std::max(one.slack, one.within * std::abs(one.truth));
    count(one.kind, false, !agrees,
          value ? fmt::format("{} {}: estimated {:.4g}, simulated {:.4g}", one.name, static_cast<int>(one.of),
                              *value, one.truth)
                : fmt::format("{} {} is unknown", one.name, static_cast<int>(one.of)));
  }

  std::map<std::string, Tally>& tallies_;
  RandomWorkload workload_;
  Review review_;
};

uint64_t environment_number(const char* variable, uint64_t otherwise) {
  const char* value = std::getenv(variable);
  return value != nullptr ? std::strtoull(value, nullptr, 10) : otherwise;
}

TEST(Truth, RandomWorkloads) {
  const uint64_t workloads = environment_number("SIBYL_ADVISOR_WORKLOADS", 25 * workload_shapes);
  const uint64_t first = environment_number("SIBYL_ADVISOR_SEED", 1);
  std::map<std::string, Tally> tallies;
  for (uint64_t seed = first; seed < first + workloads && !HasFatalFailure(); ++seed)
    WorkloadJudge(tallies).judge(seed);
  for (const auto& [kind, tally] : tallies) {
    std::string text = fmt::format("{}: {} good, {} false alarms, {} faults, {} missed\n", kind, tally.good,
                                   tally.false_alarms, tally.faults, tally.missed);
    if (std::getenv("SIBYL_ADVISOR_WORKLOADS") != nullptr) fmt::print("{}", text);
    for (const std::string& example : tally.examples) text += example + "\n";
    EXPECT_LE(static_cast<double>(tally.false_alarms), 0.01 * static_cast<double>(tally.good)) << text;
    EXPECT_LE(static_cast<double>(tally.missed), 0.02 * static_cast<double>(tally.faults)) << text;
  }
  EXPECT_EQ(tallies.size(), workload_shapes + 1);
}

}  // namespace
}  // namespace sibyl::advisor
