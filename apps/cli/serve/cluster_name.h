// The name of a server within its cluster.
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace sibyl::cli {

// A name that no other running server of the cluster has, as long as this object lives. A server that joins
// under the name of an earlier one replaces it at once, without waiting for its lease. So a name must prove
// that the earlier server has ended:
//
//   db1:9042#5d0c8e17      "#..." identifies the boot of this machine and its network namespace
//
// Within one boot and namespace, a socket with an abstract name excludes a second server. A machine that has
// started again gets another name.
class ServerName {
 public:
  // An empty `given` means HOSTNAME:PORT. Fails if a server with this name runs.
  static base::Result<ServerName> take(const std::string& storage, const std::string& given, uint16_t port);
  ServerName(ServerName&& other) noexcept;
  ServerName& operator=(ServerName&&) = delete;
  ~ServerName();

  const std::string& unique() const { return unique_; }

 private:
  ServerName(std::string unique, int socket) : unique_(std::move(unique)), socket_(socket) {}

  std::string unique_;
  int socket_ = -1;
};

// The part that stays the same when the machine starts again: "db1:9042".
std::string lasting_name(const std::string& unique);
// The host_id that drivers see for the server: a UUID of 16 bytes.
base::Bytes host_id_of(const std::string& unique);

}  // namespace sibyl::cli
