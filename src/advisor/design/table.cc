// Names and definitions of designed tables.
#include <fmt/format.h>

#include <algorithm>

#include "advisor/design/write.h"
#include "advisor/review/review_model.h"
#include "cql/printer.h"

namespace sibyl::advisor {
namespace {

// The node that the rows describe: it determines the most other nodes and has the most columns.
size_t main_node(const Model& model, const Layout& layout) {
  size_t best = 0;
  std::pair<size_t, size_t> most = {0, 0};
  for (size_t node = 0; node < layout.graph.size(); ++node) {
    const std::vector<bool> determined = layout.graph.determined_by(model, node);
    size_t columns = 0;
    for (const auto* fields : {&layout.partition, &layout.clustering, &layout.values}) {
      for (const FieldReference field : *fields) columns += field.node == node ? 1 : 0;
    }
    const std::pair<size_t, size_t> merit = {
        static_cast<size_t>(std::count(determined.begin(), determined.end(), true)), columns};
    if (merit <= most) continue;
    most = merit;
    best = node;
  }
  return best;
}

// A name for each node: the roles on the path from the main node, joined.
std::vector<std::string> node_names(const Model& model, const Layout& layout, size_t main, bool whole_path) {
  std::vector<std::string> names(layout.graph.size());
  std::vector<bool> seen(layout.graph.size());
  std::vector<size_t> waiting = {main};
  seen[main] = true;
  for (size_t i = 0; i < waiting.size(); ++i) {
    for (const Graph::Edge& edge : layout.graph.edges(waiting[i])) {
      if (seen[edge.to]) continue;
      seen[edge.to] = true;
      const std::string& role = role_name(model, edge.step);
      names[edge.to] = whole_path && !names[waiting[i]].empty() ? names[waiting[i]] + "_" + role : role;
      waiting.push_back(edge.to);
    }
  }
  return names;
}

std::vector<std::pair<FieldReference, std::string>> name_columns(const Model& model, const Layout& layout,
                                                                 size_t main) {
  std::vector<std::string> nodes = node_names(model, layout, main, false);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (std::count(nodes.begin(), nodes.end(), nodes[i]) > 1) {
      nodes = node_names(model, layout, main, true);
      break;
    }
  }
  std::vector<std::pair<FieldReference, std::string>> columns;
  for (const auto* fields : {&layout.partition, &layout.clustering, &layout.values}) {
    for (const FieldReference field : *fields) {
      const std::string& own = field_of(model, layout.graph, field).name;
      std::string name = field.node == main ? own : nodes[field.node] + "_" + own;
      while (std::any_of(columns.begin(), columns.end(),
                         [&](const auto& column) { return column.second == name; }))
        name += "_";
      columns.emplace_back(field, std::move(name));
    }
  }
  return columns;
}

// A name that no column has.
std::string free_column(const DesignedTable& table, std::string name) {
  const auto taken = [&](const auto& column) { return column.second == name; };
  while (std::any_of(table.columns.begin(), table.columns.end(), taken)) name += "_of_key";
  return name;
}

std::string choose_name(const Model& model, const DesignedTable& table, size_t main,
                        const std::vector<std::string>& taken) {
  const Layout& layout = table.layout;
  const std::string& entity = model.entities[layout.graph.nodes()[main].entity].name;
  std::vector<std::string> parts;
  for (const FieldReference field : layout.partition) parts.push_back(table.column(field));
  const bool has_counters =
      std::any_of(layout.values.begin(), layout.values.end(),
                  [&](FieldReference field) { return field_of(model, layout.graph, field).is_counter(); });
  std::string name = has_counters               ? entity + "_counters"
                     : layout.is_chunked        ? fmt::format("{}_{}", entity, table.column(layout.values[0]))
                     : layout.partition.empty() ? "all_" + entity
                                                : fmt::format("{}_by_{}", entity, fmt::join(parts, "_and_"));
  const auto is_taken = [&](const std::string& candidate) {
    return std::find(taken.begin(), taken.end(), candidate) != taken.end();
  };
  for (size_t i = 0; i < layout.clustering.size() && is_taken(name); ++i)
    name += "_" + table.column(layout.clustering[i]);
  const std::string base = name;
  for (size_t number = 2; is_taken(name); ++number) name = fmt::format("{}_{}", base, number);
  return name;
}

std::string definition_of(const Model& model, const DesignedTable& table) {
  const Layout& layout = table.layout;
  std::string text = fmt::format("CREATE TABLE {} (\n", cql::print_name(layout.name));
  std::vector<std::string> partition, clustering, order;
  if (layout.period) text += fmt::format("  {} timestamp,\n", cql::print_name(table.period_column));
  if (needs_bucket(layout)) text += fmt::format("  {} int,\n", cql::print_name(table.bucket_column));
  for (const auto& [field, name] : table.columns)
    text += fmt::format("  {} {},\n", cql::print_name(name), field_of(model, layout.graph, field).type);
  if (layout.is_chunked) text += fmt::format("  {} int,\n", cql::print_name(table.chunk_column));
  for (const FieldReference field : layout.partition)
    partition.push_back(cql::print_name(table.column(field)));
  if (layout.period) partition.push_back(cql::print_name(table.period_column));
  if (needs_bucket(layout)) partition.push_back(cql::print_name(table.bucket_column));
  bool descends = false;
  for (size_t i = 0; i < layout.clustering.size(); ++i) {
    clustering.push_back(", " + cql::print_name(table.column(layout.clustering[i])));
    order.push_back(clustering.back().substr(2) + (layout.descending[i] ? " DESC" : " ASC"));
    descends = descends || layout.descending[i];
  }
  if (layout.is_chunked) clustering.push_back(", " + cql::print_name(table.chunk_column));
  text += fmt::format("  PRIMARY KEY (({}){})\n)", fmt::join(partition, ", "), fmt::join(clustering, ""));
  if (descends) text += fmt::format(" WITH CLUSTERING ORDER BY ({})", fmt::join(order, ", "));
  return text + ";";
}

}  // namespace

