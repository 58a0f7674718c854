// Reads passwords from elsewhere than the command line, where other users could see them.
#pragma once

#include <string>

#include "base/result.h"

namespace sibyl::cli::shell {

// Reads SIBYL_PASSWORD, or asks on the terminal without echo. Fails if neither is available.
base::Result<std::string> ask_password(const std::string& user);

}  // namespace sibyl::cli::shell
