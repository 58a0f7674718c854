// The server's limits on connections, requests, memory and time.
#pragma once

#include <chrono>
#include <cstddef>

namespace sibyl::server {

struct Limits {
  // Also bounded by the process's limit of open files. At most a quarter of the connections may be waiting
  // for their login (on servers without logins: for STARTUP). Beyond that, a new connection closes the
  // oldest of them.
  size_t connections = 16'384;
  size_t connections_per_address = 0;  // 0: as many as `connections`
  size_t frame_body_bytes = 16u << 20;
  size_t result_bytes = 248u << 20;  // rows of one response; a larger result is refused
  // Limits of one connection. At one of them, nothing more is read from the connection until it is at half of
  // the limit.
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
  // The time limits for reading a page. The first one applies if the statement names its partitions, the
  // second one if it does not.
  std::chrono::milliseconds read_timeout{5'000}, range_timeout{10'000};
  std::chrono::milliseconds handshake_timeout{30'000};
  // Closes a connection that in this time reads none of its pending results, or sends less than 64 KiB of an
  // incomplete message. When unsent results have reached total_unsent_bytes, clients have a sixth of the time
  // to read. When incomplete messages are near total_incoming_bytes, clients have at most
  // contended_message_timeout to send.
  std::chrono::milliseconds unsent_timeout{30'000};
  std::chrono::milliseconds contended_message_timeout{1'000};
  // Closes a connection that sends no request for this time; 0: never.
  std::chrono::milliseconds idle_timeout{0};
  // An idle connection releases its unused receive memory after this time.
  std::chrono::milliseconds rest_after{5'000};
  // Delays logins after failed ones (auth/attempts.h).
  bool slow_failed_logins = true;
  // How long a connection that is being closed may take to read the last message.
  std::chrono::milliseconds linger_timeout{2'000};
};

}  // namespace sibyl::server
