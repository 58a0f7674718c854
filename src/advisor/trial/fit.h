// Fits synthetic data to declared or recorded statistics. Internal to src/advisor/trial.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "advisor/review/review_model.h"

namespace sibyl::advisor {

struct SizeQuantiles {
  double p50 = 0, max = 0;
  std::optional<double> p90, p99;
};
// Returns `count` sizes, largest first, with these quantiles and, as far as they permit, this mean. The
// largest is `max` if the total permits it, otherwise about half of the total.
std::vector<double> fit_sizes(uint64_t count, const SizeQuantiles& quantiles, double mean);

// Returns an error, with advice, if a database has recorded too little to derive data from.
base::Status check_recorded(const ReviewModel& model, const std::string& source);

// Estimates undeclared column statistics: the number of distinct values from the rows that statements
// returned, and the size of values from the size of rows. `notes` receives the estimates.
void fit_columns(ReviewModel& model, std::vector<std::string>& notes);

// Scales the number of rows and partitions. Rows per partition stay the same. If a partition is too large to
// load, it gets fewer rows at the same distance in time. `notes` receives a message for each such table.
void scale_model(ReviewModel& model, double scale, std::vector<std::string>& notes);

}  // namespace sibyl::advisor
