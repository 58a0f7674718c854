// Results of running trials, next to the predictions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advisor/trial/trial.h"

namespace sibyl::advisor {

// A mean with its 95% interval: mean ± margin.
struct Mean {
  double value = 0, margin = 0;
};
// Treats the samples as independent. For a single sample, the margin is 0.
Mean mean_of(const std::vector<double>& samples);

struct MeasuredOperation {
  std::string name, group;
  double weight = 1;
  std::optional<Work> work;             // the predicted work of one execution
  std::optional<double> expected_rows;  // the predicted number of rows that one execution returns
  uint64_t runs = 0;
  double requests = 0, rows = 0;  // the measured means of one execution
  Mean cpu, latency;              // microseconds per execution; CPU time of all threads of the database
  double latency_p99 = 0;
};

struct MeasuredTrial {
  std::string name;
  double rows = 0, load_seconds = 0;
  std::vector<MeasuredOperation> operations;
  std::vector<std::string> notes;

  // Weighted sums over the operations. The prediction is empty unless every operation has one.
  std::optional<double> predicted(const CostModel& model) const;
  Mean cpu() const;
  Mean latency() const;
};

struct Measurement {
  double scale = 1, seconds = 0;
  uint64_t seed = 1;
  std::string source;               // the database that the data resemble; empty: declared data
  CostModel model;                  // the constants that designs and reviews use
  std::optional<CostModel> fitted;  // constants of this machine, in microseconds of CPU time
  std::vector<MeasuredTrial> trials;

  // True if the order of the trials by predicted cost is their order by measured CPU time. Empty if fewer
  // than two trials have predictions.
  std::optional<bool> order_agrees(const CostModel& constants) const;
};

// Least squares over operations of known work. Each request reads one partition, so `partition` includes the
// cost of a request.
CostModel fit_constants(const MeasuredTrial& calibration);

// Adds a note about each latency goal of the review's statements to every trial.
void compare_with_goals(const Review& review, Measurement& measurement);

std::string render_text(const Measurement& measurement, const RenderOptions& options);
std::string render_markdown(const Measurement& measurement);

}  // namespace sibyl::advisor
