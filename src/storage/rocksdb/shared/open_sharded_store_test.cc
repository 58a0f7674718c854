// The store over the shards of a server: alone, and with shards that move and are taken over between servers.
#include "storage/rocksdb/shared/open_sharded_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "base/file.h"
#include "base/process.h"
#include "row/record_key.h"
#include "storage/objects/memory/memory_objects.h"
#include "storage/rocksdb/shared/server_log.h"

namespace sibyl::storage::rocksdb {
namespace {

using objects::MemoryObjects;

constexpr uint32_t table_of_test = 2000;

// Returns the key of a record in this shard of `count` shards. Different numbers are in different partitions.
Bytes record_in(uint32_t shard, uint32_t count, uint64_t number) {
  if (shard == 0)
    return row::row_record_key(row::partition_prefix(7, int64_t{0}, std::to_string(number)), "c");
  const auto tokens = TokenShards(count).tokens_of(shard);
  const auto token = static_cast<int64_t>(static_cast<uint64_t>(tokens.first) + number % 1'000'000);
  return row::row_record_key(row::partition_prefix(table_of_test, token, std::to_string(number)), "c");
}

struct TestServer {
  std::unique_ptr<objects::ObjectStore> client;
  std::string log;
  std::atomic<int> lost = 0;
  std::map<uint32_t, uint64_t> replayed;
  std::unique_ptr<ShardedStore> store;
  ~TestServer() { store.reset(); }
};

class ShardedStores : public testing::Test {
 protected:
  static constexpr uint32_t count = 5;

  std::unique_ptr<TestServer> make_server(uint32_t shards = count, uint64_t max_log_bytes = 1 << 20) {
    auto server = std::make_unique<TestServer>();
    server->client = objects_.connect();
    server->log = "n-" + std::to_string(++servers_);
    ShardedStoreOptions options;
    options.objects = server->client.get();
    options.shards = std::make_shared<TokenShards>(shards);
    options.log = server->log;
    options.max_log_bytes = max_log_bytes;
    options.patience = std::chrono::seconds(20);
    options.store.log_segment_bytes = 32 << 10;
    options.store.write_buffer_bytes = 256 << 10;
    options.on_lost = [raw = server.get()](const std::string&) { ++raw->lost; };
    options.on_replayed = [raw = server.get()](uint32_t shard, uint64_t groups) {
      const std::lock_guard lock(mutex_);
      raw->replayed[shard] = groups;
    };
    auto store = open_sharded_store(std::move(options));
    EXPECT_TRUE(store.has_value()) << store.error().text();
    if (store) server->store = std::move(*store);
    return server;
  }
  static void open_all(TestServer& server, uint64_t epoch, const std::vector<FormerLog>& logs = {}) {
    for (uint32_t shard = 0; shard < count; ++shard) {
      const auto status = server.store->open_shard(shard, epoch, logs);
      ASSERT_TRUE(status.has_value()) << status.error().text();
    }
  }
  static base::Status put(TestServer& server, uint32_t shard, uint64_t number, const Bytes& value = "v") {
    WriteSet writes;
    writes.put(record_in(shard, count, number), value);
    return server.store->commit(std::move(writes));
  }
  static bool has(TestServer& server, uint32_t shard, uint64_t number) {
    Bytes value;
    const auto found = server.store->get(record_in(shard, count, number), value);
    EXPECT_TRUE(found.has_value());
    return found && *found;
  }
  size_t objects_of(const std::string& log) const {
    size_t found = 0;
    for (const std::string& name : objects_.names())
      found += name == "log/" + log || name.starts_with("log/" + log + "/");
    return found;
  }

