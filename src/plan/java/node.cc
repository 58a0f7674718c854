#include "plan/java/node.h"

#include <fmt/format.h>

#include "plan/java/text.h"

namespace sibyl::plan::java {

Value of_integer(int64_t value) {
  Value out;
  out.integer = value;
  return out;
}

Value of_floating(double value) {
  Value out;
  out.floating = value;
  return out;
}

Value of_text(std::u16string value) {
  Value out;
  out.text = std::move(value);
  return out;
}

std::unexpected<base::Error> thrown(const std::string& exception) {
  return base::fail(base::ErrorCode::function_failure, exception);
}

std::unexpected<base::Error> null_pointer(const Node& node, const std::string& call) {
  std::string text = fmt::format("java.lang.NullPointerException: Cannot invoke \"{}\"", call);
  if (!node.described.empty()) text += fmt::format(" because {} is null", node.described);
  return thrown(text);
}

Node make_constant(Type type, Value value) {
  Node node;
  if (type.kind >= JavaKind::byte_ && type.kind <= JavaKind::int_) node.constant = value.integer;
  if (type.kind == JavaKind::string) node.literal = to_utf8(value.text);
  node.type = std::move(type);
  node.evaluate = [value = std::move(value)](Frame&) -> base::Result<Value> { return value; };
  return node;
}

Node make_variable(Type type, size_t slot, const std::string& described) {
  Node node;
  node.type = std::move(type);
  node.evaluate = [slot](Frame& frame) -> base::Result<Value> { return charged(frame, frame.slots[slot]); };
  if (!described.empty()) node.described = fmt::format("\"{}\"", described);
  return node;
}

namespace {

std::unexpected<base::Error> too_long() {
  return thrown("java.lang.OutOfMemoryError: the texts of one call have more than 8,388,608 characters");
}

}  // namespace

base::Result<Value> charged(Frame& frame, Value value) {
  frame.text_units += value.text.size();
  if (frame.text_units > max_text_units) return too_long();
  return value;
}

base::Result<Value> checked_text(std::u16string value) {
  if (value.size() > max_text_units) return too_long();
  return of_text(std::move(value));
}

}  // namespace sibyl::plan::java
