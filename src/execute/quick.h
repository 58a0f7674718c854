// Limits for work that takes about a millisecond.
#pragma once

#include <cstddef>

namespace sibyl::execute {

// Maximum number of statements in a batch.
inline constexpr size_t max_quick_batch_statements = 256;

}  // namespace sibyl::execute
