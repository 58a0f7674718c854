// The data model of a workload: entities, relationships between them, and trees of entities joined along
// relationships. Plain values. Entities, fields and relationships are referred to by index; indexes stay
// valid because nothing is ever removed from a model.
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
  std::string type;     // the name of a CQL type
  double bytes = 8;     // mean size of a value
  double distinct = 0;  // number of distinct values; 0: one per entity
  double zipf = 0;      // exponent of the Zipf distribution of the values; 0: uniform

  bool is_counter() const { return type == "counter"; }
  // Returns true if the value is stored in chunks, each in a row of its own.
  bool is_large() const;
};

inline constexpr double chunk_size = 512e3;  // bytes

struct Entity {
  std::string name;
  double count = 1;
  std::vector<Field> fields;
  size_t key = 0;  // index of the field that identifies an entity
  // Declared growth (entities per second) and retention (seconds).
  std::optional<double> growth, retention;
  uint32_t line = 0;

  std::optional<size_t> find_field(std::string_view name) const;
};

enum class Multiplicity { many_one, one_one, many_many };

// `from.role` leads to entities of `to`; `to.reverse_role` leads back.
struct Relationship {
  size_t from = 0, to = 0;
  std::string role, reverse_role;
  Multiplicity multiplicity = Multiplicity::many_one;
  double links = 0;              // number of connected pairs
  double zipf = 0;               // Zipf exponent: how unevenly links are distributed over the entities of
                                 // `to`
  bool mandatory = false;        // every entity of `from` has a link, so a table that joins both contains
                                 // every entity
  std::optional<double> growth;  // new links per second; none: derived from the statements
  uint32_t line = 0;
};

struct Model {
  std::vector<Entity> entities;
  std::vector<Relationship> relationships;

  std::optional<size_t> find_entity(std::string_view name) const;
  double distinct(size_t entity, size_t field) const;
  // The share of rows that have the column's most frequent value. It is 1/distinct for a uniform
  // distribution.
  double top_share(size_t entity, size_t field) const;
};

// The share of the most frequent of `count` values under a Zipf distribution.
double zipf_top_share(double count, double exponent);

// One direction of a relationship.
struct Step {
  size_t relationship = 0;
  bool forward = true;
  auto operator<=>(const Step&) const = default;
};

// The step for a role of an entity; nullopt if the entity has no such role.
std::optional<Step> find_role(const Model& model, size_t entity, std::string_view role);
size_t target(const Model& model, Step step);
size_t source(const Model& model, Step step);
// True if the step leads to at most one entity.
bool to_one(const Model& model, Step step);
const std::string& role_name(const Model& model, Step step);

// A field of one node of a Graph.
struct FieldReference {
  size_t node = 0;
  size_t field = 0;
  auto operator<=>(const FieldReference&) const = default;
};

// A tree of entities. Node 0 is the root. A node has at most one edge per step, so the steps from the root
// identify a node.
class Graph {
 public:
  struct Node {
    size_t entity = 0;
    size_t parent = 0;  // the root is its own parent
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
  // All edges of a node, including the one to its parent.
  std::vector<Edge> edges(size_t node) const;
  // The neighbour of `node` along `step`, if the tree has it.
  std::optional<size_t> find(size_t node, Step step) const;
  // The neighbour of `node` along `step`; adds it if it is missing. REQUIRES: `step` starts at the node's
  // entity.
  size_t extend(const Model& model, size_t node, Step step);

  // The number of combinations of connected entities.
  double rows(const Model& model) const;
  // Marks the nodes that `node` determines, including itself: all nodes that are reached by to-one steps
  // only.
  std::vector<bool> determined_by(const Model& model, size_t node) const;
  // Marks the nodes beyond the edge from `node` to `neighbour`.
  std::vector<bool> branch(size_t node, size_t neighbour) const;

  // The connected subtree of the marked nodes, with root `root`. `mapping[old]` is the new node.
  Graph part(const std::vector<bool>& keep, size_t root, std::vector<size_t>& mapping) const;
  // Maps each node of this tree to a node of `whole` so that `from` maps to `at`; nullopt if that is
  // impossible. With a model, mandatory nodes may be missing in `whole`; they map to npos.
  std::optional<std::vector<size_t>> embed(const Graph& whole, size_t from, size_t at,
                                           const Model* model = nullptr) const;

 private:
  std::vector<Node> nodes_;
};

const Field& field_of(const Model& model, const Graph& graph, FieldReference reference);
FieldReference key_of(const Model& model, const Graph& graph, size_t node);
// A field as a path of roles from the root's entity: `items.category.id`.
std::string path_text(const Model& model, const Graph& graph, FieldReference reference);

}  // namespace sibyl::advisor
