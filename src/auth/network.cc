#include "auth/network.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>

namespace sibyl::auth {

std::string network_of(std::string_view address) {
  const std::string text(address.substr(0, address.find('%')));
  in6_addr six{};
  if (inet_pton(AF_INET6, text.c_str(), &six) != 1 || IN6_IS_ADDR_LINKLOCAL(&six))
    return std::string(address);
  std::array<char, INET6_ADDRSTRLEN> printed{};
  if (IN6_IS_ADDR_V4MAPPED(&six)) {
    inet_ntop(AF_INET, six.s6_addr + 12, printed.data(), printed.size());
    return printed.data();
  }
  std::fill(six.s6_addr + 8, six.s6_addr + 16, uint8_t{0});
  inet_ntop(AF_INET6, &six, printed.data(), printed.size());
  return std::string(printed.data()) + "/64";
}

}  // namespace sibyl::auth
