// Waits until all writes that began before some moment have passed their write sets to the store. After that,
// no write uses a plan made before that moment.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>

#include "base/mutex.h"

namespace sibyl::engine {

// Thread-safe. Entering and leaving change one counter that few threads share.
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

  // The caller must hold the pass until the write set is with the store. A wait() that does not wait for this
  // pass was called before the pass began. Then the caller of enter() sees everything that happened before
  // that wait().
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

  // Blocks until every pass that was taken before the call has been released. Passes taken later do not delay
  // it.
  void wait() {
    const base::MutexLock lock(mutex_);
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
  base::Mutex mutex_;  // one wait() at a time
};

}  // namespace sibyl::engine
