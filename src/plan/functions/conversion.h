// Conversions from and to blobs, and token().
#pragma once

#include "plan/terms/functions.h"

namespace sibyl::plan {

void add_conversion_functions(FunctionRegistry& registry);

}  // namespace sibyl::plan
