// Host headers of requests, to prevent DNS rebinding.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sibyl::server {

// Returns true if a Host header (with or without a port) is an IP address or one of `names`. `names` must be
// in lower case.
bool is_own_host(std::string_view host, const std::vector<std::string>& names);

// The names of this machine, which are always accepted, and `more`. In lower case.
std::vector<std::string> own_host_names(const std::vector<std::string>& more);

}  // namespace sibyl::server
