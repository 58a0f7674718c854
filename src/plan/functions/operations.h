// Arithmetic.
#pragma once

#include "plan/terms/functions.h"

namespace sibyl::plan {

void add_operations(FunctionRegistry& registry);

}  // namespace sibyl::plan
