// A block cache that counts hits and misses.
//
// RocksDB's own statistics count them too, but with statistics RocksDB also reads the clock twice for each merge and counts
// dozens of other events: 5% of a slice.
#pragma once

#include <rocksdb/cache.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sibyl::storage::rocksdb {

class LargeBlocks;

// Forwards everything to the wrapped cache. Thread-safe.
class CountingCache final : public ::rocksdb::Cache {
 public:
  explicit CountingCache(std::shared_ptr<::rocksdb::Cache> cache,
                         std::shared_ptr<::rocksdb::MemoryAllocator> blocks = nullptr)
      : Cache(std::move(blocks)), cache_(std::move(cache)) {}

  uint64_t hits() const { return sum(&Counters::hits); }
  uint64_t misses() const { return sum(&Counters::misses); }

  using Slice = ::rocksdb::Slice;
  using Status = ::rocksdb::Status;

  const char* Name() const override { return cache_->Name(); }
  Status Insert(const Slice& key, void* value, size_t charge, DeleterFn deleter, Handle** handle,
                Priority priority) override {
    return cache_->Insert(key, value, charge, deleter, handle, priority);
  }
  Status Insert(const Slice& key, void* value, const CacheItemHelper* helper, size_t charge, Handle** handle,
                Priority priority) override {
    return cache_->Insert(key, value, helper, charge, handle, priority);
  }
  Handle* Lookup(const Slice& key, ::rocksdb::Statistics* statistics) override {
    return counted(cache_->Lookup(key, statistics));
  }
  Handle* Lookup(const Slice& key, const CacheItemHelper* helper, const CreateCallback& create,
                 Priority priority, bool wait, ::rocksdb::Statistics* statistics) override {
    return counted(cache_->Lookup(key, helper, create, priority, wait, statistics));
  }
  bool Ref(Handle* handle) override { return cache_->Ref(handle); }
  bool Release(Handle* handle, bool erase_if_last) override { return cache_->Release(handle, erase_if_last); }
  bool Release(Handle* handle, bool useful, bool erase_if_last) override {
    return cache_->Release(handle, useful, erase_if_last);
  }
  bool IsReady(Handle* handle) override { return cache_->IsReady(handle); }
  void Wait(Handle* handle) override { cache_->Wait(handle); }
  void WaitAll(std::vector<Handle*>& handles) override { cache_->WaitAll(handles); }
  void* Value(Handle* handle) override { return cache_->Value(handle); }
  void Erase(const Slice& key) override { cache_->Erase(key); }
  uint64_t NewId() override { return cache_->NewId(); }
  void SetCapacity(size_t capacity) override { cache_->SetCapacity(capacity); }
  void SetStrictCapacityLimit(bool strict) override { cache_->SetStrictCapacityLimit(strict); }
  bool HasStrictCapacityLimit() const override { return cache_->HasStrictCapacityLimit(); }
  size_t GetCapacity() const override { return cache_->GetCapacity(); }
  size_t GetUsage() const override { return cache_->GetUsage(); }
  size_t GetUsage(Handle* handle) const override { return cache_->GetUsage(handle); }
  size_t GetOccupancyCount() const override { return cache_->GetOccupancyCount(); }
  size_t GetTableAddressCount() const override { return cache_->GetTableAddressCount(); }
  size_t GetPinnedUsage() const override { return cache_->GetPinnedUsage(); }
  size_t GetCharge(Handle* handle) const override { return cache_->GetCharge(handle); }
  DeleterFn GetDeleter(Handle* handle) const override { return cache_->GetDeleter(handle); }
  void DisownData() override { cache_->DisownData(); }
  void ApplyToAllEntries(const std::function<void(const Slice&, void*, size_t, DeleterFn)>& callback,
                         const ApplyToAllEntriesOptions& options) override {
    cache_->ApplyToAllEntries(callback, options);
  }
  void EraseUnRefEntries() override { cache_->EraseUnRefEntries(); }
  std::string GetPrintableOptions() const override { return cache_->GetPrintableOptions(); }

 private:
  // Counters of a group of threads, so that few threads write to the same cache line.
  struct alignas(64) Counters {
    std::atomic<uint64_t> hits{0}, misses{0};
  };

  Handle* counted(Handle* found);
  uint64_t sum(std::atomic<uint64_t> Counters::* counter) const;

  const std::shared_ptr<::rocksdb::Cache> cache_;
  std::array<Counters, 16> counters_;
};

// A cache with `1 << shard_bits` shards, and with LargeBlocks for blocks that do not fit one of them.
std::shared_ptr<CountingCache> make_block_cache(uint64_t capacity_bytes, int shard_bits);
// Returns those of a cache, which they keep alive. nullptr: it was made in another way.
std::shared_ptr<LargeBlocks> large_blocks_of(const std::shared_ptr<::rocksdb::Cache>& cache);

}  // namespace sibyl::storage::rocksdb
