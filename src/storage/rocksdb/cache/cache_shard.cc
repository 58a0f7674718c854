#include "storage/rocksdb/cache/cache_shard.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace sibyl::storage::rocksdb {
namespace {

using Entry = CacheShard::Entry;

constexpr uint64_t overhead = 8;  // malloc's own bytes in each block

// Returns the size of the block that malloc uses for an entry. A value is replaced in place if this size
// stays the same, so allocate() requests the whole block.
uint64_t block_bytes(uint64_t key_size, uint64_t value_size) {
  constexpr uint64_t unit = 16;
  return (sizeof(Entry) + key_size + value_size + overhead + unit - 1) / unit * unit;
}

uint64_t block_bytes(const Entry& entry) {
  return block_bytes(entry.key_size, entry.value_size);
}

Entry* allocate(BytesView key, size_t value_size) {
  void* const block = ::operator new(block_bytes(key.size(), value_size) - overhead);
  auto* const entry = new (block) Entry{};
  entry->key_size = static_cast<uint32_t>(key.size());
  std::memcpy(entry->bytes(), key.data(), key.size());
  return entry;
}

void release(Entry* entry) {
  ::operator delete(entry);
}

void set_value(Entry& entry, std::optional<BytesView> value) {
  entry.is_present = value.has_value();
  entry.value_size = value ? static_cast<uint32_t>(value->size()) : 0;
  if (value) std::memcpy(entry.bytes() + entry.key_size, value->data(), value->size());
}

}  // namespace

CacheShard::~CacheShard() {
  for (const Slot& slot : slots_)
    if (slot.entry != nullptr) release(slot.entry);
}

CacheShard::Entry* CacheShard::find(uint64_t hash, BytesView key) const {
  if (slots_.empty()) return nullptr;
  const size_t mask = slots_.size() - 1;
  for (size_t at = hash & mask; slots_[at].entry != nullptr; at = (at + 1) & mask)
    if (slots_[at].hash == hash && slots_[at].entry->key() == key) return slots_[at].entry;
  return nullptr;
}

void CacheShard::insert(uint64_t hash, BytesView key, std::optional<BytesView> value, uint64_t epoch) {
  const size_t value_size = value ? value->size() : 0;
  if (Entry* const known = find(hash, key); known != nullptr) {
    known->epoch = epoch;
    return replace(*known, value);
  }
  if (is_too_large(block_bytes(key.size(), value_size))) return;
  if (4 * (entries_ + 1) > 3 * slots_.size()) grow_index();
  Entry* const entry = allocate(key, value_size);
  entry->hash = hash;
  entry->epoch = epoch;
  entry->is_in_main = take_ghost(hash);
  set_value(*entry, value);
  push(*entry);
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  while (slots_[at].entry != nullptr) at = (at + 1) & mask;
  slots_[at] = {hash, entry};
  ++entries_;
  evict();
}

void CacheShard::replace(Entry& entry, std::optional<BytesView> value) {
  const size_t value_size = value ? value->size() : 0;
  const uint64_t block = block_bytes(entry.key_size, value_size);
  if (is_too_large(block)) return erase(entry);
  if (block == block_bytes(entry)) return set_value(entry, value);
  Entry* replacement = nullptr;
  try {
    replacement = allocate(entry.key(), value_size);
  } catch (const std::bad_alloc&) {
    erase(entry);
    throw;
  }
  replacement->hash = entry.hash;
  replacement->epoch = entry.epoch;
  replacement->reads = entry.reads;
  replacement->is_in_main = entry.is_in_main;
  set_value(*replacement, value);
  slots_[slot_of(entry)].entry = replacement;
  unlink(entry);
  release(&entry);
  push(*replacement);
  evict();
}

void CacheShard::erase(Entry& entry) noexcept {
  remove_slot(slot_of(entry));
  unlink(entry);
  release(&entry);
  --entries_;
}

