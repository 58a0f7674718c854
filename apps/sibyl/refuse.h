// How every command says why it ends.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sibyl {

// To standard error: "sibyl COMMAND: message", and the hint on a line of its own. Returns the status.
int refuse(std::string_view command, int status, const base::Error& error);
int refuse(std::string_view command, int status, const std::string& message, const std::string& hint = {});

}  // namespace sibyl
