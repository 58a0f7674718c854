#include "server/listen.h"

#include <fmt/format.h>

namespace sibyl::server {
namespace {

using boost::asio::ip::tcp;

std::string place(const std::string& host, uint16_t port) {
  const bool is_v6 = host.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

}  // namespace

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
    return base::fail(base::ErrorCode::server,
                      fmt::format("Cannot listen on {}: {}", place(host, port), error.message()));
  return endpoint;
}

std::string to_text(const tcp::endpoint& endpoint) {
  return place(endpoint.address().to_string(), endpoint.port());
}

}  // namespace sibyl::server
