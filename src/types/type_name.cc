// Names of types: in CQL, and as Cassandra's marshal classes.
#include "types/type_name.h"

#include <fmt/format.h>

#include <charconv>

#include "base/bytes.h"
#include "types/custom_class.h"
#include "types/identifier.h"
#include "types/print.h"
#include "types/type.h"

namespace sibyl::types {
namespace {

constexpr std::string_view package = "org.apache.cassandra.db.marshal.";

struct ClassName {
  std::string_view name;
  Kind kind;
};
constexpr ClassName class_names[] = {
    {"AsciiType", Kind::ascii},
    {"LongType", Kind::bigint},
    {"BytesType", Kind::blob},
    {"BooleanType", Kind::boolean},
    {"CounterColumnType", Kind::counter},
    {"SimpleDateType", Kind::date},
    {"DecimalType", Kind::decimal},
    {"DoubleType", Kind::double_},
    {"DurationType", Kind::duration},
    {"EmptyType", Kind::empty},
    {"FloatType", Kind::float_},
    {"InetAddressType", Kind::inet},
    {"Int32Type", Kind::int_},
    {"ShortType", Kind::smallint},
    {"UTF8Type", Kind::text},
    {"TimeType", Kind::time},
    {"TimestampType", Kind::timestamp},
    {"TimeUUIDType", Kind::timeuuid},
    {"ByteType", Kind::tinyint},
    {"UUIDType", Kind::uuid},
    {"IntegerType", Kind::varint},
    {"ListType", Kind::list},
    {"SetType", Kind::set},
    {"MapType", Kind::map},
    {"TupleType", Kind::tuple},
    {"UserType", Kind::udt},
    {"VectorType", Kind::vector},
};

std::string_view scalar_name(Kind kind) {
  switch (kind) {
    case Kind::ascii:
      return "ascii";
    case Kind::bigint:
      return "bigint";
    case Kind::blob:
      return "blob";
    case Kind::boolean:
      return "boolean";
    case Kind::counter:
      return "counter";
    case Kind::date:
      return "date";
    case Kind::decimal:
      return "decimal";
    case Kind::double_:
      return "double";
    case Kind::duration:
      return "duration";
    case Kind::empty:
      return "empty";
    case Kind::float_:
      return "float";
    case Kind::inet:
      return "inet";
    case Kind::int_:
      return "int";
    case Kind::smallint:
      return "smallint";
    case Kind::text:
      return "text";
    case Kind::time:
      return "time";
    case Kind::timestamp:
      return "timestamp";
    case Kind::timeuuid:
      return "timeuuid";
    case Kind::tinyint:
      return "tinyint";
    case Kind::uuid:
      return "uuid";
    case Kind::varint:
      return "varint";
    default:
      return "";
  }
}

std::string parameter_names(const Type& type) {
  std::string names;
  for (const TypePtr& parameter : type.parameters()) {
    if (!names.empty()) names += ", ";
    names += parameter->cql_name();
  }
  return names;
}

std::string_view marshal_name(Kind kind) {
  for (const ClassName& known : class_names)
    if (known.kind == kind) return known.name;
  return "";
}

void append_class(const Type& type, bool ignore_freezing, std::string& out);

void append_classes(const Type& type, bool ignore_freezing, std::string& out) {
  for (size_t i = 0; i < type.parameters().size(); ++i) {
    if (i > 0) out += ',';
    append_class(*type.parameters()[i], ignore_freezing, out);
  }
}

void append_fields(const Type& type, bool ignore_freezing, std::string& out) {
  out += type.keyspace();
  out += ',';
  out += base::to_hex(type.name());
  for (size_t i = 0; i < type.parameters().size(); ++i) {
    out += ',';
    out += base::to_hex(type.field_names()[i]);
    out += ':';
    append_class(*type.parameters()[i], ignore_freezing, out);
  }
}

// Cassandra does not repeat FrozenType inside a type that is frozen or printed as frozen. A tuple never shows
// it.
void append_class(const Type& type, bool ignore_freezing, std::string& out) {
  if (type.kind() == Kind::custom) {
    out += type.name();
    return;
  }
  const bool wrap =
      !ignore_freezing && type.is_frozen() && (type.is_collection() || type.kind() == Kind::udt);
  if (wrap) out.append(package).append("FrozenType(");
  out.append(package).append(marshal_name(type.kind()));
  const bool ignore_inside =
      ignore_freezing || type.kind() == Kind::tuple || (type.is_frozen() && type.kind() != Kind::vector);
  if (type.kind() == Kind::vector) {
    out += '(';
    append_class(*type.element(), ignore_freezing, out);
    out += fmt::format(" , {})", type.dimension());
  } else if (type.kind() == Kind::udt) {
    out += '(';
    append_fields(type, ignore_inside, out);
    out += ')';
  } else if (type.is_collection() || type.kind() == Kind::tuple) {
    out += '(';
    append_classes(type, ignore_inside, out);
    out += ')';
  }
  if (wrap) out += ')';
}

class ClassParser {
 public:
  explicit ClassParser(std::string_view text) : text_(text) {}

  TypePtr whole() {
    TypePtr type = parse(1);
    skip_blanks();
    return type && at_ == text_.size() && type->depth() <= max_type_depth ? type : nullptr;
  }

