#include "advisor/design/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace sibyl::advisor {
namespace {

constexpr double max_buckets = 4096;
constexpr size_t max_split_nodes = 6;

// The canonical text of the layout as seen from one of its nodes.
std::string text_from(const Layout& layout, size_t root, bool values) {
  std::vector<std::string> names(layout.graph.size());
  std::vector<size_t> waiting = {root};
  std::vector<bool> seen(layout.graph.size());
  seen[root] = true;
  names[root] = fmt::format("{}", layout.graph.nodes()[root].entity);
  for (size_t i = 0; i < waiting.size(); ++i) {
    for (const Graph::Edge& edge : layout.graph.edges(waiting[i])) {
      if (seen[edge.to]) continue;
      seen[edge.to] = true;
      names[edge.to] =
          fmt::format("{}{}{}", names[waiting[i]], edge.step.forward ? ">" : "<", edge.step.relationship);
      waiting.push_back(edge.to);
    }
  }
  const auto text = [&](const std::vector<FieldReference>& fields, bool sorted) {
    std::vector<std::string> parts;
    for (const FieldReference field : fields)
      parts.push_back(fmt::format("{}.{}", names[field.node], field.field));
    if (sorted) std::sort(parts.begin(), parts.end());
    return fmt::format("{}", fmt::join(parts, ","));
  };
  std::vector<std::string> nodes = names;
  std::sort(nodes.begin(), nodes.end());
  return fmt::format("{}|{}|{}|{}", fmt::join(nodes, ","), text(layout.partition, true),
                     text(layout.clustering, false), values ? text(layout.values, true) : "");
}

std::string smallest_text(const Layout& layout, bool values) {
  std::string best;
  for (size_t root = 0; root < layout.graph.size(); ++root) {
    const std::string text = text_from(layout, root, values);
    if (best.empty() || text < best) best = text;
  }
  return best;
}

std::vector<std::vector<bool>> connected_parts(const Graph& graph) {
  std::vector<std::vector<bool>> parts;
  for (size_t mask = 1; mask < (size_t{1} << graph.size()); ++mask) {
    std::vector<bool> part(graph.size());
    size_t nodes = 0, edges = 0;
    for (size_t i = 0; i < graph.size(); ++i) {
      part[i] = (mask >> i & 1) != 0;
      nodes += part[i] ? 1 : 0;
    }
    for (size_t i = 1; i < graph.size(); ++i) edges += part[i] && part[graph.nodes()[i].parent] ? 1 : 0;
    if (edges + 1 == nodes) parts.push_back(std::move(part));
  }
  return parts;
}

// Finds the nodes whose keys are needed to make rows unique: these nodes are not determined by any other node
// of the part.
std::vector<size_t> sources(const Model& model, const Graph& graph, const std::vector<bool>& part) {
  std::vector<size_t> found;
  std::vector<bool> done(graph.size());
  for (size_t node = 0; node < graph.size(); ++node) {
    if (!part[node] || done[node]) continue;
    bool determined = false;
    const std::vector<bool> mine = graph.determined_by(model, node);
    for (size_t other = 0; other < graph.size(); ++other) {
      if (other == node || !part[other] || !graph.determined_by(model, other)[node]) continue;
      // If two nodes determine each other, only the first one is kept.
      determined = determined || !mine[other] || other < node;
    }
    if (!determined) found.push_back(node);
  }
  return found;
}

void append(std::vector<FieldReference>& fields, FieldReference field) {
  if (!contains(fields, field)) fields.push_back(field);
}

}  // namespace

std::string layout_text(const Layout& layout) {
  return smallest_text(layout, true);
}

bool fit_to_limits(const Model& model, const Limits& limits, double writes_per_second, Layout& layout) {
  layout.buckets = 1;
  if (limits.partition_rate && !layout.clustering.empty())
    layout.buckets =
        std::max(1.0, std::ceil(writes_per_second * hottest_share(model, layout) / *limits.partition_rate));
  if (!limits.partition_bytes) return layout.buckets <= max_buckets;
  const auto bytes = [&] {
    return rows_of_largest_partition(model, layout) * layout_stored_row_bytes(model, layout);
  };
  if (layout.clustering.empty() && !layout.partition.empty()) return bytes() <= *limits.partition_bytes;
  while (bytes() > *limits.partition_bytes && layout.buckets <= max_buckets)
    layout.buckets =
        std::max(layout.buckets + 1, std::floor(layout.buckets * bytes() / *limits.partition_bytes));
  // The last step may have been too large. Find the smallest number of buckets that meets the limits.
  while (layout.buckets > 1) {
    layout.buckets -= 1;
    const bool rate_holds = !limits.partition_rate || writes_per_second * hottest_share(model, layout) <=
                                                          layout.buckets * *limits.partition_rate;
    if (bytes() <= *limits.partition_bytes && rate_holds) continue;
    layout.buckets += 1;
    break;
  }
  return layout.buckets <= max_buckets;
}

