// How a model of entities grows: what `@entity` says of it, else the INSERTs and DELETEs that have a rate.
// Pure functions.
#pragma once

#include <optional>
#include <vector>

#include "advisor/workload.h"

namespace sibyl::advisor {

struct ModelGrowth {
  std::vector<double> entities;       // more of each per second; 0: none, or nobody knows
  std::vector<double> relationships;  // links of each that is many to many

  bool any() const;
};
ModelGrowth growth_of(const Workload& workload);

// The horizon of the file's target; a year without one.
double horizon_of(const Workload& workload);

// The model `seconds` later: of what is kept for a time only as many as arrive in it.
Model model_after(const Model& model, const ModelGrowth& growth, double seconds);

// How far back the entities lie then, in seconds, when they have always come as they do now; nullopt: they do
// not come.
std::optional<double> time_kept(const Model& model, const ModelGrowth& growth, size_t entity, double seconds);

// timestamp, timeuuid or date: when an entity that grows came, unless its values are declared.
bool tells_time(const Field& field);

}  // namespace sibyl::advisor
