#include "advisor/workload/model.h"

#include <algorithm>
#include <cmath>

namespace sibyl::advisor {

bool Field::is_large() const {
  constexpr double large = 1e6;
  return bytes >= large && (type == "blob" || type == "text" || type == "varchar" || type == "ascii");
}

std::optional<size_t> Entity::find_field(std::string_view wanted) const {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == wanted) return i;
  }
  return std::nullopt;
}

std::optional<size_t> Model::find_entity(std::string_view name) const {
  for (size_t i = 0; i < entities.size(); ++i) {
    if (entities[i].name == name) return i;
  }
  return std::nullopt;
}

double Model::distinct(size_t entity, size_t field) const {
  const double declared = entities[entity].fields[field].distinct;
  return declared > 0 ? declared : entities[entity].count;
}

double Model::top_share(size_t entity, size_t field) const {
  return zipf_top_share(distinct(entity, field), entities[entity].fields[field].zipf);
}

double zipf_top_share(double count, double exponent) {
  if (exponent <= 0) return 1 / std::max(1.0, count);
  // The first terms are exact; the tail is approximated by its integral.
  const double exact = std::min(std::max(1.0, count), 1000.0);
  double sum = 0;
  for (double rank = 1; rank <= exact; ++rank) sum += std::pow(rank, -exponent);
  if (count > exact) {
    const double from = exact + 0.5, to = count + 0.5;
    sum += exponent == 1 ? std::log(to / from)
                         : (std::pow(to, 1 - exponent) - std::pow(from, 1 - exponent)) / (1 - exponent);
  }
  return 1 / sum;
}

std::optional<Step> find_role(const Model& model, size_t entity, std::string_view role) {
  for (size_t i = 0; i < model.relationships.size(); ++i) {
    const Relationship& relationship = model.relationships[i];
    if (relationship.from == entity && relationship.role == role) return Step{i, true};
    if (relationship.to == entity && relationship.reverse_role == role) return Step{i, false};
  }
  return std::nullopt;
}

size_t target(const Model& model, Step step) {
  const Relationship& relationship = model.relationships[step.relationship];
  return step.forward ? relationship.to : relationship.from;
}

size_t source(const Model& model, Step step) {
  return target(model, {step.relationship, !step.forward});
}

bool to_one(const Model& model, Step step) {
  switch (model.relationships[step.relationship].multiplicity) {
    case Multiplicity::many_one:
      return step.forward;
    case Multiplicity::one_one:
      return true;
    case Multiplicity::many_many:
      return false;
  }
  return false;
}

const std::string& role_name(const Model& model, Step step) {
  const Relationship& relationship = model.relationships[step.relationship];
  return step.forward ? relationship.role : relationship.reverse_role;
}

std::vector<Graph::Edge> Graph::edges(size_t node) const {
  std::vector<Edge> found;
  if (node != 0) {
    const Step& step = nodes_[node].step;
    found.push_back({nodes_[node].parent, {step.relationship, !step.forward}});
  }
  for (size_t i = 1; i < nodes_.size(); ++i) {
    if (nodes_[i].parent == node) found.push_back({i, nodes_[i].step});
  }
  return found;
}

std::optional<size_t> Graph::find(size_t node, Step step) const {
  for (const Edge& edge : edges(node)) {
    if (edge.step == step) return edge.to;
  }
  return std::nullopt;
}

size_t Graph::extend(const Model& model, size_t node, Step step) {
  if (const auto found = find(node, step)) return *found;
  nodes_.push_back({target(model, step), node, step});
  return nodes_.size() - 1;
}

double Graph::rows(const Model& model) const {
  double rows = 1;
  for (const Node& node : nodes_) rows *= model.entities[node.entity].count;
  for (size_t i = 1; i < nodes_.size(); ++i) {
    const Relationship& relationship = model.relationships[nodes_[i].step.relationship];
    rows *=
        relationship.links / model.entities[relationship.from].count / model.entities[relationship.to].count;
  }
  return rows;
}

std::vector<bool> Graph::determined_by(const Model& model, size_t node) const {
  std::vector<bool> marked(nodes_.size());
  std::vector<size_t> waiting = {node};
  marked[node] = true;
  while (!waiting.empty()) {
    const size_t at = waiting.back();
    waiting.pop_back();
    for (const Edge& edge : edges(at)) {
      if (marked[edge.to] || !to_one(model, edge.step)) continue;
      marked[edge.to] = true;
      waiting.push_back(edge.to);
    }
  }
  return marked;
}

std::vector<bool> Graph::branch(size_t node, size_t neighbour) const {
  std::vector<bool> marked(nodes_.size());
  std::vector<size_t> waiting = {neighbour};
  marked[neighbour] = true;
  while (!waiting.empty()) {
    const size_t at = waiting.back();
    waiting.pop_back();
    for (const Edge& edge : edges(at)) {
      if (edge.to == node || marked[edge.to]) continue;
      marked[edge.to] = true;
      waiting.push_back(edge.to);
    }
  }
  return marked;
}

Graph Graph::part(const std::vector<bool>& keep, size_t root, std::vector<size_t>& mapping) const {
  mapping.assign(nodes_.size(), SIZE_MAX);
  Graph result(nodes_[root].entity);
  mapping[root] = 0;
  std::vector<size_t> waiting = {root};
  for (size_t i = 0; i < waiting.size(); ++i) {
    for (const Edge& edge : edges(waiting[i])) {
      if (!keep[edge.to] || mapping[edge.to] != SIZE_MAX) continue;
      mapping[edge.to] = result.nodes_.size();
      result.nodes_.push_back({nodes_[edge.to].entity, mapping[waiting[i]], edge.step});
      waiting.push_back(edge.to);
    }
  }
  return result;
}

std::optional<std::vector<size_t>> Graph::embed(const Graph& whole, size_t from, size_t at,
                                                const Model* model) const {
  if (nodes_[from].entity != whole.nodes_[at].entity) return std::nullopt;
  std::vector<size_t> places(nodes_.size(), SIZE_MAX);
  std::vector<bool> seen(nodes_.size());
  std::vector<size_t> waiting = {from};
  places[from] = at;
  seen[from] = true;
  for (size_t i = 0; i < waiting.size(); ++i) {
    for (const Edge& edge : edges(waiting[i])) {
      if (seen[edge.to]) continue;
      seen[edge.to] = true;
      waiting.push_back(edge.to);
      const size_t here = places[waiting[i]];
      const auto place = here == SIZE_MAX ? std::nullopt : whole.find(here, edge.step);
      if (place) places[edge.to] = *place;
      const bool always =
          model != nullptr && edge.step.forward && model->relationships[edge.step.relationship].mandatory;
      if (!place && !always) return std::nullopt;
    }
  }
  return places;
}

const Field& field_of(const Model& model, const Graph& graph, FieldReference reference) {
  return model.entities[graph.nodes()[reference.node].entity].fields[reference.field];
}

FieldReference key_of(const Model& model, const Graph& graph, size_t node) {
  return {node, model.entities[graph.nodes()[node].entity].key};
}

std::string path_text(const Model& model, const Graph& graph, FieldReference reference) {
  std::string path = field_of(model, graph, reference).name;
  size_t node = reference.node;
  while (node != 0) {
    path = role_name(model, graph.nodes()[node].step) + "." + path;
    node = graph.nodes()[node].parent;
  }
  return model.entities[graph.nodes()[0].entity].name + "." + path;
}

}  // namespace sibyl::advisor
