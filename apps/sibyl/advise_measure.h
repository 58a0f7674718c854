// `sibyl advise … --measure`: runs trials on embedded databases.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advisor/measurement.h"
#include "advisor/trial.h"
#include "base/result.h"

namespace CLI {
class App;
}

namespace sibyl {

struct MeasureArguments {
  bool measure = false;
  double scale = 0;  // 0: such that not more than a few hundred thousand rows are loaded
  uint64_t seed = 1;
  double seconds = 10;
  std::string directory;             // empty: a temporary one, removed afterwards
  std::vector<std::string> against;  // `@layout` schemas; empty: all that the file has plans for

  advisor::TrialOptions trial_options() const { return {scale, seed, nullptr}; }
};

void add_measure_options(CLI::App& command, MeasureArguments& arguments);

// The scale that was asked for, or one that loads not too much of it.
double choose_scale(const MeasureArguments& arguments, const advisor::TrialVolume& volume);

// Loads each trial into a database of its own, then runs them in turns until the time is up. Tells on stderr
// how far it is.
base::Result<advisor::Measurement> measure(std::vector<advisor::Trial> trials,
                                           const MeasureArguments& arguments);

// What a review finds, run: the given schema beside the suggested one. `observation`: what a database has
// recorded, which the data are like; nullptr: what the files declare.
base::Result<advisor::Measurement> measure_review(const std::vector<advisor::Workload>& workloads,
                                                  const advisor::Observation* observation,
                                                  MeasureArguments arguments);
// A design, as design_tables gives it with the options, beside the schemas that the file states.
base::Result<advisor::Measurement> measure_design(const advisor::Workload& workload,
                                                  const advisor::Design& design,
                                                  const advisor::DesignOptions& options,
                                                  MeasureArguments arguments);

}  // namespace sibyl
