// Replaces operator new and delete by malloc with a count of the allocated bytes (base/memory.h), and munmap by one that
// delays other threads less.
//
// All forms are replaced except the aligned ones, which are not counted. Those of the standard library would call these,
// but jemalloc has its own, which would not: memory would then be counted when it is freed and not when it is
// allocated, or the other way round.
#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/memory.h"

// Settings of jemalloc, which looks for this name.
//
//   narenas                           few heaps, so that memory that was freed in one is soon used again
//   oversize_threshold                the memory of large blocks is returned as soon as they are freed
//   retain, *_decay_ms, background_thread
//                                     free memory is returned to the system after a short time, by another thread
extern "C" {
extern const char* malloc_conf;
__attribute__((visibility("default"))) const char* malloc_conf =
    "narenas:8,oversize_threshold:1048576,retain:false,dirty_decay_ms:1000,muzzy_decay_ms:0,background_"
    "thread:true";
}

// jemalloc calls this one instead of that of the C library. The kernel holds a lock of the process's memory map while it
// frees the pages of a block, and meanwhile no thread can map memory. For a block of 60 MiB that takes many milliseconds,
// and much longer if another thread gets the processor. So the pages are freed in parts, each under a short lock that
// only excludes mapping, and the block without pages is then unmapped at once.
extern "C" __attribute__((visibility("default"))) int munmap(void* start, size_t size) noexcept {
  constexpr size_t part = 1 << 20;
  char* const bytes = static_cast<char*>(start);
  for (size_t done = 0; size > part && done < size; done += part)
    ::madvise(bytes + done, std::min(part, size - done), MADV_DONTNEED);
  return static_cast<int>(::syscall(SYS_munmap, start, size));
}

namespace {

namespace memory = sibyl::base::memory;

// Rounding adds less than this to a block that is smaller than `large_block`. A delete without a size sees
// only the rounded size. So sizes within this distance of `large_block` count as small in both cases.
constexpr size_t rounding = 64;

bool is_large(size_t usable) {
  return usable >= memory::large_block + rounding;
}

void* allocate_large(size_t size) {
  memory::reserve(size);
  void* block = std::malloc(size);
  if (block == nullptr) {
    memory::release(size);
    throw std::bad_alloc();
  }
  const size_t usable = malloc_usable_size(block);
  if (is_large(usable)) {
    memory::thread_state.used += static_cast<int64_t>(usable - size);
    memory::count_large(static_cast<int64_t>(usable));
  }
  return block;
}

void free_unknown(void* block) {
  const size_t usable = malloc_usable_size(block);
  memory::release(usable);
  if (is_large(usable)) memory::count_large(-static_cast<int64_t>(usable));
  std::free(block);
}

}  // namespace

void* operator new(size_t size) {
  if (size >= memory::large_block) [[unlikely]]
    return allocate_large(size);
  memory::reserve(size);
  void* block = std::malloc(size == 0 ? 1 : size);
  if (block == nullptr) [[unlikely]] {
    memory::release(size);
    throw std::bad_alloc();
  }
  return block;
}

void operator delete(void* block) noexcept {
  if (block != nullptr) free_unknown(block);
}

void operator delete(void* block, size_t size) noexcept {
  if (size >= memory::large_block || block == nullptr) [[unlikely]]
    return operator delete(block);
  memory::release(size);
  std::free(block);
}

void* operator new(size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (...) {
    return nullptr;
  }
}

void* operator new[](size_t size) {
  return operator new(size);
}

void* operator new[](size_t size, const std::nothrow_t& nothrow) noexcept {
  return operator new(size, nothrow);
}

void operator delete(void* block, const std::nothrow_t&) noexcept {
  operator delete(block);
}

void operator delete[](void* block) noexcept {
  operator delete(block);
}

void operator delete[](void* block, size_t size) noexcept {
  operator delete(block, size);
}

void operator delete[](void* block, const std::nothrow_t&) noexcept {
  operator delete(block);
}