size_t CacheShard::slot_of(const Entry& entry) const {
  const size_t mask = slots_.size() - 1;
  size_t at = entry.hash & mask;
  while (slots_[at].entry != &entry) at = (at + 1) & mask;
  return at;
}

void CacheShard::set_capacity(uint64_t capacity_bytes) {
  constexpr uint64_t index_share = 4;
  capacity_ = capacity_bytes;
  // The index counts towards the capacity. Leave room for entries, or the index would evict all of them.
  size_t size = slots_.size();
  while (size > 16 && size * (sizeof(Slot) + sizeof(uint32_t)) > capacity_ / index_share) size /= 2;
  while (4 * entries_ > 3 * size && entries_ > 0)
    main_.oldest != nullptr ? evict_from_main() : evict_from_small();
  if (size < slots_.size()) resize_index(size);
  evict();
}

// Forgets evicted keys, because their places depend on the size.
void CacheShard::resize_index(size_t size) {
  std::vector<Slot> larger(size);
  std::vector<uint32_t> ghosts(size);
  for (const Slot& slot : slots_) {
    if (slot.entry == nullptr) continue;
    size_t at = slot.hash & (size - 1);
    while (larger[at].entry != nullptr) at = (at + 1) & (size - 1);
    larger[at] = slot;
  }
  slots_.swap(larger);
  ghosts_.swap(ghosts);
}

// Moves later entries of the same run back, so that a search may stop at the first empty slot.
void CacheShard::remove_slot(size_t at) noexcept {
  const size_t mask = slots_.size() - 1;
  for (size_t next = (at + 1) & mask; slots_[next].entry != nullptr; next = (next + 1) & mask) {
    const size_t home = slots_[next].hash & mask;
    if (((next - home) & mask) < ((next - at) & mask)) continue;
    slots_[at] = slots_[next];
    at = next;
  }
  slots_[at] = {};
}

void CacheShard::push(Entry& entry) noexcept {
  Queue& queue = queue_of(entry);
  entry.newer = nullptr;
  entry.older = queue.newest;
  (queue.newest != nullptr ? queue.newest->newer : queue.oldest) = &entry;
  queue.newest = &entry;
  queue.bytes += block_bytes(entry);
}

void CacheShard::unlink(Entry& entry) noexcept {
  Queue& queue = queue_of(entry);
  (entry.newer != nullptr ? entry.newer->older : queue.newest) = entry.older;
  (entry.older != nullptr ? entry.older->newer : queue.oldest) = entry.newer;
  queue.bytes -= block_bytes(entry);
}

void CacheShard::evict() {
  constexpr uint64_t small_share = 10;
  while (bytes() > capacity_ && entries_ > 0) {
    if (main_.oldest == nullptr || (small_.oldest != nullptr && small_.bytes > capacity_ / small_share))
      evict_from_small();
    else
      evict_from_main();
  }
}

void CacheShard::evict_from_small() {
  Entry& oldest = *small_.oldest;
  if (oldest.reads > 1) {
    unlink(oldest);
    oldest.is_in_main = true;
    oldest.reads = 0;
    return push(oldest);
  }
  remember(oldest.hash);
  erase(oldest);
  ++evictions_;
}

void CacheShard::evict_from_main() {
  Entry& oldest = *main_.oldest;
  if (oldest.reads == 0) {
    erase(oldest);
    ++evictions_;
    return;
  }
  --oldest.reads;
  unlink(oldest);
  push(oldest);
}

namespace {
uint32_t fingerprint(uint64_t hash) {
  return static_cast<uint32_t>(hash >> 24) | 1;  // 0 means none
}
}  // namespace

void CacheShard::remember(uint64_t hash) {
  ghosts_[hash & (ghosts_.size() - 1)] = fingerprint(hash);
}

bool CacheShard::take_ghost(uint64_t hash) {
  uint32_t& ghost = ghosts_[hash & (ghosts_.size() - 1)];
  if (ghost != fingerprint(hash)) return false;
  ghost = 0;
  return true;
}

}  // namespace sibyl::storage::rocksdb