bool fit_by_time(const Model& model, const Limits& limits, double writes_per_second, const TimeField& time,
                 Layout& layout) {
  constexpr double minute = 60, hour = 3600, day = 86400;
  constexpr std::array widths = {365 * day,  180 * day,  90 * day, 60 * day,    30 * day,    14 * day,
                                 7 * day,    4 * day,    2 * day,  day,         12 * hour,   6 * hour,
                                 3 * hour,   2 * hour,   hour,     30 * minute, 15 * minute, 10 * minute,
                                 5 * minute, 2 * minute, minute};
  constexpr double least_periods = 2;  // fewer would not be a split
  layout.buckets = 1;
  if (limits.partition_rate)
    layout.buckets =
        std::max(1.0, std::ceil(writes_per_second * hottest_share(model, layout) / *limits.partition_rate));
  if (!limits.partition_bytes) return false;
  const auto bytes = [&] {
    return rows_of_largest_partition(model, layout) * layout_stored_row_bytes(model, layout);
  };
  for (; layout.buckets <= max_buckets; layout.buckets *= 2) {
    for (const double seconds : widths) {
      if (time.kept < least_periods * seconds) continue;
      const double share = seconds / time.kept;
      layout.period = {time.field, seconds, std::ceil(1 / share) + 1, share,
                       rows_per_key(model, layout) * share};
      if (bytes() <= *limits.partition_bytes) return true;
    }
  }
  return false;
}

namespace {

bool has(const std::vector<FieldReference>& fields, const auto& wanted) {
  return std::any_of(fields.begin(), fields.end(), wanted);
}

// Returns a table with some values of one entity, keyed by the entity.
Layout table_of_values(const Model& model, size_t entity, const std::vector<FieldReference>& values,
                       bool is_chunked) {
  Layout out;
  out.graph = Graph(entity);
  out.partition = {key_of(model, out.graph, 0)};
  for (const FieldReference field : values) out.values.push_back({0, field.field});
  out.is_chunked = is_chunked;
  return out;
}

}  // namespace

// Counters and chunked values need tables of their own, keyed by their entity.
bool Candidates::move_values(Layout& layout) {
  const auto counter = [&](FieldReference field) {
    return field_of(model_, layout.graph, field).is_counter();
  };
  const auto large = [&](FieldReference field) { return field_of(model_, layout.graph, field).is_large(); };
  const auto either = [&](FieldReference field) { return counter(field) || large(field); };
  if (has(layout.partition, either) || has(layout.clustering, either)) return false;
  if (!has(layout.values, either)) return true;
  for (size_t node = 0; node < layout.graph.size(); ++node) {
    const size_t entity = layout.graph.nodes()[node].entity;
    std::vector<FieldReference> counters;
    const std::vector<Field>& fields = model_.entities[entity].fields;
    for (const FieldReference field : layout.values) {
      if (field.node == node && large(field)) add_once(table_of_values(model_, entity, {field}, true));
      if (field.node != node || !counter(field) || !counters.empty()) continue;
      for (size_t i = 0; i < fields.size(); ++i)
        if (fields[i].is_counter()) counters.push_back({node, i});
    }
    if (!counters.empty()) add_once(table_of_values(model_, entity, counters, false));
  }
  std::erase_if(layout.values, either);
  return !layout.clustering.empty() || !layout.values.empty();
}

void Candidates::add(Layout layout) {
  if (move_values(layout)) add_once(std::move(layout));
}

void Candidates::add_once(Layout layout) {
  std::string text = layout_text(layout);
  if (std::find(texts_.begin(), texts_.end(), text) != texts_.end()) return;
  texts_.push_back(std::move(text));
  tables_.push_back(std::move(layout));
}

void Candidates::add_for(const Requirement& need, bool split) {
  const std::vector<bool> whole(need.graph.size(), true);
  add_for_part(need, whole);
  if (!split || need.graph.size() > max_split_nodes) return;
  for (const std::vector<bool>& part : connected_parts(need.graph)) {
    if (part != whole || need.graph.size() == 1) add_for_part(need, part);
  }
}

