#include "advisor/workload/cost.h"

#include <algorithm>
#include <cmath>

#include "advisor/workload/stored_size.h"

namespace sibyl::advisor {

bool contains(const std::vector<FieldReference>& fields, FieldReference field) {
  return std::find(fields.begin(), fields.end(), field) != fields.end();
}

bool in_key(const Layout& layout, FieldReference field) {
  return contains(layout.partition, field) || contains(layout.clustering, field);
}

bool in_layout(const Layout& layout, FieldReference field) {
  return in_key(layout, field) || contains(layout.values, field);
}

bool needs_bucket(const Layout& layout) {
  return layout.buckets > 1 || (layout.partition.empty() && !layout.period);
}

double layout_rows(const Model& model, const Layout& layout) {
  return layout.graph.rows(model);
}

double layout_row_bytes(const Model& model, const Layout& layout) {
  double bytes = needs_bucket(layout) ? 4 : 0;
  for (const auto* fields : {&layout.partition, &layout.clustering, &layout.values}) {
    for (const FieldReference field : *fields) bytes += field_of(model, layout.graph, field).bytes;
  }
  return bytes;
}

double layout_stored_row_bytes(const Model& model, const Layout& layout) {
  std::vector<StoredColumn> columns;
  const auto add = [&](const std::vector<FieldReference>& fields, StoredColumn::Role role) {
    for (const FieldReference field : fields) {
      const Field& declared = field_of(model, layout.graph, field);
      StoredColumn column;
      column.role = role;
      column.type = types::scalar_by_name(declared.type);
      // Types that are not scalar count as a blob of the declared size.
      if (column.type == nullptr) column.type = types::scalar(types::Kind::blob);
      column.size = declared.bytes;
      column.distinct = model.distinct(layout.graph.nodes()[field.node].entity, field.field);
      columns.push_back(std::move(column));
    }
  };
  add(layout.partition, StoredColumn::Role::partition);
  if (needs_bucket(layout))
    columns.push_back({StoredColumn::Role::partition, types::scalar(types::Kind::int_), 4, 0,
                       std::max(2.0, layout.buckets)});
  if (layout.period)
    columns.push_back({StoredColumn::Role::partition, types::scalar(types::Kind::timestamp), 8, 0, 0});
  add(layout.clustering, StoredColumn::Role::clustering);
  add(layout.values, StoredColumn::Role::regular);
  return stored_sizes(columns).row;
}

double layout_bytes(const Model& model, const Layout& layout) {
  return layout_rows(model, layout) * layout_row_bytes(model, layout);
}

double layout_stored_bytes(const Model& model, const Layout& layout) {
  return layout_rows(model, layout) * layout_stored_row_bytes(model, layout);
}

double rows_per_key(const Model& model, const Layout& layout) {
  double keys = 1;
  for (const FieldReference field : layout.partition)
    keys *= model.distinct(layout.graph.nodes()[field.node].entity, field.field);
  return layout_rows(model, layout) / keys;
}

// The share of the most frequent value. It follows from the skew of the field itself, or of the relationships
// that lead to its entity from the "many" side.
double value_share(const Model& model, const Layout& layout, FieldReference field) {
  const size_t entity = layout.graph.nodes()[field.node].entity;
  double share = model.top_share(entity, field.field);
  if (field.field != model.entities[entity].key) return share;
  for (const Graph::Edge& edge : layout.graph.edges(field.node)) {
    if (to_one(model, edge.step)) continue;
    const Relationship& relationship = model.relationships[edge.step.relationship];
    if (relationship.to == entity && !edge.step.forward)
      share = std::max(share, zipf_top_share(model.entities[entity].count, relationship.zipf));
  }
  return share;
}

std::optional<FieldReference> hottest_field(const Model& model, const Layout& layout) {
  std::optional<FieldReference> hottest;
  double most = 2;  // values at most this many times as frequent as the mean are ignored
  for (const FieldReference field : layout.partition) {
    const double times = value_share(model, layout, field) *
                         model.distinct(layout.graph.nodes()[field.node].entity, field.field);
    if (times <= most) continue;
    most = times;
    hottest = field;
  }
  return hottest;
}

double hottest_share(const Model& model, const Layout& layout) {
  double share = 1;
  for (const FieldReference field : layout.partition) share *= value_share(model, layout, field);
  return share;
}

double rows_of_largest_key(const Model& model, const Layout& layout) {
  return std::max(1.0, layout_rows(model, layout) * hottest_share(model, layout));
}

double rows_of_largest_partition(const Model& model, const Layout& layout) {
  const double share = hottest_share(model, layout);
  const double buckets = std::max(1.0, layout.buckets) * (layout.period ? 1 / layout.period->share : 1);
  const double mean = std::max(1.0, rows_of_largest_key(model, layout) / buckets);
  if (layout.clustering.empty() || (share >= 1 && buckets <= 1)) return mean;
  // The largest bucket is the maximum of all similar buckets. If one key stands out, only its buckets are
  // similar.
  const double like = hottest_field(model, layout) ? buckets : buckets / share;
  return mean + std::sqrt(mean) * std::max(3.0, std::sqrt(2 * std::log(std::max(1.0, like))));
}

StatedReadCost evaluate_read(const CostModel& cost, const Model& model, const Layout& layout,
                             const StatedRead& read, double partitions) {
  StatedReadCost result;
  result.partitions = partitions * layout.buckets;
  result.rows = rows_per_key(model, layout) * partitions;
  if (read.range) result.rows *= cost.range_selectivity;
  for (const FieldReference field : read.equal) {
    if (!contains(layout.partition, field))
      result.rows /= model.distinct(layout.graph.nodes()[field.node].entity, field.field);
  }
  if (read.limit) result.rows = std::min(result.rows, *read.limit);
  result.cost = cost.read(result.partitions, result.rows);
  return result;
}

double evaluate_plan(const CostModel& cost, const Workload& workload, const StatedPlan& plan) {
  double total = 0;
  for (const StatedUnit& unit : plan.units) {
    double rows = 1;
    for (const std::vector<StatedRead>& chain : unit.lookups) {
      double found = 1;
      for (const StatedRead& read : chain) {
        const StatedReadCost step =
            evaluate_read(cost, workload.model, workload.layouts[read.layout], read, found);
        total += step.cost;
        found = step.rows;
      }
      rows *= found;
    }
    for (const StatedWrite& write : unit.writes) total += rows * (write.remove ? cost.remove : cost.insert);
  }
  return total;
}

StatedTotal evaluate_stated(const CostModel& cost, const Workload& workload, const std::string& schema,
                            const std::string& mix) {
  StatedTotal total;
  for (const StatedPlan& plan : workload.plans) {
    if (plan.schema != schema) continue;
    std::string group = plan.name;
    Options options;
    for (const Statement& statement : workload.statements) {
      if (statement.name != plan.name) continue;
      group = statement.group;
      options = statement.options;
    }
    const double weighted = workload.weight(group, options, mix) * evaluate_plan(cost, workload, plan);
    const bool writes = std::any_of(plan.units.begin(), plan.units.end(),
                                    [](const StatedUnit& unit) { return !unit.writes.empty(); });
    (writes ? total.updates : total.queries) += weighted;
  }
  return total;
}

}  // namespace sibyl::advisor