const std::string& DesignedTable::column(FieldReference field) const {
  static const std::string none;
  for (const auto& [candidate, name] : columns) {
    if (candidate == field) return name;
  }
  return none;
}

std::string period_text(const DesignedTable& table) {
  return fmt::format("{} rounded down to a multiple of {}", table.column(table.layout.period->field),
                     duration_text(table.layout.period->seconds));
}

DesignedTable write_table(const Model& model, const Model& later, Layout layout,
                          std::vector<std::string>& taken_names) {
  DesignedTable table;
  table.layout = std::move(layout);
  const size_t main = main_node(model, table.layout);
  table.columns = name_columns(model, table.layout, main);
  if (needs_bucket(table.layout)) table.bucket_column = free_column(table, "bucket");
  if (table.layout.period) table.period_column = free_column(table, "period");
  if (table.layout.is_chunked) table.chunk_column = free_column(table, "chunk");
  table.layout.name = choose_name(model, table, main, taken_names);
  taken_names.push_back(table.layout.name);
  table.definition = definition_of(model, table);
  table.rows = layout_rows(model, table.layout);
  table.bytes = layout_stored_bytes(model, table.layout);
  table.horizon_rows = layout_rows(later, table.layout);
  table.horizon_bytes = layout_stored_bytes(later, table.layout);
  table.largest_partition_bytes =
      rows_of_largest_partition(later, table.layout) * layout_stored_row_bytes(later, table.layout);
  if (const auto hot = hottest_field(model, table.layout)) {
    table.hot_column = table.column(*hot);
    table.hot_value_share = value_share(model, table.layout, *hot);
  }
  table.hottest_share = hottest_share(model, table.layout) / std::max(1.0, table.layout.buckets);
  return table;
}

}  // namespace sibyl::advisor
