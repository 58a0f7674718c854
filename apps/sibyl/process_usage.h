// What a process of this machine uses, read from /proc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sibyl::bench {

struct ProcessUsage {
  double cpu_seconds = 0;  // user and system, of all its threads
  uint64_t resident_bytes = 0;
  uint64_t resident_peak_bytes = 0;
};

// nullopt when there is no such process.
std::optional<ProcessUsage> usage_of(int pid);

// The process that listens on this port here, if the host is this machine and it may be seen; nullopt
// otherwise.
std::optional<int> find_listener(const std::string& host, uint16_t port);

}  // namespace sibyl::bench
