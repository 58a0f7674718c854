#include "plan/terms/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/ascii.h"
#include "plan/numbers/java_numbers.h"
#include "plan/terms/json_parse.h"
#include "types/elements.h"
#include "types/literals/literal.h"
#include "types/print.h"

namespace sibyl::plan {

using base::Result;
using types::Bytes;
using types::Kind;
using Value = std::optional<Bytes>;

namespace {

// --- Printing like Java prints parsed JSON.

const char* java_class(const JsonNode& node) {
  switch (node.kind) {
    case JsonNode::Kind::boolean:
      return "Boolean";
    case JsonNode::Kind::integer: {
      int64_t wide = 0;
      int32_t narrow = 0;
      if (parse_int32(node.text, narrow)) return "Integer";
      return parse_int64(node.text, wide) ? "Long" : "BigInteger";
    }
    case JsonNode::Kind::floating:
      return "Double";
    case JsonNode::Kind::array:
      return "ArrayList";
    case JsonNode::Kind::object:
      return "LinkedHashMap";
    case JsonNode::Kind::string:
    case JsonNode::Kind::null:
      break;
  }
  return "String";
}

std::string java_text(const JsonNode& node) {
  std::string out;
  switch (node.kind) {
    case JsonNode::Kind::null:
      return "null";
    case JsonNode::Kind::array:
      for (const JsonNode& element : node.elements) out += (out.empty() ? "" : ", ") + java_text(element);
      return "[" + out + "]";
    case JsonNode::Kind::object:
      for (const auto& [name, member] : node.members)
        out += fmt::format("{}{}={}", out.empty() ? "" : ", ", name, java_text(member));
      return "{" + out + "}";
    case JsonNode::Kind::floating: {
      const auto bytes = types::from_string(*types::scalar(Kind::double_), node.text);
      return bytes ? types::format_double(types::decode_double(*bytes)) : node.text;
    }
    default:
      return node.text;
  }
}

std::unexpected<base::Error> expected(const char* what, const JsonNode& node) {
  return base::invalid(fmt::format("Expected {}, but got a {}: {}", what, java_class(node), java_text(node)));
}

bool is_number(const JsonNode& node) {
  return node.kind == JsonNode::Kind::integer || node.kind == JsonNode::Kind::floating;
}
bool is_string(const JsonNode& node) {
  return node.kind == JsonNode::Kind::string;
}

const char* expectation(Kind kind) {
  switch (kind) {
    case Kind::ascii:
      return "an ascii string";
    case Kind::boolean:
      return "a boolean value";
    case Kind::bigint:
    case Kind::counter:
      return "a bigint value";
    case Kind::int_:
      return "an int value";
    case Kind::smallint:
      return "a short value";
    case Kind::tinyint:
      return "a byte value";
    case Kind::double_:
      return "a double value";
    case Kind::float_:
      return "a float value";
    case Kind::date:
      return "a string representation of a date value";
    case Kind::time:
      return "a string representation of a time value";
    case Kind::timestamp:
      return "a long or a datestring representation of a timestamp value";
    case Kind::duration:
      return "a string representation of a duration";
    case Kind::inet:
      return "a string representation of an inet value";
    case Kind::timeuuid:
      return "a string representation of a timeuuid";
    case Kind::uuid:
      return "a string representation of a uuid";
    default:
      return "a UTF-8 string";
  }
}

Result<Value> present(Result<Bytes> bytes) {
  if (!bytes) return base::fail(std::move(bytes.error()));
  return Value(std::move(*bytes));
}

Result<Value> blob(const types::Type& type, const JsonNode& node) {
  const auto refuse = [&](const std::string& why) {
    return base::invalid(
        fmt::format("Value '{}' is not a valid blob representation: {}", java_text(node), why));
  };
  if (!is_string(node)) return refuse("it should be a string");
  if (!node.text.starts_with("0x"))
    return refuse("String representation of blob is missing 0x prefix: " + node.text);
  auto bytes = types::from_string(type, std::string_view(node.text).substr(2));
  if (!bytes) return refuse(bytes.error().message());
  return Value(std::move(*bytes));
}

Result<Value> scalar(const types::Type& type, const JsonNode& node) {
  const Kind kind = type.kind();
  switch (kind) {
    case Kind::blob:
      return blob(type, node);
    case Kind::varint:
    case Kind::decimal: {
      auto bytes =
          is_string(node) || is_number(node) ? types::from_string(type, node.text) : base::invalid("");
      if (!bytes || (kind == Kind::varint && bytes->empty())) {
        return base::invalid(fmt::format("Value '{}' is not a valid representation of a {} value",
                                         java_text(node), type.cql_name()));
      }
      return Value(std::move(*bytes));
    }
    case Kind::boolean:
      if (is_string(node) || node.kind == JsonNode::Kind::boolean)
        return present(types::from_string(type, node.text));
      break;
    case Kind::int_:
    case Kind::bigint:
    case Kind::counter:
    case Kind::timestamp: {
      if (is_string(node)) return present(types::from_string(type, node.text));
      int64_t number = 0;
      const bool fits = node.kind == JsonNode::Kind::integer && parse_int64(node.text, number) &&
                        (kind != Kind::int_ || (number >= std::numeric_limits<int32_t>::min() &&
                                                number <= std::numeric_limits<int32_t>::max()));
      if (!fits) break;
      return Value(kind == Kind::int_ ? types::encode_int32(static_cast<int32_t>(number))
                                      : types::encode_int64(number));
    }
    case Kind::smallint:
    case Kind::tinyint:
    case Kind::double_:
    case Kind::float_:
      if (is_string(node) || is_number(node)) return present(types::from_string(type, node.text));
      break;
    default:
      if (is_string(node)) return present(types::from_string(type, node.text));
      break;
  }
  return expected(expectation(kind), node);
}

// Strings may contain the JSON of a collection; keys of maps always do.
Result<JsonNode> unwrapped(const JsonNode& node) {
  if (!is_string(node)) return node;
  auto inner = parse_json(node.text);
  if (!inner) return base::invalid(fmt::format("Error decoding JSON string: {}", inner.error().message()));
  return inner;
}

types::Elements views_of(const std::vector<Value>& values) {
  types::Elements views;
  views.reserve(values.size());
  for (const Value& value : values)
    views.push_back(value ? std::optional<types::BytesView>(*value) : std::nullopt);
  return views;
}

Result<Value> sequence(const types::Type& type, const JsonNode& node) {
  const bool is_set = type.kind() == Kind::set;
  if (node.kind != JsonNode::Kind::array)
    return expected(is_set ? "a list (representing a set)" : "a list", node);
  if (type.kind() == Kind::vector && node.elements.size() != type.dimension()) {
    return base::invalid(fmt::format("List had incorrect size: expected {} but given {}; {}",
                                     type.dimension(), node.elements.size(), java_text(node)));
  }
  std::vector<Value> values;
  for (const JsonNode& element : node.elements) {
    if (element.kind == JsonNode::Kind::null)
      return base::invalid(fmt::format("Invalid null element in {}", is_set ? "set" : "list"));
    SIBYL_ASSIGN(Value value, from_json(*type.element(), element));
    values.push_back(std::move(value));
  }
  types::Elements elements = views_of(values);
  if (is_set) types::normalise(type, elements);
  return Value(types::join(type, elements));
}

Result<Value> map(const types::Type& type, const JsonNode& node) {
  if (node.kind != JsonNode::Kind::object) return expected("a map", node);
  std::vector<Value> values;
  for (const auto& [name, member] : node.members) {
    if (member.kind == JsonNode::Kind::null) return base::invalid("Invalid null value in map");
    JsonNode key;
    key.kind = JsonNode::Kind::string;
    key.text = name;
    SIBYL_ASSIGN(Value key_value, from_json(*type.map_key(), key));
    SIBYL_ASSIGN(Value value, from_json(*type.map_value(), member));
    values.push_back(std::move(key_value));
    values.push_back(std::move(value));
  }
  types::Elements elements = views_of(values);
  types::normalise(type, elements);
  return Value(types::join(type, elements));
}

Result<Value> tuple(const types::Type& type, const JsonNode& node) {
  if (node.kind != JsonNode::Kind::array) return expected("a list representation of a tuple", node);
  const size_t size = type.parameters().size();
  if (node.elements.size() != size) {
    return base::invalid(fmt::format("Tuple {} items (expected {}): {}",
                                     node.elements.size() > size ? "contains extra" : "is missing", size,
                                     java_text(node)));
  }
  std::vector<Value> values;
  for (size_t i = 0; i < size; ++i) {
    SIBYL_ASSIGN(Value value, from_json(*type.parameters()[i], node.elements[i]));
    values.push_back(std::move(value));
  }
  return Value(types::join(type, views_of(values)));
}

// Names in JSON are folded like names in CQL, unless they are in quotes.
std::string folded(const std::string& name) {
  if (name.size() >= 2 && name.front() == '"' && name.back() == '"') return name.substr(1, name.size() - 2);
  return base::ascii_lower(name);
}

Result<Value> user_type(const types::Type& type, const JsonNode& node) {
  if (node.kind != JsonNode::Kind::object) return expected("a map", node);
  std::vector<Value> values(type.parameters().size());
  for (const auto& [name, member] : node.members) {
    const int field = type.field_index(folded(name));
    if (field < 0) {
      return base::invalid(
          fmt::format("Unknown field '{}' in value of user defined type {}", folded(name), type.name()));
    }
    const auto index = static_cast<size_t>(field);
    SIBYL_ASSIGN(values[index], from_json(*type.parameters()[index], member));
  }
  return Value(types::join(type, views_of(values)));
}

}  // namespace

Result<Value> from_json(const types::Type& type, const JsonNode& node) {
  if (node.kind == JsonNode::Kind::null) return std::nullopt;
  if (type.parameters().empty()) return scalar(type, node);
  SIBYL_ASSIGN(const JsonNode inner, unwrapped(node));
  switch (type.kind()) {
    case Kind::map:
      return map(type, inner);
    case Kind::tuple:
      return tuple(type, inner);
    case Kind::udt:
      return user_type(type, inner);
    default:
      return sequence(type, inner);
  }
}

Result<std::map<size_t, Value>> json_columns(const schema::Table& table, std::string_view text) {
  auto root = parse_json(text);
  if (root && root->kind == JsonNode::Kind::null) return base::invalid("Got null for INSERT JSON values");
  if (!root || root->kind != JsonNode::Kind::object) {
    return base::invalid(
        fmt::format("Could not decode JSON string as a map: {}. (String was: {})",
                    root ? std::string("it is a ") + java_class(*root) : root.error().message(), text));
  }
  std::map<size_t, Value> values;
  for (const auto& [name, member] : root->members) {
    const schema::Column* column = table.find_even_hidden(folded(name));
    if (!column) return base::invalid("JSON values map contains unrecognized column: " + folded(name));
    auto value = from_json(*column->type, member);
    if (!value) {
      return base::invalid(
          fmt::format("Error decoding JSON value for {}: {}", column->name, value.error().message()));
    }
    values[table.index_of(*column)] = std::move(*value);
  }
  return values;
}

}  // namespace sibyl::plan
