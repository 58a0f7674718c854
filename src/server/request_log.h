// What the log says of single requests: those that were slow, and those that the server failed. Never values.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/result.h"

namespace sibyl::server {

struct Call;

// Lets a few lines a second through and counts the others. Any thread.
class LogLimit {
 public:
  explicit LogLimit(uint64_t per_second) : per_second_(per_second) {}
  // Whether to write a line now; `kept_back` is then how many were not written since the last.
  bool allows(std::chrono::steady_clock::time_point now, uint64_t& kept_back);

 private:
  const uint64_t per_second_;
  std::atomic<int64_t> second_{0};
  std::atomic<uint64_t> in_second_{0}, kept_back_{0};
};

class RequestLog {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void tell_slow(const Call& call, Time now);
  // Of errors that are the server's fault.
  void tell_failed(const Call& call, const base::Error& error, Time now);

 private:
  LogLimit slow_{10}, failed_{10};
};

bool is_servers_fault(base::ErrorCode code);

}  // namespace sibyl::server
