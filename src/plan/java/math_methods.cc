// java.lang.Math. sin, cos, tan, exp, log and pow have the results of the C library, which are within Java's rules: an error
// of less than one unit in the last place. Functions whose results often differ from those of Cassandra's Java are not supported.
#include "plan/java/math_methods.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "plan/java/conversions.h"
#include "plan/java/methods.h"

namespace sibyl::plan::java {
namespace {

using Unary = double (*)(double);
using Binary = double (*)(double, double);

double signum(double x) {
  return x == 0 || std::isnan(x) ? x : std::copysign(1.0, x);
}

// Java has NaN where C has 1: for a base of 1 or -1 and an exponent that is NaN or infinite.
double power(double base, double exponent) {
  const bool is_undefined = (std::isnan(exponent) || std::isinf(exponent)) && std::abs(base) == 1;
  return is_undefined ? std::numeric_limits<double>::quiet_NaN() : std::pow(base, exponent);
}

template <typename Function>
struct Named {
  std::string_view name;
  Function function;
};

constexpr std::array<Named<Unary>, 10> unary_functions = {{{"sin", std::sin},
                                                           {"cos", std::cos},
                                                           {"tan", std::tan},
                                                           {"exp", std::exp},
                                                           {"log", std::log},
                                                           {"sqrt", std::sqrt},
                                                           {"ceil", std::ceil},
                                                           {"floor", std::floor},
                                                           {"rint", std::rint},
                                                           {"signum", signum}}};
constexpr std::array<Named<Binary>, 2> binary_functions = {{{"pow", power}, {"copySign", std::copysign}}};

template <typename Table>
auto find(const Table& table, std::string_view name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& entry) { return entry.name == name; });
  return found == table.end() ? nullptr : found->function;
}

// NaN wins, and 0.0 is larger than -0.0.
double extreme(double a, double b, bool is_max) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == 0 && b == 0) return std::signbit(a) == is_max ? b : a;
  return is_max ? std::max(a, b) : std::min(a, b);
}

bool is_floating_kind(JavaKind kind) {
  return kind == JavaKind::float_ || kind == JavaKind::double_;
}

base::Result<Node> max_or_min(std::vector<Node> arguments, bool is_max) {
  const JavaKind kind = promoted(unboxed(arguments[0].type.kind), unboxed(arguments[1].type.kind));
  for (Node& argument : arguments) argument = passed(std::move(argument), kind);
  return make_call({kind, nullptr}, std::move(arguments),
                   [=](const std::vector<Value>& values) -> base::Result<Value> {
                     if (is_floating_kind(kind))
                       return of_floating(extreme(values[0].floating, values[1].floating, is_max));
                     const auto [least, most] = std::minmax(values[0].integer, values[1].integer);
                     return of_integer(is_max ? most : least);
                   });
}

base::Result<Node> absolute(Node argument) {
  const JavaKind kind = promoted(unboxed(argument.type.kind), JavaKind::int_);
  argument = passed(std::move(argument), kind);
  return make_call({kind, nullptr}, {std::move(argument)},
                   [=](const std::vector<Value>& values) -> base::Result<Value> {
                     if (is_floating_kind(kind)) return of_floating(std::abs(values[0].floating));
                     // The smallest number stays negative.
                     const int64_t lowest = kind == JavaKind::int_ ? std::numeric_limits<int32_t>::min()
                                                                   : std::numeric_limits<int64_t>::min();
                     const int64_t value = values[0].integer;
                     return of_integer(value == lowest || value >= 0 ? value : -value);
                   });
}

// Rounds halves up: to int for a float, to long for a double.
base::Result<Node> rounded(Node argument) {
  const bool is_single = unboxed(argument.type.kind) != JavaKind::double_;
  Node floor = make_call({JavaKind::double_, nullptr},
                         {passed(std::move(argument), is_single ? JavaKind::float_ : JavaKind::double_)},
                         [](const std::vector<Value>& values) -> base::Result<Value> {
                           const double value = values[0].floating;
                           const double below = std::floor(value);
                           return of_floating(value - below >= 0.5 ? below + 1 : below);
                         });
  return cast_number(std::move(floor), is_single ? JavaKind::int_ : JavaKind::long_);
}

}  // namespace

base::Result<Node> call_math(const std::string& method, std::vector<Node> arguments, int line) {
  const auto are = [&](size_t count) {
    return arguments.size() == count &&
           std::all_of(arguments.begin(), arguments.end(),
                       [](const Node& argument) { return is_numeric(unboxed(argument.type.kind)); });
  };
  const Type real{JavaKind::double_, nullptr};
  if (are(2) && (method == "max" || method == "min"))
    return max_or_min(std::move(arguments), method == "max");
  if (are(1) && method == "abs") return absolute(std::move(arguments[0]));
  if (are(1) && method == "round") return rounded(std::move(arguments[0]));
  // These two also exist for float, with a float result.
  const bool is_single = (method == "signum" || method == "copySign") &&
                         std::all_of(arguments.begin(), arguments.end(),
                                     [](const Node& node) { return passes(node, JavaKind::float_); });
  const JavaKind result = is_single ? JavaKind::float_ : JavaKind::double_;
  const Unary unary_function = are(1) ? find(unary_functions, method) : nullptr;
  const Binary binary_function = are(2) ? find(binary_functions, method) : nullptr;
  if (unary_function == nullptr && binary_function == nullptr)
    return no_method("Math", method, arguments, line);
  for (Node& argument : arguments) argument = passed(std::move(argument), JavaKind::double_);
  Node call =
      make_call(real, std::move(arguments), [=](const std::vector<Value>& values) -> base::Result<Value> {
        return of_floating(unary_function != nullptr
                               ? unary_function(values[0].floating)
                               : binary_function(values[0].floating, values[1].floating));
      });
  return cast_number(std::move(call), result);
}

}  // namespace sibyl::plan::java
