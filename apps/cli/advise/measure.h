// `sibyl advise … --measure`: runs trials on embedded databases.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advisor/trial/measurement.h"
#include "advisor/trial/trial.h"
#include "base/result.h"

namespace CLI {
class App;
}

namespace sibyl::cli {

struct MeasureArguments {
  bool measure = false;
  double scale = 0;  // 0: chosen so that at most some hundred thousand rows are loaded
  uint64_t seed = 1;
  double seconds = 10;
  std::string directory;             // empty: a temporary directory that is removed afterwards
  std::vector<std::string> against;  // `@layout` schemas; empty: all that the file has plans for

  advisor::TrialOptions trial_options() const { return {scale, seed, nullptr}; }
};

void add_measure_options(CLI::App& command, MeasureArguments& arguments);

// The requested scale, or one that limits the volume to load.
double choose_scale(const MeasureArguments& arguments, const advisor::TrialVolume& volume);

// Loads each trial into its own database, then runs the trials in turns until the time is up. Logs progress
// to stderr.
base::Result<advisor::Measurement> measure(std::vector<advisor::Trial> trials,
                                           const MeasureArguments& arguments);

// Measures the reviewed schema and the suggested one. The data resemble what `observation` has recorded; with
// nullptr, what the files declare.
base::Result<advisor::Measurement> measure_review(const std::vector<advisor::Workload>& workloads,
                                                  const advisor::Observation* observation,
                                                  MeasureArguments arguments);
// Measures a design and the stated schemas of the file. `options` must be those that design_tables was called
// with.
base::Result<advisor::Measurement> measure_design(const advisor::Workload& workload,
                                                  const advisor::Design& design,
                                                  const advisor::DesignOptions& options,
                                                  MeasureArguments arguments);

}  // namespace sibyl::cli
