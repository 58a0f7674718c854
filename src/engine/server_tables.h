// Facts about the server that the system tables show.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/statistics/monitor.h"

namespace sibyl::engine {

// A connection, as system_views.clients shows it.
struct Client {
  std::string address;  // numeric
  uint16_t port = 0;
  std::string stage = "ready";
  std::string role = "anonymous";
  std::string driver_name, driver_version;  // empty if the driver did not send them
  std::string keyspace;
  int32_t protocol_version = 0;
  uint64_t request_count = 0;
  std::map<std::string, std::string> options;  // options of the STARTUP message
  std::string tls_protocol, tls_cipher_suite;  // empty: not encrypted
};

// Thread-safe.
class ServerTables {
 public:
  virtual ~ServerTables() = default;

  // Sets the address that system.local shows for this server.
  virtual void set_endpoint(const std::string& address, uint16_t port) = 0;

  // The function is called on any thread whenever system_views.clients is read; empty: there are no clients.
  // Once set_clients() has returned, the previous function is not called any more. Replace it before
  // destroying what it uses.
  using Clients = std::function<std::vector<Client>()>;
  virtual void set_clients(Clients clients) = 0;

  // Queried whenever a table of system_views about requests is read; nullptr: no monitor. Replace the monitor
  // before it is destroyed, as with set_clients().
  virtual void set_monitor(const Monitor* monitor) = 0;
};

}  // namespace sibyl::engine
