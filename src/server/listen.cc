#include "server/listen.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <limits>

namespace sibyl::server {
namespace {

using boost::asio::ip::tcp;

std::string place(const std::string& host, uint16_t port) {
  const bool is_v6 = host.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

// Returns the hint for the operator.
std::string hint_of(const boost::system::error_code& error) {
  if (error == boost::asio::error::address_in_use)
    return "Another program listens there, perhaps another server: `ss -ltnp` shows it. Stop it, or choose "
           "another port: --listen for CQL, --metrics for metrics and the console.";
  if (error == boost::asio::error::access_denied)
    return "Only root may listen on ports below 1024: choose a higher one.";
  if (error == boost::system::errc::address_not_available)
    return "This machine has no such address: `ip address` lists its addresses.";
  return {};
}

// The first address of this machine that is not loopback.
boost::asio::ip::address own_address() {
  std::string found = "127.0.0.1";
  ifaddrs* interfaces = nullptr;
  if (getifaddrs(&interfaces) != 0) return boost::asio::ip::make_address(found);
  for (const ifaddrs* at = interfaces; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_INET) continue;
    if ((at->ifa_flags & IFF_UP) == 0 || (at->ifa_flags & IFF_LOOPBACK) != 0) continue;
    char text[INET_ADDRSTRLEN];
    const auto* address = reinterpret_cast<const sockaddr_in*>(at->ifa_addr);
    if (inet_ntop(AF_INET, &address->sin_addr, text, sizeof text) != nullptr) {
      found = text;
      break;
    }
  }
  freeifaddrs(interfaces);
  return boost::asio::ip::make_address(found);
}

}  // namespace

base::Result<boost::asio::ip::address> reachable_address(const std::string& host,
                                                         const std::string& broadcast_host) {
  const std::string& wanted = broadcast_host.empty() ? host : broadcast_host;
  boost::system::error_code error;
  boost::asio::io_context context;
  tcp::resolver resolver(context);
  const auto found = resolver.resolve(wanted, "", tcp::resolver::passive, error);
  if (!error && found.empty()) error = boost::asio::error::host_not_found;
  if (error)
    return base::fail(base::ErrorCode::server,
                      fmt::format("Cannot find the address of {}: {}", wanted, error.message()));
  const boost::asio::ip::address address = found.begin()->endpoint().address();
  return address.is_unspecified() ? own_address() : address;
}

base::Result<tcp::endpoint> listen(tcp::acceptor& acceptor, const std::string& host, uint16_t port,
                                   int backlog) {
  boost::system::error_code error;
  tcp::endpoint endpoint;
  tcp::resolver resolver(acceptor.get_executor());
  const auto found = resolver.resolve(host, std::to_string(port),
                                      tcp::resolver::passive | tcp::resolver::numeric_service, error);
  if (!error && found.empty()) error = boost::asio::error::host_not_found;
  if (!error) acceptor.open(found.begin()->endpoint().protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(*found.begin(), error);
  if (!error) acceptor.listen(backlog, error);
  if (!error) endpoint = acceptor.local_endpoint(error);
  if (error)
    return base::fail(base::Error(base::ErrorCode::server,
                                  fmt::format("Cannot listen on {}: {}", place(host, port), error.message()))
                          .with_hint(hint_of(error)));
  return endpoint;
}

// The reserve covers open data files (at most 512), segments of the commit log, files that are being written,
// and the descriptors of reactors, HTTP and the control socket.
size_t connections_within(size_t wanted, size_t descriptors) {
  constexpr size_t reserve = 640;
  return std::min(wanted, descriptors - std::min(reserve, descriptors / 2));
}

size_t descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<size_t>::max();
  return limit.rlim_cur;
}

std::string to_text(const tcp::endpoint& endpoint) {
  return place(endpoint.address().to_string(), endpoint.port());
}

}  // namespace sibyl::server
