// Implicit conversions, casts and texts.
#include "plan/java/conversions.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "plan/java/lexer.h"
#include "plan/java/text.h"
#include "types/print.h"

namespace sibyl::plan::java {
namespace {

// The call that unboxes, in messages.
std::string unboxing_call(JavaKind boxed_kind) {
  const std::string primitive = name_of({unboxed(boxed_kind), nullptr});
  return fmt::format("java.lang.{}.{}Value()", name_of({boxed_kind, nullptr}), primitive);
}

template <typename Integer>
Integer saturated(double value) {
  if (std::isnan(value)) return 0;
  // The limits themselves are not doubles for int64_t; comparing with >= and <= still gives Java's result.
  if (value >= static_cast<double>(std::numeric_limits<Integer>::max()))
    return std::numeric_limits<Integer>::max();
  if (value <= static_cast<double>(std::numeric_limits<Integer>::min()))
    return std::numeric_limits<Integer>::min();
  return static_cast<Integer>(value);
}

int64_t narrowed(int64_t value, JavaKind to) {
  switch (to) {
    case JavaKind::byte_:
      return static_cast<int8_t>(value);
    case JavaKind::short_:
      return static_cast<int16_t>(value);
    case JavaKind::char_:
      return static_cast<uint16_t>(value);
    case JavaKind::int_:
      return static_cast<int32_t>(value);
    default:
      return value;
  }
}

bool is_floating(JavaKind kind) {
  return kind == JavaKind::float_ || kind == JavaKind::double_;
}

Value converted(const Value& value, JavaKind from, JavaKind to) {
  if (is_floating(to)) {
    const double number = is_floating(from) ? value.floating : static_cast<double>(value.integer);
    // An integer is rounded to float once.
    if (to == JavaKind::float_)
      return of_floating(is_floating(from) ? static_cast<float>(number) : static_cast<float>(value.integer));
    return of_floating(number);
  }
  if (!is_floating(from)) return of_integer(narrowed(value.integer, to));
  if (to == JavaKind::long_) return of_integer(saturated<int64_t>(value.floating));
  return of_integer(narrowed(saturated<int32_t>(value.floating), to));
}

bool fits(int64_t constant, JavaKind to) {
  return narrowed(constant, to) == constant;
}

Node with_type(Node node, Type type) {
  node.type = std::move(type);
  return node;
}

std::unexpected<base::Error> mismatch(const Node& node, const Type& to, int line) {
  return refused(line,
                 fmt::format("Type mismatch: cannot convert from {} to {}", name_of(node.type), name_of(to)));
}

}  // namespace

Node as_primitive(Node node) {
  const JavaKind from = node.type.kind;
  if (!is_boxed(from)) return node;
  Node out;
  out.type = {unboxed(from), nullptr};
  out.evaluate = [node = std::move(node), from](Frame& frame) -> base::Result<Value> {
    SIBYL_ASSIGN(Value value, node.evaluate(frame));
    if (value.is_null) return null_pointer(node, unboxing_call(from));
    return value;
  };
  return out;
}

Node cast_number(Node node, JavaKind to) {
  const JavaKind from = node.type.kind;
  if (from == to) return node;
  Node out;
  out.type = {to, nullptr};
  if (node.constant && to <= JavaKind::int_) out.constant = narrowed(*node.constant, to);
  out.evaluate = [node = std::move(node), from, to](Frame& frame) -> base::Result<Value> {
    SIBYL_ASSIGN(const Value value, node.evaluate(frame));
    return converted(value, from, to);
  };
  return out;
}

base::Result<Node> assigned(Node node, const Type& to, int line) {
  if (node.type == to) return node;
  const JavaKind from = node.type.kind;
  if (from == JavaKind::null) {
    if (is_primitive(to.kind)) return mismatch(node, to, line);
    return with_type(std::move(node), to);
  }
  const JavaKind target = unboxed(to.kind);
  if (!is_primitive(target) || !is_primitive(unboxed(from))) return mismatch(node, to, line);
  if (is_primitive(to.kind)) {
    if (widens(unboxed(from), target)) return cast_number(as_primitive(std::move(node)), target);
  } else if (from == target) {
    return with_type(std::move(node), to);
  }
  // A constant of type int that fits is narrowed.
  const bool may_narrow =
      target == JavaKind::byte_ || target == JavaKind::short_ || target == JavaKind::char_;
  if (may_narrow && is_primitive(from) && node.constant && fits(*node.constant, target))
    return with_type(cast_number(std::move(node), target), to);
  return mismatch(node, to, line);
}

base::Result<Node> cast(Node node, const Type& to, int line) {
  const JavaKind from = node.type.kind;
  if (node.type == to) return node;
  const auto impossible = [&] {
    return refused(line, fmt::format("Cannot cast from {} to {}", name_of(node.type), name_of(to)));
  };
  if (from == JavaKind::null)
    return is_primitive(to.kind) ? base::Result<Node>(impossible()) : with_type(std::move(node), to);
  if (is_primitive(to.kind)) {
    if (is_boxed(from)) {
      if (!widens(unboxed(from), to.kind)) return impossible();
      return cast_number(as_primitive(std::move(node)), to.kind);
    }
    if (is_numeric(from) && is_numeric(to.kind)) return cast_number(std::move(node), to.kind);
    return impossible();
  }
  if (is_boxed(to.kind) && from == unboxed(to.kind)) return with_type(std::move(node), to);
  return impossible();
}

bool has_text(const Type& type) {
  return type.kind != JavaKind::other;
}

base::Result<std::u16string> text_of(const Type& type, const Value& value) {
  if (value.is_null || type.kind == JavaKind::null) return std::u16string(u"null");
  switch (unboxed(type.kind)) {
    case JavaKind::string:
      return value.text;
    case JavaKind::boolean:
      return std::u16string(value.integer != 0 ? u"true" : u"false");
    case JavaKind::char_:
      return std::u16string(1, static_cast<char16_t>(value.integer));
    case JavaKind::float_:
      return to_utf16(types::format_float(static_cast<float>(value.floating)));
    case JavaKind::double_:
      return to_utf16(types::format_double(value.floating));
    default:
      return to_utf16(std::to_string(value.integer));
  }
}

}  // namespace sibyl::plan::java
