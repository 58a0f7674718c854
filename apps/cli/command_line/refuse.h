// Error output of the commands.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sibyl::cli {

// Exit codes of the commands. A command may define more, starting at 3.
inline constexpr int exit_failed = 1;   // the command failed, or a statement
inline constexpr int exit_refused = 2;  // nothing was run: wrong usage, no connection, a missing file

// Prints "sibyl COMMAND: message" to standard error, with the hint on a separate line. Returns `status`.
int refuse(std::string_view command, int status, const base::Error& error);
int refuse(std::string_view command, int status, const std::string& message, const std::string& hint = {});

}  // namespace sibyl::cli