  MemoryObjects objects_{{}};
  int servers_ = 0;
  static inline std::mutex mutex_;
};

TEST_F(ShardedStores, WhatIsNotOpenHereIsRefused) {
  const auto server = make_server();
  ASSERT_TRUE(server->store->open_shard(1, 1, {}).has_value());
  EXPECT_TRUE(put(*server, 1, 1).has_value());
  const auto refused = put(*server, 2, 1);
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(is_not_here(refused.error())) << refused.error().text();
  Bytes value;
  const auto unread = server->store->get(record_in(2, count, 1), value);
  ASSERT_FALSE(unread.has_value());
  EXPECT_TRUE(is_not_here(unread.error()));
  const auto all = server->store->iterate(row::table_begin(table_of_test), row::table_end(table_of_test));
  all->seek_to_first();
  EXPECT_FALSE(all->valid());
  ASSERT_FALSE(all->status().has_value());
  // A write set changes nothing if a part of it belongs to a shard that is not here.
  WriteSet writes;
  writes.put(record_in(1, count, 2), "v");
  writes.put(record_in(3, count, 2), "v");
  const auto partly = server->store->commit(std::move(writes));
  ASSERT_FALSE(partly.has_value());
  EXPECT_TRUE(is_not_here(partly.error()));
  EXPECT_FALSE(has(*server, 1, 2));
}

TEST_F(ShardedStores, ATableIsInTheOrderOfItsKeysOverAllShards) {
  const auto server = make_server();
  open_all(*server, 1);
  std::set<Bytes> keys;
  std::mt19937_64 random(1);
  for (uint64_t i = 0; i < 400; ++i) {
    const auto shard = static_cast<uint32_t>(random() % count);
    ASSERT_TRUE(put(*server, shard, i).has_value());
    if (shard > 0) keys.insert(record_in(shard, count, i));
  }
  const auto table = server->store->iterate(row::table_begin(table_of_test), row::table_end(table_of_test));
  auto expected = keys.begin();
  for (table->seek_to_first(); table->valid(); table->next(), ++expected) ASSERT_EQ(table->key(), *expected);
  EXPECT_EQ(expected, keys.end());
  for (table->seek_to_last(); table->valid(); table->prev()) ASSERT_EQ(table->key(), *--expected);
  EXPECT_EQ(expected, keys.begin());
  const auto middle = std::next(keys.begin(), 150);
  table->seek(*middle);
  table->prev();
  EXPECT_EQ(table->key(), *std::prev(middle));
  table->next();
  table->next();
  EXPECT_EQ(table->key(), *std::next(middle));
}

TEST_F(ShardedStores, ADeadServersShardsGoToSeveralOthersWithoutLoss) {
  auto dead = make_server();
  open_all(*dead, 1);
  for (uint64_t i = 0; i < 200; ++i) ASSERT_TRUE(put(*dead, i % count, i, Bytes(300, 'v')).has_value());
  // The write set is one record of the log for two shards.
  WriteSet both;
  both.put(record_in(1, count, 1000), "v");
  both.put(record_in(2, count, 1000), "v");
  ASSERT_TRUE(dead->store->commit(std::move(both)).has_value());

  const auto left = make_server(), right = make_server();
  for (uint32_t shard = 0; shard < count; ++shard)
    ASSERT_TRUE((shard < 2 ? left : right)->store->open_shard(shard, 2, {{dead->log, 1}}).has_value());
  // The former owner does not know yet that it was removed.
  const auto refused = put(*dead, 3, 9999);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), base::ErrorCode::write_timeout);
  EXPECT_EQ(dead->lost, 1);
  for (uint64_t i = 0; i < 200; ++i) {
    const auto shard = static_cast<uint32_t>(i % count);
    EXPECT_TRUE(has(shard < 2 ? *left : *right, shard, i)) << i;
  }
  EXPECT_TRUE(has(*left, 1, 1000));
  EXPECT_TRUE(has(*right, 2, 1000));
  EXPECT_FALSE(has(*right, 3, 9999));
  // No shard needs its log any more.
  dead.reset();
  ASSERT_GT(objects_of("n-1"), 2u);
  ASSERT_TRUE(left->store->remove_former_log("n-1").has_value());
  ASSERT_TRUE(right->store->remove_former_log("n-1").has_value());
  EXPECT_LE(objects_of("n-1"), 2u);  // only the end of the log is left
}

class TestTimestamps final : public Timestamps {
 public:
  int64_t last() const override { return last_; }
  void start_above(int64_t timestamp) override { last_ = std::max(last_.load(), timestamp); }
  std::atomic<int64_t> last_ = 0;
};

