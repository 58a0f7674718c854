// Checks that settings agree with each other. Internal to apps/cli/configuration.
#pragma once

#include <string>
#include <vector>

#include "cli/configuration/reader.h"

namespace sibyl::cli {

// Checks that settings agree with each other. Adds problems and warnings with their places.
void check_together(const Reader::Result& result, std::vector<Problem>& problems,
                    std::vector<std::string>& warnings);

}  // namespace sibyl::cli
