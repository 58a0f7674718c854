#include "storage/shard_map.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>

#include "row/record_key.h"

namespace sibyl::storage {
namespace {

constexpr uint32_t shard_test_table = 2000;

base::Bytes key_of(uint32_t of_table, int64_t token) {
  return row::row_record_key(row::partition_prefix(of_table, token, "p"), "c");
}

TEST(TokenShards, DivideTheRingAndKeepTheCatalogueApart) {
  for (const uint32_t count : {1u, 2u, 4u, 65u, 1001u}) {
    const TokenShards shards(count);
    int64_t next = std::numeric_limits<int64_t>::min();
    for (uint32_t shard = count == 1 ? 0 : 1; shard < count; ++shard) {
      const auto tokens = shards.tokens_of(shard);
      EXPECT_EQ(tokens.first, next);
      EXPECT_EQ(shards.shard_of_token(tokens.first), shard);
      EXPECT_EQ(shards.shard_of_token(tokens.last), shard);
      EXPECT_EQ(shards.shard_of(key_of(shard_test_table, tokens.last)), shard);
      next = tokens.last + 1;  // after the last token, this wraps around
      if (shard + 1 == count) {
        EXPECT_EQ(tokens.last, std::numeric_limits<int64_t>::max());
        break;
      }
    }
    EXPECT_EQ(shards.shard_of(key_of(7, 12345)), 0u);
    EXPECT_EQ(shards.shard_of(base::Bytes("\0", 1)), 0u);
  }
}

TEST(TokenShards, KeepIndexEntriesBesideTheirRows) {
  for (const uint32_t count : {2u, 4u, 65u}) {
    const TokenShards shards(count);
    ASSERT_EQ(shards.entry_runs().size(), count - 1);
    for (const int64_t token : {std::numeric_limits<int64_t>::min(), int64_t{-1}, int64_t{0}, int64_t{1},
                                int64_t{1} << 62, std::numeric_limits<int64_t>::max()}) {
      const EntryRun& run = Store::run_of(shards.entry_runs(), token);
      EXPECT_LE(run.first, token);
      EXPECT_GE(run.last, token);
      EXPECT_EQ(shards.shard_of(key_of(shard_test_table, run.token)),
                shards.shard_of(key_of(shard_test_table, token)));
    }
  }
  // A store with one shard has the format of a store without shards.
  const TokenShards one(1);
  ASSERT_EQ(one.entry_runs().size(), 1u);
  EXPECT_EQ(one.entry_runs()[0].token, 0);
}

// The records of a range are in the shards that shards_of() lists. If it says that these are in order, their
// records are in order too.
RC_GTEST_PROP(TokenShardsProperties, RangesHaveTheShardsOfTheirRecords, ()) {
  const TokenShards shards(*rc::gen::inRange<uint32_t>(1, 12));
  const auto key = [] {
    const auto id = *rc::gen::elementOf(std::vector<uint32_t>{7, 1023, 1024, 1025, 2000});
    return key_of(id, *rc::gen::arbitrary<int64_t>());
  };
  const auto bound = [&key] {
    const base::Bytes whole = key();
    return whole.substr(0, *rc::gen::elementOf(std::vector<size_t>{0, 1, 4, 8, 12, whole.size()}));
  };
  const base::Bytes begin = bound(), end = bound();
  const ShardMap::Range range = shards.shards_of(begin, end);
  RC_ASSERT(!range.shards.empty());
  RC_ASSERT(range.shards.back() < shards.count());
  std::vector<base::Bytes> keys;
  for (int i = 0; i < 50; ++i)
    if (base::Bytes one = key(); one >= begin && (end.empty() || one < end)) keys.push_back(one);
  std::sort(keys.begin(), keys.end());
  size_t last = 0;
  for (const base::Bytes& each : keys) {
    const auto found = std::ranges::find(range.shards, shards.shard_of(each));
    RC_ASSERT(found != range.shards.end());
    const auto place = static_cast<size_t>(found - range.shards.begin());
    RC_ASSERT(!range.is_in_order || place >= last);
    last = place;
  }
}

}  // namespace
}  // namespace sibyl::storage
