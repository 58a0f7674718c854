#include "advisor/workload/population.h"

#include <algorithm>
#include <cmath>

#include "advisor/workload/growth.h"

namespace sibyl::advisor {
namespace {

double unit_of(uint64_t number) {
  return static_cast<double>(number >> 11) * 0x1p-53;
}

// Maps the numbers below `count` to different numbers below `count`, in a scrambled order.
uint64_t scatter(uint64_t number, uint64_t count) {
  constexpr uint64_t prime = 2'654'435'761;
  return count % prime == 0 ? number : number % count * (prime % count) % count;
}

}  // namespace

Population::Population(const Model& model, uint64_t seed) : model_(model), seed_(seed) {
  for (size_t e = 0; e < model.entities.size(); ++e) {
    const Entity& entity = model.entities[e];
    counts_.push_back(std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(entity.count))));
    types_.emplace_back();
    ranks_.emplace_back();
    for (size_t f = 0; f < entity.fields.size(); ++f) {
      types::TypePtr type = types::scalar_by_name(entity.fields[f].type);
      types_.back().push_back(type != nullptr ? std::move(type) : types::scalar(types::Kind::blob));
      ranks_.back().emplace_back(distinct(e, f), entity.fields[f].zipf);
    }
  }
  links_.resize(model.relationships.size());
  for (size_t r = 0; r < links_.size(); ++r) link(model.relationships[r], mix(seed, 1000 + r), links_[r]);
}

uint64_t Population::distinct(size_t entity, size_t field) const {
  return std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(model_.distinct(entity, field))));
}

void Population::link(const Relationship& relationship, uint64_t seed, Links& links) const {
  const uint64_t from = counts_[relationship.from], to = counts_[relationship.to];
  links.forward.resize(from);
  links.backward.resize(to);
  const auto connect = [&](uint64_t left, uint64_t right) {
    std::vector<uint32_t>& known = links.forward[left];
    if (std::find(known.begin(), known.end(), right) != known.end()) return;
    known.push_back(static_cast<uint32_t>(right));
    links.backward[right].push_back(static_cast<uint32_t>(left));
  };
  const auto wanted = static_cast<uint64_t>(
      std::llround(relationship.links > 0 ? relationship.links : static_cast<double>(from)));
  const Ranks ranks(to, relationship.zipf);
  for (uint64_t i = 0; i < wanted; ++i) {
    if (relationship.multiplicity == Multiplicity::one_one) {
      if (i < from && i < to) connect(i, i);
    } else if (relationship.multiplicity == Multiplicity::many_one) {
      if (i < from) connect(i, ranks.at(unit_of(mix(seed, i))));
    } else {
      connect(mix(seed, 2 * i) % from, ranks.at(unit_of(mix(seed, 2 * i + 1))));
    }
  }
}

base::Bytes Population::encode(size_t entity, size_t field, uint64_t number) const {
  const Field& declared = model_.entities[entity].fields[field];
  // The values of a key must differ between entities.
  const bool key = field == model_.entities[entity].key;
  const bool mixed = key && types_[entity][field]->kind() == types::Kind::uuid;
  return synthetic_value(*types_[entity][field], mixed ? mix(seed_ + entity, number) : number,
                         declared.bytes);
}

double Population::interval_ms(size_t entity, size_t field) const {
  const Entity& declared = model_.entities[entity];
  return declared.growth.value_or(0) > 0 && is_creation_time(declared.fields[field]) ? 1000 / *declared.growth
                                                                                     : 0;
}

double Population::last_moment(size_t entity, size_t field) const {
  return interval_ms(entity, field) * static_cast<double>(counts_[entity] - 1);
}

base::Bytes Population::value(size_t entity, size_t field, uint64_t instance) const {
  if (const double each = interval_ms(entity, field); each > 0)
    return synthetic_moment(type(entity, field), each * static_cast<double>(instance), instance);
  if (field == model_.entities[entity].key) return encode(entity, field, instance);
  const uint64_t values = distinct(entity, field);
  if (values >= counts_[entity] && model_.entities[entity].fields[field].zipf <= 0)
    return encode(entity, field, scatter(instance, counts_[entity]));
  return encode(entity, field,
                ranks_[entity][field].at(unit_of(mix(mix(seed_, entity * 100 + field), instance))));
}

base::Bytes Population::quantile(size_t entity, size_t field, double share) const {
  if (interval_ms(entity, field) > 0)
    return synthetic_moment(type(entity, field), share * last_moment(entity, field), 0);
  return encode(entity, field, ranks_[entity][field].at(std::clamp(share, 0.0, 1.0)));
}

base::Status Population::extend(const Graph& graph, size_t node, std::vector<uint64_t>& row,
                                const Visitor& visit) const {
  if (node == graph.size()) return visit(row);
  const Graph::Node& place = graph.nodes()[node];
  const Links& links = links_[place.step.relationship];
  const uint64_t parent = row[place.parent];
  for (const uint32_t instance : place.step.forward ? links.forward[parent] : links.backward[parent]) {
    row[node] = instance;
    SIBYL_TRY(extend(graph, node + 1, row, visit));
  }
  return {};
}

base::Status Population::each_row(const Graph& graph, const Visitor& visit) const {
  std::vector<uint64_t> row(graph.size());
  for (uint64_t instance = 0; instance < counts_[graph.nodes()[0].entity]; ++instance) {
    row[0] = instance;
    SIBYL_TRY(extend(graph, 1, row, visit));
  }
  return {};
}

}  // namespace sibyl::advisor
