#include "advisor/design/assumed.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "advisor/review/review_model.h"

namespace sibyl::advisor {
namespace {

// How statements use a field.
struct FieldUse {
  bool compared = false;             // by =
  bool compared_to_literal = false;  // by =
  std::set<std::string> literals;    // compared or written
};

FieldUse use_of(const Workload& workload, size_t entity, size_t field) {
  FieldUse out;
  const auto take = [&](const Operand& value) {
    if (!value.is_marker()) out.literals.insert(value.text);
  };
  for (const Statement& statement : workload.statements) {
    for (const Predicate& one : statement.where) {
      const size_t of = statement.graph.nodes()[one.field.node].entity;
      if (of != entity || one.field.field != field || one.comparison != Comparison::equal) continue;
      out.compared = true;
      out.compared_to_literal = out.compared_to_literal || !one.value.is_marker();
      take(one.value);
    }
    for (const Assignment& one : statement.set)
      if (statement.entity() == entity && one.field == field) take(one.value);
  }
  return out;
}

void assume_values(Assumed& out) {
  for (size_t e = 0; e < out.workload.model.entities.size(); ++e) {
    Entity& entity = out.workload.model.entities[e];
    for (size_t f = 0; f < entity.fields.size(); ++f) {
      Field& field = entity.fields[f];
      if (f == entity.key || field.distinct > 0) continue;
      if (field.type == "boolean") field.distinct = 2;
      const FieldUse use = use_of(out.workload, e, f);
      if (field.distinct > 0 || !use.compared) continue;
      const bool identifies = field.type == "uuid" || field.type == "timeuuid";
      if (use.compared_to_literal) {
        field.distinct = std::max(2.0, static_cast<double>(use.literals.size()));
        out.notes.push_back(
            fmt::format("distinct= of {}.{} is not declared: {:.0f} are assumed, because a statement "
                        "compares it with a literal",
                        entity.name, field.name, field.distinct));
      } else if (!identifies) {
        out.notes.push_back(
            fmt::format("distinct= of {}.{} is not declared: a different value for each of {} is assumed",
                        entity.name, field.name, entity.name));
      }
    }
  }
}

// Gives entities that are empty today and grow the count that they reach at the horizon.
void fill_empty_entities(Assumed& out) {
  const double horizon = horizon_of(out.workload);
  const ModelGrowth growth = growth_of(out.workload);
  const Model later = model_after(out.today, growth, horizon);
  Model& model = out.workload.model;
  std::vector<bool> filled(model.entities.size());
  for (size_t i = 0; i < model.entities.size(); ++i) {
    Entity& entity = model.entities[i];
    filled[i] = entity.count <= 1 && growth.entities[i] > 0;
    if (!filled[i]) continue;
    entity.count = std::max(1.0, later.entities[i].count);
    out.notes.push_back(fmt::format("{} starts empty: its tables are sized and priced as after {}",
                                    entity.name, duration_text(horizon)));
  }
  for (size_t i = 0; i < model.relationships.size(); ++i)
    if (filled[model.relationships[i].from] || filled[model.relationships[i].to])
      model.relationships[i].links = later.relationships[i].links;
}

}  // namespace

Assumed assume(const Workload& workload) {
  Assumed out{workload, {}, {}};
  assume_values(out);
  out.today = out.workload.model;
  fill_empty_entities(out);
  return out;
}

}  // namespace sibyl::advisor
