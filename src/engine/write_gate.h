// Knows when all writes that began before some moment have handed their write sets to the store: plans made
// before a definition are then gone.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace sibyl::engine {

// Entering and leaving touch one counter that few threads share. Any thread may do either.
class WriteGate {
 public:
  class Pass {
   public:
    explicit Pass(std::atomic<int64_t>& count) : count_(count) {}
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    ~Pass() { count_.fetch_sub(1, std::memory_order_release); }

   private:
    std::atomic<int64_t>& count_;
  };

  // Held until the write set is with the store. What is read after it is seen as wait() left it.
  Pass enter() {
    const size_t stripe = std::hash<std::thread::id>{}(std::this_thread::get_id()) % stripes;
    while (true) {
      const uint64_t side = side_.load(std::memory_order_relaxed);
      std::atomic<int64_t>& count = counts_[side & 1][stripe].value;
      count.fetch_add(1, std::memory_order_seq_cst);
      if (side_.load(std::memory_order_seq_cst) == side) return Pass(count);
      count.fetch_sub(1, std::memory_order_relaxed);
    }
  }

  // Returns when everyone who entered before the call has left. Newcomers do not hold it up.
  void wait() {
    std::lock_guard lock(mutex_);
    const uint64_t side = side_.fetch_add(1, std::memory_order_seq_cst);
    for (auto& count : counts_[side & 1])
      while (count.value.load(std::memory_order_seq_cst) != 0)
        std::this_thread::sleep_for(std::chrono::microseconds(50));
  }

 private:
  static constexpr size_t stripes = 16;
  struct alignas(64) Count {
    std::atomic<int64_t> value{0};
  };
  std::array<std::array<Count, stripes>, 2> counts_;
  std::atomic<uint64_t> side_{0};
  std::mutex mutex_;  // one waits at a time
};

}  // namespace sibyl::engine
