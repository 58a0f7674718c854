// Functions on collections, and conversions from and to JSON.
#pragma once

#include "plan/terms/functions.h"

namespace sibyl::plan {

void add_collection_functions(FunctionRegistry& registry);
void add_json_functions(FunctionRegistry& registry);

}  // namespace sibyl::plan
