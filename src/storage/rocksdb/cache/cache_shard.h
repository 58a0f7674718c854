// One shard of the row cache: entries by key, evicted by S3-FIFO.
//
// S3-FIFO resists scans: a new entry goes to a small queue (a tenth of the capacity) and is evicted from
// there unless it was read at least twice. Keys that were evicted from the small queue are remembered by a
// fingerprint; if such a key comes back, it goes to the main queue at once. The main queue is a FIFO that
// reinserts entries that were read.
//
// Not thread-safe: RowCache locks each shard.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"

namespace sibyl::storage::rocksdb {

using base::Bytes;
using base::BytesView;

class CacheShard {
 public:
  // A record, or the fact that there is none. The key and the value follow in the same block of memory.
  struct Entry {
    BytesView key() const { return {bytes(), key_size}; }
    // Returns nullopt if the entry says that there is no record.
    std::optional<BytesView> value() const {
      return is_present ? std::optional(BytesView(bytes() + key_size, value_size)) : std::nullopt;
    }
    const char* bytes() const { return reinterpret_cast<const char*>(this + 1); }
    char* bytes() { return reinterpret_cast<char*>(this + 1); }

    Entry *newer, *older;  // in its queue
    uint64_t hash;
    uint64_t epoch;
    uint32_t key_size, value_size;
    uint8_t reads;  // number of reads since it was inserted or reinserted, at most max_reads
    bool is_in_main;
    bool is_present;
  };

  explicit CacheShard(uint64_t capacity_bytes) : capacity_(capacity_bytes) {}
  ~CacheShard();
  CacheShard(const CacheShard&) = delete;
  CacheShard& operator=(const CacheShard&) = delete;

  // Returns nullptr if there is no such entry. Entries stay valid until the next change of the shard.
  Entry* find(uint64_t hash, BytesView key) const;
  void count_read(Entry& entry) {
    if (entry.reads < max_reads) ++entry.reads;
  }
  // Inserts or replaces an entry and evicts others. An entry that takes too much of the shard is not kept.
  // May throw std::bad_alloc; then the key has no entry.
  void insert(uint64_t hash, BytesView key, std::optional<BytesView> value, uint64_t epoch);
  // Changes the value and keeps everything else, or erases the entry if it becomes too large. May throw like
  // insert().
  void replace(Entry& entry, std::optional<BytesView> value);
  void erase(Entry& entry) noexcept;
  // Evicts what exceeds the new capacity. May throw std::bad_alloc, and then keeps a larger index than
  // necessary.
  void set_capacity(uint64_t capacity_bytes);

  // Returns the bytes of the shard, including the index and malloc's overhead.
  uint64_t bytes() const { return small_.bytes + main_.bytes + index_bytes(); }
  uint64_t capacity() const { return capacity_; }
  uint64_t entries() const { return entries_; }
  uint64_t evictions() const { return evictions_; }

 private:
  static constexpr uint8_t max_reads = 3;
  struct Slot {
    uint64_t hash = 0;
    Entry* entry = nullptr;
  };
  struct Queue {
    Entry *newest = nullptr, *oldest = nullptr;
    uint64_t bytes = 0;
  };

  uint64_t index_bytes() const {
    return slots_.capacity() * sizeof(Slot) + ghosts_.capacity() * sizeof(uint32_t);
  }
  bool is_too_large(uint64_t block_bytes) const { return block_bytes > capacity_ / 8; }
  size_t slot_of(const Entry& entry) const;
  void grow_index() { resize_index(std::max<size_t>(16, 2 * slots_.size())); }
  void resize_index(size_t size);
  void remove_slot(size_t at) noexcept;
  Queue& queue_of(const Entry& entry) { return entry.is_in_main ? main_ : small_; }
  void push(Entry& entry) noexcept;
  void unlink(Entry& entry) noexcept;
  void evict();
  void evict_from_small();
  void evict_from_main();
  void remember(uint64_t hash);
  bool take_ghost(uint64_t hash);

  uint64_t capacity_;
  std::vector<Slot> slots_;       // uses linear probing; the size is a power of two or zero
  std::vector<uint32_t> ghosts_;  // fingerprints of evicted keys, one for each place
  Queue small_, main_;
  uint64_t entries_ = 0;
  uint64_t evictions_ = 0;
};

}  // namespace sibyl::storage::rocksdb
