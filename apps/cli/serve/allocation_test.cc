// Linked with allocation.cc and the allocator of the server, so that every block of this program is counted.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "base/memory.h"

namespace {
std::atomic<size_t> bytes_freed_in_parts = 0;
}

// Replaces the function of the C library, also for allocation.cc.
extern "C" int madvise(void* start, size_t size, int advice) noexcept {
  if (advice == MADV_DONTNEED && size <= 1 << 20) bytes_freed_in_parts += size;
  return static_cast<int>(::syscall(SYS_madvise, start, size, advice));
}

namespace sibyl::cli {
namespace {

constexpr size_t size = 1 << 20;

// How much an allocation adds to the total, and how much of that remains after the block is freed.
struct Change {
  int64_t allocated = 0, freed = 0;
};

template <typename Allocate, typename Free>
Change change_of(Allocate allocate, Free free) {
  const int64_t before = base::memory_in_use();
  void* const block = allocate();
  const int64_t between = base::memory_in_use();
  free(block);
  return {between - before, base::memory_in_use() - before};
}

// The allocator has all these forms too. If only the allocation or only the release uses the allocator's
// form, the total drifts.
TEST(Allocation, EveryFormOfNewAndDeleteIsCounted) {
  const auto one = [] { return ::operator new(size); };
  const auto one_or_null = [] { return ::operator new(size, std::nothrow); };
  const auto array = [] { return ::operator new[](size); };
  const auto array_or_null = [] { return ::operator new[](size, std::nothrow); };
  const std::vector<Change> changes = {
      change_of(one, [](void* block) { ::operator delete(block); }),
      change_of(one, [](void* block) { ::operator delete(block, size); }),
      change_of(one_or_null, [](void* block) { ::operator delete(block, std::nothrow); }),
      change_of(array, [](void* block) { ::operator delete[](block); }),
      change_of(array, [](void* block) { ::operator delete[](block, size); }),
      change_of(array_or_null, [](void* block) { ::operator delete[](block, std::nothrow); }),
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    EXPECT_GE(changes[i].allocated, static_cast<int64_t>(size)) << i;
    EXPECT_EQ(changes[i].freed, 0) << i;
  }
}

// Unmapping many pages at once would keep other threads from mapping memory meanwhile.
TEST(Allocation, LargeBlocksAreReturnedInParts) {
  constexpr size_t large = 64 << 20;
  const size_t before = bytes_freed_in_parts;
  char* const block = static_cast<char*>(::operator new(large));
  std::memset(block, 1, large);
  ::operator delete(block);
  EXPECT_GE(bytes_freed_in_parts - before, large);
}

}  // namespace
}  // namespace sibyl::cli
