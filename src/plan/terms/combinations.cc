#include "plan/terms/combinations.h"

#include <fmt/format.h>

namespace sibyl::plan {

base::Status check_combinations(size_t left, size_t right, size_t max_combinations) {
  if (right == 0 || left <= max_combinations / right) return {};
  return base::invalid(
      fmt::format("The IN restrictions name more than {} combinations of values", max_combinations));
}

}  // namespace sibyl::plan
