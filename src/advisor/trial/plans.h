// Helpers for running planned and stated statements. Internal to src/advisor/trial.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "advisor/trial/trial.h"
#include "advisor/workload/population.h"

namespace sibyl::advisor {

// The given values of one execution. A value is drawn when it is first used; later uses of the operand get
// the same value.
class GivenValues {
 public:
  // `ranks`: the distribution of requests over the instances of each entity; empty: uniform. All arguments
  // must outlive the object.
  GivenValues(const Population& population, Random& random, const std::vector<Ranks>& ranks);
  void set(const std::string& operand, size_t entity, size_t field, uint64_t instance);
  std::optional<base::Bytes> value(const Parameter& parameter);

 private:
  static std::string name_of(const std::string& operand, size_t entity, size_t field);

  const Population& population_;
  Random& random_;
  const std::vector<Ranks>& ranks_;
  std::map<std::string, std::optional<base::Bytes>> values_;
};

// Adds a cell to the hash of a clustering key, which determines the bucket. Call it for each cell, in order.
uint64_t hash_cell(uint64_t hash, const std::optional<base::Bytes>& cell);

// Adds the plans that a `@layout` schema states for groups without writes. They run on the design's tables.
void add_stated(const Workload& workload, const Design& design, const std::string& schema,
                const std::shared_ptr<const Population>& population, Trial& trial);

}  // namespace sibyl::advisor
