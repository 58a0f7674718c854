#include "server/connection/tcp_progress.h"

// <netinet/tcp.h> cannot be used: its tcp_info lacks tcpi_bytes_acked. Only one of the two headers can be
// included.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace sibyl::server {

uint64_t bytes_acknowledged(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  return info.tcpi_bytes_acked;
}

void acknowledge_now(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
}

}  // namespace sibyl::server
