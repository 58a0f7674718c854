#include "protocol/type_option.h"

#include <fmt/format.h>

#include <charconv>

namespace sibyl::protocol {

using types::Kind;
using types::Type;
using types::TypePtr;

namespace {

constexpr int deepest_nesting = 64;

bool has_number(Version version, Kind kind) {
  switch (kind) {
    case Kind::custom:
    case Kind::vector:
    case Kind::empty:
      return false;
    case Kind::date:
    case Kind::time:
    case Kind::smallint:
    case Kind::tinyint:
      return version >= Version::v4;
    case Kind::duration:
      return version >= Version::v5;
    default:
      return true;
  }
}

}  // namespace

void append_type(Bytes& out, Version version, const Type& type) {
  if (!has_number(version, type.kind())) {
    append_short(out, static_cast<uint16_t>(Kind::custom));
    append_string(out, type.kind() == Kind::custom ? type.name() : type.class_name());
    return;
  }
  append_short(out, static_cast<uint16_t>(type.kind()));
  if (type.kind() == Kind::udt) {
    append_string(out, type.keyspace());
    append_string(out, type.name());
    append_short(out, static_cast<uint16_t>(type.parameters().size()));
    for (size_t i = 0; i < type.parameters().size(); ++i) {
      append_string(out, type.field_names()[i]);
      append_type(out, version, *type.parameters()[i]);
    }
    return;
  }
  if (type.kind() == Kind::tuple) append_short(out, static_cast<uint16_t>(type.parameters().size()));
  for (const auto& parameter : type.parameters()) append_type(out, version, *parameter);
}

namespace {

TypePtr read_nested(WireReader& reader, Version version, int depth);

TypePtr read_udt(WireReader& reader, Version version, int depth) {
  std::string keyspace(reader.string());
  std::string name(reader.string());
  const uint16_t count = reader.short_();
  std::vector<std::string> names;
  std::vector<TypePtr> fields;
  for (uint16_t i = 0; i < count && reader.ok(); ++i) {
    names.emplace_back(reader.string());
    fields.push_back(read_nested(reader, version, depth + 1));
  }
  if (!reader.ok()) return nullptr;
  return types::udt_of(std::move(keyspace), std::move(name), std::move(names), std::move(fields), true);
}

TypePtr read_tuple(WireReader& reader, Version version, int depth) {
  const uint16_t count = reader.short_();
  std::vector<TypePtr> components;
  for (uint16_t i = 0; i < count && reader.ok(); ++i)
    components.push_back(read_nested(reader, version, depth + 1));
  return reader.ok() ? types::tuple_of(std::move(components)) : nullptr;
}

TypePtr read_custom(WireReader& reader) {
  const std::string_view name = reader.string();
  if (!reader.ok()) return nullptr;
  TypePtr type = type_by_class_name(name);
  return type ? type : types::custom_of(std::string(name));
}

TypePtr read_nested(WireReader& reader, Version version, int depth) {
  if (depth > deepest_nesting) reader.fail("Type nested too deeply");
  const uint16_t id = reader.short_();
  if (!reader.ok()) return nullptr;
  switch (static_cast<Kind>(id)) {
    case Kind::custom:
      return read_custom(reader);
    case Kind::udt:
      return read_udt(reader, version, depth);
    case Kind::tuple:
      return read_tuple(reader, version, depth);
    case Kind::list:
    case Kind::set: {
      TypePtr element = read_nested(reader, version, depth + 1);
      if (!element) return nullptr;
      return id == static_cast<uint16_t>(Kind::list) ? types::list_of(std::move(element), true)
                                                     : types::set_of(std::move(element), true);
    }
    case Kind::map: {
      TypePtr key = read_nested(reader, version, depth + 1);
      TypePtr value = read_nested(reader, version, depth + 1);
      return key && value ? types::map_of(std::move(key), std::move(value), true) : nullptr;
    }
    default:
      break;
  }
  if (id == 0x000A) return types::scalar(Kind::text);  // this is the number of text in old servers
  if (id > static_cast<uint16_t>(Kind::duration)) {
    reader.fail(fmt::format("Unknown type option {}", id));
    return nullptr;
  }
  return types::scalar(static_cast<Kind>(id));
}

// Cassandra's class names: a word, or a word with arguments in parentheses.
class ClassNameParser {
 public:
  explicit ClassNameParser(std::string_view text) : rest_(text) {}

  TypePtr parse_all() {
    TypePtr type = parse(0);
    skip_spaces();
    return rest_.empty() ? type : nullptr;
  }

