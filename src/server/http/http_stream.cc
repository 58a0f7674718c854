#include "server/http/http_stream.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace sibyl::server {

namespace {

// A record of TLS has a header of five bytes: the type, the version, and the length.
constexpr size_t header_bytes = 5;
constexpr uint8_t alert = 21;
// An alert, encrypted as TLS 1.3 does it. Every request is longer.
constexpr size_t max_alert_bytes = 2 + 1 + 16;

}  // namespace

bool HttpStream::is_at_end() {
  std::array<uint8_t, header_bytes> header;
  const ssize_t count =
      ::recv(socket_.native_handle(), header.data(), header.size(), MSG_PEEK | MSG_DONTWAIT);
  if (count < 0) return errno != EAGAIN && errno != EWOULDBLOCK;  // such as a reset
  if (count == 0) return true;
  if (!encrypted_ || count < static_cast<ssize_t>(header.size())) return false;
  const size_t length = static_cast<size_t>(header[3]) << 8 | header[4];
  return header[0] == alert || length <= max_alert_bytes;
}

}  // namespace sibyl::server
