// Tests queries of a compaction's progress while the compaction is paused in the middle.
#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "storage/internals.h"
#include "storage/rocksdb/test_store.h"

namespace sibyl::storage::rocksdb {
namespace {

// Blocks reads of table files after a number of bytes until it is released.
class HoldingFileSystem final : public ::rocksdb::FileSystemWrapper {
 public:
  HoldingFileSystem() : FileSystemWrapper(::rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "HoldingFileSystem"; }

  ::rocksdb::IOStatus NewRandomAccessFile(const std::string& name, const ::rocksdb::FileOptions& options,
                                          std::unique_ptr<::rocksdb::FSRandomAccessFile>* result,
                                          ::rocksdb::IODebugContext* context) override {
    auto status = target()->NewRandomAccessFile(name, options, result, context);
    if (status.ok()) *result = std::make_unique<File>(std::move(*result), *this);
    return status;
  }

  void hold_after(uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    left_ = bytes;
    is_open_ = false;
  }
  void wait_until_held() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_held_; });
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }

 private:
  class File final : public ::rocksdb::FSRandomAccessFileOwnerWrapper {
   public:
    File(std::unique_ptr<::rocksdb::FSRandomAccessFile> file, HoldingFileSystem& system)
        : FSRandomAccessFileOwnerWrapper(std::move(file)), system_(system) {}
    ::rocksdb::IOStatus Read(uint64_t offset, size_t size, const ::rocksdb::IOOptions& options,
                             ::rocksdb::Slice* result, char* scratch,
                             ::rocksdb::IODebugContext* context) const override {
      system_.pass(size);
      return FSRandomAccessFileOwnerWrapper::Read(offset, size, options, result, scratch, context);
    }

   private:
    HoldingFileSystem& system_;
  };

  void pass(size_t size) {
    std::unique_lock lock(mutex_);
    if (is_open_) return;
    left_ -= std::min<uint64_t>(left_, size);
    if (left_ > 0) return;
    is_held_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return is_open_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t left_ = 0;
  bool is_open_ = true, is_held_ = false;
};

TEST(CompactionProgress, IsReportedWhileItRuns) {
  TemporaryDirectory directory;
  const auto files = std::make_shared<HoldingFileSystem>();
  const std::unique_ptr<::rocksdb::Env> environment = ::rocksdb::NewCompositeEnv(files);
  Options options;
  options.environment = environment.get();
  options.automatic_compaction = false;
  const auto store = opened(directory.path(), options);
  ASSERT_NE(store, nullptr);
  for (int file = 0; file < 2; ++file) {
    WriteSet writes;
    for (int i = 0; i < 4000; ++i) writes.put(std::to_string(i), Bytes(500, static_cast<char>('a' + file)));
    ASSERT_TRUE(store->commit(std::move(writes)).has_value());
    ASSERT_TRUE(store->flush().has_value());
  }
  EXPECT_TRUE(store->tasks().empty());
  files->hold_after(2 << 20);  // the file has four MiB, so this is half of it
  std::thread compaction([&] { EXPECT_TRUE(store->compact({}, {}).has_value()); });
  files->wait_until_held();
  const std::vector<StoreTask> tasks = store->tasks();
  const auto* internals = dynamic_cast<const Internals*>(store.get());
  ASSERT_NE(internals, nullptr);
  const std::map<uint64_t, uint64_t> read = internals->task_bytes_read();
  files->let_go();
  compaction.join();
  ASSERT_EQ(tasks.size(), 1u);
  uint64_t total = 0;
  for (const StoreFile& input : tasks[0].inputs) total += input.bytes;
  EXPECT_EQ(tasks[0].inputs.size(), 2u);
  ASSERT_TRUE(read.contains(tasks[0].id));
  EXPECT_GT(read.at(tasks[0].id), 1u << 20);
  EXPECT_LT(read.at(tasks[0].id), total);
  EXPECT_TRUE(store->tasks().empty());
  EXPECT_TRUE(internals->task_bytes_read().empty());
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
