#include "plan/terms/written_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "types/custom_class.h"
#include "types/leaves.h"
#include "types/type_name.h"

namespace sibyl::plan {

using base::ErrorCode;
using types::Kind;
using types::TypePtr;

namespace {

bool is_collection(const cql::RawType& raw) {
  return !raw.custom && raw.keyspace.empty() &&
         (raw.name == "list" || raw.name == "set" || raw.name == "map") && !raw.parameters.empty();
}

bool is_scalar(const cql::RawType& raw) {
  return !raw.custom && raw.keyspace.empty() && raw.parameters.empty() &&
         types::scalar_by_name(raw.name) != nullptr;
}

bool is_parametric(const cql::RawType& raw) {
  return !raw.parameters.empty();
}

bool is_user_type(const cql::RawType& raw) {
  return !raw.custom && !is_parametric(raw) && !is_scalar(raw);
}

bool is_scalar_named(const cql::RawType& raw, std::string_view name) {
  return is_scalar(raw) && raw.name == name;
}

class Resolver {
 public:
  explicit Resolver(const schema::Keyspace& keyspace) : keyspace_(keyspace) {}

  // `frozen` is true inside a frozen type, where everything is frozen.
  base::Result<TypePtr> resolve(const cql::RawType& raw, bool frozen) {
    if (raw.frozen && (is_scalar(raw) || raw.custom)) {
      std::string name = raw.name;
      if (raw.custom) {
        SIBYL_ASSIGN(const TypePtr type, custom(raw));
        name = type->cql_name();
      }
      return base::fail(
          ErrorCode::syntax,
          fmt::format("frozen<> is only allowed on collections, tuples, and user-defined types (got {})",
                      name));
    }
    frozen = frozen || raw.frozen;
    if (raw.custom) return custom(raw);
    if (is_collection(raw)) return collection(raw, frozen);
    if (raw.keyspace.empty() && raw.name == "tuple" && is_parametric(raw)) return tuple(raw);
    if (raw.keyspace.empty() && raw.name == "vector" && is_parametric(raw)) return vector(raw);
    if (is_scalar(raw)) return types::scalar_by_name(raw.name);
    return user_type(raw, frozen);
  }

 private:
  base::Result<TypePtr> custom(const cql::RawType& raw) {
    if (raw.name.empty()) return types::scalar(Kind::blob);
    TypePtr type = types::parse_class_name(raw.name);
    if (type && is_known(*type)) return type;
    const std::string name =
        raw.name.find('.') == std::string::npos ? "org.apache.cassandra.db.marshal." + raw.name : raw.name;
    if (types::is_custom_class_name(raw.name))
      return base::fail(ErrorCode::syntax,
                        fmt::format("Error setting type {}: Invalid definition for comparator {}.", raw.name,
                                    name.substr(0, name.find('('))));
    return base::fail(
        ErrorCode::syntax,
        fmt::format("Error setting type {}: Unable to find abstract-type class '{}'", raw.name, name));
  }

  static bool is_known(const types::Type& type) {
    if (type.kind() == Kind::custom) return types::find_custom_class(type) != nullptr;
    return std::all_of(type.parameters().begin(), type.parameters().end(),
                       [](const TypePtr& parameter) { return is_known(*parameter); });
  }

  base::Status check_inside_collection(const cql::RawType& inner, const cql::RawType& outer, bool frozen) {
    if (is_scalar_named(inner, "counter"))
      return base::invalid("Counters are not allowed inside collections: " + spell(outer));
    if (frozen || inner.frozen) return {};
    const char* what = is_collection(inner) ? "collections" : is_user_type(inner) ? "UDTs" : nullptr;
    if (!what) return {};
    return base::fail(
        base::Error(ErrorCode::invalid,
                    fmt::format("Non-frozen {} are not allowed inside collections: {}", what, spell(outer)))
            .with_hint(fmt::format("write frozen<{}>: each element is then always replaced as a whole",
                                   spell(inner))));
  }

