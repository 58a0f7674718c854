// What the process has allocated, what the statement on this thread has, and the limits of both.
//
// The server's operator new and delete (apps/sibyl/allocation.cc) report every block here. A program that
// does not replace them, such as one that embeds the database, allocates without these limits.
//
//  1. The total counts blocks of 1 KiB and more, whoever allocated them, plus the small blocks of the
//  statements
//     that run. Threads report in steps of 64 KiB, so it lags behind by that much for each thread.
//  2. A statement's use is what its thread allocated less what it freed since the statement began.
//  3. When a statement exceeds its limit, or the total its own, the allocation throws StatementEnded
//     (statement.h). Nothing else ever does: outside of statements memory is counted and never refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace sibyl::base {

struct MemoryLimits {
  int64_t total_bytes = std::numeric_limits<int64_t>::max();
  int64_t statement_bytes = std::numeric_limits<int64_t>::max();
};

// Thread-safe; statements that run keep the limit that they began with until their next check.
void set_memory_limits(const MemoryLimits& limits);
MemoryLimits memory_limits();
// Bytes in use, as point 1 counts them. Thread-safe.
int64_t memory_in_use();

// --- For allocators.

namespace memory {

inline constexpr size_t large_block = 1024;

struct ThreadState {
  int64_t used = 0;                                        // by the statement
  int64_t check_at = std::numeric_limits<int64_t>::max();  // the limits are compared when `used` exceeds this
  int64_t used_in_large = 0;                               // the part of `used` in large blocks
  int64_t unreported = 0;                                  // large blocks that the total does not have yet
  int64_t reported_small = 0;                              // small blocks of the statement in the total
  uint32_t suspended = 0;                                  // nothing is refused while it is not 0
  bool is_in_statement = false;
};
extern constinit thread_local ThreadState thread_state;

// Compares with the limits and throws StatementEnded. `wanted`: bytes that are already part of `used`, and
// that are taken out of it again when it throws.
void check_limits(size_t wanted);
void report();

// Before a block is allocated. Throws StatementEnded when the statement may not have it.
inline void reserve(size_t bytes) {
  ThreadState& state = thread_state;
  state.used += static_cast<int64_t>(bytes);
  if (state.used > state.check_at) [[unlikely]]
    check_limits(bytes);
}
// After one was freed, or could not be allocated.
inline void release(size_t bytes) {
  thread_state.used -= static_cast<int64_t>(bytes);
}
// A large block came or, with a negative number, went. Its size may differ from what was reserved.
void count_large(int64_t bytes);

}  // namespace memory

// While one exists nothing is refused; what is allocated counts, and is looked at afterwards. Around
// functions that must not throw.
class DeferredMemoryLimit {
 public:
  DeferredMemoryLimit() { ++memory::thread_state.suspended; }
  ~DeferredMemoryLimit() { --memory::thread_state.suspended; }
  DeferredMemoryLimit(const DeferredMemoryLimit&) = delete;
  DeferredMemoryLimit& operator=(const DeferredMemoryLimit&) = delete;
};

// While one exists the thread's allocations count for the total alone, and nothing is refused: around code
// that an exception must not leave halfway, or that fills what all statements share, such as a cache.
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
