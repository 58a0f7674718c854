// Prints fragments as text: for tests, for the layout view and for inspecting a damaged store.
#pragma once

#include <string>

#include "row/fragment.h"

namespace sibyl::row {

// Returns one line with values in hex. Prints exactly what is encoded: two fragments have the same text if
// and only if they have the same encoding.
std::string print(const Fragment& fragment);

}  // namespace sibyl::row
