// What a workload is about: entities, the relationships between them, and trees of entities joined along
// relationships. Values without behaviour of their own; indexes name entities, fields and relationships, and
// stay good because nothing is ever removed from a model.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sibyl::advisor {

struct Field {
  std::string name;
  std::string type;     // as CQL spells it
  double bytes = 8;     // of one value, on average
  double distinct = 0;  // different values; 0: as many as there are entities
  double zipf = 0;      // how unevenly the values occur: exponent of a Zipf distribution, 0 for evenly
};

struct Entity {
  std::string name;
  double count = 1;
  std::vector<Field> fields;
  size_t key = 0;  // the field that identifies one of them
  // Declared: more of them per second, and how long each is kept, in seconds.
  std::optional<double> growth, retention;
  uint32_t line = 0;

  std::optional<size_t> find_field(std::string_view name) const;
};

enum class Multiplicity { many_one, one_one, many_many };

// `from.role` leads to entities of `to`, `to.reverse_role` back.
struct Relationship {
  size_t from = 0, to = 0;
  std::string role, reverse_role;
  Multiplicity multiplicity = Multiplicity::many_one;
  double links = 0;              // connected pairs
  double zipf = 0;               // how unevenly they fall on the entities of `to`
  bool mandatory = false;        // every entity of `from` has one: a table of both loses none
  std::optional<double> growth;  // links more per second; none: as statements make them
  uint32_t line = 0;
};

struct Model {
  std::vector<Entity> entities;
  std::vector<Relationship> relationships;

  std::optional<size_t> find_entity(std::string_view name) const;
  double distinct(size_t entity, size_t field) const;
  // The share of rows that fall on the commonest value: 1/distinct when values occur evenly.
  double top_share(size_t entity, size_t field) const;
};

// The share of the commonest of `count` values under a Zipf distribution.
double zipf_top_share(double count, double exponent);

// One direction of a relationship.
struct Step {
  size_t relationship = 0;
  bool forward = true;
  auto operator<=>(const Step&) const = default;
};

// The step that a role of an entity stands for.
std::optional<Step> find_role(const Model& model, size_t entity, std::string_view role);
size_t target(const Model& model, Step step);
size_t source(const Model& model, Step step);
// Whether an entity has at most one at the step's end.
bool to_one(const Model& model, Step step);
const std::string& role_name(const Model& model, Step step);

// A field of one node of a Graph.
struct FieldReference {
  size_t node = 0;
  size_t field = 0;
  auto operator<=>(const FieldReference&) const = default;
};

// A tree of entities; node 0 is its root. No two edges of a node are the same step, so that a node is named
// by the steps that lead to it.
class Graph {
 public:
  struct Node {
    size_t entity = 0;
    size_t parent = 0;  // of the root: itself
    Step step;          // from the parent
  };
  struct Edge {
    size_t to = 0;
    Step step;
  };

  Graph() = default;
  explicit Graph(size_t entity) { nodes_.push_back({entity, 0, {}}); }

  const std::vector<Node>& nodes() const { return nodes_; }
  size_t size() const { return nodes_.size(); }
  // In both directions, the parent's included.
  std::vector<Edge> edges(size_t node) const;
  // The node behind a step, when it is there.
  std::optional<size_t> find(size_t node, Step step) const;
  // The same, added when missing. REQUIRES: `step` starts at the node's entity.
  size_t extend(const Model& model, size_t node, Step step);

  // How many combinations of connected entities there are.
  double rows(const Model& model) const;
  // The nodes that a node determines, itself included: those reached by steps to one entity each.
  std::vector<bool> determined_by(const Model& model, size_t node) const;
  // The nodes on the far side of an edge, seen from `node`.
  std::vector<bool> branch(size_t node, size_t neighbour) const;

  // The connected part made of the marked nodes, its root `root`; `mapping[old]` is the new node.
  Graph part(const std::vector<bool>& keep, size_t root, std::vector<size_t>& mapping) const;
  // Where this tree lies in `whole` when its node `from` lies at `at`: node by node, or nothing. With a
  // model, nodes that every entity has one of may lie outside: npos.
  std::optional<std::vector<size_t>> embed(const Graph& whole, size_t from, size_t at,
                                           const Model* model = nullptr) const;

 private:
  std::vector<Node> nodes_;
};

const Field& field_of(const Model& model, const Graph& graph, FieldReference reference);
FieldReference key_of(const Model& model, const Graph& graph, size_t node);
// `items.category.id`: from the root's entity along roles.
std::string path_text(const Model& model, const Graph& graph, FieldReference reference);

}  // namespace sibyl::advisor
