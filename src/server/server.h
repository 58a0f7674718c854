// The native protocol over TCP.
//
// A few reactor threads each own connections. A reactor reads large chunks, parses frames in place, runs
// cheap requests inline and sends the responses of one burst together. Requests that may block run on a pool
// with a bounded queue. Every queue and buffer has a limit (Limits). Reaching a limit slows that client down
// or fails that request.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/services.h"
#include "server/limits.h"
#include "server/tls/tls.h"

namespace sibyl::server {

class HttpHandler;  // http/message.h

struct Options {
  std::string host = "127.0.0.1";
  uint16_t port = 9042;  // 0: any free port
  // The address or name of the server in system.local. If empty, the one that it listens on.
  std::string broadcast_host;
  unsigned threads = 0;           // reactors; 0: one per core, at most four
  unsigned blocking_threads = 8;  // bounds how many requests may wait for the disk at once
  Limits limits;
  TlsOptions tls;
  // True for the addresses of servers that relay connections to this one. Such a connection begins with the
  // address of its client (relay/relay_header.h). Called on any thread. Empty: no server relays.
  std::function<bool(const std::string& address)> is_relay;
  // Requests that take longer than this are logged; 0: no requests are logged.
  std::chrono::milliseconds slow_query{500};
  // The HOST:PORT at which metrics are served over HTTP; empty: not served. If the server cannot listen
  // there, it does not start; with http_required false it starts without metrics.
  std::string http_address;
  bool http_required = true;
  // http_address speaks HTTPS, with the certificate of `tls`, which must not be off.
  bool http_encrypted = false;
  // Host names that requests to http_address may use, besides IP addresses and this machine's name (http.h).
  std::vector<std::string> http_host_names;
  // Answers the other paths at http_address; nullptr: there are none. Must outlive the server.
  HttpHandler* http_handler = nullptr;
};

class Server {
 public:
  // The server is listening when this returns. The engine must outlive the server.
  static base::Result<std::unique_ptr<Server>> start(const engine::Services& engine, const Options& options);
  // Calls stop() with a timeout of zero.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // The address that the server listens on, such as "127.0.0.1:9042" or "[::1]:9042".
  std::string address() const;
  uint16_t port() const;
  // The address at which metrics are served, or empty.
  std::string http_address() const;

  // The server's own measurements. Valid until stop().
  const engine::Monitor& monitor() const;
  // The status that /status shows, as JSON. Valid until stop(). Thread-safe.
  std::string status() const;

  // Stops accepting and reading, and waits at most `timeout` for requests in flight to be answered. Then
  // closes all connections. Blocks until the engine has finished every request.
  void stop(std::chrono::milliseconds timeout);

  // Sends an event about another server of the cluster to the clients that want it. Thread-safe. Must not be
  // called after stop() has begun.
  enum class NodeEvent : uint8_t { joined, left };
  void notify_node(NodeEvent event, const std::string& address, uint16_t port);

  // Reloads the certificates, for new connections. On failure the previous ones stay in use. Thread-safe.
  base::Status reload_tls();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Parses "host:port", "[::1]:port", "host", ":port" or "port" into `options`. A missing part leaves its field
// unchanged.
base::Status parse_listen_address(const std::string& text, Options& options);

}  // namespace sibyl::server
