// Gives the memory of caches back while the machine is short of it, and lets them grow again afterwards.
//
// Caches have a largest size and are allowed a number of sixteenths of it. Each second:
//
//   less than 1/16 of the machine's memory is available: half of the sixteenths, at least one
//   more than 1/8 is available: one sixteenth more
//
// The memory is that of the machine or of the control group, whichever has less available. A cache that holds
// less than it is allowed is not affected.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "base/process.h"

namespace sibyl::storage::rocksdb {

inline constexpr uint32_t all_sixteenths = 16;

// Returns how many sixteenths to allow next.
uint32_t next_sixteenths(uint32_t now, const base::MachineMemory& memory);

class MemoryKeeper {
 public:
  using Resize = std::function<void(uint32_t sixteenths)>;
  using Read = std::function<std::optional<base::MachineMemory>()>;

  // Calls `resize` on a thread of its own when the allowed number of sixteenths changes. All sixteen are
  // allowed at first.
  MemoryKeeper(Resize resize, Read read, std::chrono::milliseconds interval = std::chrono::seconds(1));
  ~MemoryKeeper();
  MemoryKeeper(const MemoryKeeper&) = delete;
  MemoryKeeper& operator=(const MemoryKeeper&) = delete;

 private:
  void loop();

  const Resize resize_;
  const Read read_;
  const std::chrono::milliseconds interval_;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool is_stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace sibyl::storage::rocksdb
