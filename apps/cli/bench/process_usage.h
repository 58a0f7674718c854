// CPU and memory usage of a local process, read from /proc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sibyl::cli::bench {

struct ProcessUsage {
  double cpu_seconds = 0;  // user and system time of all threads
  // The part of it in threads that flush and compact. Their names begin with "rocksdb:".
  double background_cpu_seconds = 0;
  uint64_t resident_bytes = 0;
  uint64_t resident_peak_bytes = 0;
};

// Returns nullopt if there is no such process.
std::optional<ProcessUsage> usage_of(int pid);

// Returns the process that listens on this port. Returns nullopt if the host is not this machine, or if the
// process is not visible to this user.
std::optional<int> find_listener(const std::string& host, uint16_t port);

}  // namespace sibyl::cli::bench