// Tests rule 14: a new owner assigns timestamps above those of the former owner, whether it has to replay or
// not.
TEST_F(ShardedStores, TimestampsOfANewOwnerAreAboveThoseOfTheFormerOne) {
  TestTimestamps first, second, third;
  const auto dead = make_server();
  open_all(*dead, 1);
  dead->store->set_timestamps(&first);
  first.last_ = 1000;
  ASSERT_TRUE(put(*dead, 1, 1).has_value());
  ASSERT_TRUE(dead->store->flush_shard(1).has_value());
  first.last_ = 2000;
  ASSERT_TRUE(put(*dead, 2, 1).has_value());
  const auto next = make_server();
  ASSERT_TRUE(next->store->open_shard(1, 2, {{dead->log, 1}}).has_value());
  next->store->set_timestamps(&second);
  EXPECT_EQ(second.last(), 1000) << "of what was in its tables";
  ASSERT_TRUE(next->store->open_shard(2, 2, {{dead->log, 1}}).has_value());
  EXPECT_EQ(second.last(), 2000) << "of what was replayed";
  second.last_ = 5000;
  ASSERT_TRUE(put(*next, 1, 2).has_value());
  ASSERT_TRUE(next->store->close_shard(1).has_value());
  next->store->set_timestamps(nullptr);
  const auto last = make_server();
  last->store->set_timestamps(&third);
  ASSERT_TRUE(last->store->open_shard(1, 3, {}).has_value());
  EXPECT_EQ(third.last(), 5000);
  last->store->set_timestamps(nullptr);
  dead->store->set_timestamps(nullptr);
}

