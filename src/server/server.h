// The native protocol over TCP.
//
// A few reactor threads each own their connections: they read large pieces, cut them into frames in place,
// run cheap requests inline and send the answers of one burst together. What may block runs on a pool with a
// bounded queue. Every queue and buffer has a limit (Limits); crossing one slows that client down or fails
// that request.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "server/tls.h"

namespace sibyl::server {

struct Limits {
  // As far as the process may have descriptors. Of those that have not logged in (or said STARTUP, where
  // nobody logs in) there may be a quarter: a new one ends the oldest of them.
  size_t connections = 16'384;
  size_t connections_per_address = 0;  // 0: as many as `connections`
  size_t frame_body_bytes = 16u << 20;
  size_t result_bytes = 248u << 20;  // rows of one answer; a larger result is refused
  // Of one connection: when reached, nothing more is read from it until half has been answered.
  size_t requests_in_flight = 2048;
  size_t bytes_in_flight = 32u << 20;
  // Of all connections together.
  size_t total_bytes_in_flight = 256u << 20;
  size_t total_requests_in_flight = 32'768;
  size_t total_unsent_bytes = 128u << 20;
  // Messages that have not come whole, beyond the first 4 KiB of each. Who would send more is not read from.
  size_t total_incoming_bytes = 256u << 20;
  size_t requests_per_second = 0;  // 0: any
  // Results that a client has not taken yet. Above the first limit nothing more is read from it. Above the
  // second, or a quarter of total_unsent_bytes, its requests that have been read do not start, or are
  // answered OVERLOADED if its STARTUP asked for that.
  size_t unsent_bytes = 1u << 20;
  size_t unsent_bytes_overload = 32u << 20;
  // Requests that wait for a thread that may block; beyond it they are answered OVERLOADED.
  size_t blocking_queue = 4096;
  // A request that has waited longer for its reactor, or for a thread that may block, is answered OVERLOADED
  // instead of being run.
  std::chrono::milliseconds queue_timeout{2'000};
  // How long reading a page may take where the partitions are named, and where they are not.
  std::chrono::milliseconds read_timeout{5'000}, range_timeout{10'000};
  std::chrono::milliseconds handshake_timeout{30'000};
  // Closes a connection that in this time takes nothing of the results that wait for it, or sends less than
  // 64 KiB of a message that it has begun. A sixth of it where all together hold too much.
  std::chrono::milliseconds unsent_timeout{30'000};
  // Closes a connection that asks nothing; 0: never.
  std::chrono::milliseconds idle_timeout{0};
  // When a connection that asks nothing gives back the memory that it receives into, but for what has come.
  std::chrono::milliseconds rest_after{5'000};
  // Whether failed logins make further ones wait (auth/attempts.h).
  bool slow_failed_logins = true;
  // How long a connection that is being closed may take to read our last words.
  std::chrono::milliseconds linger_timeout{2'000};
};

struct Options {
  std::string host = "127.0.0.1";
  uint16_t port = 9042;           // 0: any free one
  unsigned threads = 0;           // 0: as many as cores, at most four
  unsigned blocking_threads = 8;  // how many requests may wait for the disk at once
  Limits limits;
  TlsOptions tls;
  // Requests that take longer are logged; 0: none.
  std::chrono::milliseconds slow_query{500};
  // Where metrics are served over HTTP, as HOST:PORT; empty: nowhere. When that address is taken the server
  // does not start, or, unless it is required, goes without.
  std::string http_address;
  bool http_required = true;
  // What http_address may be called besides addresses and this machine's name (http.h).
  std::vector<std::string> http_host_names;
};

class Server {
 public:
  // Listens and serves from the moment it returns. The engine must outlive the server.
  static base::Result<std::unique_ptr<Server>> start(engine::Engine& engine, const Options& options);
  // Stops as stop() with no patience, unless stopped before.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Where it listens, as "127.0.0.1:9042" or "[::1]:9042".
  std::string address() const;
  uint16_t port() const;
  // Where metrics are served, or empty.
  std::string http_address() const;

  // Accepts and reads nothing more, answers what is in flight for at most `patience`, closes all connections
  // and returns when the engine has finished every request.
  void stop(std::chrono::milliseconds patience);

  // Reads the certificates again, for connections that come from now on. When they cannot be used, those from
  // before stay. Any thread.
  base::Status reload_tls();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// "host:port", "[::1]:port", "host" or ":port"; what is missing stays as it is in `options`.
base::Status parse_listen_address(const std::string& text, Options& options);

}  // namespace sibyl::server
