#include "advisor/workload/growth.h"

#include <algorithm>

namespace sibyl::advisor {
namespace {

constexpr double default_horizon = 365 * 86400.0;

// Uses only the declared rate: a weight in a mix is not a rate.
double rate_of(const Statement& statement) {
  const Option* rate = find_option(statement.options, "rate");
  return rate != nullptr ? read_rate(rate->value).value_or(0) : 0;
}

double count_after(const Entity& entity, double growth, double seconds) {
  if (growth <= 0) return entity.count;
  const double then = entity.count + growth * seconds;
  if (!entity.retention) return then;
  const double held = std::max(1.0, growth * *entity.retention);
  return seconds >= *entity.retention ? held : std::min(then, std::max(entity.count, held));
}

}  // namespace

bool ModelGrowth::any() const {
  const auto grows = [](double one) { return one > 0; };
  return std::any_of(entities.begin(), entities.end(), grows) ||
         std::any_of(relationships.begin(), relationships.end(), grows);
}

ModelGrowth growth_of(const Workload& workload) {
  const Model& model = workload.model;
  ModelGrowth growth;
  growth.entities.resize(model.entities.size());
  growth.relationships.resize(model.relationships.size());
  for (const Statement& statement : workload.statements) {
    const double rate = rate_of(statement);
    if (statement.kind == StatementKind::insert) growth.entities[statement.entity()] += rate;
    if (statement.kind == StatementKind::remove) growth.entities[statement.entity()] -= rate;
    for (const Connection& connection : statement.connections) {
      const Relationship& relationship = model.relationships[connection.step.relationship];
      if (relationship.multiplicity != Multiplicity::many_many) continue;
      growth.relationships[connection.step.relationship] += connection.disconnect ? -rate : rate;
    }
  }
  for (size_t i = 0; i < growth.entities.size(); ++i)
    growth.entities[i] = std::max(0.0, model.entities[i].growth.value_or(growth.entities[i]));
  for (size_t i = 0; i < growth.relationships.size(); ++i)
    growth.relationships[i] = std::max(0.0, model.relationships[i].growth.value_or(growth.relationships[i]));
  return growth;
}

double horizon_of(const Workload& workload) {
  const Option* horizon = find_option(workload.target.options, "horizon");
  return horizon != nullptr ? read_seconds(horizon->value).value_or(default_horizon) : default_horizon;
}

Model model_after(const Model& model, const ModelGrowth& growth, double seconds) {
  Model out = model;
  for (size_t i = 0; i < out.entities.size(); ++i)
    out.entities[i].count = count_after(model.entities[i], growth.entities[i], seconds);
  for (size_t i = 0; i < out.relationships.size(); ++i) {
    Relationship& relationship = out.relationships[i];
    if (relationship.multiplicity == Multiplicity::many_many)
      relationship.links += growth.relationships[i] * seconds;
    else
      relationship.links *= out.entities[relationship.from].count / model.entities[relationship.from].count;
  }
  return out;
}

std::optional<double> time_kept(const Model& model, const ModelGrowth& growth, size_t entity,
                                double seconds) {
  const double rate = growth.entities[entity];
  if (rate <= 0) return std::nullopt;
  return count_after(model.entities[entity], rate, seconds) / rate;
}

bool is_creation_time(const Field& field) {
  return field.distinct <= 0 && field.zipf <= 0 &&
         (field.type == "timestamp" || field.type == "timeuuid" || field.type == "date");
}

}  // namespace sibyl::advisor
