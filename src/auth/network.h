// Where a client comes from, as far as it cannot choose.
#pragma once

#include <string>
#include <string_view>

namespace sibyl::auth {

// What an address (numeric, without the port) is counted as: an IPv4 address is itself, also when it is
// written as an IPv6 one; of other IPv6 addresses the first 64 bits count, for the rest is whatever the
// client likes. Link-local addresses, which all have the same 64, and what is no address stay as they are.
std::string network_of(std::string_view address);

}  // namespace sibyl::auth
