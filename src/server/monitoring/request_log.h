// Logs single requests: slow ones, those that failed because of the server, those that changed the schema or
// permissions, and refused logins. Values are never logged.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/log_limit.h"
#include "base/result.h"
#include "engine/server_tables.h"

namespace sibyl::server {

struct InFlightRequest;

class RequestLog {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void log_slow_request(const InFlightRequest& request, const engine::Client& client, Time now);
  // Logs errors for which is_server_error() is true.
  void log_failed_request(const InFlightRequest& request, const engine::Client& client,
                          const base::Error& error, Time now);
  // Logs a statement that has changed the schema, roles or permissions, or has truncated a table. Does
  // nothing for other statements.
  void log_schema_change(const InFlightRequest& request, const engine::Client& client);
  // Logs an exception that did not become the result of a request. Never throws.
  void log_exception(const base::Error& thrown) noexcept;
  // Logs a failed login. `identity` is the role or the certificate identity that the client claims.
  void log_refused_login(const std::string& address, std::string_view identity, const base::Error& why,
                         Time now);

 private:
  base::LogLimit slow_{10}, failed_{10}, refused_{10}, thrown_{1};
};

// True for errors that the server causes, not the client's request.
bool is_server_error(base::ErrorCode code);

}  // namespace sibyl::server