 private:
  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-' || c == '+';
  }
  void skip_spaces() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }
  bool accept(char c) {
    skip_spaces();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view word() {
    skip_spaces();
    size_t size = 0;
    while (size < rest_.size() && is_word(rest_[size])) ++size;
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  TypePtr parse(int depth);
  TypePtr parse_vector(int depth);
  TypePtr parse_user_type(int depth);
  bool parse_arguments(int depth, std::vector<TypePtr>& arguments);

  std::string_view rest_;
};

TypePtr scalar_by_class(std::string_view name) {
  static constexpr std::pair<std::string_view, Kind> scalars[] = {
      {"AsciiType", Kind::ascii},
      {"LongType", Kind::bigint},
      {"BytesType", Kind::blob},
      {"BooleanType", Kind::boolean},
      {"CounterColumnType", Kind::counter},
      {"DecimalType", Kind::decimal},
      {"DoubleType", Kind::double_},
      {"FloatType", Kind::float_},
      {"Int32Type", Kind::int_},
      {"TimestampType", Kind::timestamp},
      {"DateType", Kind::timestamp},
      {"UUIDType", Kind::uuid},
      {"UTF8Type", Kind::text},
      {"IntegerType", Kind::varint},
      {"TimeUUIDType", Kind::timeuuid},
      {"InetAddressType", Kind::inet},
      {"SimpleDateType", Kind::date},
      {"TimeType", Kind::time},
      {"ShortType", Kind::smallint},
      {"ByteType", Kind::tinyint},
      {"DurationType", Kind::duration},
  };
  for (const auto& [class_name, kind] : scalars)
    if (class_name == name) return types::scalar(kind);
  return nullptr;
}

bool ClassNameParser::parse_arguments(int depth, std::vector<TypePtr>& arguments) {
  if (!accept('(')) return false;
  do {
    TypePtr type = parse(depth + 1);
    if (!type) return false;
    arguments.push_back(std::move(type));
  } while (accept(','));
  return accept(')');
}

TypePtr ClassNameParser::parse_vector(int depth) {
  if (!accept('(')) return nullptr;
  TypePtr element = parse(depth + 1);
  if (!element || !accept(',')) return nullptr;
  const std::string_view digits = word();
  uint32_t dimension = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), dimension);
  if (error != std::errc() || end != digits.data() + digits.size() || dimension == 0 || !accept(')'))
    return nullptr;
  return types::vector_of(std::move(element), dimension);
}

// UserType(keyspace,hex of the name,hex of a field:its class,...)
TypePtr ClassNameParser::parse_user_type(int depth) {
  if (!accept('(')) return nullptr;
  std::string keyspace(word());
  Bytes name;
  if (!accept(',') || !base::from_hex(word(), name)) return nullptr;
  std::vector<std::string> names;
  std::vector<TypePtr> fields;
  while (accept(',')) {
    Bytes field;
    if (!base::from_hex(word(), field) || !accept(':')) return nullptr;
    TypePtr type = parse(depth + 1);
    if (!type) return nullptr;
    names.push_back(std::move(field));
    fields.push_back(std::move(type));
  }
  if (!accept(')')) return nullptr;
  return types::udt_of(std::move(keyspace), std::move(name), std::move(names), std::move(fields), true);
}

TypePtr ClassNameParser::parse(int depth) {
  constexpr std::string_view package = "org.apache.cassandra.db.marshal.";
  if (depth > deepest_nesting) return nullptr;
  std::string_view name = word();
  if (name.starts_with(package)) name.remove_prefix(package.size());
  if (TypePtr type = scalar_by_class(name)) return type;
  if (name == "VectorType") return parse_vector(depth);
  if (name == "UserType") return parse_user_type(depth);
  std::vector<TypePtr> arguments;
  if (!parse_arguments(depth, arguments)) return nullptr;
  if (name == "TupleType") return types::tuple_of(std::move(arguments));
  if (name == "MapType" && arguments.size() == 2)
    return types::map_of(std::move(arguments[0]), std::move(arguments[1]), true);
  if (arguments.size() != 1) return nullptr;
  if (name == "FrozenType" || name == "ReversedType") return arguments[0];
  if (name == "ListType") return types::list_of(std::move(arguments[0]), true);
  if (name == "SetType") return types::set_of(std::move(arguments[0]), true);
  return nullptr;
}

}  // namespace

TypePtr read_type(WireReader& reader, Version version) {
  return read_nested(reader, version, 0);
}

TypePtr type_by_class_name(std::string_view name) {
  return ClassNameParser(name).parse_all();
}

}  // namespace sibyl::protocol
