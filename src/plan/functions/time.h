// Functions on times and timeuuids.
#pragma once

#include "plan/terms/functions.h"

namespace sibyl::plan {

void add_time_functions(FunctionRegistry& registry);

}  // namespace sibyl::plan
