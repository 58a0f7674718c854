// Facts about processes from the operating system: everything that is read from /proc. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sibyl::base {

struct ProcessUsage {
  double cpu_seconds = 0;  // user and system time of all threads
  uint64_t resident_bytes = 0, resident_peak_bytes = 0, virtual_bytes = 0;
  uint64_t open_descriptors = 0, threads = 0;
  uint64_t max_descriptors = 0;  // only in own_usage()
  int64_t started_seconds = 0;   // since the epoch
};

// Returns nullopt if there is no such process. Counts only what this user may see.
std::optional<ProcessUsage> usage_of(int pid);
// User and system time of the threads whose names begin with `prefix`; 0 if there are none.
double thread_cpu_seconds(int pid, std::string_view prefix);
// Usage of this process. Its time is more exact than that of usage_of().
ProcessUsage own_usage();
// Resident memory of this process; 0 if it is unknown. Much cheaper than own_usage().
int64_t own_resident_bytes();

struct MachineMemory {
  uint64_t total_bytes = 0, available_bytes = 0;  // without swapping; caches of files count as available
};
// Memory of the machine, or of the control group of this process that has the least available. Returns
// nullopt if it is unknown. `root` is the directory that has proc and sys, for tests.
std::optional<MachineMemory> machine_memory(const std::string& root = "");

// The memory that this process may use: the memory of the machine, or the least limit of the control groups
// that this process is in. Unlike machine_memory(), this includes groups that do not report what they use.
uint64_t usable_memory(const std::string& root = "");

// Names this boot of this machine and the network namespace of this process.
std::string boot_and_network();

// Returns the process that listens on this TCP port. Returns nullopt if there is none that this user may see.
std::optional<int> find_listener(uint16_t port);

}  // namespace sibyl::base
