#include "storage/rocksdb/cache/large_blocks.h"

#include <algorithm>
#include <chrono>
#include <new>

#include "base/admission.h"
#include "base/memory.h"

namespace sibyl::storage::rocksdb {
namespace {

constexpr std::chrono::seconds patience{1};
constexpr size_t header_bytes = __STDCPP_DEFAULT_NEW_ALIGNMENT__;  // holds the size

// Returns false on a reactor, which must not be blocked.
bool may_wait() {
  const base::UnlimitedMemory unlimited;
  return base::admit(0, std::chrono::nanoseconds(patience).count()).has_value();
}

}  // namespace

void* LargeBlocks::Allocate(size_t size) {
  const bool is_counted = size >= min_bytes_ && base::memory::thread_state.is_in_statement;
  if (is_counted) wait();
  char* const start = static_cast<char*>(::operator new(size + header_bytes, std::nothrow));
  if (is_counted) {
    const base::MutexLock lock(mutex_);
    --loading_;
    if (start != nullptr) loaded_.emplace(start, std::this_thread::get_id());
  }
  if (start == nullptr) throw std::bad_alloc();
  *reinterpret_cast<size_t*>(start) = size;
  return start + header_bytes;
}

void LargeBlocks::Deallocate(void* block) {
  if (block == nullptr) return;
  char* const start = static_cast<char*>(block) - header_bytes;
  if (*reinterpret_cast<size_t*>(start) >= min_bytes_) {
    const base::MutexLock lock(mutex_);
    if (loaded_.erase(start) > 0) freed_.notify_all();
  }
  ::operator delete(start);
}

// A thread must not wait for a block that it holds itself.
bool LargeBlocks::must_wait() const {
  const auto is_ours = [](const auto& each) { return each.second == std::this_thread::get_id(); };
  return (loading_ > 0 || !loaded_.empty()) && std::ranges::none_of(loaded_, is_ours);
}

void LargeBlocks::wait() {
  const bool waits = may_wait();
  const auto deadline = std::chrono::steady_clock::now() + patience;
  base::MutexLock lock(mutex_);
  while (waits && must_wait() && freed_.wait_until(mutex_, deadline)) continue;
  ++loading_;
}

}  // namespace sibyl::storage::rocksdb
