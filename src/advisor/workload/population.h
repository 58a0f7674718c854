// Synthetic entities for a model. Values and links follow the declared counts and distributions. Only links
// are stored; values are computed. Reading is thread-safe.
#pragma once

#include <functional>
#include <vector>

#include "advisor/workload/model.h"
#include "advisor/workload/synthetic.h"
#include "base/result.h"

namespace sibyl::advisor {

class Population {
 public:
  // REQUIRES: `model` outlives the Population.
  Population(const Model& model, uint64_t seed);

  uint64_t count(size_t entity) const { return counts_[entity]; }
  // The value of a field of an instance. Instances with numbers from count() on are new.
  base::Bytes value(size_t entity, size_t field, uint64_t instance) const;
  // Returns a value that is larger than the values of this share of the instances.
  base::Bytes quantile(size_t entity, size_t field, double share) const;
  // The time of the last existing entity, in milliseconds after synthetic_epoch().
  double last_moment(size_t entity, size_t field) const;
  const types::Type& type(size_t entity, size_t field) const { return *types_[entity][field]; }

  // Visits every combination of connected entities, with one instance per node of the graph.
  using Visitor = std::function<base::Status(const std::vector<uint64_t>&)>;
  base::Status each_row(const Graph& graph, const Visitor& visit) const;

 private:
  struct Links {
    std::vector<std::vector<uint32_t>> forward, backward;  // per instance
  };
  void link(const Relationship& relationship, uint64_t seed, Links& links) const;
  base::Bytes encode(size_t entity, size_t field, uint64_t number) const;
  // Milliseconds between consecutive entities; 0 if the field's times are ordinary values.
  double interval_ms(size_t entity, size_t field) const;
  uint64_t distinct(size_t entity, size_t field) const;
  base::Status extend(const Graph& graph, size_t node, std::vector<uint64_t>& row,
                      const Visitor& visit) const;

  const Model& model_;
  uint64_t seed_;
  std::vector<uint64_t> counts_;
  std::vector<std::vector<types::TypePtr>> types_;
  std::vector<std::vector<Ranks>> ranks_;  // for each entity and field
  std::vector<Links> links_;               // per relationship
};

}  // namespace sibyl::advisor
