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
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "server/tls/tls.h"

namespace sibyl::server {

class HttpHandler;  // http/message.h

struct Limits {
  // Also bounded by the process's limit of open files. At most a quarter of the connections may be waiting
  // for their login (on servers without logins: for STARTUP). Beyond that, a new connection closes the
  // oldest of them.
  size_t connections = 16'384;
  size_t connections_per_address = 0;  // 0: as many as `connections`
  size_t frame_body_bytes = 16u << 20;
  size_t result_bytes = 248u << 20;  // rows of one response; a larger result is refused
  // Per connection. At either limit, nothing more is read from the connection until it is at half.
  size_t requests_in_flight = 2048;
  size_t bytes_in_flight = 32u << 20;
  // For all connections together.
  size_t total_bytes_in_flight = 256u << 20;
  size_t total_requests_in_flight = 32'768;
  size_t total_unsent_bytes = 128u << 20;
  // Incomplete messages of all connections, without the first 4 KiB of each. A connection that would exceed
  // the limit is not read from.
  size_t total_incoming_bytes = 256u << 20;
  size_t requests_per_second = 0;  // 0: no limit
  // Results that a client has not read yet. Above the first limit, nothing more is read from the client.
  // Above the second, or above a quarter of total_unsent_bytes, its pending requests do not start. If its
  // STARTUP asked for OVERLOADED errors, they are refused instead.
  size_t unsent_bytes = 1u << 20;
  size_t unsent_bytes_overload = 32u << 20;
  // Requests that wait for a pool thread. Further ones are answered OVERLOADED.
  size_t blocking_queue = 4096;
  // A request that has waited longer for its reactor or for a pool thread is not run. It is answered
  // OVERLOADED.
  std::chrono::milliseconds queue_timeout{2'000};
  // The time limit for reading a page: when the statement names its partitions, and when it does not.
  std::chrono::milliseconds read_timeout{5'000}, range_timeout{10'000};
  std::chrono::milliseconds handshake_timeout{30'000};
  // Closes a connection that in this time reads none of its pending results, or sends less than 64 KiB of an
  // incomplete message. When unsent results have reached total_unsent_bytes, a sixth of the time applies to
  // them. When incomplete messages are near total_incoming_bytes, at most a second applies to those.
  std::chrono::milliseconds unsent_timeout{30'000};
  // Closes a connection that sends no request for this time; 0: never.
  std::chrono::milliseconds idle_timeout{0};
  // An idle connection releases its unused receive memory after this time.
  std::chrono::milliseconds rest_after{5'000};
  // Delays logins after failed ones (auth/attempts.h).
  bool slow_failed_logins = true;
  // How long a connection that is being closed may take to read the last message.
  std::chrono::milliseconds linger_timeout{2'000};
};

struct Options {
  std::string host = "127.0.0.1";
  uint16_t port = 9042;           // 0: any free port
  unsigned threads = 0;           // reactors; 0: one per core, at most four
  unsigned blocking_threads = 8;  // bounds how many requests may wait for the disk at once
  Limits limits;
  TlsOptions tls;
  // Requests that take longer than this are logged; 0: no requests are logged.
  std::chrono::milliseconds slow_query{500};
  // The HOST:PORT at which metrics are served over HTTP; empty: not served. If the server cannot listen
  // there, it does not start; with http_required false it starts without metrics.
  std::string http_address;
  bool http_required = true;
  // Host names that requests to http_address may use, besides IP addresses and this machine's name (http.h).
  std::vector<std::string> http_host_names;
  // Answers the other paths at http_address; nullptr: there are none. Must outlive the server.
  HttpHandler* http_handler = nullptr;
};

class Server {
 public:
  // The server is listening when this returns. The engine must outlive the server.
  static base::Result<std::unique_ptr<Server>> start(engine::Engine& engine, const Options& options);
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

  // Stops accepting and reading, and waits at most `timeout` for requests in flight to be answered. Then
  // closes all connections. Blocks until the engine has finished every request.
  void stop(std::chrono::milliseconds timeout);

  // Reloads the certificates, for new connections. On failure the previous ones stay in use. Thread-safe.
  base::Status reload_tls();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Parses "host:port", "[::1]:port", "host" or ":port" into `options`. A missing part leaves its field
// unchanged.
base::Status parse_listen_address(const std::string& text, Options& options);

}  // namespace sibyl::server