void Candidates::add_for_part(const Requirement& need, const std::vector<bool>& part) {
  std::vector<FieldReference> given;
  for (const KnownField& field : need.given) {
    if (part[field.field.node]) append(given, field.field);
  }
  const bool whole = std::all_of(part.begin(), part.end(), [](bool value) { return value; });
  if (!given.empty() || whole) add_entry(need, part, given);
  // Use the given fields of one node only. The others become clustering fields, or are checked after the
  // read.
  for (size_t node = 0; node < part.size() && given.size() > 1; ++node) {
    std::vector<FieldReference> some;
    std::copy_if(given.begin(), given.end(), std::back_inserter(some),
                 [&](FieldReference field) { return field.node == node; });
    if (!some.empty() && some.size() < given.size()) add_entry(need, part, some);
  }
  // Adds tables that are read with keys from another table's rows. Their key is that of a node that both
  // tables contain.
  const size_t size = static_cast<size_t>(std::count(part.begin(), part.end(), true));
  for (size_t node = 0; node < part.size(); ++node) {
    if (!part[node]) continue;
    const std::vector<Graph::Edge> edges = need.graph.edges(node);
    const bool boundary =
        std::any_of(edges.begin(), edges.end(), [&](const Graph::Edge& edge) { return !part[edge.to]; });
    if (boundary || size == 1) add_entry(need, part, {key_of(model_, need.graph, node)});
  }
}

void Candidates::add_entry(const Requirement& need, const std::vector<bool>& part,
                           const std::vector<FieldReference>& partition) {
  std::vector<FieldReference> equal, ranges, order;
  for (const KnownField& given : need.given) {
    if (part[given.field.node] && !contains(partition, given.field)) append(equal, given.field);
  }
  for (const Predicate& range : need.ranges) {
    if (part[range.field.node]) append(ranges, range.field);
  }
  for (const OrderTerm& term : need.order) {
    if (part[term.field.node] && !contains(partition, term.field)) append(order, term.field);
  }
  const auto with = [&](std::vector<FieldReference> start, const std::vector<FieldReference>& more) {
    for (const FieldReference field : more) append(start, field);
    return start;
  };
  add_shape(need, part, partition, {});
  if (!equal.empty()) add_shape(need, part, partition, equal);
  for (const FieldReference range : ranges) {
    add_shape(need, part, partition, with(equal, {range}));
    if (!equal.empty()) add_shape(need, part, partition, {range});
  }
  if (!order.empty()) {
    add_shape(need, part, partition, with(equal, order));
    if (!equal.empty()) add_shape(need, part, partition, order);
  }
}

void Candidates::add_shape(const Requirement& need, const std::vector<bool>& part,
                           const std::vector<FieldReference>& partition,
                           const std::vector<FieldReference>& clustering) {
  std::vector<FieldReference> key = clustering, full, links, checked;
  std::erase_if(key, [&](FieldReference field) { return contains(partition, field); });
  for (const size_t node : sources(model_, need.graph, part)) {
    const FieldReference id = key_of(model_, need.graph, node);
    if (!contains(partition, id)) append(key, id);
  }
  for (const FieldReference field : need.wanted) {
    if (!part[field.node]) continue;
    append(full, field);
    append(links, key_of(model_, need.graph, field.node));
  }
  for (size_t node = 0; node < part.size(); ++node) {
    for (const Graph::Edge& edge : need.graph.edges(node)) {
      if (part[node] && !part[edge.to]) append(links, key_of(model_, need.graph, node));
    }
  }
  for (const Predicate& range : need.ranges) {
    if (part[range.field.node]) append(checked, range.field);
  }
  for (const KnownField& given : need.given) {
    if (part[given.field.node]) append(checked, given.field);
  }
  const auto propose = [&](std::vector<const std::vector<FieldReference>*> groups) {
    Layout layout;
    std::vector<size_t> mapping;
    const size_t root = static_cast<size_t>(std::find(part.begin(), part.end(), true) - part.begin());
    layout.graph = need.graph.part(part, root, mapping);
    const auto map = [&](FieldReference field) { return FieldReference{mapping[field.node], field.field}; };
    for (const FieldReference field : partition) layout.partition.push_back(map(field));
    for (const FieldReference field : key) {
      layout.clustering.push_back(map(field));
      const auto term = std::find_if(need.order.begin(), need.order.end(),
                                     [&](const OrderTerm& candidate) { return candidate.field == field; });
      layout.descending.push_back(term != need.order.end() && term->descending);
    }
    for (const auto* group : groups) {
      for (const FieldReference field : *group) {
        if (!in_key(layout, map(field))) append(layout.values, map(field));
      }
    }
    std::sort(layout.values.begin(), layout.values.end());
    if (layout.clustering.empty() && layout.values.empty()) return;
    add(std::move(layout));
  };
  propose({&full, &links, &checked});
  propose({&links, &checked});
  propose({&links});
}

}  // namespace sibyl::advisor
