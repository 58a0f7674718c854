// Statements that calculate with numbers of any length, which may take long.
#pragma once

#include "plan/prepared.h"

namespace sibyl::plan {

// Among the functions that a plan uses: it calls one with a varint or decimal for an argument or result.
inline constexpr const char* long_numbers = "(long numbers)";

bool uses_long_numbers(const Prepared& prepared);

}  // namespace sibyl::plan
