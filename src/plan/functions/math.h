// abs, exp, log, log10 and round.
#pragma once

#include "plan/terms/functions.h"

namespace sibyl::plan {

void add_math_functions(FunctionRegistry& registry);

}  // namespace sibyl::plan
