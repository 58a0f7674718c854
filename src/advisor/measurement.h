// What running trials gave, beside what was predicted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advisor/trial.h"

namespace sibyl::advisor {

// A mean with its 95% interval: mean ± margin.
struct Mean {
  double value = 0, margin = 0;
};
// Of samples that do not depend on each other; a single one has no interval.
Mean mean_of(const std::vector<double>& samples);

struct MeasuredOperation {
  std::string name, group;
  double weight = 1;
  std::optional<Work> work;             // of one execution, predicted
  std::optional<double> expected_rows;  // returned by one execution, predicted
  uint64_t runs = 0;
  double requests = 0, rows = 0;  // to the database, and returned by it, of one execution on average
  Mean cpu, latency;              // microseconds of one execution; CPU of all the database's threads
  double latency_p99 = 0;
};

struct MeasuredTrial {
  std::string name;
  double rows = 0, load_seconds = 0;
  std::vector<MeasuredOperation> operations;
  std::vector<std::string> notes;

  // Weighted sums over the operations; a prediction only when every operation has one.
  std::optional<double> predicted(const CostModel& model) const;
  Mean cpu() const;
  Mean latency() const;
};

struct Measurement {
  double scale = 1, seconds = 0;
  uint64_t seed = 1;
  std::string source;               // the database that the data are like; empty: what files declare
  CostModel model;                  // what designs and reviews reckon with
  std::optional<CostModel> fitted;  // the constants of this machine, in microseconds of CPU
  std::vector<MeasuredTrial> trials;

  // Whether the trials, sorted by what the constants predict, are sorted by measured CPU too. nullopt: fewer
  // than two have predictions.
  std::optional<bool> order_agrees(const CostModel& constants) const;
};

// Least squares over operations of known work, each of whose requests reads one partition: what a request
// costs by itself is part of `partition`.
CostModel fit_constants(const MeasuredTrial& calibration);

// Notes what each trial says about the latency goals of the review's statements.
void compare_with_goals(const Review& review, Measurement& measurement);

std::string render_text(const Measurement& measurement, const RenderOptions& options);
std::string render_markdown(const Measurement& measurement);

}  // namespace sibyl::advisor
