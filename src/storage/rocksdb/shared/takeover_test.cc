// Tests a store that is taken over while it writes, flushes and compacts, and a log that is taken over at any
// moment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "storage/objects/memory/memory_objects.h"
#include "storage/rocksdb/shared/object_log.h"
#include "storage/rocksdb/shared/shared_store.h"

namespace sibyl::storage::rocksdb {
namespace {

using objects::Fault;
using objects::MemoryObjects;
using objects::ObjectDirectory;
using objects::OperationInfo;

// --- The log

struct LogOwner {
  std::unique_ptr<objects::ObjectStore> client;
  std::unique_ptr<ObjectDirectory> directory;
  std::unique_ptr<ObjectLog> log;
  std::vector<Bytes> replayed;
};

class ObjectLogs : public testing::Test {
 protected:
  std::unique_ptr<LogOwner> open(BytesView position = {}, bool begins = true) {
    auto owner = std::make_unique<LogOwner>();
    owner->client = objects_.connect();
    // There is no fence, so only the rules of the log protect the log.
    auto directory = ObjectDirectory::open({.store = owner->client.get(),
                                            .name = "shard",
                                            .patience = std::chrono::milliseconds(5'000),
                                            .fences_previous_owner = false});
    EXPECT_TRUE(directory.has_value());
    owner->directory = std::move(*directory);
    WriteLog::Replay replay;
    replay.group = [replayed = &owner->replayed](BytesView group) {
      replayed->emplace_back(group);
      return base::Status();
    };
    auto log = ObjectLog::open(
        {.directory = owner->directory.get(), .segment_bytes = 1000, .record_bytes = 300}, replay, position);
    EXPECT_TRUE(log.has_value()) << log.error().text();
    if (!log) return owner;
    owner->log = std::move(*log);
    if (begins) {
      EXPECT_TRUE(owner->log->begin().has_value());
    }
    return owner;
  }
  size_t segments() const {
    size_t count = 0;
    for (const std::string& name : objects_.names()) count += name.starts_with("log/");
    return count;
  }

  MemoryObjects objects_{{}};
};

Bytes group_of(int number) {
  return std::to_string(number) + Bytes(static_cast<size_t>(number % 7) * 100, 'x');
}

TEST_F(ObjectLogs, ReplayWhatWasAppendedInOrder) {
  auto owner = open();
  std::vector<Bytes> groups;
  for (int i = 0; i < 40; ++i) {
    groups.push_back(group_of(i));
    ASSERT_TRUE(owner->log->append(groups.back(), true).has_value());
  }
  EXPECT_GT(owner->log->segment(), 5U);
  owner = open();
  EXPECT_EQ(owner->replayed, groups);
  EXPECT_EQ(segments(), 2U);  // begin() has removed the old log, except its end
  EXPECT_TRUE(open()->replayed.empty());
}

TEST_F(ObjectLogs, ReplayOnlyWhatFollowsThePosition) {
  for (int flushed = 0; flushed < 30; ++flushed) {
    auto owner = open();
    Bytes position;
    for (int i = 0; i < 30; ++i) {
      if (i <= flushed) position = owner->log->next_position();
      ASSERT_TRUE(owner->log->append(group_of(i), true).has_value());
      if (i == flushed && owner->log->segment() > 1) owner->log->release(owner->log->segment() - 1);
    }
    owner = open(position);
    ASSERT_EQ(owner->replayed.size(), static_cast<size_t>(29 - flushed)) << flushed;
    if (!owner->replayed.empty()) {
      EXPECT_EQ(owner->replayed.front(), group_of(flushed + 1));
    }
  }
}

TEST_F(ObjectLogs, RefuseAPositionWhoseSegmentIsMissing) {
  auto owner = open();
  const Bytes position = owner->log->next_position();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(owner->log->append(group_of(i), true).has_value());
  owner->log->release(owner->log->segment() - 1);
  owner.reset();
  const auto client = objects_.connect();
  const auto directory = *ObjectDirectory::open({.store = client.get(), .name = "shard"});
  WriteLog::Replay replay;
  replay.group = [](BytesView) { return base::Status(); };
  const auto log = ObjectLog::open({.directory = directory.get()}, replay, position);
  ASSERT_FALSE(log.has_value());
  EXPECT_THAT(log.error().message(), testing::HasSubstr("damaged"));
}

// An append that arrives after it was repeated must not store its group twice, or after the next group.
TEST_F(ObjectLogs, LateAppendsAreAppliedOnceAndInOrder) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    auto owner = open();
    objects_.set_faults({.lost_request = 0.1, .lost_reply = 0.1, .late = 0.2, .duplicated = 0.1});
    std::vector<Bytes> groups;
    for (int i = 0; i < 25; ++i) {
      groups.push_back(group_of(i));
      ASSERT_TRUE(owner->log->append(groups.back(), true).has_value());
    }
    objects_.set_faults({});
    objects_.apply_late();
    owner = open();
    EXPECT_EQ(owner->replayed, groups) << seed;
  }
}

// The old writer does not know of the takeover, and its client is not fenced.
TEST_F(ObjectLogs, ATakeoverEndsTheOldWriter) {
  for (int written = 0; written < 12; ++written) {
    const auto old_owner = open();
    std::vector<Bytes> groups;
    for (int i = 0; i < written; ++i) {
      groups.push_back(group_of(i));
      ASSERT_TRUE(old_owner->log->append(groups.back(), true).has_value());
    }
    auto new_owner = open({}, false);
    EXPECT_EQ(new_owner->replayed, groups);
    // The group may fit into the last segment, or need a new one.
    const auto refused = old_owner->log->append(Bytes(written % 2 == 0 ? 10 : 990, 'y'), true);
    ASSERT_FALSE(refused.has_value()) << written;
    EXPECT_EQ(refused.error().code(), base::ErrorCode::write_timeout);
    EXPECT_TRUE(old_owner->directory->is_lost());
    EXPECT_EQ(open()->replayed, groups) << written;
  }
}

// An append is in flight while the log is taken over. The takeover decides once and for all whether it
// counts.
TEST_F(ObjectLogs, AnAppendOnItsWayCountsBeforeTheSealOrNever) {
  for (int round = 0; round < 20; ++round) {
    const auto old_owner = open();
    objects_.set_faults({.lost_request = 0.05, .lost_reply = 0.05, .late = 0.2});
    std::atomic<size_t> acknowledged = 0;
    std::thread writer([&] {
      for (int i = 0; old_owner->log->append(group_of(i), true).has_value(); ++i) ++acknowledged;
    });
    while (acknowledged < 3) std::this_thread::yield();
    const std::vector<Bytes> seen = open({}, false)->replayed;
    writer.join();
    objects_.set_faults({});
    objects_.apply_late();
    EXPECT_GE(seen.size(), acknowledged.load());
    for (size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], group_of(static_cast<int>(i)));
    EXPECT_EQ(open()->replayed, seen);
  }
}

