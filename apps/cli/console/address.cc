#include "cli/console/address.h"

#include <boost/asio/ip/address.hpp>

#include "server/server.h"

namespace sibyl::cli::console {

bool is_loopback(const std::string& address) {
  server::Options parsed;
  if (!server::parse_listen_address(address, parsed)) return false;
  if (parsed.host == "localhost") return true;
  boost::system::error_code not_numeric;
  const auto numeric = boost::asio::ip::make_address(parsed.host, not_numeric);
  return !not_numeric && numeric.is_loopback();
}

}  // namespace sibyl::cli::console
