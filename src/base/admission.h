// Limits of the running statement for code that an exception must not cross, such as callbacks of a library.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/reservation.h"
#include "base/result.h"

namespace sibyl::base {

// Returns the error with which the statement on this thread must end instead of allocating `bytes` and working for about
// `nanos` (statement.h). Allocate the memory under UnlimitedMemory. Succeeds outside of statements.
//
// If `reserved` is given, the memory is reserved for as long as it exists. Otherwise allocate it at once.
Status admit(size_t bytes, int64_t nanos, MemoryReservation* reserved = nullptr);

}  // namespace sibyl::base
