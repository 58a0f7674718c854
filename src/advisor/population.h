// Entities that a model describes, made up: each field's values and each relationship's links as often and as
// unevenly as declared. Nothing but links is stored; a Population may be read by threads.
#pragma once

#include <functional>
#include <vector>

#include "advisor/model.h"
#include "advisor/synthetic.h"
#include "base/result.h"

namespace sibyl::advisor {

class Population {
 public:
  // REQUIRES: the model outlives it.
  Population(const Model& model, uint64_t seed);

  uint64_t count(size_t entity) const { return counts_[entity]; }
  // Of an instance; those from count() on are new ones.
  base::Bytes value(size_t entity, size_t field, uint64_t instance) const;
  // The value that this share of the instances lies below.
  base::Bytes quantile(size_t entity, size_t field, double share) const;
  // Milliseconds after the first moment of all, of the last entity that there is.
  double last_moment(size_t entity, size_t field) const;
  const types::Type& type(size_t entity, size_t field) const { return *types_[entity][field]; }

  // Every combination of connected entities: an instance for each node of the graph.
  using Visitor = std::function<base::Status(const std::vector<uint64_t>&)>;
  base::Status each_row(const Graph& graph, const Visitor& visit) const;

 private:
  struct Links {
    std::vector<std::vector<uint32_t>> forward, backward;  // of each instance
  };
  void link(const Relationship& relationship, uint64_t seed, Links& links) const;
  base::Bytes encode(size_t entity, size_t field, uint64_t number) const;
  // Milliseconds between entities that come one after the other; 0: their times are values like others.
  double apart(size_t entity, size_t field) const;
  uint64_t distinct(size_t entity, size_t field) const;
  base::Status extend(const Graph& graph, size_t node, std::vector<uint64_t>& row,
                      const Visitor& visit) const;

  const Model& model_;
  uint64_t seed_;
  std::vector<uint64_t> counts_;
  std::vector<std::vector<types::TypePtr>> types_;
  std::vector<std::vector<Ranks>> ranks_;  // of each field's values
  std::vector<Links> links_;               // of each relationship
};

}  // namespace sibyl::advisor
