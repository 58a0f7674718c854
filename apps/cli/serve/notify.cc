#include "cli/serve/notify.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace sibyl::cli {

void notify_service_manager(std::string_view state) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const size_t size = path == nullptr ? 0 : std::strlen(path);
  if (size == 0 || size >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@')) return;
  std::memcpy(address.sun_path, path, size);
  if (path[0] == '@') address.sun_path[0] = '\0';  // an abstract socket
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size);
  (void)::sendto(socket, state.data(), state.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&address), length);
  ::close(socket);
}

void print_line(std::string_view text) {
  std::fputs(fmt::format("{}\n", text).c_str(), stdout);
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  spdlog::warn("cannot write to standard output: {}", std::strerror(errno));
  std::clearerr(stdout);
}

}  // namespace sibyl::cli