 private:
  TypePtr parse(uint32_t depth) {
    if (depth > 2 * max_type_depth) return nullptr;  // FrozenType may occur between any two levels
    skip_blanks();
    const size_t start = at_;
    const std::string_view written = identifier();
    if (written.empty()) return nullptr;
    std::string_view name = written;
    if (name.starts_with(package)) name.remove_prefix(package.size());
    if (name == "FrozenType") {
      const TypePtr inner = single(depth);
      return inner ? freeze(inner) : nullptr;
    }
    if (name == "ReversedType") return single(depth);
    // Older names of types, whose values are the same.
    if (name == "DateType") return scalar(Kind::timestamp);
    if (name == "LegacyTimeUUIDType") return scalar(Kind::timeuuid);
    for (const ClassName& known : class_names)
      if (known.name == name) return parse_known(known.kind, depth);
    return parse_unknown(start);
  }

  TypePtr parse_known(Kind kind, uint32_t depth) {
    if (kind == Kind::vector) return parse_vector(depth);
    if (kind == Kind::udt) return parse_udt(depth);
    if (kind != Kind::list && kind != Kind::set && kind != Kind::map && kind != Kind::tuple)
      return scalar(kind);
    std::vector<TypePtr> parameters;
    if (!accept('(')) return nullptr;
    while (!accept(')')) {
      if (!parameters.empty() && !accept(',')) return nullptr;
      TypePtr parameter = parse(depth + 1);
      if (!parameter) return nullptr;
      parameters.push_back(std::move(parameter));
    }
    if (kind == Kind::tuple) return parameters.empty() ? nullptr : tuple_of(std::move(parameters));
    if (parameters.size() != (kind == Kind::map ? 2u : 1u)) return nullptr;
    if (kind == Kind::map) return map_of(parameters[0], parameters[1], false);
    return kind == Kind::list ? list_of(parameters[0], false) : set_of(parameters[0], false);
  }

  TypePtr single(uint32_t depth) {
    if (!accept('(')) return nullptr;
    TypePtr inner = parse(depth + 1);
    return inner && accept(')') ? inner : nullptr;
  }

  TypePtr parse_vector(uint32_t depth) {
    if (!accept('(')) return nullptr;
    const TypePtr element = parse(depth + 1);
    if (!element || !accept(',')) return nullptr;
    skip_blanks();
    const std::string_view digits = identifier();
    uint32_t dimension = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), dimension);
    if (error != std::errc() || end != digits.data() + digits.size() || dimension == 0) return nullptr;
    return accept(')') ? vector_of(element, dimension) : nullptr;
  }

  TypePtr parse_udt(uint32_t depth) {
    if (!accept('(')) return nullptr;
    skip_blanks();
    std::string keyspace(identifier());
    std::string name;
    if (!accept(',') || !hex_identifier(name)) return nullptr;
    std::vector<std::string> field_names;
    std::vector<TypePtr> field_types;
    while (!accept(')')) {
      std::string field;
      if (!accept(',') || !hex_identifier(field) || !accept(':')) return nullptr;
      TypePtr type = parse(depth + 1);
      if (!type) return nullptr;
      field_names.push_back(std::move(field));
      field_types.push_back(std::move(type));
    }
    return udt_of(std::move(keyspace), std::move(name), std::move(field_names), std::move(field_types),
                  false);
  }

  // An unknown class keeps its text, including parameters.
  TypePtr parse_unknown(size_t start) {
    size_t end = at_;
    if (accept('(')) {
      for (uint32_t open = 1; open > 0; ++at_) {
        if (at_ == text_.size() || open > max_type_depth) return nullptr;
        if (text_[at_] == '(') ++open;
        if (text_[at_] == ')') --open;
      }
      end = at_;
    }
    std::string name(text_.substr(start, end - start));
    if (is_custom_class_name(name)) {
      name = complete_custom_name(name);
      return name.empty() ? nullptr : custom_of(std::move(name));
    }
    if (name.find('.') == std::string::npos) name.insert(0, package);
    return custom_of(std::move(name));
  }

  std::string_view identifier() {
    const size_t start = at_;
    while (at_ < text_.size() && is_identifier_character(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  bool hex_identifier(std::string& out) {
    skip_blanks();
    return base::from_hex(identifier(), out) && !out.empty();
  }

  static bool is_identifier_character(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '+' || c == '.' || c == '_' || c == '&';
  }

  bool accept(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::string Type::cql_name() const {
  const auto in_frozen = [&](std::string inner) { return frozen_ ? "frozen<" + inner + ">" : inner; };
  switch (kind_) {
    case Kind::custom:
      return quote_string(name_);
    case Kind::list:
      return in_frozen("list<" + parameter_names(*this) + ">");
    case Kind::set:
      return in_frozen("set<" + parameter_names(*this) + ">");
    case Kind::map:
      return in_frozen("map<" + parameter_names(*this) + ">");
    case Kind::tuple:
      return in_frozen("tuple<" + parameter_names(*this) + ">");
    case Kind::udt:
      return in_frozen(quote_identifier(name_));
    case Kind::vector:
      return fmt::format("vector<{}, {}>", parameter_names(*this), dimension_);
    default:
      return std::string(scalar_name(kind_));
  }
}

std::string Type::class_name() const {
  std::string name;
  append_class(*this, false, name);
  return name;
}

TypePtr parse_class_name(std::string_view text) {
  return ClassParser(text).whole();
}

}  // namespace sibyl::types
