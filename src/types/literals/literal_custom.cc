#include "types/literals/literal_custom.h"

#include <fmt/format.h>

#include "types/custom_class.h"
#include "types/literals/literal.h"

namespace sibyl::types {

using base::invalid;
using base::Result;

namespace {

constexpr uint16_t composite_alias_flag = 0x8000;

std::vector<std::string_view> split_text(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size() && !text.empty(); ++i) {
    if (i < text.size() && (text[i] != ':' || (i > 0 && text[i - 1] == '\\'))) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

std::string unescape(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] != '\\' || i + 1 == text.size() || text[i + 1] != ':') plain += text[i];
  if (plain.ends_with('!')) plain.pop_back();
  return plain;
}

// Removes the type in front of a component of a dynamic composite, and appends its header.
Result<ComponentType> take_dynamic_type(const CustomClass& custom, std::string_view& part, Bytes& out) {
  const size_t at = part.find('@');
  if (at == std::string_view::npos || part.find('@', at + 1) != std::string_view::npos ||
      at + 1 == part.size())
    return invalid(fmt::format("Invalid component representation: {}", part));
  const std::string name(part.substr(0, at));
  part.remove_prefix(at + 1);
  if (const ComponentType* alias = name.size() == 1 ? custom.find_alias(name[0]) : nullptr) {
    base::append_big_endian(
        out, static_cast<uint16_t>(composite_alias_flag | static_cast<unsigned char>(name[0])));
    return *alias;
  }
  const ComponentType type = component_of_class(name);
  if (!type.type)
    return invalid(fmt::format("Unable to find abstract-type class '{}{}'",
                               name.find('.') == std::string::npos ? "org.apache.cassandra.db.marshal." : "",
                               name));
  base::append_big_endian(out, static_cast<uint16_t>(name.size()));
  out += name;
  return type;
}

Result<Bytes> parse_composite(const CustomClass& custom, std::string_view text) {
  Bytes out;
  size_t index = 0;
  for (std::string_view part : split_text(text)) {
    if (part == "!" || part == "_") {
      if (!out.empty()) out.back() = part == "!" ? '\1' : '\xff';
      break;
    }
    ComponentType type;
    if (custom.form == CustomClass::Form::dynamic_composite) {
      SIBYL_ASSIGN(type, take_dynamic_type(custom, part, out));
    } else if (index < custom.components.size()) {
      type = custom.components[index];
    } else {
      return invalid("Too many bytes for comparator");
    }
    SIBYL_ASSIGN(const Bytes value, from_string(*type.type, unescape(part)));
    if (value.size() > UINT16_MAX) return invalid("A component of a composite is too long");
    base::append_big_endian(out, static_cast<uint16_t>(value.size()));
    out += value;
    out.push_back('\0');
    ++index;
  }
  return out;
}

}  // namespace

Result<Bytes> parse_custom(const Type& type, std::string_view text) {
  const auto custom = find_custom_class(type);
  if (text.empty()) return Bytes();
  if (custom->form == CustomClass::Form::lexical_uuid) {
    Bytes uuid;
    if (!parse_uuid(text, uuid)) return invalid(fmt::format("unable to make UUID from '{}'", text));
    return uuid;
  }
  return parse_composite(*custom, text);
}

}  // namespace sibyl::types
