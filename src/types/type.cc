#include "types/type.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/check.h"

namespace sibyl::types {

struct TypeBuilder {
  static std::shared_ptr<Type> make(Kind kind, bool frozen = false) {
    auto type = std::make_shared<Type>();
    type->kind_ = kind;
    type->frozen_ = frozen;
    return type;
  }

  static TypePtr with_parameters(Kind kind, std::vector<TypePtr> parameters, bool frozen) {
    auto type = make(kind, frozen);
    type->parameters_ = std::move(parameters);
    type->depth_ = 1 + deepest(type->parameters_);
    return type;
  }

  static TypePtr scalar(Kind kind) {
    auto type = make(kind);
    type->fixed_size_ = size_of(kind);
    return type;
  }

  static TypePtr vector(TypePtr element, uint32_t dimension) {
    auto type = make(Kind::vector, true);
    type->dimension_ = dimension;
    if (element->fixed_size() >= 0 &&
        __builtin_mul_overflow(element->fixed_size(), dimension, &type->fixed_size_))
      type->fixed_size_ = std::numeric_limits<int64_t>::max();
    type->depth_ = 1 + element->depth();
    type->parameters_.push_back(std::move(element));
    return type;
  }

  static TypePtr udt(std::string keyspace, std::string name, std::vector<std::string> field_names,
                     std::vector<TypePtr> field_types, bool frozen) {
    auto type = make(Kind::udt, frozen);
    type->keyspace_ = std::move(keyspace);
    type->name_ = std::move(name);
    type->field_names_ = std::move(field_names);
    type->parameters_ = std::move(field_types);
    type->depth_ = 1 + deepest(type->parameters_);
    return type;
  }

  static TypePtr custom(std::string class_name) {
    auto type = make(Kind::custom);
    type->name_ = std::move(class_name);
    return type;
  }

  static TypePtr with_frozen(const Type& original, bool frozen) {
    auto type = std::make_shared<Type>(original);
    type->frozen_ = frozen;
    return type;
  }

 private:
  static uint32_t deepest(const std::vector<TypePtr>& parameters) {
    uint32_t depth = 0;
    for (const TypePtr& parameter : parameters) depth = std::max(depth, parameter->depth());
    return depth;
  }

