// Listening on an address of this machine.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace sibyl::server {

// Where the acceptor then listens: port 0 has become a real one. Waits for names to be resolved.
base::Result<boost::asio::ip::tcp::endpoint> listen(boost::asio::ip::tcp::acceptor& acceptor,
                                                    const std::string& host, uint16_t port, int backlog);

// "127.0.0.1:9042", "[::1]:9042".
std::string to_text(const boost::asio::ip::tcp::endpoint& endpoint);

}  // namespace sibyl::server
