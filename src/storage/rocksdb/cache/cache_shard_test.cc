#include "storage/rocksdb/cache/cache_shard.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <functional>
#include <map>
#include <string>

namespace sibyl::storage::rocksdb {
namespace {

// This is a poor hash, so that runs of slots are long.
uint64_t hash_of(BytesView key) {
  return std::hash<BytesView>{}(key) % 8 * 0x0100000001000003;
}

// After random inserts, replacements and erasures, the shard has what a map has, except for evicted entries.
TEST(CacheShard, BehavesAsAMap) {
  EXPECT_TRUE(rc::check([] {
    CacheShard shard(*rc::gen::element<uint64_t>(4096, 1 << 20));
    std::map<Bytes, std::optional<Bytes>> model;
    for (int step = *rc::gen::inRange(1, 200); step > 0; --step) {
      const Bytes key = std::to_string(*rc::gen::inRange(0, 40));
      CacheShard::Entry* const entry = shard.find(hash_of(key), key);
      std::optional<Bytes> value;
      if (*rc::gen::arbitrary<bool>()) value = Bytes(*rc::gen::inRange<size_t>(0, 300), 'v');
      switch (*rc::gen::inRange(0, 8)) {
        case 7:
          shard.set_capacity(*rc::gen::element<uint64_t>(4096, 16 << 10, 1 << 20));
          break;
        case 0:
        case 1:
          if (entry != nullptr) shard.erase(*entry);
          model.erase(key);
          break;
        case 2:
        case 3:
          if (entry != nullptr) {
            shard.replace(*entry, value);
            model[key] = value;
          }
          break;
        default:
          shard.insert(hash_of(key), key, value, 7);
          model[key] = value;
      }
      uint64_t entries = 0;
      for (const auto& [known, expected] : model) {
        const CacheShard::Entry* const found = shard.find(hash_of(known), known);
        if (found == nullptr) continue;
        ++entries;
        RC_ASSERT(found->value() == expected);
      }
      RC_ASSERT(entries == shard.entries());
      RC_ASSERT(shard.bytes() <= shard.capacity() || shard.entries() == 0);
      if (shard.evictions() == 0 && shard.capacity() > 4096) RC_ASSERT(entries == model.size());
    }
  }));
}

void insert(CacheShard& shard, int number) {
  const Bytes key = std::to_string(number);
  shard.insert(std::hash<BytesView>{}(key), key, Bytes(100, 'v'), 0);
}
CacheShard::Entry* find(const CacheShard& shard, int number) {
  const Bytes key = std::to_string(number);
  return shard.find(std::hash<BytesView>{}(key), key);
}

// Rows that were read repeatedly survive a scan over many more rows than the shard holds.
TEST(CacheShard, ResistsScans) {
  CacheShard shard(64 << 10);
  for (int i = 0; i < 50; ++i) insert(shard, i);
  for (int i = 0; i < 50; ++i)
    for (int read = 0; read < 3; ++read) shard.count_read(*find(shard, i));
  for (int i = 1000; i < 20'000; ++i) insert(shard, i);
  int left = 0;
  for (int i = 0; i < 50; ++i) left += find(shard, i) != nullptr ? 1 : 0;
  EXPECT_EQ(left, 50);
  EXPECT_GT(shard.evictions(), 10'000u);
}

// A key that comes back soon after it was evicted goes to the main queue: the scan after it does not evict
// it.
TEST(CacheShard, RemembersEvictedKeys) {
  CacheShard shard(64 << 10);
  insert(shard, 1);
  int next = 1000;
  while (find(shard, 1) != nullptr) insert(shard, next++);
  insert(shard, 1);
  const CacheShard::Entry* const entry = find(shard, 1);
  ASSERT_NE(entry, nullptr);
  EXPECT_TRUE(entry->is_in_main);
}

TEST(CacheShard, ShrinksWithItsIndexAndGrowsAgain) {
  CacheShard shard(1 << 20);
  for (int i = 0; i < 5000; ++i) insert(shard, i);
  EXPECT_GT(shard.entries(), 3000u);
  shard.set_capacity(64 << 10);
  EXPECT_LE(shard.bytes(), 64u << 10);
  EXPECT_GT(shard.entries(), 100u);
  const uint64_t left = shard.entries();
  shard.set_capacity(1 << 20);
  EXPECT_EQ(shard.entries(), left);
  for (int i = 10'000; i < 15'000; ++i) insert(shard, i);
  EXPECT_GT(shard.entries(), 3000u);
}

TEST(CacheShard, DropsAnEntryThatBecomesTooLarge) {
  CacheShard shard(64 << 10);
  insert(shard, 1);
  shard.insert(std::hash<BytesView>{}("1"), "1", Bytes(32 << 10, 'v'), 0);
  EXPECT_EQ(find(shard, 1), nullptr);
  EXPECT_EQ(shard.entries(), 0u);
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
