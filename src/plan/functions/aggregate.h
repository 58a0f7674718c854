// count, min, max, sum and avg.
#pragma once

#include "plan/terms/functions.h"

namespace sibyl::plan {

void add_aggregates(FunctionRegistry& registry);

// min, max, sum or avg, chosen by the end of `name`, over elements of one type.
std::unique_ptr<Accumulator> make_accumulator(std::string_view name, const types::TypePtr& element);

}  // namespace sibyl::plan
