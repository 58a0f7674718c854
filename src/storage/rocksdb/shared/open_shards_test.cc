#include "storage/rocksdb/shared/open_shards.h"

#include <gtest/gtest.h>

#include <thread>

namespace sibyl::storage::rocksdb {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<OpenShard> add(OpenShards& shards, uint32_t number) {
  auto shard = std::make_shared<OpenShard>();
  shard->number = number;
  shards.add(shard);
  return shard;
}

TEST(OpenShards, AClosingShardIsRefusedToRequestsOnly) {
  OpenShards shards(1);
  const auto shard = add(shards, 0);
  OpenShards::Use iterator = shards.find(0);
  std::thread closer([&] { shards.close(*shard, 1h); });
  while (shards.find(0, true)) std::this_thread::yield();
  EXPECT_TRUE(shards.find(0));
  iterator = {};
  closer.join();
}

// A reader with an iterator must find the shard again: otherwise it would wait for the next owner of the
// shard, and close() for the iterator. So the shard closes when its last use ends, and not a moment later.
TEST(OpenShards, AShardClosesWithItsLastUse) {
  for (int round = 0; round < 100; ++round) {
    OpenShards shards(1);
    const auto shard = add(shards, 0);
    OpenShards::Use iterator = shards.find(0);
    std::thread closer([&] { shards.close(*shard, 1h); });
    while (shards.find(0, true)) std::this_thread::yield();
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(shards.find(0));
    iterator = {};
    ASSERT_FALSE(shards.find(0));
    closer.join();
  }
}

TEST(OpenShards, LongUsesDoNotKeepAShardFromBeingClosed) {
  OpenShards shards(1);
  const auto shard = add(shards, 0);
  OpenShards::Use iterator = shards.find(0);
  std::thread closer([&] { shards.close(*shard, 1ms); });
  while (shards.find(0)) std::this_thread::yield();
  iterator = {};
  closer.join();
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
