// Growth of an entity model: the growth that `@entity` declares, otherwise the rates of INSERTs and DELETEs.
// Pure functions.
#pragma once

#include <optional>
#include <vector>

#include "advisor/workload/workload.h"

namespace sibyl::advisor {

struct ModelGrowth {
  std::vector<double> entities;       // new entities per second; 0: no growth, or unknown
  std::vector<double> relationships;  // new links per second, of many-to-many relationships

  bool any() const;
};
ModelGrowth growth_of(const Workload& workload);

// The horizon of the file's `@target`, in seconds. One year if the file has none.
double horizon_of(const Workload& workload);

// The model after `seconds`. If an entity has a retention, only entities that arrive within it are left.
Model model_after(const Model& model, const ModelGrowth& growth, double seconds);

// The age in seconds of the oldest entity after `seconds`, assuming that entities have always arrived at the
// current rate. Returns nullopt if none arrive.
std::optional<double> time_kept(const Model& model, const ModelGrowth& growth, size_t entity, double seconds);

// True if the field holds the time at which an entity was created: a timestamp, timeuuid or date without a
// declared distribution of values.
bool is_creation_time(const Field& field);

}  // namespace sibyl::advisor
