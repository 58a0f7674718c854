// The guardrails as settings. Internal to apps/cli/configuration.
#pragma once

#include <vector>

#include "cli/configuration/settings.h"

namespace sibyl::cli {

// Adds the guardrails. Used only by settings().
void add_guardrails(std::vector<Setting>& list);

}  // namespace sibyl::cli
