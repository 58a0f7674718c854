// Plans and errors of statements that are being written. An endpoint of docs/console-api.md.
#pragma once

#include "cli/console/api.h"

namespace sibyl::cli::console {

Answer explain_script(const Call& call);

}  // namespace sibyl::cli::console
