// Listening sockets.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace sibyl::server {

// Binds the acceptor and starts to listen. Returns the actual endpoint: port 0 is replaced by the port that
// the system chose. Blocks while a host name is resolved.
base::Result<boost::asio::ip::tcp::endpoint> listen(boost::asio::ip::tcp::acceptor& acceptor,
                                                    const std::string& host, uint16_t port, int backlog);

// The numeric address at which clients reach a server that listens on `host`: `broadcast_host` if it is set,
// else `host`, else (if that means all interfaces) the first address of this machine. Blocks while a name is
// resolved.
base::Result<boost::asio::ip::address> reachable_address(const std::string& host,
                                                         const std::string& broadcast_host);

// Returns how many of the `wanted` connections fit into the process's limit of `descriptors`. Some
// descriptors are reserved for the store's files, the commit log and the control socket.
size_t connections_within(size_t wanted, size_t descriptors);
// The process's limit of open files.
size_t descriptor_limit();

// "127.0.0.1:9042", "[::1]:9042".
std::string to_text(const boost::asio::ip::tcp::endpoint& endpoint);

}  // namespace sibyl::server
