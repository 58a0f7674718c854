// The RocksDB store with failing files, after kills, and under overload.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/system_clock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>

#include "base/check.h"
#include "base/file.h"
#include "row/fragment.h"
#include "row/record_key.h"
#include "storage/partition_sample.h"
#include "storage/rocksdb/directory.h"
#include "storage/rocksdb/faulty_disk.h"
#include "storage/rocksdb/recovery/salvage.h"
#include "storage/rocksdb/test_store.h"

namespace sibyl::storage::rocksdb {
namespace {

// RocksDB's own files (tables, MANIFEST), failing on demand.
class FaultyFileSystem final : public ::rocksdb::FileSystemWrapper {
 public:
  FaultyFileSystem() : FileSystemWrapper(::rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "FaultyFileSystem"; }

  ::rocksdb::IOStatus NewWritableFile(const std::string& name, const ::rocksdb::FileOptions& options,
                                      std::unique_ptr<::rocksdb::FSWritableFile>* result,
                                      ::rocksdb::IODebugContext* context) override {
    if (fail_) {
      if (before_failure_) before_failure_();
      return failure();
    }
    auto status = target()->NewWritableFile(name, options, result, context);
    if (status.ok()) *result = std::make_unique<File>(std::move(*result), *this);
    return status;
  }

  // Called just before the creation of a file fails. Set it while creations do not fail.
  void before_failure(std::function<void()> act) { before_failure_ = std::move(act); }
  void fail(bool fail, bool no_space = false) {
    no_space_ = no_space;
    fail_ = fail;
  }

 private:
  class File final : public ::rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<::rocksdb::FSWritableFile> file, FaultyFileSystem& system)
        : FSWritableFileOwnerWrapper(std::move(file)), system_(system) {}
    ::rocksdb::IOStatus Append(const ::rocksdb::Slice& data, const ::rocksdb::IOOptions& options,
                               ::rocksdb::IODebugContext* context) override {
      return system_.fail_ ? system_.failure() : FSWritableFileOwnerWrapper::Append(data, options, context);
    }
    ::rocksdb::IOStatus Append(const ::rocksdb::Slice& data, const ::rocksdb::IOOptions& options,
                               const ::rocksdb::DataVerificationInfo& verification,
                               ::rocksdb::IODebugContext* context) override {
      return system_.fail_ ? system_.failure()
                           : FSWritableFileOwnerWrapper::Append(data, options, verification, context);
    }
    ::rocksdb::IOStatus Sync(const ::rocksdb::IOOptions& options,
                             ::rocksdb::IODebugContext* context) override {
      return system_.fail_ ? system_.failure() : FSWritableFileOwnerWrapper::Sync(options, context);
    }

   private:
    FaultyFileSystem& system_;
  };

  ::rocksdb::IOStatus failure() const {
    if (no_space_) {
      auto status = ::rocksdb::IOStatus::NoSpace("injected");
      status.SetRetryable(true);  // RocksDB's own file system does the same
      return status;
    }
    return ::rocksdb::IOStatus::IOError("injected");
  }
  std::function<void()> before_failure_;
  std::atomic<bool> fail_ = false;
  std::atomic<bool> no_space_ = false;
};

template <typename Condition>
bool eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

class ClockBefore1970 final : public ::rocksdb::SystemClockWrapper {
 public:
  using SystemClockWrapper::SystemClockWrapper;
  const char* Name() const override { return "ClockBefore1970"; }
  ::rocksdb::Status GetCurrentTime(int64_t* seconds) override {
    *seconds = -1'000'000;
    return ::rocksdb::Status::OK();
  }
};

class EnvironmentBefore1970 final : public ::rocksdb::EnvWrapper {
 public:
  EnvironmentBefore1970() : EnvWrapper(::rocksdb::Env::Default()) {
    system_clock_ = std::make_shared<ClockBefore1970>(::rocksdb::SystemClock::Default());
  }
};

