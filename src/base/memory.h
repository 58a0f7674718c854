// Memory that the process and the statement on this thread have allocated, and the limits of both.
//
// The server's operator new and delete (apps/cli/serve/allocation.cc) report every block here. A program that
// does not replace them, such as one that embeds the database, allocates without these limits.
//
//  1. The total counts blocks of 1 KiB and more, in all threads, plus the small blocks of running
//     statements. Threads report in steps of 64 KiB, so the total lags by up to that much per thread.
//  2. The memory of a statement is counted as allocations minus releases of its thread since it began.
//  3. When a statement exceeds its limit, or the total exceeds its own, the statement's next allocation
//     throws StatementEnded (statement.h). Outside of statements memory is counted but never refused.
//  4. Freed blocks leave holes in malloc's heaps, so the process may have more memory resident than it uses.
//     When that exceeds its limit although free pages were returned to the system, statements are refused as
//     in 3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace sibyl::base {

struct MemoryLimits {
  int64_t total_bytes = std::numeric_limits<int64_t>::max();
  int64_t statement_bytes = std::numeric_limits<int64_t>::max();
  int64_t resident_bytes = std::numeric_limits<int64_t>::max();
};

// Thread-safe. Running statements see new limits at their next check.
void set_memory_limits(const MemoryLimits& limits);
MemoryLimits memory_limits();
// The total of point 1 at the top of this file, in bytes. Thread-safe.
int64_t memory_in_use();

// --- For allocators.

namespace memory {

inline constexpr size_t large_block = 1024;

struct ThreadState {
  int64_t used = 0;                                        // bytes allocated by the statement
  int64_t check_at = std::numeric_limits<int64_t>::max();  // compare with the limits once `used` exceeds this
  int64_t used_in_large = 0;                               // the part of `used` in large blocks
  int64_t unreported = 0;                                  // large blocks not yet in the total
  int64_t reported_small = 0;                              // the statement's small blocks in the total
  uint32_t suspended = 0;                                  // no allocation is refused while this is above 0
  bool is_in_statement = false;
};
extern constinit thread_local ThreadState thread_state;

// Compares with the limits; throws StatementEnded if one is exceeded. `wanted` bytes are about to be allocated
// and already part of `used`. They are subtracted again before it throws.
void check_limits(size_t wanted);
void report();

// Call before allocating a block. Throws StatementEnded if the statement must not have it.
inline void reserve(size_t bytes) {
  ThreadState& state = thread_state;
  state.used += static_cast<int64_t>(bytes);
  if (state.used > state.check_at) [[unlikely]]
    check_limits(bytes);
}
// Call after freeing a block, or after its allocation failed.
inline void release(size_t bytes) {
  thread_state.used -= static_cast<int64_t>(bytes);
}
// Counts a large block that was allocated or, if negative, freed. Its size may differ from the reserved one.
void count_large(int64_t bytes);

}  // namespace memory

// While one exists, no allocation on this thread is refused. The allocations still count and are checked
// afterwards. Use around functions that must not throw.
class DeferredMemoryLimit {
 public:
  DeferredMemoryLimit() { ++memory::thread_state.suspended; }
  ~DeferredMemoryLimit() { --memory::thread_state.suspended; }
  DeferredMemoryLimit(const DeferredMemoryLimit&) = delete;
  DeferredMemoryLimit& operator=(const DeferredMemoryLimit&) = delete;
};

// While one exists, allocations on this thread are never refused and count only towards the total. Use around
// code that an exception must not interrupt, or that fills shared state such as a cache.
class UnlimitedMemory {
 public:
  UnlimitedMemory() : used_(memory::thread_state.used), used_in_large_(memory::thread_state.used_in_large) {
    ++memory::thread_state.suspended;
  }
  ~UnlimitedMemory() {
    memory::ThreadState& state = memory::thread_state;
    --state.suspended;
    state.used = used_;
    state.used_in_large = used_in_large_;
  }
  UnlimitedMemory(const UnlimitedMemory&) = delete;
  UnlimitedMemory& operator=(const UnlimitedMemory&) = delete;

 private:
  const int64_t used_, used_in_large_;
};

}  // namespace sibyl::base