// Tests rule 17: nothing erases the records of a truncated table. They are freed without an operator's
// compaction.
TEST_F(ShardedStores, RecordsOfDroppedTablesAreFreed) {
  const auto server = make_server();
  open_all(*server, 1);
  auto policy = std::make_shared<PurgePolicy>();
  policy->tables.insert_or_assign(table_of_test, {});
  server->store->set_purge_policy(policy);
  std::mt19937_64 random(1);
  for (uint64_t i = 0; i < 60; ++i) {  // these are enough to be worth freeing
    Bytes value(50'000, 'v');
    for (char& byte : value) byte = static_cast<char>(random());
    ASSERT_TRUE(put(*server, 1, i, value).has_value());
  }
  ASSERT_TRUE(server->store->flush().has_value());
  const auto size = [&] {
    return server->store->approximate_size(row::table_begin(table_of_test), row::table_end(table_of_test));
  };
  ASSERT_GT(size(), 2'000'000u);
  server->store->set_purge_policy(std::make_shared<PurgePolicy>());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (size() > 100'000) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << size();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

// Tests rule 7: each shard is replayed from its own position, and only with its own groups.
TEST_F(ShardedStores, EachShardReplaysExactlyWhatItsTablesLack) {
  const auto dead = make_server();
  open_all(*dead, 1);
  for (uint64_t i = 0; i < 10; ++i)
    for (uint32_t shard = 1; shard < 4; ++shard) ASSERT_TRUE(put(*dead, shard, i).has_value());
  ASSERT_TRUE(dead->store->flush_shard(1).has_value());
  for (uint64_t i = 10; i < 17; ++i)
    for (uint32_t shard = 1; shard < 3; ++shard) ASSERT_TRUE(put(*dead, shard, i).has_value());
  ASSERT_TRUE(dead->store->flush_shard(3).has_value());
  const auto next = make_server();
  open_all(*next, 2, {{dead->log, 1}});
  EXPECT_EQ(next->replayed, (std::map<uint32_t, uint64_t>{{0, 0}, {1, 7}, {2, 17}, {3, 0}, {4, 0}}));
  // An owner dies before the others know that it has flushed. Its successor replays both logs, each only as
  // far as needed.
  ASSERT_TRUE(put(*next, 2, 100).has_value());
  ASSERT_TRUE(put(*next, 2, 101).has_value());
  const auto last = make_server();
  open_all(*last, 3, {{dead->log, 1}, {next->log, 2}});
  EXPECT_EQ(last->replayed, (std::map<uint32_t, uint64_t>{{0, 0}, {1, 0}, {2, 2}, {3, 0}, {4, 0}}));
  for (uint64_t i = 0; i < 17; ++i) EXPECT_TRUE(has(*last, 2, i));
  EXPECT_TRUE(has(*last, 2, 101));
}

TEST_F(ShardedStores, GroupsOfAnotherEpochAreNotReplayed) {
  const auto first = make_server(), second = make_server();
  ASSERT_TRUE(first->store->open_shard(1, 1, {}).has_value());
  ASSERT_TRUE(put(*first, 1, 1, "old").has_value());
  ASSERT_TRUE(first->store->close_shard(1).has_value());
  ASSERT_TRUE(second->store->open_shard(1, 2, {}).has_value());
  ASSERT_TRUE(put(*second, 1, 1, "new").has_value());
  ASSERT_TRUE(second->store->close_shard(1).has_value());
  ASSERT_TRUE(first->store->open_shard(1, 3, {}).has_value());
  ASSERT_TRUE(put(*first, 1, 2, "v").has_value());
  const auto third = make_server();
  ASSERT_TRUE(third->store->open_shard(1, 4, {{first->log, 3}}).has_value());
  EXPECT_EQ(third->replayed[1], 1u);
  Bytes value;
  ASSERT_TRUE(third->store->get(record_in(1, count, 1), value).value_or(false));
  EXPECT_EQ(value, "new");
}

// The former owner decided to open the shard before it was paused for a long time.
TEST_F(ShardedStores, ASlowFormerOwnerDoesNotTakeAShardBack) {
  const auto slow = make_server(), owner = make_server();
  ASSERT_TRUE(slow->store->open_shard(2, 1, {}).has_value());
  ASSERT_TRUE(owner->store->open_shard(1, 6, {}).has_value());
  EXPECT_FALSE(slow->store->open_shard(1, 5, {}).has_value());
  EXPECT_TRUE(put(*owner, 1, 1).has_value());
  EXPECT_TRUE(owner->store->flush_shard(1).has_value());
  EXPECT_EQ(owner->lost, 0);
  EXPECT_TRUE(put(*slow, 2, 1).has_value());
}

// Tests rule 8: flushes of the shards that were written to long ago release the log.
TEST_F(ShardedStores, TheLogStaysBelowItsLimitAlthoughAShardIsIdle) {
  constexpr uint64_t max_bytes = 256 << 10;
  const auto server = make_server(count, max_bytes);
  open_all(*server, 1);
  ASSERT_TRUE(put(*server, 4, 1).has_value());  // nothing else is written to this shard
  uint64_t largest = 0;
  for (uint64_t i = 0; i < 600; ++i) {
    ASSERT_TRUE(put(*server, 1 + i % 2, i, Bytes(4000, 'v')).has_value());
    largest = std::max(largest, server->store->log_state().bytes);
  }
  EXPECT_LE(largest, max_bytes + (64 << 10));
  EXPECT_GT(largest, max_bytes / 2);
  // The records of released segments are in tables, so the next owner finds them.
  const auto next = make_server();
  open_all(*next, 2, {{server->log, 1}});
  EXPECT_TRUE(has(*next, 4, 1));
  for (uint64_t i = 0; i < 600; ++i) ASSERT_TRUE(has(*next, 1 + i % 2, i)) << i;
  EXPECT_EQ(next->replayed[4], 0u);
}

// A server that was declared dead but still runs must not remove groups that its successors are about to
// replay.
TEST_F(ShardedStores, DroppedShardsStillNeedTheLog) {
  const auto zombie = make_server(count, 128 << 10);
  open_all(*zombie, 1);
  for (uint64_t i = 0; i < 20; ++i) ASSERT_TRUE(put(*zombie, 1, i, Bytes(4000, 'v')).has_value());
  zombie->store->drop_shard(1);
  for (uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(put(*zombie, 2, i, Bytes(4000, 'v')).has_value());
  ASSERT_TRUE(zombie->store->flush().has_value());
  std::this_thread::sleep_for(std::chrono::milliseconds(1'500));  // waits for a round of maintenance
  const auto next = make_server();
  ASSERT_TRUE(next->store->open_shard(1, 2, {{zombie->log, 1}}).has_value());
  for (uint64_t i = 0; i < 20; ++i) EXPECT_TRUE(has(*next, 1, i)) << i;
}

TEST_F(ShardedStores, ClosingWaitsForRequestsAndThenRefusesThem) {
  const auto server = make_server();
  open_all(*server, 1);
  auto use = server->store->use(1);
  ASSERT_NE(use, nullptr);
  std::atomic<bool> is_closed = false;
  std::thread closer([&] {
    EXPECT_TRUE(server->store->close_shard(1).has_value());
    is_closed = true;
  });
  while (server->store->use(1) != nullptr) std::this_thread::yield();
  EXPECT_EQ(server->store->open_epoch(1), std::nullopt);
  EXPECT_TRUE(put(*server, 1, 7).has_value());  // the request began before closing
  EXPECT_TRUE(has(*server, 1, 7));
  EXPECT_FALSE(is_closed);
  use.reset();
  closer.join();
  EXPECT_FALSE(put(*server, 1, 8).has_value());
  const auto next = make_server();
  ASSERT_TRUE(next->store->open_shard(1, 2, {}).has_value());
  EXPECT_TRUE(has(*next, 1, 7));
  EXPECT_EQ(server->lost, 0);  // the server was not fenced
  EXPECT_TRUE(put(*server, 2, 1).has_value());
}

// If a log is sealed before it has begun, its writer can never begin.
TEST_F(ShardedStores, ALogWithoutAHeadIsSealedAsWell) {
  const auto client = objects_.connect();
  const auto patience = std::chrono::seconds(5);
  ASSERT_TRUE(seal_and_read(*client, "late", patience).has_value());
  EXPECT_FALSE(ServerLog::create({.store = client.get(), .name = "late", .patience = patience}).has_value());
}

// While another server reads the log, its writer must not move the beginning.
TEST_F(ShardedStores, ASealedLogReleasesNothing) {
  const auto client = objects_.connect(), other = objects_.connect();
  const auto patience = std::chrono::seconds(5);
  bool is_lost = false;
  const auto log = *ServerLog::create({.store = client.get(),
                                       .name = "log",
                                       .segment_bytes = 1000,
                                       .patience = patience,
                                       .on_lost = [&is_lost](objects::Reply) { is_lost = true; }});
  const auto shard = log->open_shard(1, 1, {});
  for (int i = 0; i < 10; ++i) {
    const Bytes group(400, 'g');
    ASSERT_TRUE(log->append(std::vector<ServerLog::Part>{{1, 1, group}}).has_value());
  }
  ASSERT_TRUE(shard->release_all().has_value());
  EXPECT_EQ(seal_and_read(*other, "log", patience)->groups.at({1, 1}).size(), 10u);
  log->release_unneeded();
  EXPECT_TRUE(is_lost);
  EXPECT_EQ(seal_and_read(*other, "log", patience)->groups.at({1, 1}).size(), 10u);
  ASSERT_TRUE(remove_log(*other, "log", patience).has_value());
  EXPECT_EQ(objects_of("log"), 2u);
}

TEST_F(ShardedStores, ASummaryOfALogFollowsItsWriter) {
  const auto client = objects_.connect(), other = objects_.connect();
  const auto patience = std::chrono::seconds(5);
  EXPECT_EQ(summarise_log(*other, "log")->last_segment, 0u);  // there is no log
  const auto log =
      *ServerLog::create({.store = client.get(), .name = "log", .segment_bytes = 1000, .patience = patience});
  EXPECT_EQ(summarise_log(*other, "log")->last_segment, 0u);  // it is empty
  const auto shard = log->open_shard(1, 1, {});
  for (int i = 0; i < 9; ++i) {
    const Bytes group(400, 'g');
    ASSERT_TRUE(log->append(std::vector<ServerLog::Part>{{1, 1, group}}).has_value());
  }
  const LogSummary written = *summarise_log(*other, "log");
  EXPECT_EQ(written.last_record, 9u);
  EXPECT_EQ(written.first_segment, 1u);
  EXPECT_EQ(written.last_segment, 5u);  // there are two groups in each segment
  EXPECT_GT(written.bytes, 9u * 400);
  EXPECT_LT(written.bytes, 9u * 500);
  EXPECT_FALSE(written.is_sealed);

  ASSERT_TRUE(shard->release_all().has_value());
  log->release_unneeded();
  const LogSummary released = *summarise_log(*other, "log");
  EXPECT_EQ(released.last_record, 9u);
  EXPECT_EQ(released.first_segment, 5u);
  EXPECT_EQ(released.last_segment, 5u);
  EXPECT_LT(released.bytes, 500u);

  ASSERT_TRUE(seal_and_read(*other, "log", patience).has_value());
  const LogSummary sealed = *summarise_log(*other, "log");
  EXPECT_TRUE(sealed.is_sealed);
  EXPECT_EQ(sealed.last_record, 9u);
}

// The server was stopped before it was declared dead. When it continues, it tries to begin a new segment: its
// client is not fenced.
TEST_F(ShardedStores, ARemovedLogAcceptsNothing) {
  const auto client = objects_.connect(), other = objects_.connect();
  const auto patience = std::chrono::seconds(5);
  for (const size_t written : {0u, 1u, 4u}) {
    const std::string name = "log-" + std::to_string(written);
    const auto log = *ServerLog::create(
        {.store = client.get(), .name = name, .segment_bytes = 1000, .patience = patience});
    const auto shard = log->open_shard(1, 1, {});
    for (size_t i = 0; i < written; ++i) {
      const Bytes group(900, 'g');
      ASSERT_TRUE(log->append(std::vector<ServerLog::Part>{{1, 1, group}}).has_value());
    }
    ASSERT_TRUE(remove_log(*other, name, patience).has_value());
    const Bytes group(900, 'g');
    EXPECT_FALSE(log->append(std::vector<ServerLog::Part>{{1, 1, group}}).has_value()) << written;
  }
}

// The append that creates a segment has timed out; a copy of it arrives when the log has been removed.
TEST_F(ShardedStores, ALateCopyDoesNotCreateARemovedSegmentAgain) {
  const auto client = objects_.connect(), other = objects_.connect();
  const auto patience = std::chrono::seconds(5);
  for (int round = 0; round < 20; ++round) {  // the copy arrives at a random time
    const std::string name = "log-" + std::to_string(round);
    const auto log = *ServerLog::create({.store = client.get(), .name = name, .patience = patience});
    const auto shard = log->open_shard(1, 1, {});
    int mutations = 0;
    objects_.set_fault_choice([&mutations](const objects::OperationInfo& operation) {
      const bool is_first = operation.kind == objects::OperationInfo::Kind::mutate && mutations++ == 0;
      return std::optional(is_first ? objects::Fault::duplicated : objects::Fault::none);
    });
    const Bytes group(100, 'g');
    ASSERT_TRUE(log->append(std::vector<ServerLog::Part>{{1, 1, group}}).has_value());
    ASSERT_TRUE(remove_log(*other, name, patience).has_value());
    objects_.apply_late();
    EXPECT_FALSE(log->append(std::vector<ServerLog::Part>{{1, 1, group}}).has_value()) << round;
  }
}

// Shards move between servers, and servers die, while clients write.
class MovingShards : public ShardedStores {
 protected:
  struct Owner {
    size_t server = 0;
    uint64_t epoch = 1;
  };

  // Writes each number to a random shard, until it is stopped.
  void write(uint64_t first) {
    std::mt19937_64 random(first);
    for (uint64_t number = first; !stop_; ++number) {
      const auto shard = static_cast<uint32_t>(random() % count);
      if (write_one(shard, number)) {
        const std::lock_guard lock(mutex_);
        acknowledged_.emplace_back(shard, number);
      }
    }
  }
  // Repeats the write until the shard's owner executes it. Returns false if the outcome is unknown.
  bool write_one(uint32_t shard, uint64_t number) {
    for (;;) {
      std::shared_ptr<TestServer> server;
      {
        const std::lock_guard lock(mutex_);
        server = members_[owners_[shard].server];
      }
      if (!server) continue;
      const auto status = put(*server, shard, number, Bytes(200, 'v'));
      if (status) return true;
      if (!is_not_here(status.error())) return false;
      if (stop_) return false;
      std::this_thread::yield();
    }
  }
  void move(uint32_t shard, size_t to) {
    const Owner from = owners_[shard];
    ASSERT_TRUE(members_[from.server]->store->flush_shard(shard).has_value());
    ASSERT_TRUE(members_[from.server]->store->close_shard(shard).has_value());
    const auto opened = members_[to]->store->open_shard(shard, from.epoch + 1, {});
    ASSERT_TRUE(opened.has_value()) << opened.error().text();
    const std::lock_guard lock(mutex_);
    owners_[shard] = {to, from.epoch + 1};
  }
  // The other server takes its shards over while it still writes. Then a new server replaces it.
  void kill(size_t dead) {
    const size_t other = 1 - dead;
    const std::string log = members_[dead]->log;
    for (uint32_t shard = 0; shard < count; ++shard) {
      const Owner from = owners_[shard];
      if (from.server != dead) continue;
      const auto opened = members_[other]->store->open_shard(shard, from.epoch + 1, {{log, from.epoch}});
      ASSERT_TRUE(opened.has_value()) << opened.error().text();
      const std::lock_guard lock(mutex_);
      owners_[shard] = {other, from.epoch + 1};
    }
    std::shared_ptr<TestServer> fresh = make_server();
    {
      const std::lock_guard lock(mutex_);
      std::swap(members_[dead], fresh);
      graveyard_.push_back(fresh);
    }
    ASSERT_TRUE(members_[dead]->store->remove_former_log(log).has_value());
  }

  std::vector<std::shared_ptr<TestServer>> members_, graveyard_;
  std::vector<Owner> owners_{count};
  std::vector<std::pair<uint32_t, uint64_t>> acknowledged_;
  std::atomic<bool> stop_ = false;
};

TEST_F(MovingShards, LoseNothingThatWasAcknowledged) {
  objects_.set_faults({.lost_request = 0.005, .lost_reply = 0.005, .late = 0.005, .duplicated = 0.005});
  members_ = {make_server(), make_server()};
  open_all(*members_[0], 1);
  std::vector<std::thread> writers;
  for (uint64_t i = 0; i < 3; ++i) writers.emplace_back([this, i] { write(i * 1'000'000); });
  std::mt19937_64 random(1);
  for (int round = 0; round < 40 && !HasFatalFailure(); ++round) {
    const auto shard = static_cast<uint32_t>(random() % count);
    if (round % 8 == 7)
      kill(round / 8 % 2);
    else
      move(shard, 1 - owners_[shard].server);
  }
  stop_ = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_GT(acknowledged_.size(), 1'000u);
  for (const auto& [shard, number] : acknowledged_)
    ASSERT_TRUE(has(*members_[owners_[shard].server], shard, number)) << shard << " " << number;
  // The end of the log remains. Empty segments may remain too, if it was unknown whether they were created.
  for (const auto& dead : graveyard_) EXPECT_LE(objects_of(dead->log), 6u) << dead->log;
}

uint64_t resident_bytes() {
  ::malloc_trim(0);
  const auto statm = base::read_file("/proc/self/statm");
  if (!statm) return 0;
  return std::stoull(statm->substr(statm->find(' ') + 1)) * 4096;
}

// The design allows 2 MiB of memory for each shard. The shards stay within this limit even when all of them
// are opened at the same time.
TEST_F(ShardedStores, AnIdleShardTakesLittleMemory) {
  constexpr uint32_t shards = 64;
  const auto server = make_server(shards + 1, 256 << 20);
  for (uint32_t shard = 0; shard <= shards; ++shard)  // each has data
    ASSERT_TRUE(server->store->open_shard(shard, 1, {}).has_value());
  for (uint32_t shard = 1; shard <= shards; ++shard) {
    WriteSet writes;
    writes.put(record_in(shard, shards + 1, 1), Bytes(1000, 'v'));
    ASSERT_TRUE(server->store->commit(std::move(writes)).has_value());
    ASSERT_TRUE(server->store->close_shard(shard).has_value());
  }
  const uint64_t before = resident_bytes();
  for (uint32_t shard = 1; shard <= shards; ++shard)
    ASSERT_TRUE(server->store->open_shard(shard, 2, {}).has_value());
  const uint64_t each = (resident_bytes() - before) / shards;
  RecordProperty("bytes_per_idle_shard", std::to_string(each));
  std::printf("an idle shard takes %llu KiB\n", static_cast<unsigned long long>(each >> 10));
#ifndef __SANITIZE_ADDRESS__
  EXPECT_LE(each, 2u << 20);
#endif
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
