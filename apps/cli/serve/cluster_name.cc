#include "cli/serve/cluster_name.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/process.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "base/process.h"

namespace sibyl::cli {
namespace {

// FNV-1a, which gives the same hash in each build.
uint64_t hash_of(std::string_view text, uint64_t seed = 0) {
  uint64_t hash = 14'695'981'039'346'656'037u ^ seed;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211u;
  return hash;
}

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

base::Result<int> bind_abstract(const std::string& name) {
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = fmt::format("sibyl-server-{:016x}", hash_of(name));
  std::copy(path.begin(), path.end(), address.sun_path + 1);  // the first byte, zero, makes it abstract
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + path.size());
  if (socket >= 0 && ::bind(socket, reinterpret_cast<const sockaddr*>(&address), size) == 0) return socket;
  const int why = errno;
  if (socket >= 0) ::close(socket);
  if (why == EADDRINUSE)
    return base::fail(
        base::Error(base::ErrorCode::config, fmt::format("A server named {} runs on this machine", name))
            .with_hint("stop it, or set cluster_server_name"));
  return base::fail(base::ErrorCode::server,
                    fmt::format("Cannot reserve the name {}: {}", name, std::strerror(why)));
}

}  // namespace

base::Result<ServerName> ServerName::take(const std::string& storage, const std::string& given,
                                          uint16_t port) {
  const std::string lasting = given.empty() ? fmt::format("{}:{}", host_name(), port) : given;
  if (lasting.size() > 200 || lasting.find_first_of(std::string_view("#\n\0", 3)) != std::string::npos)
    return base::fail(base::ErrorCode::config,
                      "cluster_server_name is longer than 200 bytes, or contains a line feed or #");
  SIBYL_ASSIGN(const int socket, bind_abstract(storage + " " + lasting));
  const auto place = static_cast<uint32_t>(hash_of(base::boot_and_network()));
  return ServerName(fmt::format("{}#{:08x}", lasting, place), socket);
}

ServerName::ServerName(ServerName&& other) noexcept
    : unique_(std::move(other.unique_)), socket_(std::exchange(other.socket_, -1)) {}

ServerName::~ServerName() {
  if (socket_ >= 0) ::close(socket_);
}

std::string lasting_name(const std::string& unique) {
  return unique.substr(0, unique.find('#'));
}

base::Bytes host_id_of(const std::string& unique) {
  const std::string name = lasting_name(unique);
  base::Bytes id;
  base::append_big_endian(id, hash_of(name));
  base::append_big_endian(id, hash_of(name, 1));
  id[6] = static_cast<char>((id[6] & 0x0f) | 0x80);  // version 8: defined by the program
  id[8] = static_cast<char>((id[8] & 0x3f) | 0x80);
  return id;
}

}  // namespace sibyl::cli
