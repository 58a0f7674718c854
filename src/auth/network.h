// Groups client addresses into networks.
#pragma once

#include <string>
#include <string_view>

namespace sibyl::auth {

// Returns the network of a numeric address without port. An IPv4 address, also when written as IPv6, is its
// own network. For other IPv6 addresses it is the first 64 bits, because a client can choose the rest.
// Link-local addresses, which share their first 64 bits, and texts that are not addresses are returned
// unchanged.
std::string network_of(std::string_view address);

}  // namespace sibyl::auth