// RocksDB alone would terminate the process.
TEST(StoreClock, ATimeBeforeTheEpochIsHarmless) {
  TemporaryDirectory directory;
  EnvironmentBefore1970 environment;
  Options options;
  options.environment = &environment;
  for (int i = 0; i < 2; ++i) {
    auto store = opened(directory.path(), options);
    ASSERT_NE(store, nullptr);
    WriteSet writes;
    writes.put("key" + std::to_string(i), "value");
    EXPECT_TRUE(store->commit(std::move(writes)));
    EXPECT_TRUE(store->flush());
    EXPECT_TRUE(store->compact("a", "z"));
    EXPECT_EQ(get(*store, "key0"), "value");
  }
}

class TableFaults : public testing::TestWithParam<bool> {};

// Table files fail while writes continue. Acknowledged writes stay readable and durable, refused writes do
// not appear, and the store resumes by itself.
TEST_P(TableFaults, TheStoreResumesByItself) {
  TemporaryDirectory directory;
  const auto files = std::make_shared<FaultyFileSystem>();
  const auto environment = ::rocksdb::NewCompositeEnv(files);
  Options options;
  options.environment = environment.get();
  options.write_buffer_bytes = 128 << 10;
  options.log_segment_bytes = 64 << 10;
  auto store = opened(directory.path(), options);
  ASSERT_NE(store, nullptr);
  std::vector<std::string> acknowledged, refused;
  const auto write_some = [&](const std::string& name, int count) {
    for (int i = 0; i < count; i += 10) {
      WriteSet writes;
      std::vector<std::string> keys;
      for (int j = i; j < i + 10; ++j)
        writes.put(keys.emplace_back(name + std::to_string(j)), Bytes(1000, 'v'));
      auto& outcome = store->commit(std::move(writes)) ? acknowledged : refused;
      outcome.insert(outcome.end(), keys.begin(), keys.end());
    }
  };
  const auto check = [&](const char* when) {
    std::string lost, appeared;
    for (const auto& key : acknowledged)
      if (get(*store, key).size() != 1000) lost += " " + key;
    for (const auto& key : refused)
      if (get(*store, key) != "none") appeared += " " + key;
    EXPECT_EQ(lost, "") << when;
    EXPECT_EQ(appeared, "") << when;
  };
  write_some("before", 50);
  EXPECT_TRUE(refused.empty());
  files->fail(true, GetParam());
  write_some("during", 400);
  const auto flushed = store->flush();
  ASSERT_FALSE(flushed.has_value());
  EXPECT_NE(flushed.error().message().find("injected"), std::string::npos) << flushed.error().message();
  EXPECT_EQ(flushed.error().hint().find("free some disk space") != std::string::npos, GetParam())
      << flushed.error().text();
  EXPECT_EQ(flushed.error().message().find("No space left") != std::string::npos, GetParam());
  check("while files fail");
  files->fail(false);
  EXPECT_TRUE(eventually([&] { return put(*store, "after", "v").has_value(); }));
  write_some("later", 400);
  EXPECT_TRUE(eventually([&] { return store->flush().has_value(); }));
  check("when they work again");
  store.reset();
  store = opened(directory.path(), options);
  ASSERT_NE(store, nullptr);
  check("after a restart");
}
INSTANTIATE_TEST_SUITE_P(RocksDB, TableFaults, testing::Bool());