// The append has timed out and may arrive at any time. It must neither count after it was refused, nor take
// the place of the next one.
TEST_F(ObjectLogs, AnAppendInDoubtIsCancelledWhenTheStorageIsFull) {
  for (int round = 0; round < 40; ++round) {  // the late append arrives at a random time
    const bool is_first = round % 2 == 0;
    auto owner = open();
    if (!is_first) {
      ASSERT_TRUE(owner->log->append("before", true).has_value());
    }
    int attempts = 0;
    objects_.set_fault_choice([&](const OperationInfo& operation) {
      const bool is_late = operation.kind == OperationInfo::Kind::mutate && attempts++ == 0;
      if (is_late) objects_.set_full(true);
      return std::optional(is_late ? Fault::late : Fault::none);
    });
    const auto refused = owner->log->append("refused", true);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code(), base::ErrorCode::write_failure);
    objects_.set_fault_choice({});
    objects_.set_full(false);
    objects_.apply_late();
    ASSERT_TRUE(owner->log->append("after", true).has_value());
    std::vector<Bytes> expected{"before", "after"};
    if (is_first) expected.erase(expected.begin());
    EXPECT_EQ(open()->replayed, expected);
  }
}

TEST_F(ObjectLogs, AGroupOfSeveralRecordsCountsOnlyWithItsLast) {
  auto owner = open();
  ASSERT_TRUE(owner->log->append("before", true).has_value());
  int left = 2;  // two of the group's records are stored
  objects_.set_fault_choice([&](const OperationInfo& operation) {
    if (operation.kind == OperationInfo::Kind::mutate && left-- == 0) objects_.set_full(true);
    return std::optional(Fault::none);
  });
  EXPECT_FALSE(owner->log->append(Bytes(1000, 'x'), true).has_value());
  objects_.set_full(false);
  objects_.set_fault_choice({});
  ASSERT_TRUE(owner->log->append("after", true).has_value());
  EXPECT_EQ(open()->replayed, (std::vector<Bytes>{"before", "after"}));
}

// --- The store

std::string key_of(int number) {
  return "key" + std::to_string(1'000'000 + number);
}

// Writes increasing numbers until a commit fails.
class Writer {
 public:
  explicit Writer(Store& store, int first) : store_(store), next_(first), thread_([this] { run(); }) {}
  ~Writer() { join(); }
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  int acknowledged() const { return acknowledged_; }  // the first number whose write is not acknowledged
  bool has_failed() const { return has_failed_; }

 private:
  void run() {
    for (;; ++next_) {
      WriteSet writes;
      writes.put(key_of(next_), std::string(200, 'v') + std::to_string(next_));
      writes.put("last", std::to_string(next_));
      if (!store_.commit(std::move(writes))) {
        has_failed_ = true;
        return;
      }
      acknowledged_ = next_ + 1;
    }
  }

