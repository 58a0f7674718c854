// What the log says of single requests: those that were slow, those that the server failed, those that change
// what others see or may do, and logins that were refused. Never values.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/log_limit.h"
#include "base/result.h"
#include "engine/engine.h"

namespace sibyl::server {

struct Call;

class RequestLog {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void tell_slow(const Call& call, const engine::Client& client, Time now);
  // Of errors that are the server's fault.
  void tell_failed(const Call& call, const engine::Client& client, const base::Error& error, Time now);
  // A statement that was run and changed the schema, roles or permissions, or truncated a table; others are
  // not told of.
  void tell_change(const Call& call, const engine::Client& client);
  // An exception that was not the result of a request, or came after it. Never throws.
  void tell_thrown(const base::Error& thrown) noexcept;
  // Somebody who was not let in. `who` is what he says: a role or an identity.
  void tell_refused(const std::string& address, std::string_view who, const base::Error& why, Time now);

 private:
  base::LogLimit slow_{10}, failed_{10}, refused_{10}, thrown_{1};
};

bool is_servers_fault(base::ErrorCode code);

}  // namespace sibyl::server