// RocksDB itself can lose a flush that is requested while it resumes, and then waits for it forever. A
// compaction of everything flushes first.
void expect_resumes_beside(const std::function<void(Store&)>& work) {
  TemporaryDirectory directory;
  const auto files = std::make_shared<FaultyFileSystem>();
  const auto environment = ::rocksdb::NewCompositeEnv(files);
  Options options;
  options.environment = environment.get();
  options.write_buffer_bytes = 128 << 10;
  const std::shared_ptr<Store> store = opened(directory.path(), options);
  ASSERT_NE(store, nullptr);
  const auto commit = [&](int number) {
    auto answered = std::make_shared<std::promise<bool>>();
    WriteSet writes;
    writes.put("key" + std::to_string(number), Bytes(10'000, 'v'));
    store->commit(std::move(writes),
                  [answered](const base::Status& status) { answered->set_value(status.has_value()); });
    auto answer = answered->get_future();
    SIBYL_CHECK(answer.wait_for(std::chrono::seconds(30)) == std::future_status::ready);
    return answer.get();
  };
  std::mutex mutex;  // several threads of RocksDB fail at the same time, also while the last others end
  std::vector<std::thread> others;
  bool has_ended = false;
  files->before_failure([&] {
    if (const std::lock_guard lock(mutex); !has_ended) others.emplace_back([&] { work(*store); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the request must come while a flush runs
  });
  for (int round = 0; round < 6; ++round) {
    files->fail(true);
    for (int i = 0; i < 60; ++i) (void)commit(i);
    files->fail(false);
    EXPECT_TRUE(eventually([&] { return commit(round); })) << round;
  }
  {
    const std::lock_guard lock(mutex);
    has_ended = true;
  }
  EXPECT_FALSE(others.empty());
  for (std::thread& other : others) other.join();
}

TEST(RocksdbStore, ResumesWhileAnotherThreadFlushes) {
  expect_resumes_beside([](Store& store) { (void)store.flush(); });
}

TEST(RocksdbStore, ResumesWhileAnotherThreadCompacts) {
  expect_resumes_beside([](Store& store) { (void)store.compact({}, {}); });
}

TEST(RocksdbStore, ReportsTheSyncTimeOfTheDevice) {
  for (const Durability durability : {Durability::synced, Durability::periodic}) {
    const TemporaryDirectory directory;
    FaultyDisk disk;
    disk.sync_takes = std::chrono::milliseconds(20);
    Options options;
    options.durability = durability;
    options.log_disk = &disk;
    const auto store = opened(directory.path(), options);
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(store->sync_time().count(), 0);
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(put(*store, "key", std::to_string(i)));
    if (durability == Durability::synced) {
      EXPECT_GE(store->sync_time(), std::chrono::milliseconds(15));  // the average needs some groups to adapt
    } else {
      EXPECT_EQ(store->sync_time().count(), 0);
    }
  }
}

TEST(RocksdbStore, WritesAcknowledgedDuringTableFailuresAreReplayed) {
  TemporaryDirectory directory;
  const auto files = std::make_shared<FaultyFileSystem>();
  const auto environment = ::rocksdb::NewCompositeEnv(files);
  Options options;
  options.environment = environment.get();
  auto store = opened(directory.path(), options);
  ASSERT_NE(store, nullptr);
  ASSERT_TRUE(put(*store, "a", "1").has_value());
  files->fail(true);
  ASSERT_TRUE(put(*store, "b", "2").has_value());
  store.reset();
  files->fail(false);
  store = opened(directory.path(), options);
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(get(*store, "a"), "1");
  EXPECT_EQ(get(*store, "b"), "2");
}

TEST(RocksdbStore, AGroupFailsAsOneAndIsNeverSeen) {
  TemporaryDirectory directory;
  FaultyDisk disk;
  Options options;
  options.log_disk = &disk;
  auto store = opened(directory.path(), options);
  ASSERT_NE(store, nullptr);
  ASSERT_TRUE(put(*store, "a", "1").has_value());
  disk.fail_sync = 0;
  const auto status = put(*store, "b", "2");
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code(), base::ErrorCode::write_failure);
  EXPECT_NE(status.error().message().find("Input/output error"), std::string::npos)
      << status.error().message();
  EXPECT_EQ(get(*store, "b"), "none");
  ASSERT_TRUE(put(*store, "c", "3").has_value());
  store = nullptr;
  store = opened(directory.path(), options);
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(get(*store, "b"), "none");
  EXPECT_EQ(get(*store, "c"), "3");
}

// A disk whose syncs block until the test releases them.
class GatedDisk final : public Disk {
 public:
  int sync(int file) override {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    --waiting_;
    return Disk::sync(file);
  }
  void set_open(bool open) {
    const std::lock_guard lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }
  void wait_until_one_waits() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  int waiting_ = 0;
};

TEST(RocksdbStore, WaitingCommitsFormOneGroupAndOverloadIsRefused) {
  TemporaryDirectory directory;
  GatedDisk disk;
  Options options;
  options.log_disk = &disk;
  options.queue_bytes = 10'000;
  auto store = opened(directory.path(), options);
  ASSERT_NE(store, nullptr);
  ASSERT_TRUE(put(*store, "first", "1").has_value());
  const uint64_t groups_before = store->statistics().commit_groups;

  disk.set_open(false);
  std::atomic<int> done = 0, overloaded = 0, failed = 0;
  const auto submit = [&](const std::string& key) {
    WriteSet writes;
    writes.put(key, Bytes(1000, 'v'));
    store->commit(std::move(writes), [&](base::Status status) {
      if (status)
        ++done;
      else
        ++(status.error().code() == base::ErrorCode::overloaded ? overloaded : failed);
    });
  };
  submit("blocked");
  disk.wait_until_one_waits();
  for (int i = 0; i < 20; ++i) submit("k" + std::to_string(i));
  EXPECT_EQ(done, 0);
  EXPECT_EQ(overloaded, 13);  // of 1 KiB each, seven fit into 10,000 bytes with their overhead
  disk.set_open(true);
  EXPECT_TRUE(eventually([&] { return done == 8; }));
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(store->statistics().commit_groups, groups_before + 2);
  EXPECT_EQ(get(*store, "k6").size(), 1000u);
  EXPECT_EQ(get(*store, "k7"), "none");
}

class PeriodicSyncs : public testing::Test {
 protected:
  void SetUp() override {
    options_.log_disk = &disk_;
    options_.durability = Durability::periodic;
    options_.sync_interval = std::chrono::milliseconds(50);
    store_ = opened(directory_.path(), options_);
    ASSERT_NE(store_, nullptr);
    ASSERT_TRUE(put(*store_, "a", "1").has_value());
    // Waits for two syncs of the new segment and the periodic one.
    ASSERT_TRUE(eventually([&] { return disk_.syncs > 2; }));
  }

  TemporaryDirectory directory_;
  FaultyDisk disk_;
  Options options_;
  std::unique_ptr<Store> store_;
};

TEST_F(PeriodicSyncs, ComeLater) {
  const int before = disk_.syncs;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(put(*store_, std::to_string(i), "v").has_value());
  EXPECT_LE(disk_.syncs, before + 20);
  ASSERT_TRUE(eventually([&] { return disk_.syncs > before; }));
  store_.reset();
  store_ = opened(directory_.path(), options_);
  ASSERT_NE(store_, nullptr);
  EXPECT_EQ(get(*store_, "99"), "v");
}

// After each failure the sync is retried, even if nothing else is written.
TEST_F(PeriodicSyncs, AreRetriedWithoutAnotherWrite) {
  disk_.fail_sync = 0;
  ASSERT_TRUE(put(*store_, "b", "2").has_value());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(eventually([&] { return disk_.fail_sync < 0; })) << i;
    disk_.fail_sync = 0;
  }
  disk_.fail_sync = -1;
}

// A compaction requested by an operator must not delay the shutdown of a server.
TEST(RocksdbStore, CompactionsAreStopped) {
  TemporaryDirectory directory;
  auto store = opened(directory.path(), {});
  ASSERT_NE(store, nullptr);
  ASSERT_TRUE(put(*store, "a", "1").has_value());
  ASSERT_TRUE(store->compact({}, {}).has_value());
  stop_compacting(*store);
  const auto status = store->compact({}, {});
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().message(), "The compaction was stopped: the server is stopping");
  EXPECT_EQ(get(*store, "a"), "1");
}

TEST(RocksdbStore, FlushesReleaseTheLog) {
  TemporaryDirectory directory;
  Options options;
  options.write_buffer_bytes = 128 << 10;
  options.log_segment_bytes = 64 << 10;
  auto store = opened(directory.path(), options);
  ASSERT_NE(store, nullptr);
  for (int i = 0; i < 5000; i += 50) {
    WriteSet writes;
    for (int j = i; j < i + 50; ++j) writes.put(std::to_string(j), Bytes(1000, 'v'));
    ASSERT_TRUE(store->commit(std::move(writes)).has_value());
  }
  uint64_t log_bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path() + "/log"))
    log_bytes += entry.file_size();
  EXPECT_LT(log_bytes, 2u << 20);  // This is less than the five MiB that were written.
  for (int i = 0; i < 5000; i += 100) EXPECT_EQ(get(*store, std::to_string(i)).size(), 1000u);
}

