// What is run within a millisecond or so.
#pragma once

#include <cstddef>

namespace sibyl::execute {

// Statements of a batch.
inline constexpr size_t quick_batch = 256;

}  // namespace sibyl::execute
