// Types as they are written in statements, with Cassandra's rules on nesting and freezing.
#include <fmt/format.h>

#include "cql/printer.h"
#include "plan/term.h"

namespace sibyl::plan {

using base::invalid;
using types::Kind;
using types::TypePtr;

namespace {

bool is_collection(const cql::RawType& raw) {
  return !raw.custom && raw.keyspace.empty() &&
         ((raw.name == "list" && raw.parameters.size() == 1) ||
          (raw.name == "set" && raw.parameters.size() == 1) ||
          (raw.name == "map" && raw.parameters.size() == 2));
}
bool is_vector(const cql::RawType& raw) {
  return !raw.custom && raw.keyspace.empty() && raw.name == "vector" && raw.parameters.size() == 1;
}
bool is_tuple(const cql::RawType& raw) {
  return !raw.custom && raw.keyspace.empty() && raw.name == "tuple" && !raw.parameters.empty();
}
TypePtr native(const cql::RawType& raw) {
  if (raw.custom || !raw.keyspace.empty() || !raw.parameters.empty()) return nullptr;
  return types::scalar_by_name(raw.name);
}
bool is_kind(const cql::RawType& raw, Kind kind) {
  const TypePtr type = native(raw);
  return type != nullptr && type->kind() == kind;
}

// Resolves one type; `frozen` when something around it freezes it.
class Resolver {
 public:
  Resolver(const schema::Snapshot& schema, const std::string& keyspace)
      : schema_(schema), keyspace_(keyspace) {}

  base::Result<TypePtr> resolve(const cql::RawType& raw, bool frozen) {
    frozen = frozen || raw.frozen;
    if (raw.custom) return types::custom_of(raw.name);
    if (is_collection(raw)) return collection(raw, frozen);
    if (is_vector(raw)) return vector(raw);
    if (is_tuple(raw)) return tuple(raw);
    if (TypePtr scalar = native(raw); scalar != nullptr) {
      if (raw.frozen)
        return invalid(fmt::format(
            "frozen<> is only allowed on collections, tuples, and user-defined types (got {})", raw.name));
      return scalar;
    }
    return user_type(raw, frozen);
  }

 private:
  base::Status check_inside(const cql::RawType& inner, const cql::RawType& whole, bool frozen) {
    if (is_kind(inner, Kind::counter))
      return invalid(fmt::format("Counters are not allowed inside collections: {}", cql::print(whole)));
    if (frozen || inner.frozen) return {};
    if (is_collection(inner))
      return invalid(
          fmt::format("Non-frozen collections are not allowed inside collections: {}", cql::print(whole)));
    if (!is_vector(inner) && !is_tuple(inner) && native(inner) == nullptr && !inner.custom)
      return invalid(
          fmt::format("Non-frozen UDTs are not allowed inside collections: {}", cql::print(whole)));
    return {};
  }

  base::Result<TypePtr> collection(const cql::RawType& raw, bool frozen) {
    const cql::RawType& values = raw.parameters.back();
    SIBYL_TRY(check_inside(values, raw, frozen));
    if (raw.name == "set" && is_kind(values, Kind::duration))
      return invalid(fmt::format("Durations are not allowed inside sets: {}", cql::print(raw)));
    if (raw.name == "map") {
      if (is_kind(raw.parameters[0], Kind::duration))
        return invalid(fmt::format("Durations are not allowed as map keys: {}", cql::print(raw)));
      SIBYL_TRY(check_inside(raw.parameters[0], raw, frozen));
    }
    // What lies inside a collection is one cell: frozen, whatever was written.
    SIBYL_ASSIGN(TypePtr value, resolve(values, true));
    if (raw.name == "list") return types::list_of(std::move(value), frozen);
    if (raw.name == "set") return types::set_of(std::move(value), frozen);
    SIBYL_ASSIGN(TypePtr key, resolve(raw.parameters[0], true));
    return types::map_of(std::move(key), std::move(value), frozen);
  }

  base::Result<TypePtr> vector(const cql::RawType& raw) {
    if (raw.dimension == 0) return invalid("vectors may only have positive dimensions; given 0");
    SIBYL_ASSIGN(TypePtr element, resolve(raw.parameters[0], true));
    return types::vector_of(std::move(element), raw.dimension);
  }

  base::Result<TypePtr> tuple(const cql::RawType& raw) {
    std::vector<TypePtr> components;
    for (const cql::RawType& part : raw.parameters) {
      if (is_kind(part, Kind::counter)) return invalid("Counters are not allowed inside tuples");
      SIBYL_ASSIGN(TypePtr component, resolve(part, true));
      components.push_back(std::move(component));
    }
    return types::tuple_of(std::move(components));
  }

  base::Result<TypePtr> user_type(const cql::RawType& raw, bool frozen) {
    if (!raw.keyspace.empty() && raw.keyspace != keyspace_)
      return invalid(
          fmt::format("Statement on keyspace {} cannot refer to a user type in keyspace {}; user types can "
                      "only be used in the "
                      "keyspace they are defined in",
                      keyspace_, raw.keyspace));
    const schema::KeyspacePtr keyspace = schema_.find_keyspace(keyspace_);
    const schema::UserTypePtr found = keyspace == nullptr ? nullptr : keyspace->find_type(raw.name);
    if (found == nullptr)
      return base::fail(
          base::Error(base::ErrorCode::invalid, fmt::format("Unknown type {}.{}", keyspace_, raw.name))
              .at(raw.position));
    return found->as_type(frozen);
  }

  const schema::Snapshot& schema_;
  const std::string& keyspace_;
};

}  // namespace

base::Result<TypePtr> Binder::type(const cql::RawType& raw, const std::string& keyspace) const {
  return Resolver(schema_, keyspace).resolve(raw, false);
}

}  // namespace sibyl::plan
