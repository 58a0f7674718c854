// Passwords, asked for on the terminal.
#pragma once

#include <string>

#include "base/result.h"

namespace sibyl::shell {

// From the terminal, without showing it. An error when there is none.
base::Result<std::string> ask_password(const std::string& user);

}  // namespace sibyl::shell
