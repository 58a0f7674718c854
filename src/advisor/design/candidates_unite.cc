// Merges candidates.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "advisor/design/candidates.h"

namespace sibyl::advisor {
namespace {

constexpr size_t max_pairs_of = 8, max_members = 40;

// Returns the layout with a root that determines all other nodes; nothing if no node does.
std::optional<Layout> rooted(const Model& model, const Layout& layout) {
  for (size_t node = 0; node < layout.graph.size(); ++node) {
    const std::vector<bool> determined = layout.graph.determined_by(model, node);
    if (!std::all_of(determined.begin(), determined.end(), [](bool value) { return value; })) continue;
    Layout result = layout;
    std::vector<size_t> mapping;
    result.graph = layout.graph.part(determined, node, mapping);
    for (auto* fields : {&result.partition, &result.clustering, &result.values}) {
      for (FieldReference& field : *fields) field.node = mapping[field.node];
    }
    return result;
  }
  return std::nullopt;
}

std::vector<std::string> node_texts(const Graph& graph) {
  std::vector<std::string> texts = {fmt::format("{}", graph.nodes()[0].entity)};
  for (size_t i = 1; i < graph.size(); ++i) {
    const Graph::Node& node = graph.nodes()[i];
    texts.push_back(
        fmt::format("{}{}{}", texts[node.parent], node.step.forward ? ">" : "<", node.step.relationship));
  }
  return texts;
}

std::string key_text(const Layout& layout) {
  const std::vector<std::string> nodes = node_texts(layout.graph);
  std::vector<std::string> partition, clustering;
  for (const FieldReference field : layout.partition)
    partition.push_back(fmt::format("{}.{}", nodes[field.node], field.field));
  for (const FieldReference field : layout.clustering)
    clustering.push_back(fmt::format("{}.{}", nodes[field.node], field.field));
  std::sort(partition.begin(), partition.end());
  return fmt::format("{} {}|{}", nodes[0], fmt::join(partition, ","), fmt::join(clustering, ","));
}

std::string graph_text(const Layout& layout) {
  std::vector<std::string> nodes = node_texts(layout.graph);
  std::sort(nodes.begin(), nodes.end());
  return fmt::format("{}", fmt::join(nodes, ","));
}

// Merges two layouts with the same root and key. Returns nothing if rows of one would have no counterpart in
// the other.
std::optional<Layout> unite(const Model& model, const Layout& left, const Layout& right) {
  Layout result = left;
  std::vector<size_t> mapping = {0};
  std::vector<bool> common(left.graph.size());
  common[0] = true;
  for (size_t i = 1; i < right.graph.size(); ++i) {
    const Graph::Node& node = right.graph.nodes()[i];
    mapping.push_back(result.graph.extend(model, mapping[node.parent], node.step));
    if (mapping[i] < common.size()) common[mapping[i]] = true;
  }
  for (size_t i = 1; i < result.graph.size(); ++i) {
    const Step step = result.graph.nodes()[i].step;
    const bool always = step.forward && model.relationships[step.relationship].mandatory;
    if (!(i < common.size() && common[i]) && !always) return std::nullopt;
  }
  for (const FieldReference field : right.values) {
    const FieldReference placed = {mapping[field.node], field.field};
    if (!in_layout(result, placed)) result.values.push_back(placed);
  }
  std::sort(result.values.begin(), result.values.end());
  return result;
}

}  // namespace

Layout with_shortest_key(const Model& model, Layout layout) {
  while (!layout.clustering.empty()) {
    const FieldReference last = layout.clustering.back();
    if (last != key_of(model, layout.graph, last.node)) break;
    const auto determines = [&](FieldReference field) {
      return field != last && field == key_of(model, layout.graph, field.node) &&
             layout.graph.determined_by(model, field.node)[last.node];
    };
    if (std::none_of(layout.partition.begin(), layout.partition.end(), determines) &&
        std::none_of(layout.clustering.begin(), layout.clustering.end(), determines))
      break;
    layout.clustering.pop_back();
    layout.descending.pop_back();
    layout.values.push_back(last);
  }
  return layout;
}

void Candidates::add_unions() {
  std::map<std::string, std::map<std::string, std::vector<Layout>>> same_key;
  for (const Layout& table : tables_) {
    if (auto layout = rooted(model_, table))
      same_key[key_text(*layout)][graph_text(*layout)].push_back(*layout);
  }
  for (const auto& [key, graphs] : same_key) {
    std::vector<Layout> wholes;
    for (const auto& [graph, members] : graphs) {
      Layout all = members[0];
      for (size_t i = 1; i < members.size(); ++i) {
        all = *unite(model_, all, members[i]);
        for (size_t j = 0; j < i && members.size() <= max_pairs_of; ++j)
          add(*unite(model_, members[i], members[j]));
      }
      wholes.push_back(all);
      add(std::move(all));
    }
    std::optional<Layout> everything;
    for (const Layout& whole : wholes) {
      for (const auto& [graph, members] : graphs) {
        for (size_t i = 0; i < members.size() && members.size() <= max_members; ++i) {
          if (auto both = unite(model_, whole, members[i])) add(std::move(*both));
        }
      }
      everything = everything ? unite(model_, *everything, whole) : whole;
      if (!everything) break;
    }
    if (everything) add(std::move(*everything));
  }
}

}  // namespace sibyl::advisor
