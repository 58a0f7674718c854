#include "storage/rocksdb/space/space_keeper.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstring>

#include "storage/rocksdb/faulty_disk.h"
#include "storage/rocksdb/space/space_test.h"

namespace sibyl::storage::rocksdb {
namespace {

using testing::MatchesRegex;

constexpr uint32_t watched = 1100, junk = 1101;

class FullFileSystem : public testing::Test {
 protected:
  void SetUp() override {
    if (::mount("none", directory_.path().c_str(), "tmpfs", 0, "size=48m") != 0)
      GTEST_SKIP() << "no small file system can be mounted: " << std::strerror(errno);
    is_mounted_ = true;
    open();
  }
  void TearDown() override {
    store_.reset();
    if (is_mounted_) ::umount(directory_.path().c_str());
  }
  void open() {
    store_.reset();
    store_ = opened(directory_.path() + "/data");
    ASSERT_NE(store_, nullptr);
    set_tables(*store_, {watched, junk});
  }
  // Writes until no write is accepted for a second, during which flushes happen.
  void fill() {
    auto last = std::chrono::steady_clock::now();
    for (int i = 0; std::chrono::steady_clock::now() < last + std::chrono::seconds(1); ++i) {
      const uint32_t table = i % 10 == 0 ? watched : junk;
      const auto status = write_record(*store_, table, next_++);
      if (status) {
        last = std::chrono::steady_clock::now();
        if (table == watched) acknowledged_.push_back(next_ - 1);
        continue;
      }
      refusal_ = status.error().message();
      ASSERT_EQ(status.error().code(), base::ErrorCode::write_failure);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  // Simulates another program that fills the remaining space.
  void fill_to_the_brim() {
    const base::File file(directory_.path() + "/filler", O_WRONLY | O_CREAT);
    for (const size_t size : {size_t{1} << 20, size_t{4096}, size_t{1}})
      while (::write(file.number(), std::string(size, 'x').data(), size) == static_cast<ssize_t>(size)) {
      }
  }
  bool takes_writes() {
    return becomes_true([this] { return write_record(*store_, junk, next_++).has_value(); });
  }
  void expect_kept() {
    Bytes value;
    for (const int number : acknowledged_) {
      const auto found = store_->get(test_key(watched, number), value);
      ASSERT_TRUE(found.has_value() && *found) << "lost " << number;
      ASSERT_EQ(value, test_value(number));
    }
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Store> store_;
  std::vector<int> acknowledged_;
  std::string refusal_;
  int next_ = 0;
  bool is_mounted_ = false;
};

TEST_F(FullFileSystem, ReportsBytesAndResumesWhenEnlarged) {
  ASSERT_NO_FATAL_FAILURE(fill());
  EXPECT_THAT(
      refusal_,
      MatchesRegex("No space left on device: [0-9]+ bytes are needed and [0-9]+ bytes are free in .*"));
  expect_kept();
  ASSERT_EQ(::mount("none", directory_.path().c_str(), "tmpfs", MS_REMOUNT, "size=64m"), 0);
  EXPECT_TRUE(takes_writes());
  ASSERT_NO_FATAL_FAILURE(fill());
  expect_kept();
  open();
  expect_kept();
}

TEST_F(FullFileSystem, CanBeOpenedAndEmptiedWhenFull) {
  ASSERT_NO_FATAL_FAILURE(fill());
  ASSERT_NO_FATAL_FAILURE(fill_to_the_brim());
  ASSERT_FALSE(write_record(*store_, watched, next_).has_value());
  // Opening may flush into the reserve and release log segments, so writes may be accepted again.
  open();
  expect_kept();
  WriteSet deletion;
  deletion.erase(test_key(watched, acknowledged_.back()));
  ASSERT_TRUE(store_->commit(std::move(deletion)).has_value());
  acknowledged_.pop_back();
  ASSERT_TRUE(erase_table(*store_, junk).has_value());
  // The next memory tables have the usual size again.
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(takes_writes());
    EXPECT_TRUE(becomes_true([this] { return store_->flush().has_value(); }));
  }
  expect_kept();
}

// A flush that fails stops the store for a while, even for deletions.
TEST_F(FullFileSystem, AFlushUsesTheReserve) {
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(write_record(*store_, watched, next_++).has_value());
    acknowledged_.push_back(next_ - 1);
  }
  const std::string reserve = directory_.path() + "/data/SIBYL_RESERVE";
  ASSERT_TRUE(becomes_true([&] { return ::access(reserve.c_str(), F_OK) == 0; }));
  ASSERT_NO_FATAL_FAILURE(fill_to_the_brim());
  EXPECT_TRUE(store_->flush().has_value());
  EXPECT_EQ(store_->statistics().background_errors, 0u);
  WriteSet deletion;
  deletion.erase(test_key(watched, acknowledged_.back()));
  EXPECT_TRUE(store_->commit(std::move(deletion)).has_value());
  acknowledged_.pop_back();
  expect_kept();
}

TEST(CommitLogOnAFullDevice, MakesASmallerSegment) {
  TemporaryDirectory directory;
  FaultyDisk disk;
  disk.error = ENOSPC;
  disk.fail_allocate = 0;
  CommitLog::Options options;
  options.directory = directory.path();
  options.segment_bytes = 1 << 20;
  options.disk = &disk;
  const CommitLog::Replay nothing{[](BytesView) { return base::Status(); }, [](uint64_t) {}};
  auto log = CommitLog::open(options, nothing);
  ASSERT_TRUE(log.has_value());
  ASSERT_TRUE((*log)->append("group", true).has_value());
  EXPECT_EQ((*log)->bytes(), options.segment_bytes / 2);
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