TEST(RocksdbStore, ASecondOpenIsRefused) {
  TemporaryDirectory directory;
  auto store = opened(directory.path());
  const auto second = open_store(directory.path());
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().message(),
            "Cannot open the store in " + directory.path() + ": another process has it open");
  store.reset();
  EXPECT_TRUE(open_store(directory.path()).has_value());
}

TEST(RocksdbStore, AnotherFormatIsRefusedByName) {
  TemporaryDirectory directory;
  opened(directory.path());
  std::ofstream(directory.path() + "/SIBYL_FORMAT") << "sibyl store format 7\n";
  const auto store = open_store(directory.path());
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().message(),
            "Cannot open the store in " + directory.path() +
                ": it has store format 7, and this program reads and writes format 1");
  std::ofstream(directory.path() + "/SIBYL_FORMAT") << "something else";
  EXPECT_FALSE(open_store(directory.path()).has_value());
}

// A partial write is not a success, and its leftovers must not cause harm.
TEST(RocksdbStore, ATruncatedFormatFileIsNotAccepted) {
  TemporaryDirectory directory;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 10;
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  errno = 0;
  const base::Status marked = mark_as_store(directory.path());
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);
  ASSERT_FALSE(marked.has_value());
  EXPECT_EQ(marked.error().message(),
            "Cannot open the store in " + directory.path() + ": write: File too large");
  EXPECT_FALSE(std::filesystem::exists(directory.path() + "/SIBYL_FORMAT"));
  opened(directory.path());
}

