// Fragments as text: for tests, for the layout view and for whoever looks at a damaged store.
#pragma once

#include <string>

#include "row/fragment.h"

namespace sibyl::row {

// One line; values in hex. Only what is encoded of a fragment is printed, so two fragments print alike
// exactly when they encode alike.
std::string print(const Fragment& fragment);

}  // namespace sibyl::row
