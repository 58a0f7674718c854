#include "types/custom_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "types/compare.h"
#include "types/type_name.h"
#include "types/validate.h"
#include "types/value.h"

namespace sibyl::types {

using base::Bytes;
using base::BytesView;
using base::Result;
using base::Status;

namespace {

constexpr std::string_view marshal_package = "org.apache.cassandra.db.marshal.";
constexpr uint16_t static_marker = 0xffff;
constexpr uint16_t alias_flag = 0x8000;

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

std::string_view without_package(std::string_view name) {
  if (name.starts_with(marshal_package)) name.remove_prefix(marshal_package.size());
  return name;
}

std::string_view class_of(std::string_view name) {
  return trimmed(without_package(name.substr(0, name.find('('))));
}

// Splits "Class(a,b(c,d))" into its parameters. nullopt if the parentheses do not match.
std::optional<std::vector<std::string_view>> parameters_of(std::string_view name) {
  std::vector<std::string_view> parameters;
  const size_t open = name.find('(');
  if (open == std::string_view::npos) return parameters;
  name = trimmed(name.substr(open));
  int depth = 0;
  size_t begin = 1;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '(') ++depth;
    if (name[i] == ')' && --depth == 0 && i + 1 != name.size()) return std::nullopt;
    const bool ends = (name[i] == ',' && depth == 1) || (name[i] == ')' && depth == 0);
    if (!ends) continue;
    parameters.push_back(trimmed(name.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (depth != 0) return std::nullopt;
  if (parameters.size() == 1 && parameters[0].empty()) parameters.clear();
  return parameters;
}

bool is_known(const Type& type) {
  if (type.kind() == Kind::custom) return is_custom_class_name(type.name());
  for (const TypePtr& parameter : type.parameters())
    if (!is_known(*parameter)) return false;
  return true;
}

// The result has no type if the name is malformed or unknown.
ComponentType component_of(std::string_view name) {
  ComponentType component;
  component.is_reversed = class_of(name) == "ReversedType";
  component.type = parse_class_name(name);  // without ReversedType
  if (component.type && !is_known(*component.type)) component.type = nullptr;
  return component;
}

std::string component_name(const ComponentType& component) {
  const std::string name = component.type->class_name();
  return component.is_reversed ? fmt::format("{}ReversedType({})", marshal_package, name) : name;
}

std::optional<CustomClass> parse_composite_class(const std::vector<std::string_view>& parameters) {
  CustomClass custom;
  custom.form = CustomClass::Form::composite;
  for (const std::string_view parameter : parameters) {
    custom.components.push_back(component_of(parameter));
    if (!custom.components.back().type) return std::nullopt;
  }
  if (custom.components.empty()) return std::nullopt;
  return custom;
}

// Cassandra names aliases in the order of a Java HashMap, and drivers see these names.
void sort_as_hash_table(std::vector<std::pair<char, ComponentType>>& aliases) {
  size_t buckets = 16;
  while (aliases.size() * 4 > buckets * 3) buckets *= 2;
  const auto bucket = [&](const auto& one) { return static_cast<unsigned char>(one.first) & (buckets - 1); };
  std::stable_sort(aliases.begin(), aliases.end(),
                   [&](const auto& left, const auto& right) { return bucket(left) < bucket(right); });
}

// Parameters are aliases of one character: a=>AsciiType.
std::optional<CustomClass> parse_dynamic_class(const std::vector<std::string_view>& parameters) {
  CustomClass custom;
  custom.form = CustomClass::Form::dynamic_composite;
  for (const std::string_view parameter : parameters) {
    const size_t arrow = parameter.find("=>");
    if (arrow == std::string_view::npos || trimmed(parameter.substr(0, arrow)).size() != 1)
      return std::nullopt;
    ComponentType component = component_of(trimmed(parameter.substr(arrow + 2)));
    if (!component.type) return std::nullopt;
    const char alias = trimmed(parameter.substr(0, arrow))[0];
    std::erase_if(custom.aliases, [&](const auto& one) { return one.first == alias; });
    custom.aliases.emplace_back(alias, std::move(component));
  }
  sort_as_hash_table(custom.aliases);
  return custom;
}

std::optional<CustomClass> parse_custom_class(std::string_view name) {
  const std::string_view simple = class_of(name);
  if (simple == "LexicalUUIDType") return CustomClass();
  const auto parameters = parameters_of(name);
  if (!parameters) return std::nullopt;
  if (simple == "CompositeType") return parse_composite_class(*parameters);
  if (simple == "DynamicCompositeType") return parse_dynamic_class(*parameters);
  return std::nullopt;
}

// Parsed names, per thread. Names come from the schema and from values of dynamic composites.
template <typename Parsed, typename Parse>
const Parsed& cached(const std::string& name, Parse parse) {
  constexpr size_t max_names = 256;
  thread_local std::unordered_map<std::string, Parsed> names;
  if (const auto found = names.find(name); found != names.end()) return found->second;
  Parsed parsed = parse(name);  // parse() may use this cache
  if (names.size() >= max_names) names.clear();
  return names.emplace(name, std::move(parsed)).first->second;
}

const ComponentType& cached_component(const std::string& name) {
  return cached<ComponentType>(name, [](const std::string& text) {
    constexpr size_t max_name = 1000;  // limits how deeply names can be nested
    return text.size() > max_name ? ComponentType() : component_of(text);
  });
}

std::unexpected<base::Error> invalid_composite(std::string message) {
  return base::invalid(std::move(message));
}

// Reads the type of the next component from a dynamic composite.
Status read_dynamic_type(const CustomClass& custom, base::Reader& reader, size_t index, CompositePart& part) {
  uint16_t header = 0;
  if (!reader.big_endian(header))
    return invalid_composite("Not enough bytes to header of the comparator part of component " +
                             std::to_string(index));
  if ((header & alias_flag) != 0) {
    const ComponentType* alias = custom.find_alias(static_cast<char>(header & 0xff));
    if (alias == nullptr)
      return invalid_composite(fmt::format("Cannot find comparator for component {}", index));
    part.type = *alias;
    return {};
  }
  BytesView name;
  if (!reader.take(header, name))
    return invalid_composite("Not enough bytes to read comparator name of component " +
                             std::to_string(index));
  part.type = cached_component(std::string(name));
  if (!part.type.type)
    return invalid_composite(fmt::format("Cannot find comparator for component {}", index));
  return {};
}

int order_of(int64_t left, int64_t right) {
  return left < right ? -1 : left > right ? 1 : 0;
}

// Java compares UUIDs as two signed numbers.
int compare_lexical_uuids(BytesView left, BytesView right) {
  // Bytes that are not a UUID sort after all UUIDs.
  if (left.size() != 16 || right.size() != 16)
    return left.size() == 16 ? -1 : right.size() == 16 ? 1 : left.compare(right);
  for (size_t at : {0, 8}) {
    const auto one = static_cast<int64_t>(base::read_big_endian<uint64_t>(left.substr(at)));
    const auto other = static_cast<int64_t>(base::read_big_endian<uint64_t>(right.substr(at)));
    if (const int order = order_of(one, other); order != 0) return order;
  }
  return 0;
}

// Components of different types are in the order of their classes' names.
int compare_parts(const CompositePart& left, const CompositePart& right) {
  if (left.type.is_reversed != right.type.is_reversed || !(*left.type.type == *right.type.type)) {
    const std::string one = sortable_class_name(left.type), other = sortable_class_name(right.type);
    if (const int order = one.compare(other); order != 0) return order;
  }
  const int order = compare(*left.type.type, left.value, right.value);
  return left.type.is_reversed ? -order : order;
}

int compare_composites(const CompositeParts& left, const CompositeParts& right) {
  if (left.is_static != right.is_static) return left.is_static ? -1 : 1;
  for (size_t i = 0; i < left.parts.size() && i < right.parts.size(); ++i) {
    const CompositePart &one = left.parts[i], &other = right.parts[i];
    if (const int order = compare_parts(one, other); order != 0) return order;
    if (one.end != other.end)
      return static_cast<signed char>(one.end) < static_cast<signed char>(other.end) ? -1 : 1;
  }
  return order_of(static_cast<int64_t>(left.parts.size()), static_cast<int64_t>(right.parts.size()));
}

}  // namespace

const ComponentType* CustomClass::find_alias(char alias) const {
  for (const auto& [name, type] : aliases)
    if (name == alias) return &type;
  return nullptr;
}

std::shared_ptr<const CustomClass> find_custom_class(const Type& type) {
  return cached<std::shared_ptr<const CustomClass>>(
      type.name(), [](const std::string& name) -> std::shared_ptr<const CustomClass> {
        auto parsed = parse_custom_class(name);
        return parsed ? std::make_shared<const CustomClass>(std::move(*parsed)) : nullptr;
      });
}

std::string complete_custom_name(std::string_view name) {
  const auto custom = parse_custom_class(name);
  if (!custom) return "";
  std::string complete = fmt::format("{}{}", marshal_package, class_of(name));
  if (custom->form == CustomClass::Form::lexical_uuid) return complete;
  const char* separator = "";
  complete += '(';
  for (const ComponentType& component : custom->components) {
    complete += separator + component_name(component);
    separator = ",";
  }
  for (const auto& [alias, component] : custom->aliases) {
    complete += fmt::format("{}{}=>{}", separator, alias, component_name(component));
    separator = ",";
  }
  return complete + ')';
}

bool is_custom_class_name(std::string_view name) {
  const std::string_view simple = class_of(name);
  return simple == "LexicalUUIDType" || simple == "CompositeType" || simple == "DynamicCompositeType";
}

Result<CompositeParts> split_composite(const CustomClass& custom, BytesView value) {
  CompositeParts composite;
  base::Reader reader(value);
  uint16_t size = 0;
  const bool is_fixed = custom.form == CustomClass::Form::composite;
  composite.is_static =
      is_fixed && value.size() >= 2 && base::read_big_endian<uint16_t>(value) == static_marker;
  if (composite.is_static) reader.big_endian(size);
  for (size_t i = 0; !reader.at_end(); ++i) {
    CompositePart part;
    const BytesView before = reader.rest();
    if (!is_fixed) {
      SIBYL_TRY(read_dynamic_type(custom, reader, i, part));
    } else if (i == custom.components.size()) {
      return invalid_composite("Too many bytes for comparator");
    } else {
      part.type = custom.components[i];
    }
    part.header = before.substr(0, before.size() - reader.rest().size());
    if (!reader.big_endian(size))
      return invalid_composite(fmt::format("Not enough bytes to read value size of component {}", i));
    if (!reader.take(size, part.value))
      return invalid_composite(fmt::format("Not enough bytes to read value of component {}", i));
    BytesView end;
    if (!reader.take(1, end))
      return invalid_composite(
          fmt::format("Not enough bytes to read the end-of-component byte of component{}", i));
    part.end = end[0];
    if (part.end != 0 && !reader.at_end())
      return invalid_composite(
          fmt::format("Invalid bytes remaining after an end-of-component at component{}", i));
    composite.parts.push_back(std::move(part));
  }
  return composite;
}

Status validate_custom(const Type& type, BytesView value) {
  const auto custom = find_custom_class(type);
  if (custom == nullptr || value.empty()) return {};
  if (custom->form == CustomClass::Form::lexical_uuid) {
    if (value.size() == 16) return {};
    return base::invalid(fmt::format("LexicalUUID should be 16 or 0 bytes ({})", value.size()));
  }
  SIBYL_ASSIGN(const CompositeParts composite, split_composite(*custom, value));
  for (const CompositePart& part : composite.parts) SIBYL_TRY(validate(*part.type.type, part.value));
  return {};
}

int compare_custom(const Type& type, BytesView left, BytesView right) {
  const auto custom = find_custom_class(type);
  if (custom == nullptr || left.empty() || right.empty()) return left.compare(right);
  if (custom->form == CustomClass::Form::lexical_uuid) return compare_lexical_uuids(left, right);
  const auto one = split_composite(*custom, left);
  const auto other = split_composite(*custom, right);
  // Bytes that are not a part sort after all parts.
  if (!one || !other) return one ? -1 : other ? 1 : left.compare(right);
  return compare_composites(*one, *other);
}

std::string sortable_class_name(const ComponentType& component) {
  const std::string name = component_name(component);
  // ReversedType(x) sorts by its own name among other types, but by x among reversed types.
  const std::string inner = component.is_reversed ? component.type->class_name() : name;
  const std::string_view simple = class_of(inner);
  const size_t dot = simple.rfind('.');
  return fmt::format("{}{}\n{}", component.is_reversed ? "ReversedType\n" : "",
                     simple.substr(dot == std::string_view::npos ? 0 : dot + 1), name);
}

ComponentType component_of_class(const std::string& name) {
  return cached_component(name);
}

}  // namespace sibyl::types
