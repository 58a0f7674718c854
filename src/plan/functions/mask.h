// The functions that mask columns.
#pragma once

#include "plan/terms/functions.h"

namespace sibyl::plan {

void add_mask_functions(FunctionRegistry& registry);

}  // namespace sibyl::plan
