#include "plan/functions/aggregate.h"
#include "plan/functions/cast.h"
#include "plan/functions/collection.h"
#include "plan/functions/conversion.h"
#include "plan/functions/mask.h"
#include "plan/functions/math.h"
#include "plan/functions/operations.h"
#include "plan/functions/time.h"

namespace sibyl::plan {

// This is defined here because terms/functions.cc may not include the groups of functions.
FunctionRegistry::FunctionRegistry() {
  add_time_functions(*this);
  add_conversion_functions(*this);
  add_cast_functions(*this);
  add_operations(*this);
  add_math_functions(*this);
  add_collection_functions(*this);
  add_json_functions(*this);
  add_mask_functions(*this);
  add_aggregates(*this);
}

}  // namespace sibyl::plan
