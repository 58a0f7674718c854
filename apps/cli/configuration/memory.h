// Sizes that depend on the memory of the machine.
#pragma once

#include <cstdint>

#include "cli/configuration/reader.h"

namespace sibyl::cli {

// Derives the sizes that were not given from `memory` and from the given sizes. If `memory` is set, the
// server uses it. Otherwise it uses only a small part of the `available` memory. The shares leave room for
// responses in progress and for the operating system's cache.
void derive_sizes(Reader::Result& result, uint64_t available);

}  // namespace sibyl::cli