  base::Result<TypePtr> collection(const cql::RawType& raw, bool frozen) {
    const cql::RawType& last = raw.parameters.back();
    SIBYL_TRY(check_inside_collection(last, raw, frozen));
    if (raw.name == "set" && is_scalar_named(last, "duration"))
      return base::invalid("Durations are not allowed inside sets: " + spell(raw));
    if (raw.name == "map") {
      const cql::RawType& key = raw.parameters.front();
      if (is_scalar_named(key, "duration"))
        return base::invalid("Durations are not allowed as map keys: " + spell(raw));
      SIBYL_TRY(check_inside_collection(key, raw, frozen));
      SIBYL_ASSIGN(TypePtr key_type, resolve(key, frozen));
      SIBYL_ASSIGN(TypePtr value_type, resolve(last, frozen));
      return types::map_of(std::move(key_type), std::move(value_type), frozen);
    }
    SIBYL_ASSIGN(TypePtr element, resolve(last, frozen));
    return raw.name == "list" ? types::list_of(std::move(element), frozen)
                              : types::set_of(std::move(element), frozen);
  }

  base::Result<TypePtr> tuple(const cql::RawType& raw) {
    std::vector<TypePtr> components;
    for (const cql::RawType& parameter : raw.parameters) {
      if (is_scalar_named(parameter, "counter"))
        return base::invalid("Counters are not allowed inside tuples");
      SIBYL_ASSIGN(TypePtr component, resolve(parameter, true));
      components.push_back(std::move(component));
    }
    return types::tuple_of(std::move(components));
  }

  base::Result<TypePtr> vector(const cql::RawType& raw) {
    if (static_cast<int32_t>(raw.dimension) <= 0) {
      return base::invalid(fmt::format("vectors may only have positive dimensions; given {}",
                                       static_cast<int32_t>(raw.dimension)));
    }
    // The element is frozen only if the statement says so, even inside frozen types, because drivers get the
    // type as it was written.
    SIBYL_ASSIGN(TypePtr element, resolve(raw.parameters[0], false));
    return types::vector_of(std::move(element), raw.dimension);
  }

  base::Result<TypePtr> user_type(const cql::RawType& raw, bool frozen) {
    if (!raw.keyspace.empty() && raw.keyspace != keyspace_.name) {
      return base::invalid(
          fmt::format("Statement on keyspace {} cannot refer to a user type in keyspace {}; user types can "
                      "only be used in the "
                      "keyspace they are defined in",
                      keyspace_.name, raw.keyspace));
    }
    schema::UserTypePtr type = keyspace_.find_type(raw.name);
    if (!type) {
      return base::fail(
          base::Error(ErrorCode::invalid, fmt::format("Unknown type {}.{}", keyspace_.name, raw.name))
              .at(raw.position));
    }
    return type->as_type(frozen);
  }

