#include "cluster/routed/routed_store.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <random>
#include <thread>

#include "hosting/test_cluster.h"
#include "row/record_key.h"

namespace sibyl::cluster {
namespace {

constexpr uint32_t shard_count = 7;
constexpr uint32_t users_table = 2000;

Bytes key_of(uint32_t number, uint32_t table = users_table) {
  const auto token = static_cast<int64_t>(number * 0x9e3779b97f4a7c15u);
  return row::row_record_key(row::partition_prefix(table, token, std::to_string(number)), "c");
}

// Writes at the owner, as statements do.
void put(TestCluster& cluster, uint32_t number, const Bytes& value, uint32_t table = users_table) {
  for (size_t i = 0; i < cluster.size(); ++i) {
    if (!cluster.at(i).shards->open_epoch(cluster.map().shard_of(key_of(number, table)))) continue;
    storage::WriteSet writes;
    writes.put(key_of(number, table), value);
    const auto done = cluster.at(i).store->commit(std::move(writes));
    ASSERT_TRUE(done.has_value()) << done.error().text();
    return;
  }
  FAIL() << "nobody has the shard";
}

std::map<Bytes, Bytes> fill(TestCluster& cluster, uint32_t records, size_t value_bytes) {
  std::map<Bytes, Bytes> model;
  for (uint32_t i = 0; i < records; ++i) {
    const Bytes value(value_bytes, static_cast<char>('a' + i % 26));
    put(cluster, i, value);
    model.emplace(key_of(i), value);
  }
  return model;
}

// Moves an iterator of the store and one of the model together.
void walk(storage::Iterator& records, const std::map<Bytes, Bytes>& model, uint64_t seed) {
  std::mt19937_64 random(seed);
  auto expected = model.end();
  for (int step = 0; step < 400; ++step) {
    const Bytes key = key_of(static_cast<uint32_t>(random() % (2 * model.size())));
    switch (random() % 8) {
      case 0:
        records.seek_to_first();
        expected = model.begin();
        break;
      case 1:
        records.seek_to_last();
        expected = model.empty() ? model.end() : std::prev(model.end());
        break;
      case 2:
        records.seek(key);
        expected = model.lower_bound(key);
        break;
      case 3:
        records.seek_for_prev(key);
        expected = model.upper_bound(key);
        expected = expected == model.begin() ? model.end() : std::prev(expected);
        break;
      default: {
        const bool forwards = random() % 2 == 0;
        for (uint64_t moves = random() % 60; moves > 0 && expected != model.end(); --moves) {
          if (forwards) {
            records.next();
            ++expected;
          } else {
            records.prev();
            expected = expected == model.begin() ? model.end() : std::prev(expected);
          }
        }
      }
    }
    ASSERT_TRUE(records.status().has_value()) << records.status().error().text();
    ASSERT_EQ(records.valid(), expected != model.end()) << "step " << step;
    if (!records.valid()) continue;
    ASSERT_EQ(records.key(), expected->first) << "step " << step;
    ASSERT_EQ(records.value(), expected->second);
  }
}

TEST(RoutedStores, EveryServerSeesAllRecordsInOrder) {
  for (const size_t value_bytes : {size_t{10}, size_t{3000}}) {  // many records in a part, and few
    TestCluster cluster(shard_count, 3);
    cluster.deal();
    const auto model = fill(cluster, 300, value_bytes);
    put(cluster, 7, "another table", users_table + 1);
    const Bytes begin = row::table_begin(users_table), end = row::table_end(users_table);
    for (size_t i = 0; i < cluster.size(); ++i) {
      const RoutedStore& store = *cluster.at(i).store;
      walk(*store.iterate(begin, end), model, i);
      walk(*store.snapshot()->iterate(begin, end), model, i + 100);
      for (uint32_t number = 0; number < 40; ++number) {
        Bytes value;
        const auto found = store.get(key_of(number), value);
        ASSERT_TRUE(found.has_value());
        EXPECT_TRUE(*found);
        EXPECT_EQ(value, model.at(key_of(number)));
        EXPECT_FALSE(store.get(key_of(number + 10'000), value).value_or(true));
      }
      std::vector<Bytes> keys;
      for (uint32_t number = 290; number < 310; ++number) keys.push_back(key_of(number));
      std::vector<std::optional<Bytes>> values(keys.size());
      ASSERT_TRUE(store.get_many(keys, values).has_value());
      for (size_t k = 0; k < keys.size(); ++k)
        EXPECT_EQ(values[k], model.contains(keys[k]) ? std::optional(model.at(keys[k])) : std::nullopt);
      // Reads both tables. Their records are merged from all shards.
      const auto all = store.iterate({}, {});
      size_t count = 0;
      Bytes last;
      for (all->seek_to_first(); all->valid(); all->next(), ++count) {
        EXPECT_LT(last, all->key());
        last = Bytes(all->key());
      }
      EXPECT_TRUE(all->status().has_value());
      EXPECT_EQ(count, model.size() + 1);
    }
  }
}

// A range of some shards, with bounds within them.
TEST(RoutedStores, IteratorsKeepTheirBounds) {
  TestCluster cluster(shard_count, 3);
  cluster.deal();
  const auto model = fill(cluster, 200, 100);
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round) {
    Bytes begin = key_of(static_cast<uint32_t>(random() % 200)),
          end = key_of(static_cast<uint32_t>(random() % 200));
    if (end < begin) std::swap(begin, end);
    const std::map<Bytes, Bytes> part(model.lower_bound(begin), model.lower_bound(end));
    walk(*cluster.at(round % 3).store->iterate(begin, end), part, static_cast<uint64_t>(round));
  }
}

TEST(RoutedStores, WriteOnlyWhatIsHere) {
  TestCluster cluster(shard_count, 2);
  cluster.deal();
  uint32_t elsewhere = 0, here = 0;
  while (cluster.map().shard_of(key_of(elsewhere)) % 2 != 1) ++elsewhere;
  while (cluster.map().shard_of(key_of(here)) % 2 != 0) ++here;
  RoutedStore& store = *cluster.at(0).store;
  storage::WriteSet writes;
  writes.put(key_of(elsewhere), "v");
  const auto moved = store.commit(std::move(writes));
  ASSERT_FALSE(moved.has_value());
  EXPECT_TRUE(storage::is_not_here(moved.error())) << moved.error().text();
  storage::WriteSet both;
  both.put(key_of(elsewhere), "v");
  both.put(key_of(here), "v");
  const auto refused = store.commit(std::move(both));
  ASSERT_FALSE(refused.has_value());
  EXPECT_FALSE(storage::is_not_here(refused.error()));
  EXPECT_EQ(refused.error().code(), base::ErrorCode::invalid);
  Bytes value;
  EXPECT_FALSE(store.get(key_of(here), value).value_or(true));
  EXPECT_NE(store.hold(key_of(here)), nullptr);
  EXPECT_EQ(store.hold(key_of(elsewhere)), nullptr);
  EXPECT_NE(store.hold({}), nullptr) << "of the catalogue";
  EXPECT_EQ(cluster.at(1).store->hold({}), nullptr);
}

// Readers of other servers follow a shard that moves again and again.
TEST(RoutedStores, ReadsFollowMovingShards) {
  TestCluster cluster(shard_count, 3);
  cluster.deal();
  const auto model = fill(cluster, 200, 500);
  std::atomic<bool> is_done = false;
  std::vector<std::thread> readers;
  for (size_t i = 0; i < cluster.size(); ++i)
    readers.emplace_back([&, i] {
      const RoutedStore& store = *cluster.at(i).store;
      do {
        const auto records = store.iterate(row::table_begin(users_table), row::table_end(users_table));
        auto expected = model.begin();
        for (records->seek_to_first(); records->valid(); records->next(), ++expected)
          ASSERT_EQ(records->key(), expected->first);
        ASSERT_TRUE(records->status().has_value()) << records->status().error().text();
        ASSERT_EQ(expected, model.end());
        for (uint32_t number = 0; number < 20; ++number) {
          Bytes value;
          const auto found = store.get(key_of(number), value);
          ASSERT_TRUE(found.has_value()) << found.error().text();
          ASSERT_TRUE(*found);
        }
      } while (!is_done);
    });
  std::mt19937_64 random(1);
  for (int moves = 0; moves < 20; ++moves)
    cluster.move(static_cast<uint32_t>(random() % shard_count), random() % cluster.size());
  is_done = true;
  for (std::thread& reader : readers) reader.join();
}

// Data that a server read may be old if the server has lost its lease meanwhile.
TEST(RoutedStores, AnswersOfServersWithoutALeaseAreNotUsed) {
  TestCluster cluster(2, 2);
  cluster.move(0, 1);
  cluster.move(1, 1);
  put(cluster, 1, "v");
  cluster.lose_lease(1, true);
  std::atomic<bool> is_answered = false;
  std::thread reader([&] {
    Bytes value;
    const auto found = cluster.at(0).store->get(key_of(1), value);
    EXPECT_TRUE(found.value_or(false));
    is_answered = true;
  });
  while (cluster.at(1).calls < 3) std::this_thread::yield();
  EXPECT_FALSE(is_answered);
  cluster.lose_lease(1, false);
  reader.join();
}

TEST(RoutedStores, ReadsOfShardsWithoutAnOwnerTimeOut) {
  TestCluster cluster(2, 2);
  cluster.move(0, 1);
  TestMember& member = cluster.at(0);
  const RoutedStore store({*member.shards, std::make_shared<storage::TokenShards>(2), *member.routing,
                           *member.peers, std::chrono::milliseconds(50)});
  Bytes value;
  const auto found = store.get(key_of(1), value);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code(), base::ErrorCode::read_timeout) << found.error().text();
}

// Reads of other servers' shards cannot tell whether the table has partition records. Commits wait from
// stop() until link(), whatever happens in between, so several servers can cut their shards at one moment.
TEST(RoutedStores, CommitsWaitWhileACheckpointIsCut) {
  using namespace std::chrono_literals;
  TestCluster cluster(shard_count, 2);
  cluster.deal();
  fill(cluster, 50, 10);
  storage::ShardedStore& shards = *cluster.at(0).shards;
  uint32_t number = 0;
  while (!shards.open_epoch(cluster.map().shard_of(key_of(number)))) ++number;
  const auto put_late = [&] {
    auto done = std::make_shared<std::promise<base::Status>>();
    storage::WriteSet writes;
    writes.put(key_of(number), "late");
    shards.commit(std::move(writes), [done](base::Status status) { done->set_value(std::move(status)); });
    return done->get_future();
  };
  const auto directory_of = [](uint32_t shard) { return "copy-" + std::to_string(shard); };

  auto checkpoint = shards.make_checkpoint();
  ASSERT_TRUE(checkpoint->stop(100s));
  auto late = put_late();
  const auto cut = checkpoint->cut();
  ASSERT_TRUE(cut) << cut.error().text();
  EXPECT_EQ(cut->size(), 4u);  // the shards of this server
  EXPECT_EQ(late.wait_for(0s), std::future_status::timeout);
  Bytes value;
  EXPECT_TRUE(*shards.get(key_of(number), value));
  EXPECT_NE(value, "late");
  const auto linked = checkpoint->link(directory_of);
  ASSERT_TRUE(linked) << linked.error().text();
  EXPECT_EQ(linked->size(), 4u);
  for (const auto& shard : *linked) EXPECT_GT(shard.files.size(), 1u);
  EXPECT_TRUE(late.get());
  checkpoint.reset();
  cluster.move(cluster.map().shard_of(key_of(number)), 1);  // nothing holds the shard any more

  // A server that has resumed by itself does not cut.
  auto slow = shards.make_checkpoint();
  ASSERT_TRUE(slow->stop(200ms));
  while (!shards.open_epoch(cluster.map().shard_of(key_of(number)))) ++number;
  EXPECT_TRUE(put_late().get());  // once it has resumed
  const auto too_late = slow->cut();
  ASSERT_FALSE(too_late);
  EXPECT_EQ(too_late.error().message(), "Commits resumed before all shards were in files");
}

TEST(RoutedStores, SamplesHaveThePartitionsOfAllServers) {
  TestCluster cluster(shard_count, 3);
  cluster.deal();
  fill(cluster, 300, 10);
  for (size_t i = 0; i < cluster.size(); ++i) {
    if (i == 1) {
      ASSERT_TRUE(cluster.at(i).shards->flush().has_value());
    }
    const std::vector<uint32_t> tables = {users_table, users_table + 1};
    const auto samples = cluster.at(i).store->partition_samples(tables, 100'000);
    ASSERT_EQ(samples.size(), 2u);
    EXPECT_EQ(samples.at(users_table).summary().partitions, 300u);
    EXPECT_EQ(samples.at(users_table).summary().rows, 300u);
    EXPECT_EQ(samples.at(users_table + 1).summary().partitions, 0u);
  }
}

TEST(RoutedStores, PartitionRecordsOfOtherServersMayExist) {
  TestCluster cluster(3, 2);
  cluster.move(0, 0);
  cluster.move(1, 0);
  cluster.move(2, 1);
  uint32_t elsewhere = 0, here = 0;
  while (cluster.map().shard_of(key_of(elsewhere)) != 2) ++elsewhere;
  while (cluster.map().shard_of(key_of(here)) != 1) ++here;
  const RoutedStore& store = *cluster.at(0).store;
  Bytes value;
  ASSERT_TRUE(store.get(key_of(elsewhere), value).has_value());
  EXPECT_TRUE(store.may_have_partition_records(users_table));
  ASSERT_TRUE(store.get(key_of(here), value).has_value());
  EXPECT_FALSE(store.may_have_partition_records(users_table));
  (void)store.iterate(key_of(elsewhere), key_of(elsewhere) + '\1');
  EXPECT_TRUE(store.may_have_partition_records(users_table));
}

}  // namespace
}  // namespace sibyl::cluster
