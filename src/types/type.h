// CQL types.
//
// A Type is immutable and shared. Types are compared by structure. Values have no class of their
// own: a value of any type is its bytes in CQL's native serialisation (protocol v3 and later), from the
// socket to the record and back. The other headers of this folder have functions on those bytes, such as
// compare.h, literals/literal.h and keys/key.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sibyl::types {

// The numbers are the native protocol's option ids. A vector has none: it is sent as a custom class name.
enum class Kind : uint16_t {
  custom = 0x0000,
  ascii = 0x0001,
  bigint = 0x0002,
  blob = 0x0003,
  boolean = 0x0004,
  counter = 0x0005,
  decimal = 0x0006,
  double_ = 0x0007,
  float_ = 0x0008,
  int_ = 0x0009,
  timestamp = 0x000B,
  uuid = 0x000C,
  text = 0x000D,  // varchar is the same type
  varint = 0x000E,
  timeuuid = 0x000F,
  inet = 0x0010,
  date = 0x0011,
  time = 0x0012,
  smallint = 0x0013,
  tinyint = 0x0014,
  duration = 0x0015,
  list = 0x0020,
  map = 0x0021,
  set = 0x0022,
  udt = 0x0030,
  tuple = 0x0031,
  vector = 0x8001,
  // Cassandra's EmptyType, which the value column of dense tables may have; it has no literals.
  empty = 0x8002,
};

inline constexpr uint32_t max_type_depth = 64;

class Type;
using TypePtr = std::shared_ptr<const Type>;

class Type {
 public:
  Kind kind() const { return kind_; }

  // The types inside this type. list, set, vector: the type of elements; map: the types of keys and values;
  // tuple: the types of components; udt: the types of fields.
  const std::vector<TypePtr>& parameters() const { return parameters_; }
  const TypePtr& element() const { return parameters_[0]; }
  const TypePtr& map_key() const { return parameters_[0]; }
  const TypePtr& map_value() const { return parameters_[1]; }

  uint32_t dimension() const { return dimension_; }                             // vector
  const std::string& keyspace() const { return keyspace_; }                     // udt
  const std::string& name() const { return name_; }                             // udt; custom: the class name
  const std::vector<std::string>& field_names() const { return field_names_; }  // udt
  // The index of a udt's field, or -1.
  int field_index(std::string_view field) const;

  bool is_collection() const { return kind_ == Kind::list || kind_ == Kind::set || kind_ == Kind::map; }
  // True if declared frozen<...>. Tuples and vectors are always frozen; scalars never are.
  bool is_frozen() const { return frozen_; }
  // True if stored as one cell per element (unfrozen collection) or per field (unfrozen udt).
  bool is_multi_cell() const { return (is_collection() || kind_ == Kind::udt) && !frozen_; }
  bool is_counter() const { return kind_ == Kind::counter; }
  // The nesting depth: 1 for scalars. Code that takes types from users must refuse more than max_type_depth,
  // because the functions of this folder recurse over types.
  uint32_t depth() const { return depth_; }
  // The size of every non-empty value, if Cassandra declares one for the type, or -1. It determines a
  // vector's layout.
  int64_t fixed_size() const { return fixed_size_; }
  // True if the type contains this kind (a counter or a duration, for example) at any depth.
  bool references(Kind kind) const;
  // True if the type contains the named user type at any depth.
  bool references_udt(std::string_view keyspace, std::string_view name) const;

  // The CQL name: `frozen<map<text, int>>`, `vector<float, 3>`, a udt's name (quoted if needed). Tuples print
  // as in Cassandra's schema tables: `frozen<tuple<int, text>>`.
  std::string cql_name() const;
  // Cassandra's marshal class name, such as `org.apache.cassandra.db.marshal.Int32Type`, as
  // AbstractType.toString() gives it: frozen types inside FrozenType(...), names of user types and their
  // fields in hex.
  std::string class_name() const;

 private:
  friend struct TypeBuilder;
  Kind kind_ = Kind::blob;
  bool frozen_ = false;
  uint32_t dimension_ = 0;
  uint32_t depth_ = 1;
  int64_t fixed_size_ = -1;
  std::vector<TypePtr> parameters_;
  std::string keyspace_, name_;
  std::vector<std::string> field_names_;
};

bool operator==(const Type& left, const Type& right);

// Scalars are shared singletons. REQUIRES: kind is a scalar (anything below Kind::list).
const TypePtr& scalar(Kind kind);
// The scalar with this CQL name ("int", "varchar", ...) in lower case, or nullptr.
TypePtr scalar_by_name(std::string_view name);

// These freeze everything inside a frozen collection or a tuple. A vector keeps its element type unchanged.
TypePtr list_of(TypePtr element, bool frozen);
TypePtr set_of(TypePtr element, bool frozen);
TypePtr map_of(TypePtr key, TypePtr value, bool frozen);
TypePtr tuple_of(std::vector<TypePtr> components);
TypePtr vector_of(TypePtr element, uint32_t dimension);
TypePtr udt_of(std::string keyspace, std::string name, std::vector<std::string> field_names,
               std::vector<TypePtr> field_types, bool frozen);
TypePtr custom_of(std::string class_name);
// freeze() freezes at all levels, except that a udt's fields stay as declared. unfreeze() changes the top
// level only.
TypePtr freeze(const TypePtr& type);
TypePtr unfreeze(const TypePtr& type);

}  // namespace sibyl::types
