#include "server/tcp_progress.h"

// Not <netinet/tcp.h>, whose tcp_info ends before the field that is needed: the two cannot be included
// together.
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

}  // namespace sibyl::server
