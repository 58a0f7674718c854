#include "plan/java/methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "plan/java/composites.h"
#include "plan/java/conversions.h"
#include "plan/java/lexer.h"
#include "plan/java/math_methods.h"
#include "plan/java/string_methods.h"
#include "plan/java/text.h"
#include "plan/numbers/java_numbers.h"

namespace sibyl::plan::java {
namespace {

struct Class {
  std::string_view name;
  JavaKind kind;  // of the boxed value
};
constexpr std::array<Class, 8> boxed_classes = {{{"Boolean", JavaKind::boxed_boolean},
                                                 {"Byte", JavaKind::boxed_byte},
                                                 {"Short", JavaKind::boxed_short},
                                                 {"Character", JavaKind::boxed_char},
                                                 {"Integer", JavaKind::boxed_int},
                                                 {"Long", JavaKind::boxed_long},
                                                 {"Float", JavaKind::boxed_float},
                                                 {"Double", JavaKind::boxed_double}}};

const Class* find_class(std::string_view name) {
  const auto found = std::find_if(boxed_classes.begin(), boxed_classes.end(),
                                  [&](const Class& one) { return one.name == name; });
  return found == boxed_classes.end() ? nullptr : &*found;
}

Node text_node(Node argument) {
  const Type type = argument.type;
  return make_call({JavaKind::string, nullptr}, {std::move(argument)},
                   [type](const std::vector<Value>& values) -> base::Result<Value> {
                     SIBYL_ASSIGN(std::u16string text, text_of(type, values[0]));
                     return of_text(std::move(text));
                   });
}

// Integer.parseInt and Long.parseLong.
Node parse_call(Node text, JavaKind kind) {
  return make_call(
      {kind, nullptr}, {std::move(text)}, [kind](const std::vector<Value>& values) -> base::Result<Value> {
        if (values[0].is_null) return thrown("java.lang.NumberFormatException: Cannot parse null string");
        const std::string digits = to_utf8(values[0].text);
        int32_t number = 0;
        int64_t large = 0;
        if (kind == JavaKind::int_ ? parse_int32(digits, number) : parse_int64(digits, large))
          return of_integer(kind == JavaKind::int_ ? number : large);
        return thrown(fmt::format("java.lang.NumberFormatException: For input string: \"{}\"", digits));
      });
}

// --- Methods of boxed values

constexpr std::array<std::pair<std::string_view, JavaKind>, 8> value_methods = {
    {{"booleanValue", JavaKind::boolean},
     {"byteValue", JavaKind::byte_},
     {"shortValue", JavaKind::short_},
     {"charValue", JavaKind::char_},
     {"intValue", JavaKind::int_},
     {"longValue", JavaKind::long_},
     {"floatValue", JavaKind::float_},
     {"doubleValue", JavaKind::double_}}};

// The order of Integer.compareTo and Double.compareTo: -0.0 is before 0.0, and NaN is last.
int64_t order_of(JavaKind kind, const Value& left, const Value& right) {
  if (kind == JavaKind::byte_ || kind == JavaKind::short_ || kind == JavaKind::char_)
    return left.integer - right.integer;
  if (kind != JavaKind::float_ && kind != JavaKind::double_)
    return left.integer < right.integer ? -1 : left.integer > right.integer;
  const double a = left.floating;
  const double b = right.floating;
  if (a < b) return -1;
  if (a > b) return 1;
  const auto rank = [](double x) { return std::isnan(x) ? 2 : std::signbit(x) && x == 0 ? 0 : 1; };
  return rank(a) < rank(b) ? -1 : rank(a) > rank(b);
}

std::string call_text(JavaKind kind, const std::string& method, std::string_view parameters = "") {
  return fmt::format("java.lang.{}.{}({})", name_of({kind, nullptr}), method, parameters);
}

// The value of an object that a method is called on.
Node object_value(Node object, const std::string& call) {
  Node out;
  out.type = {unboxed(object.type.kind), nullptr};
  out.evaluate = [object = std::move(object), call](Frame& frame) -> base::Result<Value> {
    SIBYL_ASSIGN(Value value, object.evaluate(frame));
    if (value.is_null) return null_pointer(object, call);
    return value;
  };
  return out;
}

base::Result<Node> call_boxed(Node object, const std::string& method, std::vector<Node> arguments, int line) {
  const JavaKind kind = object.type.kind;
  const JavaKind primitive = unboxed(kind);
  const std::string owner = name_of(object.type);
  if (arguments.empty()) {
    if (method == "toString") return text_node(object_value(std::move(object), call_text(kind, method)));
    const auto found = std::find_if(value_methods.begin(), value_methods.end(),
                                    [&](const auto& entry) { return entry.first == method; });
    if (found != value_methods.end() &&
        (found->second == primitive || (is_numeric(primitive) && primitive != JavaKind::char_ &&
                                        is_numeric(found->second) && found->second != JavaKind::char_)))
      return cast_number(object_value(std::move(object), call_text(kind, method)), found->second);
    if ((primitive == JavaKind::double_ || primitive == JavaKind::float_) &&
        (method == "isNaN" || method == "isInfinite"))
      return make_call(
          {JavaKind::boolean, nullptr}, {object_value(std::move(object), call_text(kind, method))},
          [is_nan = method == "isNaN"](const std::vector<Value>& values) -> base::Result<Value> {
            return of_integer(is_nan ? std::isnan(values[0].floating) : std::isinf(values[0].floating));
          });
  }
  if (arguments.size() == 1 && unboxed(arguments[0].type.kind) == primitive) {
    if (method == "compareTo") {
      Node left = object_value(std::move(object), call_text(kind, method, "java.lang." + owner));
      return make_call({JavaKind::int_, nullptr}, {std::move(left), as_primitive(std::move(arguments[0]))},
                       [primitive](const std::vector<Value>& values) -> base::Result<Value> {
                         return of_integer(order_of(primitive, values[0], values[1]));
                       });
    }
    if (method == "equals") {
      Node left = object_value(std::move(object), call_text(kind, method, "Object"));
      return make_call(
          {JavaKind::boolean, nullptr}, {std::move(left), std::move(arguments[0])},
          [primitive](const std::vector<Value>& values) -> base::Result<Value> {
            return of_integer(!values[1].is_null && order_of(primitive, values[0], values[1]) == 0);
          });
    }
  }
  return no_method(owner, method, arguments, line);
}

}  // namespace

bool is_class(std::string_view name) {
  return name == "Math" || name == "String" || find_class(name) != nullptr;
}

std::unexpected<base::Error> no_method(const std::string& owner, const std::string& method,
                                       const std::vector<Node>& arguments, int line) {
  std::vector<std::string> types;
  for (const Node& argument : arguments) types.push_back(name_of(argument.type));
  return refused(line, fmt::format("{}.{}({}) is not supported", owner, method, fmt::join(types, ", ")));
}

bool passes(const Node& argument, JavaKind parameter) {
  return widens(unboxed(argument.type.kind), parameter);
}

Node passed(Node argument, JavaKind parameter) {
  return cast_number(as_primitive(std::move(argument)), parameter);
}

base::Result<Node> call_static(const std::string& class_name, const std::string& method,
                               std::vector<Node> arguments, int line) {
  if (class_name == "Math") return call_math(method, std::move(arguments), line);
  const bool is_one = arguments.size() == 1;
  if (class_name == "String") {
    if (is_one && method == "valueOf" && has_text(arguments[0].type) &&
        arguments[0].type.kind != JavaKind::null)
      return text_node(std::move(arguments[0]));
    return no_method(class_name, method, arguments, line);
  }
  const JavaKind kind = find_class(class_name)->kind;
  const bool fits = is_one && passes(arguments[0], unboxed(kind));
  if (fits && method == "valueOf")
    return assigned(passed(std::move(arguments[0]), unboxed(kind)), {kind, nullptr}, line);
  if (fits && method == "toString") return text_node(passed(std::move(arguments[0]), unboxed(kind)));
  if (fits && (kind == JavaKind::boxed_double || kind == JavaKind::boxed_float) && method == "isNaN")
    return call_boxed(passed(std::move(arguments[0]), unboxed(kind)), method, {}, line);
  const bool is_text = is_one && arguments[0].type.kind == JavaKind::string;
  if (is_text && ((kind == JavaKind::boxed_int && method == "parseInt") ||
                  (kind == JavaKind::boxed_long && method == "parseLong")))
    return parse_call(std::move(arguments[0]), unboxed(kind));
  if (is_text && method == "valueOf" && (kind == JavaKind::boxed_int || kind == JavaKind::boxed_long))
    return assigned(parse_call(std::move(arguments[0]), unboxed(kind)), {kind, nullptr}, line);
  if (arguments.size() == 2 && method == "compare" && passes(arguments[0], unboxed(kind)) &&
      passes(arguments[1], unboxed(kind))) {
    for (Node& argument : arguments) argument = passed(std::move(argument), unboxed(kind));
    return make_call({JavaKind::int_, nullptr}, std::move(arguments),
                     [kind](const std::vector<Value>& values) -> base::Result<Value> {
                       return of_integer(order_of(unboxed(kind), values[0], values[1]));
                     });
  }
  return no_method(class_name, method, arguments, line);
}

base::Result<Node> constant_of(const std::string& class_name, const std::string& name, int line) {
  struct Constant {
    std::string_view class_name, name;
    JavaKind kind;
    double floating;
    int64_t integer;
  };
  using Int = std::numeric_limits<int32_t>;
  using Long = std::numeric_limits<int64_t>;
  using Double = std::numeric_limits<double>;
  static const Constant constants[] = {
      {"Integer", "MAX_VALUE", JavaKind::int_, 0, Int::max()},
      {"Integer", "MIN_VALUE", JavaKind::int_, 0, Int::min()},
      {"Long", "MAX_VALUE", JavaKind::long_, 0, Long::max()},
      {"Long", "MIN_VALUE", JavaKind::long_, 0, Long::min()},
      {"Short", "MAX_VALUE", JavaKind::short_, 0, 32767},
      {"Short", "MIN_VALUE", JavaKind::short_, 0, -32768},
      {"Byte", "MAX_VALUE", JavaKind::byte_, 0, 127},
      {"Byte", "MIN_VALUE", JavaKind::byte_, 0, -128},
      {"Double", "MAX_VALUE", JavaKind::double_, Double::max(), 0},
      {"Double", "MIN_VALUE", JavaKind::double_, Double::denorm_min(), 0},
      {"Double", "NaN", JavaKind::double_, Double::quiet_NaN(), 0},
      {"Double", "POSITIVE_INFINITY", JavaKind::double_, Double::infinity(), 0},
      {"Double", "NEGATIVE_INFINITY", JavaKind::double_, -Double::infinity(), 0},
      {"Math", "PI", JavaKind::double_, 3.141592653589793, 0},
      {"Math", "E", JavaKind::double_, 2.718281828459045, 0},
      {"Boolean", "TRUE", JavaKind::boxed_boolean, 0, 1},
      {"Boolean", "FALSE", JavaKind::boxed_boolean, 0, 0}};
  for (const Constant& constant : constants)
    if (constant.class_name == class_name && constant.name == name) {
      Value value = of_integer(constant.integer);
      value.floating = constant.floating;
      return make_constant({constant.kind, nullptr}, value);
    }
  return refused(line, fmt::format("{}.{} is not supported", class_name, name));
}

base::Result<Node> call_method(Node object, const std::string& method, std::vector<Node> arguments,
                               int line) {
  const Type type = object.type;
  if (is_primitive(type.kind))
    return refused(line, fmt::format("Cannot invoke {}() on the primitive type {}", method, name_of(type)));
  if (type.kind == JavaKind::string)
    return call_string(std::move(object), method, std::move(arguments), line);
  if (is_boxed(type.kind)) return call_boxed(std::move(object), method, std::move(arguments), line);
  if (is_composite(type)) return get_component(std::move(object), method, std::move(arguments), line);
  return no_method(name_of(type), method, arguments, line);
}

}  // namespace sibyl::plan::java
