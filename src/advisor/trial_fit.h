// Data that is like what was declared or recorded. Internal to trials.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "advisor/review_model.h"

namespace sibyl::advisor {

struct SizeQuantiles {
  double p50 = 0, max = 0;
  std::optional<double> p90, p99;
};
// So many sizes, the largest first, with these quantiles and, as far as they allow, this mean. The largest is
// `max`, or half of all where `max` is more than all.
std::vector<double> fit_sizes(uint64_t count, const SizeQuantiles& quantiles, double mean);

// Refuses, with what to do about it, when a database has recorded too little to be like.
base::Status check_recorded(const ReviewModel& model, const std::string& source);

// What statements have returned tells how many values the columns have that they compare, and the bytes of
// rows how large values are: for what nobody declares. `notes`: told what was concluded.
void fit_columns(ReviewModel& model, std::vector<std::string>& notes);

// Tables and statements of fewer rows and partitions. Rows of a partition stay what they are, or, where so
// many cannot be loaded, as far apart in time. `notes`: told where there are fewer.
void scale_model(ReviewModel& model, double scale, std::vector<std::string>& notes);

}  // namespace sibyl::advisor
