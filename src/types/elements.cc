// Splits and joins collections, tuples and vectors.
#include "types/elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "types/compare.h"
#include "types/value.h"
#include "types/vint.h"

namespace sibyl::types {
namespace {

constexpr std::string_view kind_name(Kind kind) {
  return kind == Kind::list ? "list" : kind == Kind::set ? "set" : "map";
}

base::Result<Elements> split_collection(const Type& type, BytesView bytes) {
  const auto too_short = [&] {
    return base::invalid(fmt::format("Not enough bytes to read a {}", kind_name(type.kind())));
  };
  base::Reader reader(bytes);
  uint32_t raw_count = 0;
  if (!reader.big_endian(raw_count)) return too_short();
  const auto count = static_cast<int32_t>(raw_count);
  if (count < 0)
    return base::invalid(fmt::format("The data cannot be deserialized as a {}", kind_name(type.kind())));
  const uint64_t total = static_cast<uint64_t>(count) * (type.kind() == Kind::map ? 2 : 1);
  if (total > reader.rest().size() / 4) return too_short();
  Elements elements;
  elements.reserve(total);
  for (uint64_t i = 0; i < total; ++i) {
    uint32_t size = 0;
    BytesView element;
    if (!reader.big_endian(size)) return too_short();
    if (static_cast<int32_t>(size) < 0) {
      elements.emplace_back(std::nullopt);
    } else if (reader.take(size, element)) {
      elements.emplace_back(element);
    } else {
      return too_short();
    }
  }
  if (!reader.at_end())
    return base::invalid(fmt::format("Unexpected extraneous bytes after {} value", kind_name(type.kind())));
  return elements;
}

base::Result<Elements> split_tuple(const Type& type, BytesView bytes) {
  const size_t count = type.parameters().size();
  Elements elements;
  elements.reserve(count);
  base::Reader reader(bytes);
  for (size_t i = 0; i < count && !reader.at_end(); ++i) {
    uint32_t size = 0;
    BytesView element;
    if (!reader.big_endian(size))
      return base::invalid(fmt::format("Not enough bytes to read {}th component", i));
    if (static_cast<int32_t>(size) < 0) {
      elements.emplace_back(std::nullopt);
    } else if (reader.take(size, element)) {
      elements.emplace_back(element);
    } else {
      return base::invalid(fmt::format("Not enough bytes to read {}th component", i));
    }
  }
  if (!reader.at_end())
    return base::invalid(fmt::format("Expected {} {} for {} column, but got more", count,
                                     count == 1 ? "value" : "values", type.cql_name()));
  elements.resize(count);
  return elements;
}

base::Result<Elements> split_vector(const Type& type, BytesView bytes) {
  const auto too_short = [&] { return base::invalid("Not enough bytes to read a " + type.cql_name()); };
  if (bytes.empty()) return base::invalid("Invalid empty vector value");
  const int64_t element_size = type.element()->fixed_size();
  if (type.dimension() > bytes.size() ||
      (element_size >= 0 && type.fixed_size() > static_cast<int64_t>(bytes.size())))
    return too_short();
  Elements elements;
  elements.reserve(type.dimension());
  for (uint32_t i = 0; i < type.dimension(); ++i) {
    auto size = static_cast<uint64_t>(element_size);
    if (element_size < 0 && !take_unsigned_vint(bytes, size)) return too_short();
    if (size > bytes.size()) return too_short();
    elements.emplace_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  if (!bytes.empty())
    return base::invalid(
        fmt::format("Unexpected {} extraneous bytes after {} value", bytes.size(), type.cql_name()));
  return elements;
}

void append_element(const std::optional<BytesView>& element, Bytes& out) {
  if (!element) {
    base::append_big_endian<uint32_t>(out, 0xffffffffu);
    return;
  }
  base::append_big_endian(out, static_cast<uint32_t>(element->size()));
  out.append(*element);
}

}  // namespace

base::Result<Elements> split(const Type& type, BytesView bytes) {
  switch (type.kind()) {
    case Kind::list:
    case Kind::set:
    case Kind::map:
      return split_collection(type, bytes);
    case Kind::tuple:
    case Kind::udt:
      return split_tuple(type, bytes);
    case Kind::vector:
      return split_vector(type, bytes);
    default:
      return base::invalid(fmt::format("{} has no elements", type.cql_name()));
  }
}

Bytes join(const Type& type, const Elements& elements) {
  size_t size = 4;
  for (const auto& element : elements) size += 4 + (element ? element->size() : 0);
  Bytes bytes;
  bytes.reserve(size);
  if (type.kind() == Kind::vector) {
    for (const auto& element : elements) {
      SIBYL_CHECK(element.has_value());
      if (type.element()->fixed_size() < 0) append_unsigned_vint(bytes, element->size());
      bytes.append(*element);
    }
    return bytes;
  }
  if (type.is_collection())
    base::append_big_endian(
        bytes, static_cast<uint32_t>(type.kind() == Kind::map ? elements.size() / 2 : elements.size()));
  for (const auto& element : elements) append_element(element, bytes);
  return bytes;
}

void normalise(const Type& type, Elements& elements) {
  if (type.kind() != Kind::set && type.kind() != Kind::map) return;
  const size_t width = type.kind() == Kind::map ? 2 : 1;
  const size_t count = elements.size() / width;
  std::vector<uint32_t> order(count);
  for (size_t i = 0; i < count; ++i) order[i] = static_cast<uint32_t>(i);
  const auto key = [&](uint32_t index) { return elements[index * width].value_or(BytesView()); };
  std::sort(order.begin(), order.end(), [&](uint32_t left, uint32_t right) {
    const int result = compare(*type.element(), key(left), key(right));
    return result != 0 ? result < 0 : left < right;
  });
  Elements sorted;
  sorted.reserve(elements.size());
  for (const uint32_t index : order) {
    const bool repeated =
        !sorted.empty() &&
        compare(*type.element(), sorted[sorted.size() - width].value_or(BytesView()), key(index)) == 0;
    if (!repeated) sorted.push_back(elements[index * width]);
    if (width == 1) continue;
    if (repeated) sorted.pop_back();
    sorted.push_back(elements[index * width + 1]);
  }
  elements = std::move(sorted);
}

}  // namespace sibyl::types
