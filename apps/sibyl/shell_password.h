// Passwords that are not on the command line, where others can see them.
#pragma once

#include <string>

#include "base/result.h"

namespace sibyl::shell {

// From the variable SIBYL_PASSWORD, else from the terminal, without showing it. An error when there is
// neither.
base::Result<std::string> ask_password(const std::string& user);

}  // namespace sibyl::shell
