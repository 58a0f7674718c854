#include "advisor/design/maintenance.h"

#include <algorithm>

namespace sibyl::advisor {
namespace {

class Maintenance {
 public:
  Maintenance(const Model& model, const CostModel& cost, const Statement& change, const Layout& table)
      : model_(model), cost_(cost), change_(change), table_(table) {}

  std::vector<MaintenanceUnit> run() {
    for (size_t node = 0; node < table_.graph.size(); ++node) {
      if (table_.graph.nodes()[node].entity != change_.entity()) continue;
      if (change_.kind == StatementKind::insert && !is_left_out(node)) insert(node);
      if (change_.kind == StatementKind::remove) remove(node);
      if (change_.kind == StatementKind::update) {
        if (!change_.set.empty()) update(node);
        for (const Connection& connection : change_.connections) connect(node, connection);
      }
    }
    return std::move(units_);
  }

 private:
  bool sets(size_t node, size_t changed, FieldReference field) const {
    return field.node == node && node == changed &&
           std::any_of(change_.set.begin(), change_.set.end(),
                       [&](const Assignment& assignment) { return assignment.field == field.field; });
  }
  std::vector<FieldReference> key_fields() const {
    std::vector<FieldReference> fields = table_.partition;
    fields.insert(fields.end(), table_.clustering.begin(), table_.clustering.end());
    return fields;
  }
  std::vector<FieldReference> all_fields() const {
    std::vector<FieldReference> fields = key_fields();
    fields.insert(fields.end(), table_.values.begin(), table_.values.end());
    return fields;
  }

  // True if the table holds only values that the INSERT does not set, such as counters.
  bool is_left_out(size_t node) const {
    const auto field = [&](FieldReference one) { return field_of(model_, table_.graph, one); };
    return !table_.values.empty() &&
           std::all_of(table_.values.begin(), table_.values.end(), [&](FieldReference one) {
             return field(one).is_counter() || (field(one).is_large() && !sets(node, node, one));
           });
  }
  void insert(size_t node);
  void remove(size_t node);
  void update(size_t node);
  void connect(size_t node, const Connection& connection);
  void add_need(MaintenanceUnit& unit, const std::vector<bool>& nodes, size_t root, const Operand& value,
                const std::vector<FieldReference>& wanted) const;
  MaintenanceUnit unit_for(size_t node) const {
    MaintenanceUnit unit;
    unit.node = node;
    unit.sources.resize(table_.graph.size());
    return unit;
  }
  void add(MaintenanceUnit unit) {
    for (const Requirement& need : unit.needs) unit.rows *= requirement_rows(model_, need);
    units_.push_back(std::move(unit));
  }

  const Model& model_;
  const CostModel& cost_;
  const Statement& change_;
  const Layout& table_;
  std::vector<MaintenanceUnit> units_;
};

// Adds a requirement for the wanted fields of the marked nodes, to be found from the key of `root`. Adds
// nothing if no field is wanted.
void Maintenance::add_need(MaintenanceUnit& unit, const std::vector<bool>& nodes, size_t root,
                           const Operand& value, const std::vector<FieldReference>& wanted) const {
  const FieldReference key = key_of(model_, table_.graph, root);
  std::vector<bool> keep(nodes.size());
  keep[root] = true;
  std::vector<FieldReference> missing;
  for (const FieldReference field : wanted) {
    if (!nodes[field.node] || field == key) continue;
    missing.push_back(field);
    // The path from the root to the field.
    for (size_t node = 0; node < keep.size(); ++node) {
      for (const Graph::Edge& edge : table_.graph.edges(node)) {
        if (nodes[node] && nodes[edge.to] && node != root && table_.graph.branch(edge.to, node)[field.node] &&
            !table_.graph.branch(edge.to, node)[root])
          keep[node] = true;
      }
    }
  }
  if (missing.empty()) return;
  Requirement need;
  std::vector<size_t> mapping;
  need.graph = table_.graph.part(keep, root, mapping);
  need.given.push_back({key_of(model_, need.graph, 0), value});
  for (const FieldReference field : missing) need.wanted.push_back({mapping[field.node], field.field});
  for (size_t node = 0; node < mapping.size(); ++node) {
    if (mapping[node] != SIZE_MAX) unit.sources[node] = {unit.needs.size(), mapping[node]};
  }
  unit.needs.push_back(std::move(need));
}

// A new entity gets a row in a table if the statement connects it along every edge of the table.
void Maintenance::insert(size_t node) {
  MaintenanceUnit unit = unit_for(node);
  unit.insert = true;
  for (const Graph::Edge& edge : table_.graph.edges(node)) {
    const auto connection =
        std::find_if(change_.connections.begin(), change_.connections.end(),
                     [&](const Connection& candidate) { return candidate.step == edge.step; });
    if (connection == change_.connections.end()) return;
    add_need(unit, table_.graph.branch(node, edge.to), edge.to, connection->value, all_fields());
  }
  add(std::move(unit));
}

void Maintenance::remove(size_t node) {
  MaintenanceUnit unit = unit_for(node);
  unit.remove = true;
  add_need(unit, std::vector<bool>(table_.graph.size(), true), node, change_.key, key_fields());
  add(std::move(unit));
}

void Maintenance::update(size_t node) {
  bool touched = false, key_touched = false;
  for (const FieldReference field : all_fields()) {
    if (!sets(field.node, node, field)) continue;
    touched = true;
    key_touched = key_touched || in_key(table_, field);
  }
  if (!touched) return;
  std::vector<FieldReference> wanted;
  for (const FieldReference field : all_fields()) {
    const bool key = in_key(table_, field);
    if (!key && !key_touched) continue;
    if (sets(field.node, node, field) && (!key || cost_.old_keys_are_known)) continue;
    wanted.push_back(field);
  }
  MaintenanceUnit unit = unit_for(node);
  unit.remove = key_touched;
  unit.insert = true;
  add_need(unit, std::vector<bool>(table_.graph.size(), true), node, change_.key, wanted);
  add(std::move(unit));
}

void Maintenance::connect(size_t node, const Connection& connection) {
  const auto other = table_.graph.find(node, connection.step);
  if (!other) return;
  const std::vector<bool> far = table_.graph.branch(node, *other), near = table_.graph.branch(*other, node);
  const std::vector<FieldReference> keys = key_fields();
  const bool far_in_key =
      std::any_of(keys.begin(), keys.end(), [&](FieldReference field) { return far[field.node]; });
  const bool replaces = to_one(model_, connection.step);
  if (replaces && far_in_key) {
    MaintenanceUnit old = unit_for(node);
    old.remove = true;
    add_need(old, std::vector<bool>(table_.graph.size(), true), node, change_.key, keys);
    add(std::move(old));
  }
  MaintenanceUnit unit = unit_for(node);
  unit.other = *other;
  unit.connection = &connection;
  unit.insert = !connection.disconnect;
  unit.remove = connection.disconnect;
  const bool whole_row = unit.insert && (far_in_key || !replaces);
  add_need(unit, near, node, change_.key, whole_row ? all_fields() : keys);
  add_need(unit, far, *other, connection.value, unit.insert ? all_fields() : keys);
  add(std::move(unit));
}

}  // namespace

double requirement_rows(const Model& model, const Requirement& need) {
  const size_t entity = need.graph.nodes()[need.given[0].field.node].entity;
  return need.graph.rows(model) / model.entities[entity].count;
}

std::vector<MaintenanceUnit> maintenance_of(const Model& model, const CostModel& cost,
                                            const Statement& change, const Layout& table) {
  return Maintenance(model, cost, change, table).run();
}

}  // namespace sibyl::advisor
