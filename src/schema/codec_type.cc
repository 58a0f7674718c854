#include "schema/codec_type.h"

#include <fmt/format.h>

namespace sibyl::schema {
namespace {

using types::Kind;

json::object encode_composite(const char* kind, const types::Type& type) {
  return {{"kind", kind}, {"of", encode_types(type.parameters())}, {"frozen", type.is_frozen()}};
}

base::Result<TypePtr> make_composite(const std::string& kind, ObjectReader& reader) {
  bool frozen = false;
  reader.read("frozen", frozen);
  SIBYL_ASSIGN(std::vector<TypePtr> of, decode_types(reader.array("of")));
  auto expect = [&](size_t count) {
    if (of.size() != count) reader.set_error(fmt::format("a {} type has {} parameters", kind, of.size()));
    return reader.ok();
  };
  if (kind == "list" && expect(1)) return types::list_of(of[0], frozen);
  if (kind == "set" && expect(1)) return types::set_of(of[0], frozen);
  if (kind == "map" && expect(2)) return types::map_of(of[0], of[1], frozen);
  if (kind == "tuple") return types::tuple_of(std::move(of));
  if (kind == "vector" && expect(1)) {
    uint32_t dimension = 0;
    reader.read("dimension", dimension);
    return types::vector_of(of[0], dimension);
  }
  if (kind == "udt") {
    std::string keyspace, name;
    std::vector<std::string> fields;
    reader.read("keyspace", keyspace);
    reader.read("name", name);
    reader.read("fields", fields);
    if (fields.size() != of.size()) reader.set_error("a user type's field names and types differ in number");
    if (reader.ok()) return types::udt_of(keyspace, name, std::move(fields), std::move(of), frozen);
  }
  SIBYL_TRY(reader.finish());
  return corrupted(fmt::format("there is no type '{}'", kind));
}

}  // namespace

json::array encode_types(const std::vector<TypePtr>& list) {
  json::array out;
  for (const TypePtr& type : list) out.push_back(encode_type(*type));
  return out;
}

json::value encode_type(const types::Type& type) {
  switch (type.kind()) {
    case Kind::list:
      return encode_composite("list", type);
    case Kind::set:
      return encode_composite("set", type);
    case Kind::map:
      return encode_composite("map", type);
    case Kind::tuple:
      return encode_composite("tuple", type);
    case Kind::vector: {
      json::object out = encode_composite("vector", type);
      out["dimension"] = type.dimension();
      return out;
    }
    case Kind::udt: {
      json::object out = encode_composite("udt", type);
      out["keyspace"] = type.keyspace();
      out["name"] = type.name();
      out["fields"] = encode_names(type.field_names());
      return out;
    }
    case Kind::custom:
      return json::object{{"kind", "custom"}, {"name", type.name()}};
    default:
      return json::value(type.cql_name());
  }
}

base::Result<std::vector<TypePtr>> decode_types(const json::array& list) {
  std::vector<TypePtr> out;
  for (const json::value& element : list) {
    SIBYL_ASSIGN(TypePtr type, decode_type_tree(element));
    out.push_back(std::move(type));
  }
  return out;
}

base::Result<TypePtr> decode_type_tree(const json::value& value) {
  if (const json::string* name = value.if_string()) {
    if (*name == "empty") return types::scalar(Kind::empty);  // this type has no name in CQL
    if (TypePtr type = types::scalar_by_name(std::string_view(name->data(), name->size()))) return type;
    return corrupted(fmt::format("there is no type '{}'", std::string_view(name->data(), name->size())));
  }
  ObjectReader reader(value, "a type");
  std::string kind;
  reader.read("kind", kind);
  if (kind == "custom") {
    std::string name;
    reader.read("name", name);
    SIBYL_TRY(reader.finish());
    return types::custom_of(name);
  }
  SIBYL_ASSIGN(TypePtr type, make_composite(kind, reader));
  SIBYL_TRY(reader.finish());
  return type;
}

base::Status read_type(ObjectReader& reader, std::string_view name, TypePtr& out) {
  const json::value* value = reader.field(name);
  if (value == nullptr) return reader.finish();
  SIBYL_ASSIGN(out, decode_type_tree(*value));
  return {};
}

}  // namespace sibyl::schema
