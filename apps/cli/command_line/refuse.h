// Prints errors of the commands.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/exit_status.h"

namespace sibyl::cli {

// Prints "sibyl COMMAND: message" to standard error, with the hint on a separate line. Returns `status`.
int refuse(std::string_view command, int status, const base::Error& error);
int refuse(std::string_view command, int status, const std::string& message, const std::string& hint = {});

}  // namespace sibyl::cli