  // Returns the fixed size of a kind. In Cassandra tinyint, smallint, date and time are variable-length, so
  // vectors of them store element sizes.
  static int64_t size_of(Kind kind) {
    switch (kind) {
      case Kind::boolean:
        return 1;
      case Kind::int_:
      case Kind::float_:
        return 4;
      case Kind::bigint:
      case Kind::double_:
      case Kind::timestamp:
        return 8;
      case Kind::uuid:
      case Kind::timeuuid:
        return 16;
      case Kind::empty:
        return 0;
      default:
        return -1;
    }
  }
};

namespace {

struct ScalarName {
  std::string_view name;
  Kind kind;
};
constexpr ScalarName scalar_names[] = {
    {"ascii", Kind::ascii},         {"bigint", Kind::bigint},     {"blob", Kind::blob},
    {"boolean", Kind::boolean},     {"counter", Kind::counter},   {"date", Kind::date},
    {"decimal", Kind::decimal},     {"double", Kind::double_},    {"duration", Kind::duration},
    {"float", Kind::float_},        {"inet", Kind::inet},         {"int", Kind::int_},
    {"smallint", Kind::smallint},   {"text", Kind::text},         {"time", Kind::time},
    {"timestamp", Kind::timestamp}, {"timeuuid", Kind::timeuuid}, {"tinyint", Kind::tinyint},
    {"uuid", Kind::uuid},           {"varchar", Kind::text},      {"varint", Kind::varint},
};

std::vector<TypePtr> frozen_all(std::vector<TypePtr> parameters) {
  for (TypePtr& parameter : parameters) parameter = freeze(parameter);
  return parameters;
}

TypePtr collection(Kind kind, std::vector<TypePtr> parameters, bool frozen) {
  if (frozen) parameters = frozen_all(std::move(parameters));
  return TypeBuilder::with_parameters(kind, std::move(parameters), frozen);
}

}  // namespace

int Type::field_index(std::string_view field) const {
  const auto found = std::find(field_names_.begin(), field_names_.end(), field);
  return found == field_names_.end() ? -1 : static_cast<int>(found - field_names_.begin());
}

bool Type::references(Kind kind) const {
  return kind_ == kind || std::any_of(parameters_.begin(), parameters_.end(),
                                      [&](const TypePtr& p) { return p->references(kind); });
}

bool Type::references_udt(std::string_view keyspace, std::string_view name) const {
  return (kind_ == Kind::udt && keyspace_ == keyspace && name_ == name) ||
         std::any_of(parameters_.begin(), parameters_.end(),
                     [&](const TypePtr& p) { return p->references_udt(keyspace, name); });
}

bool operator==(const Type& left, const Type& right) {
  if (&left == &right) return true;
  return left.kind() == right.kind() && left.is_frozen() == right.is_frozen() &&
         left.dimension() == right.dimension() && left.name() == right.name() &&
         left.keyspace() == right.keyspace() && left.field_names() == right.field_names() &&
         std::equal(left.parameters().begin(), left.parameters().end(), right.parameters().begin(),
                    right.parameters().end(), [](const TypePtr& a, const TypePtr& b) { return *a == *b; });
}

const TypePtr& scalar(Kind kind) {
  static const auto scalars = [] {
    std::array<TypePtr, static_cast<size_t>(Kind::duration) + 1> types;
    for (const ScalarName& scalar : scalar_names)
      if (TypePtr& type = types[static_cast<size_t>(scalar.kind)]; !type)
        type = TypeBuilder::scalar(scalar.kind);
    return types;
  }();
  static const TypePtr empty = TypeBuilder::scalar(Kind::empty);
  if (kind == Kind::empty) return empty;
  SIBYL_CHECK(static_cast<size_t>(kind) < scalars.size() && scalars[static_cast<size_t>(kind)]);
  return scalars[static_cast<size_t>(kind)];
}

TypePtr scalar_by_name(std::string_view name) {
  for (const ScalarName& scalar_name : scalar_names)
    if (scalar_name.name == name) return scalar(scalar_name.kind);
  return nullptr;
}

TypePtr list_of(TypePtr element, bool frozen) {
  return collection(Kind::list, {std::move(element)}, frozen);
}

TypePtr set_of(TypePtr element, bool frozen) {
  return collection(Kind::set, {std::move(element)}, frozen);
}

TypePtr map_of(TypePtr key, TypePtr value, bool frozen) {
  return collection(Kind::map, {std::move(key), std::move(value)}, frozen);
}

TypePtr tuple_of(std::vector<TypePtr> components) {
  return TypeBuilder::with_parameters(Kind::tuple, frozen_all(std::move(components)), true);
}

TypePtr vector_of(TypePtr element, uint32_t dimension) {
  return TypeBuilder::vector(std::move(element), dimension);
}

TypePtr udt_of(std::string keyspace, std::string name, std::vector<std::string> field_names,
               std::vector<TypePtr> field_types, bool frozen) {
  SIBYL_CHECK(field_names.size() == field_types.size());
  return TypeBuilder::udt(std::move(keyspace), std::move(name), std::move(field_names),
                          std::move(field_types), frozen);
}

TypePtr custom_of(std::string class_name) {
  return TypeBuilder::custom(std::move(class_name));
}

TypePtr freeze(const TypePtr& type) {
  if (!type->is_multi_cell()) return type;
  if (type->kind() == Kind::udt) return TypeBuilder::with_frozen(*type, true);
  return collection(type->kind(), type->parameters(), true);
}

TypePtr unfreeze(const TypePtr& type) {
  if (!type->is_frozen() || (!type->is_collection() && type->kind() != Kind::udt)) return type;
  return TypeBuilder::with_frozen(*type, false);
}

}  // namespace sibyl::types
