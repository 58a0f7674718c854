// Marks statements that calculate with numbers of any length, which may be slow.
#pragma once

#include "plan/prepared.h"

namespace sibyl::plan {

// An entry in a plan's list of functions. It means that a call has a varint or decimal as argument or result.
inline constexpr const char* long_numbers = "(long numbers)";

bool uses_long_numbers(const Prepared& prepared);

}  // namespace sibyl::plan
