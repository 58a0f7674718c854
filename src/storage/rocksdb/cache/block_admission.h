// Decides which blocks of local files enter the block cache.
//
// A data block enters the cache when it is read for the second time. Until then the operating system's cache of the file
// serves it. Point reads keep the rows that they find in the row cache, so most blocks of a large table are read once, and
// to keep all of them would fill fresh memory for each read, and evict blocks that are read often.
#pragma once

#include <rocksdb/cache.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace sibyl::storage::rocksdb {

// Remembers which blocks were refused. Thread-safe.
class BlockAdmission {
 public:
  // Remembers about as many blocks as fit into the cache.
  explicit BlockAdmission(uint64_t capacity_bytes);

  // Returns false for the first read of a block, unless another block has the same fingerprint.
  bool admit(const ::rocksdb::Slice& key);

 private:
  struct Free {
    void operator()(std::atomic<uint32_t>* fingerprints) const { std::free(fingerprints); }
  };

  size_t places_ = 0;  // a power of two
  // One for each place; 0: none. Pages that were never used take no memory.
  std::unique_ptr<std::atomic<uint32_t>[], Free> fingerprints_;
};

// A block outside of the cache. Its handle works like those of the cache.
class UncachedBlock {
 public:
  using Handle = ::rocksdb::Cache::Handle;

  // Returns nullptr if memory is exhausted, or if this is not the key of a block. Then the caller still owns `value`.
  static Handle* create(const ::rocksdb::Slice& key, void* value, size_t charge,
                        ::rocksdb::Cache::DeleterFn deleter);
  // Returns nullptr for a handle of the cache.
  static UncachedBlock* of(Handle* handle);

  void* value() const { return value_; }
  size_t charge() const { return charge_; }
  ::rocksdb::Cache::DeleterFn deleter() const { return deleter_; }
  void add_reference() { references_.fetch_add(1, std::memory_order_relaxed); }
  // Returns true if this was the last reference. Then the block has been deleted.
  bool release();

 private:
  using Key = std::array<char, 16>;  // the size of all keys of blocks

  UncachedBlock(const Key& key, void* value, size_t charge, ::rocksdb::Cache::DeleterFn deleter)
      : key_(key), value_(value), charge_(charge), deleter_(deleter) {}

  const Key key_;
  void* const value_;
  const size_t charge_;
  const ::rocksdb::Cache::DeleterFn deleter_;
  std::atomic<uint32_t> references_ = 1;
};

}  // namespace sibyl::storage::rocksdb
