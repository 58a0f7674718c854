// A running server on this machine, found by its address.
#pragma once

#include <string>

#include "base/result.h"

namespace sibyl::client {
struct Options;
}

namespace sibyl::cli {

// Returns a row of system_views.settings. Empty if the server has no such setting.
base::Result<std::string> ask_setting(const client::Options& server, const std::string& name);

// Returns the data directory of a server on this machine. Fails if the server is on another machine, has no directory, or if
// this user may not use its control socket.
base::Result<std::string> find_data_directory(const client::Options& server);

}  // namespace sibyl::cli
