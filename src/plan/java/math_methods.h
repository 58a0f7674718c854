// java.lang.Math. Internal to src/plan/java.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/java/node.h"

namespace sibyl::plan::java {

// `Math.max(a, b)`
base::Result<Node> call_math(const std::string& method, std::vector<Node> arguments, int line);

}  // namespace sibyl::plan::java
