// Limits of the running statement for code that an exception must not cross, such as callbacks of a library.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace sibyl::base {

// Returns the error with which the statement on this thread must end instead of allocating `bytes` and
// working for about `nanos` (statement.h). The memory is not reserved: allocate it at once, under
// UnlimitedMemory. Succeeds outside of statements.
Status admit(size_t bytes, int64_t nanos);

}  // namespace sibyl::base
