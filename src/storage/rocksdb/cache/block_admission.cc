#include "storage/rocksdb/cache/block_admission.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <new>
#include <string_view>

namespace sibyl::storage::rocksdb {
namespace {

constexpr uint64_t usual_block_bytes = 4 << 10;
// Marks handles of blocks outside of the cache. Those of the cache are aligned addresses.
constexpr uintptr_t uncached = 1;

}  // namespace

BlockAdmission::BlockAdmission(uint64_t capacity_bytes)
    : places_(std::bit_ceil(std::max<uint64_t>(capacity_bytes / usual_block_bytes, 1024))) {
  static_assert(std::atomic<uint32_t>::is_always_lock_free);
  void* const zeros = std::calloc(places_, sizeof(std::atomic<uint32_t>));
  if (zeros == nullptr) throw std::bad_alloc();
  fingerprints_.reset(static_cast<std::atomic<uint32_t>*>(zeros));
}

bool BlockAdmission::admit(const ::rocksdb::Slice& key) {
  const uint64_t hash = std::hash<std::string_view>{}({key.data(), key.size()});
  const auto fingerprint = static_cast<uint32_t>(hash >> 32 | 1);
  std::atomic<uint32_t>& place = fingerprints_[hash & (places_ - 1)];
  if (place.load(std::memory_order_relaxed) == fingerprint) return true;
  place.store(fingerprint, std::memory_order_relaxed);
  return false;
}

UncachedBlock::Handle* UncachedBlock::create(const ::rocksdb::Slice& key, void* value, size_t charge,
                                             ::rocksdb::Cache::DeleterFn deleter) {
  Key copied;
  if (key.size() != copied.size()) return nullptr;
  std::memcpy(copied.data(), key.data(), copied.size());
  auto* const block = new (std::nothrow) UncachedBlock(copied, value, charge, deleter);
  if (block == nullptr) return nullptr;
  return reinterpret_cast<Handle*>(reinterpret_cast<uintptr_t>(block) | uncached);
}

UncachedBlock* UncachedBlock::of(Handle* handle) {
  const auto address = reinterpret_cast<uintptr_t>(handle);
  return (address & uncached) == 0 ? nullptr : reinterpret_cast<UncachedBlock*>(address & ~uncached);
}

bool UncachedBlock::release() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) > 1) return false;
  if (deleter_ != nullptr) deleter_({key_.data(), key_.size()}, value_);
  delete this;
  return true;
}

}  // namespace sibyl::storage::rocksdb