// The state after a crash: a copy of an open store's directory.
class LostFiles : public testing::Test {
 protected:
  void SetUp() override {
    const auto store = opened(original_.path());
    ASSERT_NE(store, nullptr);
    ASSERT_TRUE(put(*store, "a", "in the log alone").has_value());
    std::filesystem::copy(original_.path(), data_, std::filesystem::copy_options::recursive);
  }

  TemporaryDirectory original_, copies_;
  const std::string data_ = copies_.path() + "/data";
};

TEST_F(LostFiles, AStoreWhoseLogIsMissingIsRefused) {
  std::filesystem::rename(data_ + "/log", data_ + "/elsewhere");
  const auto refused = open_store(data_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message(),
            "The commit log is damaged: segment " + data_ + "/log/000000000001.log: it is missing");
  std::filesystem::remove(data_ + "/log");
  std::filesystem::rename(data_ + "/elsewhere", data_ + "/log");
  EXPECT_EQ(get(*opened(data_), "a"), "in the log alone");
  // Closing has written everything to files, so a missing log loses nothing.
  std::filesystem::remove_all(data_ + "/log");
  EXPECT_EQ(get(*opened(data_), "a"), "in the log alone");
}

// The directory was copied as soon as the write was acknowledged, so its group was on the device.
TEST_F(LostFiles, ALastGroupThatIsCutIsRefused) {
  const std::string segment = data_ + "/log/000000000001.log";
  const std::string bytes = *base::read_file(segment);
  std::filesystem::resize_file(segment, bytes.find("in the log alone"));
  const auto refused = open_store(data_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message().find("was acknowledged and is broken"), std::string::npos)
      << refused.error().message();
  std::ofstream(segment, std::ios::binary) << bytes;
  EXPECT_EQ(get(*opened(data_), "a"), "in the log alone");
}

