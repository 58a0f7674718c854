// CAST between types.
#pragma once

#include "plan/terms/functions.h"

namespace sibyl::plan {

void add_cast_functions(FunctionRegistry& registry);

}  // namespace sibyl::plan
