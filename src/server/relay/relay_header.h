// The header that a relay sends before the bytes of a client: the client's address, and the server that the
// client connected to.
//
//   "\r\n" "SIBYL-RELAY-1" "\n"    16 bytes; no frame of the protocol and no TLS handshake begins like this
//   host_id of the relay           16 bytes
//   address of the client          16 bytes; IPv4 as ::ffff:a.b.c.d
//   port of the client             2 bytes, big-endian
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <optional>

#include "base/bytes.h"

namespace sibyl::server {

inline constexpr size_t relay_header_size = 50;

struct RelayHeader {
  base::Bytes host_id;  // 16 bytes
  boost::asio::ip::tcp::endpoint client;
};

// REQUIRES: host_id has 16 bytes.
base::Bytes encode(const RelayHeader& header);
// nullopt if the bytes are no header.
std::optional<RelayHeader> parse_relay_header(base::BytesView bytes);
// True if a connection that begins with this byte may be a relay's.
inline bool may_begin_relay_header(char first) {
  return first == '\r';
}

}  // namespace sibyl::server
