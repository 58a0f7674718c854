// Methods of tuples and user types: getInt(0), setInt(0, x), getString("field"), … Internal to src/plan/java.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/java/methods.h"

namespace sibyl::plan::java {

// True for tuples and user types.
bool is_composite(const Type& type);
// `t.getInt(0)`. A component that is null is 0, false or a null String, as in Cassandra's driver.
base::Result<Node> get_component(Node object, const std::string& method, std::vector<Node> arguments,
                                 int line);
// The changed value for the statement `t.setInt(0, x);`.
base::Result<Node> set_component(Node object, const std::string& method, std::vector<Node> arguments,
                                 int line);

}  // namespace sibyl::plan::java
