// What running planned and stated statements share. Internal to trials.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "advisor/population.h"
#include "advisor/trial.h"

namespace sibyl::advisor {

// Values that an execution gives: drawn when they are first asked for, the same for the same operand then.
class GivenValues {
 public:
  // `ranks`: how unevenly the instances of each entity are asked for; empty: evenly. All outlive it.
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

// Buckets are chosen by the hash of the clustering key's values, in their order.
uint64_t hash_cell(uint64_t hash, const std::optional<base::Bytes>& cell);

// Adds the plans that a `@layout` schema states for the groups that do not write, run on the design's tables.
void add_stated(const Workload& workload, const Design& design, const std::string& schema,
                const std::shared_ptr<const Population>& population, Trial& trial);

}  // namespace sibyl::advisor