  const schema::Keyspace& keyspace_;
};

// Returns the same type with other parameters.
TypePtr rebuild(const types::Type& type, std::vector<TypePtr> parameters) {
  switch (type.kind()) {
    case Kind::list:
      return types::list_of(std::move(parameters[0]), type.is_frozen());
    case Kind::set:
      return types::set_of(std::move(parameters[0]), type.is_frozen());
    case Kind::map:
      return types::map_of(std::move(parameters[0]), std::move(parameters[1]), type.is_frozen());
    case Kind::vector:
      return types::vector_of(std::move(parameters[0]), type.dimension());
    case Kind::udt:
      return types::udt_of(type.keyspace(), type.name(), type.field_names(), std::move(parameters),
                           type.is_frozen());
    default:
      return types::tuple_of(std::move(parameters));
  }
}

bool is_one_of(Kind kind, std::initializer_list<Kind> kinds) {
  for (Kind candidate : kinds)
    if (candidate == kind) return true;
  return false;
}

bool may_replace_scalar(Kind now, Kind before) {
  switch (now) {
    case Kind::text:
      return before == Kind::ascii;
    case Kind::blob:
      return is_one_of(before,
                       {Kind::ascii, Kind::text, Kind::varint, Kind::decimal, Kind::inet, Kind::duration});
    case Kind::timestamp:
    case Kind::time:
      return before == Kind::bigint;
    case Kind::bigint:
      return is_one_of(before, {Kind::timestamp, Kind::time});
    case Kind::date:
      return before == Kind::int_;
    case Kind::uuid:
      return before == Kind::timeuuid;
    default:
      return false;
  }
}

}  // namespace

base::Result<TypePtr> resolve_type(const cql::RawType& raw, const schema::Keyspace& keyspace) {
  SIBYL_ASSIGN(TypePtr type, Resolver(keyspace).resolve(raw, false));
  SIBYL_TRY(check_type_size(*type, spell(raw)));
  return type;
}

bool is_reversed(const cql::RawType& raw) {
  constexpr std::string_view package = "org.apache.cassandra.db.marshal.";
  std::string_view name = raw.name;
  if (name.starts_with(package)) name.remove_prefix(package.size());
  return raw.custom && name.starts_with("ReversedType(");
}

base::Status check_type_size(const types::Type& type, const std::string& name) {
  if (type.depth() > types::max_type_depth)
    return base::invalid(
        fmt::format("Types may nest at most {} levels deep: {}", types::max_type_depth, name));
  if (types::count_leaves(type) > types::max_type_leaves)
    return base::fail(
        base::Error(ErrorCode::invalid,
                    fmt::format("Types may hold at most {} values: {}", types::max_type_leaves, name))
            .with_hint("fields of user types, components of tuples and elements of vectors count, "
                       "at every depth"));
  return {};
}

std::string spell(const cql::RawType& raw, const std::string& keyspace) {
  std::string out;
  if (raw.custom) {
    out = "'" + raw.name + "'";
  } else if (is_user_type(raw)) {
    const std::string& qualifier = raw.keyspace.empty() ? keyspace : raw.keyspace;
    out = qualifier.empty() ? raw.name : qualifier + "." + raw.name;
  } else {
    out = raw.name;
  }
  if (is_parametric(raw)) {
    out += '<';
    for (size_t i = 0; i < raw.parameters.size(); ++i) {
      if (i != 0) out += ", ";
      out += spell(raw.parameters[i], keyspace);
    }
    if (raw.name == "vector") out += ", " + std::to_string(static_cast<int32_t>(raw.dimension));
    out += '>';
  }
  return raw.frozen ? "frozen<" + out + ">" : out;
}

TypePtr replace_user_type(const TypePtr& type, const schema::UserType& replacement) {
  if (!type->references_udt(replacement.keyspace, replacement.name)) return type;
  if (type->kind() == Kind::udt && type->keyspace() == replacement.keyspace &&
      type->name() == replacement.name)
    return replacement.as_type(type->is_frozen());
  std::vector<TypePtr> parameters;
  for (const TypePtr& parameter : type->parameters())
    parameters.push_back(replace_user_type(parameter, replacement));
  return rebuild(*type, std::move(parameters));
}

TypePtr expand_user_types(const TypePtr& type) {
  if (type->parameters().empty()) return type;
  std::vector<TypePtr> parameters;
  for (const TypePtr& parameter : type->parameters()) parameters.push_back(expand_user_types(parameter));
  if (type->kind() == Kind::udt) return types::tuple_of(std::move(parameters));
  return rebuild(*type, std::move(parameters));
}

bool may_replace_dropped(const types::Type& new_type, const types::Type& old_type) {
  if (new_type == old_type) return true;
  if (new_type.kind() != old_type.kind()) return may_replace_scalar(new_type.kind(), old_type.kind());
  if (new_type.parameters().empty() || new_type.is_frozen() != old_type.is_frozen() ||
      new_type.parameters().size() != old_type.parameters().size() ||
      new_type.dimension() != old_type.dimension())
    return false;
  for (size_t i = 0; i < new_type.parameters().size(); ++i)
    if (!may_replace_dropped(*new_type.parameters()[i], *old_type.parameters()[i])) return false;
  return true;
}

}  // namespace sibyl::plan
