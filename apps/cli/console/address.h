// Decides whether an address is reachable from other machines.
#pragma once

#include <string>

namespace sibyl::cli::console {

// True if HOST:PORT is a loopback address: 127.0.0.1, ::1, localhost, and so on.
bool is_loopback(const std::string& address);

}  // namespace sibyl::cli::console
