// Relays clients' connections from a standby to the server that has the database.
//
//   client ──▶ Relay ── RelayHeader, then the client's bytes ──▶ Server
//
// So every server of a cluster accepts clients, and drivers see all of them as up. While no server has the
// database open, a new connection waits for a few seconds. When the server closes its side or becomes
// unreachable, the client's side is closed as well.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace sibyl::server {

class Relay {
 public:
  struct Options {
    std::string host;
    uint16_t port = 0;
    size_t connections = 16'384;  // if there are more, they are closed
    base::Bytes host_id;          // of this server
    // The server that has the database open; nullopt if there is none. Called on the relay's thread.
    std::function<std::optional<boost::asio::ip::tcp::endpoint>()> target;
  };

  // Listens when this returns.
  static base::Result<std::unique_ptr<Relay>> start(Options options);
  // Closes all connections.
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // Thread-safe.
  size_t connections() const;

 private:
  class Impl;
  explicit Relay(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sibyl::server
