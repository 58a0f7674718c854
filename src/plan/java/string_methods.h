// java.lang.String. Internal to src/plan/java.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/java/node.h"

namespace sibyl::plan::java {

// `s.length()`
base::Result<Node> call_string(Node object, const std::string& name, std::vector<Node> arguments, int line);

}  // namespace sibyl::plan::java