  Store& store_;
  int next_ = 0;
  std::atomic<int> acknowledged_ = 0;
  std::atomic<bool> has_failed_ = false;
  std::thread thread_;
};

class Takeover : public testing::Test {
 protected:
  std::unique_ptr<Store> open(std::atomic<int>* lost = nullptr) {
    SharedStoreOptions options;
    options.name = "shard";
    // These sizes are small, so that flushes and compactions happen all the time.
    options.store.write_buffer_bytes = 64 << 10;
    options.store.log_segment_bytes = 32 << 10;
    if (lost != nullptr) options.on_lost = [lost](const std::string&) { ++*lost; };
    auto store = open_shared_store(objects_.connect(), options);
    EXPECT_TRUE(store.has_value()) << store.error().text();
    return store ? std::move(*store) : nullptr;
  }
  // Checks that the tables and the log together hold an unbroken run of commits, and returns its length.
  static int count_commits(const Store& store) {
    Bytes last = "-1", value;
    EXPECT_TRUE(store.get("last", last).has_value());
    const int count = std::stoi(last) + 1;
    const auto iterator = store.iterate("key", "kez");
    int found = 0;
    for (iterator->seek_to_first(); iterator->valid(); iterator->next(), ++found)
      if (iterator->key() != key_of(found)) break;
    EXPECT_TRUE(iterator->status().has_value());
    EXPECT_EQ(found, count);
    return count;
  }

  MemoryObjects objects_{{}};
};

TEST_F(Takeover, DuringFlushesAndCompactionsLosesNothing) {
  objects_.set_faults({.lost_request = 0.01, .lost_reply = 0.01, .late = 0.01, .duplicated = 0.01});
  int written = 0;
  std::atomic<int> lost = 0;
  auto owner = open(&lost);
  for (int round = 0; round < 10; ++round) {
    Writer writer(*owner, written);
    while (writer.acknowledged() < written + 800 && !writer.has_failed()) std::this_thread::yield();
    ASSERT_FALSE(writer.has_failed());
    auto next = open(&lost);  // the former owner is not notified
    ASSERT_NE(next, nullptr);
    writer.join();  // its commits fail
    EXPECT_EQ(lost, round + 1);
    EXPECT_FALSE(owner->flush().has_value());
    owner = std::move(next);
    const int found = count_commits(*owner);
    EXPECT_GE(found, writer.acknowledged());
    EXPECT_LE(found, writer.acknowledged() + 1);
    written = found;
  }
  EXPECT_GT(owner->statistics().files, 0U);
  ASSERT_TRUE(owner->compact({}, {}).has_value());
  EXPECT_EQ(count_commits(*owner), written);
}

TEST_F(Takeover, ACleanStopLeavesNothingToReplay) {
  auto owner = open();
  WriteSet writes;
  writes.put(key_of(0), "v");
  writes.put("last", "0");
  ASSERT_TRUE(owner->commit(std::move(writes)).has_value());
  owner.reset();
  SharedStoreOptions options;
  options.name = "shard";
  uint64_t replayed = 1;
  options.on_replayed = [&replayed](uint64_t groups) { replayed = groups; };
  const auto next = *open_shared_store(objects_.connect(), options);
  EXPECT_EQ(replayed, 0U);
  EXPECT_EQ(count_commits(*next), 1);
}

// Tests rule 7: the position is flushed with the data, so the log is replayed from exactly there.
TEST_F(Takeover, ReplaysExactlyWhatTheTablesLack) {
  auto owner = open();
  const auto put = [&owner](int number) {
    WriteSet writes;
    writes.put(key_of(number), "v");
    ASSERT_TRUE(owner->commit(std::move(writes)).has_value());
  };
  for (int i = 0; i < 10; ++i) put(i);
  ASSERT_TRUE(owner->flush().has_value());
  for (int i = 10; i < 17; ++i) put(i);
  SharedStoreOptions options;
  options.name = "shard";
  uint64_t replayed = 0;
  options.on_replayed = [&replayed](uint64_t groups) { replayed = groups; };
  const auto next = *open_shared_store(objects_.connect(), options);
  EXPECT_EQ(replayed, 7U);
}

// Bounds the operations that an open takes. The bound is half of the number before directories were cached.
TEST_F(Takeover, OpeningTakesFewOperations) {
  auto owner = open();
  for (int i = 0; i < 20; ++i) {
    WriteSet writes;
    writes.put(key_of(i), std::string(1000, 'v'));
    ASSERT_TRUE(owner->commit(std::move(writes)).has_value());
    if (i % 4 == 0) {
      ASSERT_TRUE(owner->flush().has_value());
    }
  }
  owner.reset();
  const uint64_t before = objects_.counts().operations;
  owner = open();
  const uint64_t operations = objects_.counts().operations - before;
  EXPECT_LE(operations, 37U);
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
