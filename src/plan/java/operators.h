// Operators with Java's rules: promotion, wrapping and evaluation order. Internal to src/plan/java.
#pragma once

#include <string_view>

#include "base/result.h"
#include "plan/java/node.h"

namespace sibyl::plan::java {

base::Result<Node> unary(std::string_view op, Node operand, int line);
base::Result<Node> binary(std::string_view op, Node left, Node right, int line);
base::Result<Node> conditional(Node condition, Node yes, Node no, int line);

}  // namespace sibyl::plan::java
