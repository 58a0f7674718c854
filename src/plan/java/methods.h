// Methods and constants of Math, String and the classes of boxed values. Internal to src/plan/java.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/java/node.h"

namespace sibyl::plan::java {

// True for the classes whose static methods and constants are supported, such as Math.
bool is_class(std::string_view name);
// `Math.max(a, b)`
base::Result<Node> call_static(const std::string& class_name, const std::string& method,
                               std::vector<Node> arguments, int line);
// `Integer.MAX_VALUE`
base::Result<Node> constant_of(const std::string& class_name, const std::string& name, int line);
// `s.length()`
base::Result<Node> call_method(Node object, const std::string& method, std::vector<Node> arguments, int line);

// --- Parts

// The error for a method, or for its arguments, that are not supported: `Math.random() is not supported`.
std::unexpected<base::Error> no_method(const std::string& owner, const std::string& method,
                                       const std::vector<Node>& arguments, int line);
// True if the argument can be passed for a parameter of this primitive type without a cast.
bool passes(const Node& argument, JavaKind parameter);
// The argument's value as that type. REQUIRES: passes().
Node passed(Node argument, JavaKind parameter);

// A call that evaluates all arguments in their order, and then `combine`.
template <typename Combine>
Node make_call(Type type, std::vector<Node> arguments, Combine combine) {
  Node out;
  out.type = std::move(type);
  out.evaluate = [arguments = std::move(arguments), combine](Frame& frame) -> base::Result<Value> {
    std::vector<Value> values;
    for (const Node& argument : arguments) {
      SIBYL_ASSIGN(Value value, argument.evaluate(frame));
      values.push_back(std::move(value));
    }
    SIBYL_ASSIGN(Value result, combine(values));
    return charged(frame, std::move(result));
  };
  return out;
}

}  // namespace sibyl::plan::java
