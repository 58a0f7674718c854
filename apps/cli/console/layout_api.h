// The cells of partitions in storage order. Endpoints of docs/console-api.md.
#pragma once

#include "cli/console/api.h"

namespace sibyl::cli::console {

Answer show_layout(const Call& call);

}  // namespace sibyl::cli::console
