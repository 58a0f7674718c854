// Limits for the combinations of a statement's INs.
#pragma once

#include <cstddef>

#include "base/result.h"

namespace sibyl::plan {

// The sizes of several INs multiply. No useful statement exceeds these limits. A write is built in memory and
// committed as a whole, so its limit is lower; it counts partitions and rows together.
inline constexpr size_t max_combinations_read = 1'000'000;
inline constexpr size_t max_combinations_written = 100'000;

// Refuses more than `max_combinations` combinations of `left` and `right` values.
base::Status check_combinations(size_t left, size_t right, size_t max_combinations);

}  // namespace sibyl::plan
