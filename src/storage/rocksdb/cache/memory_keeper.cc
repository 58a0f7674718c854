#include "storage/rocksdb/cache/memory_keeper.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "base/contain.h"

namespace sibyl::storage::rocksdb {

uint32_t next_sixteenths(uint32_t now, const base::MachineMemory& memory) {
  if (memory.available_bytes < memory.total_bytes / 16) return std::max(now / 2, 1u);
  if (memory.available_bytes > memory.total_bytes / 8) return std::min(now + 1, all_sixteenths);
  return now;
}

MemoryKeeper::MemoryKeeper(Resize resize, Read read, std::chrono::milliseconds interval)
    : resize_(std::move(resize)), read_(std::move(read)), interval_(interval), thread_([this] { loop(); }) {
  pthread_setname_np(thread_.native_handle(), "sibyl-memory");
}

MemoryKeeper::~MemoryKeeper() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  woken_.notify_one();
  thread_.join();
}

void MemoryKeeper::loop() {
  uint32_t allowed = all_sixteenths;
  std::unique_lock lock(mutex_);
  while (!woken_.wait_for(lock, interval_, [this] { return is_stopping_; })) {
    lock.unlock();
    (void)base::contain([&] {
      const auto memory = read_();
      const uint32_t next = memory ? next_sixteenths(allowed, *memory) : allowed;
      if (next != std::exchange(allowed, next)) resize_(next);
    });
    lock.lock();
  }
}

}  // namespace sibyl::storage::rocksdb