TEST_F(LostFiles, AStoreWhoseRecordsAreMissingIsRefused) {
  const auto expect_refused = [this] {
    std::filesystem::remove_all(data_ + "/records");
    const auto refused = open_store(data_);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().message(),
              "Cannot open the store in " + data_ + ": its records are missing, although it has a log");
  };
  std::filesystem::rename(data_ + "/records", data_ + "/elsewhere");
  expect_refused();
  std::filesystem::remove(data_ + "/SIBYL_LOG");  // stores of older versions do not have this file
  expect_refused();
  std::filesystem::remove_all(data_ + "/records");
  std::filesystem::rename(data_ + "/elsewhere", data_ + "/records");
  EXPECT_EQ(get(*opened(data_), "a"), "in the log alone");
  expect_refused();
}

TEST_F(LostFiles, AStoreWithoutItsFormatFileIsRefusedWithAWayToRecover) {
  const std::string format = data_ + "/SIBYL_FORMAT";
  std::filesystem::remove(format);
  const auto refused = open_store(data_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message(),
            "Cannot open the store in " + data_ + ": it holds a store, but SIBYL_FORMAT is missing");
  EXPECT_NE(refused.error().hint().find("sibyl recover --data " + data_), std::string::npos)
      << refused.error().hint();
  const auto salvaged = salvage(data_, copies_.path() + "/recovered");
  ASSERT_TRUE(salvaged.has_value()) << salvaged.error().text();
  EXPECT_EQ(get(*opened(copies_.path() + "/recovered"), "a"), "in the log alone");
  std::filesystem::copy(original_.path() + "/SIBYL_FORMAT", format);
  EXPECT_EQ(get(*opened(data_), "a"), "in the log alone");
}

TEST(RocksdbStore, AForeignDirectoryIsRefusedAndUnchanged) {
  TemporaryDirectory directory;
  std::ofstream(directory.path() + "/thesis.txt") << "years of work";
  const auto store = open_store(directory.path());
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().message(), "Cannot open the store in " + directory.path() +
                                         ": the directory holds other files and no Sibyl store");
  EXPECT_FALSE(std::filesystem::exists(directory.path() + "/SIBYL_FORMAT"));
  EXPECT_FALSE(open_store(directory.path() + "/thesis.txt").has_value());
}

TEST(RocksdbStore, AnInterruptedCreationIsCompleted) {
  TemporaryDirectory directory;
  std::ofstream(directory.path() + "/SIBYL_FORMAT.new") << "sib";
  EXPECT_NE(opened(directory.path()), nullptr);
}

TEST(RocksdbStore, CreatesTheDirectoryAndOpensQuickly) {
  TemporaryDirectory directory;
  const auto begin = std::chrono::steady_clock::now();
  const auto store = opened(directory.path() + "/deep/inside");
  const auto took = std::chrono::steady_clock::now() - begin;
  ASSERT_NE(store, nullptr);
  RecordProperty("open_milliseconds", static_cast<int>(took / std::chrono::milliseconds(1)));
  EXPECT_LT(took, std::chrono::seconds(2));  // on an idle machine it takes fifty milliseconds
}

