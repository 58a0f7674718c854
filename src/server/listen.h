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

// How many connections there may be, of `wanted`, when the process may have so many descriptors: the store's
// files, the log and operators' commands need some, whatever clients do.
size_t connections_within(size_t wanted, size_t descriptors);
// How many descriptors the process may have.
size_t descriptor_limit();

// "127.0.0.1:9042", "[::1]:9042".
std::string to_text(const boost::asio::ip::tcp::endpoint& endpoint);

}  // namespace sibyl::server
