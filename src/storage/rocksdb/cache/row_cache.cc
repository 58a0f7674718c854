#include "storage/rocksdb/cache/row_cache.h"

#include <algorithm>
#include <array>
#include <functional>

#include "base/contain.h"
#include "base/memory.h"
#include "row/cell_stream.h"
#include "row/merge.h"
#include "row/record_key.h"

namespace sibyl::storage::rocksdb {
namespace {

constexpr size_t table_id_size = 4, token_end = 12;

// Keys with equal prefixes have equal ids, and the order of ids is that of the keys.
uint32_t padded_table_id(BytesView key) {
  std::array<char, table_id_size> first{};
  std::copy_n(key.begin(), std::min(key.size(), first.size()), first.begin());
  return base::read_big_endian<uint32_t>(BytesView(first.data(), first.size()));
}

bool is_of_table(BytesView key) {
  return key.size() > token_end && padded_table_id(key) >= PurgePolicy::first_table_id;
}

// Returns the slot by the key's token, which is a hash of the partition key.
uint16_t deletion_slot_of(BytesView key) {
  constexpr uint64_t spread = 0x9e3779b97f4a7c15;
  const auto token = base::read_big_endian<uint64_t>(key.substr(table_id_size));
  return static_cast<uint16_t>((token + padded_table_id(key) * spread) >> 16);
}

bool is_partition_record(BytesView key) {
  row::RecordKey parsed;
  return row::parse_record_key(key, parsed) && parsed.kind == row::RecordKind::partition;
}

// True if the partition record holds a deletion, or if the partition has range deletions.
bool deletes_rows(BytesView partition_record) {
  if (!row::is_perishable(partition_record)) return false;
  thread_local row::Fragment fragment;
  return !row::decode_head(partition_record, fragment) || fragment.deletion.exists() ||
         fragment.has_range_deletions;
}

bool is_odd(uint64_t counter) {
  return counter % 2 != 0;
}

// Only the committer's thread changes counters.
template <typename Counter>
void set_parity(std::atomic<Counter>& counter, bool odd) {
  const Counter value = counter.load(std::memory_order_relaxed);
  if (is_odd(value) != odd) counter.store(value + 1, std::memory_order_release);
}

}  // namespace

RowCache::RowCache(uint64_t capacity_bytes, const PartitionRecordTables& tables, unsigned shard_bits)
    : tables_(tables),
      versions_(std::make_unique<std::atomic<uint32_t>[]>(version_slots)),
      deletion_epochs_(std::make_unique<std::atomic<uint64_t>[]>(deletion_slots)),
      table_epochs_(std::make_unique<std::atomic<uint64_t>[]>(table_slots)) {
  const size_t shards = size_t{1} << shard_bits;
  shards_.reserve(shards);
  for (size_t i = 0; i < shards; ++i) shards_.push_back(std::make_unique<Shard>(capacity_bytes / shards));
}

// --- Readers

RowCache::Observation RowCache::observe(BytesView key) const {
  Observation observed;
  if (!is_of_table(key)) return observed;
  observed.hash = std::hash<BytesView>{}(key);
  observed.deletion_slot = deletion_slot_of(key);
  observed.table_slot = static_cast<uint16_t>(padded_table_id(key) % table_slots);
  observed.version = version_of(observed.hash).load(std::memory_order_acquire);
  const uint64_t deletions = deletion_epochs_[observed.deletion_slot].load(std::memory_order_acquire);
  const uint64_t table = table_epochs_[observed.table_slot].load(std::memory_order_acquire);
  observed.epoch = deletions + table;
  observed.is_cacheable = !is_odd(observed.version) && !is_odd(deletions) && !is_odd(table);
  return observed;
}

// The two counters only grow. So if their sum is unchanged, neither has changed.
bool RowCache::is_unchanged(const Observation& observed) const {
  std::atomic_thread_fence(std::memory_order_acquire);
  return observed.is_cacheable &&
         version_of(observed.hash).load(std::memory_order_relaxed) == observed.version &&
         deletion_epochs_[observed.deletion_slot].load(std::memory_order_relaxed) +
                 table_epochs_[observed.table_slot].load(std::memory_order_relaxed) ==
             observed.epoch;
}

RowCache::Found RowCache::find(BytesView key, const Observation& observed, Bytes& value) {
  if (!observed.is_cacheable) return Found::unknown;
  const base::DeferredMemoryLimit deferred;  // nothing below may throw
  Shard& shard = shard_of(observed.hash);
  const std::lock_guard lock(shard.mutex);
  CacheShard::Entry* const entry = shard.entries.find(observed.hash, key);
  if (entry == nullptr || entry->epoch != observed.epoch) {
    ++shard.misses;
    return Found::unknown;
  }
  ++shard.hits;
  shard.entries.count_read(*entry);
  const auto cached = entry->value();
  if (!cached) return Found::absent;
  value.assign(*cached);
  return Found::present;
}

void RowCache::fill(BytesView key, const Observation& observed, std::optional<BytesView> value) {
  if (!observed.is_cacheable || (value && value->size() > max_record_bytes)) return;
  const base::UnlimitedMemory unlimited;
  Shard& shard = shard_of(observed.hash);
  const std::lock_guard lock(shard.mutex);
  // Checked under the lock. finish() locks the shard after begin(), so it finds every entry that passed this
  // check before.
  if (!is_unchanged(observed)) return;
  (void)base::contain([&] { shard.entries.insert(observed.hash, key, value, observed.epoch); });
}

void RowCache::fill_all(std::span<const Bytes> keys, std::span<const Observation> observed,
                        std::span<const std::optional<Bytes>> values) {
  BytesView readable;
  for (size_t i = 0; i < keys.size(); ++i) fill_record(keys[i], observed[i], values[i], readable);
}

void RowCache::fill_one(BytesView key, const Observation& observed, std::optional<BytesView> value) {
  BytesView readable;
  fill_record(key, observed, value, readable);
}

void RowCache::fill_record(BytesView key, const Observation& observed, std::optional<BytesView> value,
                           BytesView& readable) {
  row::RecordKey parsed;
  if (!row::parse_record_key(key, parsed)) return;
  const BytesView prefix = parsed.prefix(key);
  if (parsed.kind == row::RecordKind::partition) {
    if (value && deletes_rows(*value)) return;
    readable = prefix;
  } else if (parsed.kind != row::RecordKind::row ||
             (readable != prefix && tables_.may_have(parsed.table_id))) {
    return;
  }
  fill(key, observed, value);
}

// --- The committer

void RowCache::add(const WriteSet& writes) {
  for (const WriteSet::Operation& operation : writes.operations()) {
    if (operation.action == WriteSet::Action::erase_range) {
      if (operation.key < operation.value)
        erased_.push_back({padded_table_id(operation.key), padded_table_id(operation.value)});
    } else if (is_of_table(operation.key)) {
      const bool deletes = row::is_perishable(operation.value) && is_partition_record(operation.key) &&
                           deletes_rows(operation.value);
      touched_.push_back({&operation, std::hash<BytesView>{}(operation.key), deletes});
    }
  }
}

void RowCache::begin() noexcept {
  set_counters(true);
}

void RowCache::finish(bool is_committed) noexcept {
  for (const Touched& touched : touched_) update(touched, is_committed);
  set_counters(false);
  clear();
}

void RowCache::set_counters(bool odd) noexcept {
  for (const Touched& touched : touched_) {
    set_parity(version_of(touched.hash), odd);
    if (touched.deletes_rows) set_parity(deletion_epochs_[deletion_slot_of(touched.operation->key)], odd);
  }
  for (const ErasedTables& erased : erased_) {
    const uint64_t tables = std::min<uint64_t>(uint64_t{erased.last} - erased.first + 1, table_slots);
    for (uint64_t i = 0; i < tables; ++i) set_parity(table_epochs_[(erased.first + i) % table_slots], odd);
  }
}

void RowCache::update(const Touched& touched, bool is_committed) noexcept {
  Shard& shard = shard_of(touched.hash);
  const std::lock_guard lock(shard.mutex);
  CacheShard::Entry* const entry = shard.entries.find(touched.hash, touched.operation->key);
  if (entry == nullptr) return;
  if (!is_committed) return shard.entries.erase(*entry);
  // If replace() throws, it has removed the entry.
  (void)base::contain([&] { apply(*touched.operation, shard.entries, *entry); });
}

// Follows rule 1. An entry without a value means that the store has no such record.
void RowCache::apply(const WriteSet::Operation& operation, CacheShard& shard, CacheShard::Entry& entry) {
  if (operation.action == WriteSet::Action::erase) return shard.replace(entry, std::nullopt);
  if (operation.action == WriteSet::Action::put) {
    if (operation.value.size() > max_record_bytes) return shard.erase(entry);
    return shard.replace(entry, operation.value);
  }
  const std::optional<BytesView> old = entry.value();
  const bool is_mergeable = !row::is_perishable(operation.value) && (!old || !row::is_perishable(*old)) &&
                            operation.value.size() + (old ? old->size() : 0) <= max_merged_bytes;
  if (!is_mergeable) return shard.erase(entry);
  if (!old) return shard.replace(entry, operation.value);
  // The old value must not stay in the cache if memory for the new one is exhausted.
  if (!base::contain([&] { row::merge(std::array<BytesView, 2>{*old, operation.value}, merged_); }))
    return shard.erase(entry);
  shard.replace(entry, merged_);
}

void RowCache::set_capacity(uint64_t capacity_bytes) {
  const base::UnlimitedMemory unlimited;
  for (const auto& shard : shards_) {
    const std::lock_guard lock(shard->mutex);
    (void)base::contain([&] { shard->entries.set_capacity(capacity_bytes / shards_.size()); });
  }
}

// Changes the epoch of every table, on which the entries depend.
void RowCache::invalidate_all() noexcept {
  for (size_t i = 0; i < table_slots; ++i) table_epochs_[i].fetch_add(2, std::memory_order_release);
}

RowCache::Statistics RowCache::statistics() const {
  Statistics statistics;
  for (const auto& shard : shards_) {
    const std::lock_guard lock(shard->mutex);
    statistics.capacity_bytes += shard->entries.capacity();
    statistics.bytes += shard->entries.bytes();
    statistics.entries += shard->entries.entries();
    statistics.evictions += shard->entries.evictions();
    statistics.hits += shard->hits;
    statistics.misses += shard->misses;
  }
  return statistics;
}

}  // namespace sibyl::storage::rocksdb