TEST(RocksdbReplay, tables_that_the_log_erases_again_are_empty_in_their_samples) {
  constexpr uint32_t table = 2000;
  const auto rows = [&](const Store& store) {
    return store.partition_samples(std::array{table}, 1000).at(table).summary().rows;
  };
  const auto put = [](Store& store, int token) {
    WriteSet writes;
    writes.put(row::row_record_key(row::partition_prefix(table, token, "p"), "c"), "value");
    ASSERT_TRUE(store.commit(std::move(writes)));
  };
  TemporaryDirectory directory, copy;
  {
    const auto store = opened(directory.path(), {});
    for (int i = 0; i < 10; ++i) put(*store, i);
    ASSERT_TRUE(store->flush());
    WriteSet erase;
    erase.erase_range(row::table_begin(table), row::table_end(table));
    ASSERT_TRUE(store->commit(std::move(erase)));
    EXPECT_EQ(rows(*store), 0u);
    // This copy is the state after a crash.
    std::filesystem::copy(
        directory.path(), copy.path(),
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
  }
  const auto store = opened(copy.path(), {});
  EXPECT_EQ(rows(*store), 0u);
  put(*store, 1);
  EXPECT_EQ(rows(*store), 1u);
  ASSERT_TRUE(store->flush());
  ASSERT_TRUE(store->compact({}, {}));
  EXPECT_EQ(rows(*store), 1u);
}

// --- kill -9

constexpr const char* crash_directory_variable = "SIBYL_CRASH_DIRECTORY";
constexpr int crash_pipe = 87;

Bytes crash_value(uint64_t number) {
  return "value of " + std::to_string(number) + Bytes(number % 700, '.');
}

Options crash_options() {
  Options options;
  // These are small, so that flushes, compactions and new log segments occur.
  options.write_buffer_bytes = 128 << 10;
  options.log_segment_bytes = 64 << 10;
  return options;
}

// This test is the child process. It commits until it is killed, sixteen at a time, and reports every
// acknowledged number.
TEST(RocksdbCrash, DISABLED_Child) {
  const char* directory = std::getenv(crash_directory_variable);
  ASSERT_NE(directory, nullptr);
  const auto store = opened(directory, crash_options());
  ASSERT_NE(store, nullptr);
  Bytes begun;
  uint64_t next = 0;
  if (const auto found = store->get("next", begun); found && *found) next = std::stoull(begun);
  std::mutex mutex;
  std::condition_variable changed;
  int in_flight = 0;
  for (uint64_t number = next;; ++number) {
    WriteSet writes;
    writes.put("left " + std::to_string(number), crash_value(number));
    writes.put("right " + std::to_string(number), crash_value(number));
    writes.put("next", std::to_string(number + 1));
    if (number % 10 == 9) writes.erase("left " + std::to_string(number - 5));
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return in_flight < 16; });
    ++in_flight;
    lock.unlock();
    store->commit(std::move(writes), [&, number](base::Status status) {
      if (status && ::write(crash_pipe, &number, sizeof number) != sizeof number) std::abort();
      const std::lock_guard done(mutex);
      --in_flight;
      changed.notify_all();
    });
  }
}

// Runs the child for a while, kills it, and returns the highest number that it reported.
uint64_t run_and_kill(const std::string& directory, std::chrono::milliseconds duration) {
  int ends[2];
  if (::pipe(ends) != 0) return 0;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string variable = std::string(crash_directory_variable) + "=" + directory;
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], crash_pipe);
    ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
    const char* arguments[] = {self.c_str(), "--gtest_filter=RocksdbCrash.DISABLED_Child",
                               "--gtest_also_run_disabled_tests", nullptr};
    const char* variables[] = {variable.c_str(), nullptr};
    ::execve(self.c_str(), const_cast<char**>(arguments), const_cast<char**>(variables));
    ::_exit(127);
  }
  ::close(ends[1]);
  uint64_t highest = 0, number = 0;
  std::optional<std::chrono::steady_clock::time_point> end;
  while (::read(ends[0], &number, sizeof number) == sizeof number) {
    highest = std::max(highest, number);
    if (!end) end = std::chrono::steady_clock::now() + duration;  // the time starts with the first commit
    if (std::chrono::steady_clock::now() > *end) ::kill(child, SIGKILL);
  }
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return highest;
}

TEST(RocksdbCrash, EveryAcknowledgedWriteSurvivesKill) {
  TemporaryDirectory directory;
  uint64_t acknowledged = 0;
  for (int round = 0; round < 6; ++round) {
    const uint64_t reached = run_and_kill(directory.path(), std::chrono::milliseconds(20 + 37 * round));
    ASSERT_GT(reached, acknowledged);
    acknowledged = reached;
    const auto store = opened(directory.path(), crash_options());
    ASSERT_NE(store, nullptr);
    const uint64_t next = std::stoull(get(*store, "next"));
    EXPECT_GT(next, acknowledged);
    for (uint64_t number = 0; number < next; ++number) {
      ASSERT_EQ(get(*store, "right " + std::to_string(number)), crash_value(number))
          << number << " of " << next;
      const bool erased = number % 10 == 4 && number + 5 < next;
      ASSERT_EQ(get(*store, "left " + std::to_string(number)), erased ? "none" : crash_value(number));
    }
    ASSERT_EQ(get(*store, "right " + std::to_string(next)), "none");
  }
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
