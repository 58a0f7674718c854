// How much the INs of a statement may name.
#pragma once

#include <cstddef>

#include "base/result.h"

namespace sibyl::plan {

// INs multiply; beyond these a statement names more than any client can mean. What a statement writes is put
// together in memory and committed whole: so many partitions and rows together.
inline constexpr size_t most_combinations_read = 1'000'000;
inline constexpr size_t most_combinations_written = 100'000;

// Refuses more than `most` combinations of `left` with `right` values.
base::Status check_combinations(size_t left, size_t right, size_t most);

}  // namespace sibyl::plan
