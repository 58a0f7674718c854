// Tests realistic disk failures: syncs that lose data, blocks that change, a full file system.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include "storage/rocksdb/faulty_disk.h"
#include "storage/rocksdb/test_store.h"

namespace sibyl::storage::rocksdb {
namespace {

using testing::HasSubstr;
using testing::Not;

// Keeps the contents that the device has separate from the contents that the kernel has. A failed sync is
// reported once, and the unwritten data is then treated as written: later syncs succeed without it, as in
// Linux.
class ForgetfulDisk final : public Disk {
 public:
  std::atomic<int> fail_sync = -1;  // counts down

  int write(int file, base::BytesView first, base::BytesView second, uint64_t offset) override {
    const std::lock_guard lock(mutex_);
    dirty_[inode_of(file)].emplace_back(offset, first.size() + second.size());
    return Disk::write(file, first, second, offset);
  }
  int sync(int file) override {
    const std::lock_guard lock(mutex_);
    const auto ranges = std::exchange(dirty_[inode_of(file)], {});
    if (fail_sync >= 0 && fail_sync-- == 0) return EIO;
    std::string& device = device_[inode_of(file)];
    for (const auto& [offset, size] : ranges) {
      if (device.size() < offset + size) device.resize(offset + size);
      EXPECT_EQ(::pread(file, device.data() + offset, size, static_cast<off_t>(offset)),
                static_cast<ssize_t>(size));
    }
    return Disk::sync(file);
  }
  // Simulates a power failure: every file gets the contents of the device.
  void lose_power(const std::string& directory) {
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      const int file = ::open(entry.path().c_str(), O_RDWR);
      std::string device = device_[inode_of(file)];
      device.resize(entry.file_size());
      Disk::write(file, device, {}, 0);
      ::close(file);
    }
  }

 private:
  static ino_t inode_of(int file) {
    struct stat status{};
    ::fstat(file, &status);
    return status.st_ino;
  }
  std::mutex mutex_;
  std::map<ino_t, std::vector<std::pair<uint64_t, size_t>>> dirty_;
  std::map<ino_t, std::string> device_;
};

class FailedSync : public testing::Test {
 protected:
  void open() {
    log_.reset();
    auto opened = open_log(directory_.path(), disk_, replayed_);
    ASSERT_TRUE(opened.has_value()) << opened.error().text();
    log_ = std::move(*opened);
  }
  void crash() {
    log_.reset();
    disk_.lose_power(directory_.path());
    open();
  }
  void SetUp() override { open(); }

  TemporaryDirectory directory_;
  ForgetfulDisk disk_;
  std::vector<base::Bytes> replayed_;
  std::unique_ptr<CommitLog> log_;
};

// Groups that waited for a failed sync were acknowledged. They must be written again, to another segment.
TEST_F(FailedSync, DoesNotLoseWaitingGroups) {
  ASSERT_TRUE(log_->append("first", false).has_value());
  ASSERT_TRUE(log_->sync().has_value());
  ASSERT_TRUE(log_->append("second", false).has_value());
  ASSERT_TRUE(log_->append("third", false).has_value());
  const uint64_t segment = log_->segment();
  disk_.fail_sync = 0;
  EXPECT_FALSE(log_->sync().has_value());
  EXPECT_TRUE(log_->sync_failed());
  EXPECT_TRUE(log_->sync().has_value());
  EXPECT_FALSE(log_->sync_failed());
  EXPECT_EQ(log_->segment(), segment + 1);
  crash();
  EXPECT_EQ(replayed_, (std::vector<base::Bytes>{"first", "second", "third"}));
}

TEST_F(FailedSync, MovesWaitingGroupsBeforeTheNextGroup) {
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(log_->append(base::Bytes(30, 'a'), false).has_value());
  disk_.fail_sync = 0;
  EXPECT_FALSE(log_->sync().has_value());
  ASSERT_TRUE(log_->append(base::Bytes(3000, 'b'), true).has_value());  // each of these exceeds one segment
  crash();
  ASSERT_EQ(replayed_.size(), 101u);
  EXPECT_EQ(replayed_.back(), base::Bytes(3000, 'b'));
}

TEST_F(FailedSync, DropsOnlyTheFailedGroup) {
  ASSERT_TRUE(log_->append("first", true).has_value());
  const uint64_t segment = log_->segment();
  disk_.fail_sync = 0;
  EXPECT_FALSE(log_->append("refused", true).has_value());
  ASSERT_TRUE(log_->append("second", true).has_value());
  EXPECT_GT(log_->segment(), segment);
  crash();
  EXPECT_EQ(replayed_, (std::vector<base::Bytes>{"first", "second"}));
}

// The segment is not trusted any more, so it must not be reused after it is released.
TEST_F(FailedSync, ItsFileIsNotReused) {
  ASSERT_TRUE(log_->append("first", true).has_value());
  disk_.fail_sync = 0;
  EXPECT_FALSE(log_->append("refused", true).has_value());
  ASSERT_TRUE(log_->release_all().has_value());
  ASSERT_TRUE(log_->append("second", true).has_value());
  size_t spares = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path()))
    spares += entry.path().extension() == ".spare" ? 1 : 0;
  EXPECT_EQ(spares, 1u);  // the segment that followed the untrusted one
  crash();
  EXPECT_EQ(replayed_, (std::vector<base::Bytes>{"second"}));
}

// --- A damaged block

std::vector<std::string> table_files(const std::string& path) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path + "/records"))
    if (entry.path().extension() == ".sst") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

// Captures the server's log during its lifetime.
class CapturedLog {
 public:
  CapturedLog() {
    spdlog::set_default_logger(
        std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_)));
  }
  ~CapturedLog() { spdlog::set_default_logger(before_); }
  CapturedLog(const CapturedLog&) = delete;
  std::string text() const { return text_.str(); }

 private:
  const std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
  std::ostringstream text_;
};

size_t times(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(FailingLog, IsLoggedOnceAndSoIsItsEnd) {
  const CapturedLog log;
  TemporaryDirectory directory;
  FaultyDisk disk;
  Options options;
  options.log_disk = &disk;
  auto store = opened(directory.path(), options);
  ASSERT_NE(store, nullptr);
  ASSERT_TRUE(put(*store, "a", "1").has_value());
  disk.error = EROFS;
  disk.fail_all = true;
  for (int i = 0; i < 5; ++i) ASSERT_FALSE(put(*store, "b", "2").has_value());
  Bytes value;
  EXPECT_TRUE(*store->get("a", value));  // reads continue
  disk.fail_all = false;
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(put(*store, "c", "3").has_value());
  store.reset();
  EXPECT_EQ(times(log.text(), "writes are refused"), 1u) << log.text();
  EXPECT_THAT(log.text(), HasSubstr("Read-only file system"));
  EXPECT_EQ(times(log.text(), "writes are accepted again"), 1u) << log.text();
}

// A store with one table file per letter. The file of `a` is damaged in its first block.
class DamagedBlock : public testing::Test {
 protected:
  void SetUp() override {
    Options options;
    options.automatic_compaction = false;
    options.block_cache_bytes = 1 << 20;
    auto store = opened(directory_.path(), options);
    for (const char letter : {'a', 'b'}) {
      for (int i = 0; i < 100; ++i)
        ASSERT_TRUE(put(*store, letter + std::to_string(1000 + i), base::Bytes(200, letter)).has_value());
      ASSERT_TRUE(store->flush().has_value());
    }
    store.reset();
    file_ = table_files(directory_.path()).front();
    std::fstream file(file_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file.put('\x7f');
    file.close();
    store_ = opened(directory_.path(), options);
    ASSERT_NE(store_, nullptr);
    store_->set_key_formatter([](BytesView key) { return "key " + std::string(key); });
  }
  void expect_report(const base::Error& error) {
    EXPECT_EQ(error.code(), base::ErrorCode::read_failure);
    EXPECT_THAT(error.message(), HasSubstr(std::filesystem::path(file_).filename().string()));
    // The error does not name other keys. They are only in the log, once.
    EXPECT_THAT(error.message(), Not(HasSubstr("a1099")));
    EXPECT_EQ(times(log_.text(), file_ + ", whose records range from key a1000 to key a1099"), 1u)
        << log_.text();
    EXPECT_THAT(error.hint(), HasSubstr("restore"));
  }

  CapturedLog log_;
  TemporaryDirectory directory_;
  std::string file_;
  std::unique_ptr<Store> store_;
};

TEST_F(DamagedBlock, IsReportedWithItsFileAndKeysAndNotServed) {
  Bytes value;
  const auto found = store_->get("a1000", value);
  ASSERT_FALSE(found.has_value());
  expect_report(found.error());
  EXPECT_THAT(found.error().message(), HasSubstr("read at key a1000"));
  EXPECT_EQ(store_->statistics().damage_met, 1u);

  const auto records = store_->iterate("a", "c");
  records->seek_to_first();
  EXPECT_FALSE(records->valid());
  ASSERT_FALSE(records->status().has_value());
  expect_report(records->status().error());
  const std::vector<Bytes> keys = {"a1000", "b1000"};
  std::vector<std::optional<Bytes>> values(2);
  const auto many = store_->get_many(keys, values);
  ASSERT_FALSE(many.has_value());
  expect_report(many.error());
}

TEST_F(DamagedBlock, LeavesOtherDataReadable) {
  Bytes value;
  for (const char* key : {"a1099", "b1000", "b1099"}) {
    const auto found = store_->get(key, value);
    ASSERT_TRUE(found.has_value()) << key << ": " << found.error().text();
    EXPECT_EQ(value, base::Bytes(200, key[0]));
  }
  const auto records = store_->iterate("b", "c");
  size_t count = 0;
  for (records->seek_to_first(); records->valid(); records->next()) ++count;
  EXPECT_TRUE(records->status().has_value());
  EXPECT_EQ(count, 100u);
}

// If a compaction encounters the damage, it changes nothing, and writes continue.
TEST_F(DamagedBlock, DoesNotStopWrites) {
  const auto compacted = store_->compact({}, {});
  EXPECT_FALSE(compacted.has_value());
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(put(*store_, "c" + std::to_string(i), "v").has_value());
  ASSERT_TRUE(store_->flush().has_value());
  Bytes value;
  EXPECT_TRUE(*store_->get("c9", value));
  EXPECT_TRUE(*store_->get("b1000", value));
  EXPECT_GT(store_->statistics().damage_met, 0u);
}

// Files that cannot be linked are copied. The copy must equal the written data.
TEST_F(DamagedBlock, IsNotCopiedIntoACheckpoint) {
  std::string elsewhere = "/dev/shm/sibyl-checkpoint-XXXXXX";
  if (::mkdtemp(elsewhere.data()) == nullptr) GTEST_SKIP() << "there is no other file system";
  struct stat here{}, there{};
  ASSERT_EQ(::stat(directory_.path().c_str(), &here), 0);
  ASSERT_EQ(::stat(elsewhere.c_str(), &there), 0);
  const auto copied = store_->checkpoint(elsewhere + "/damaged");
  std::filesystem::remove_all(elsewhere);
  if (here.st_dev == there.st_dev) GTEST_SKIP() << "there is no other file system";
  ASSERT_FALSE(copied.has_value());
  EXPECT_THAT(copied.error().message(), HasSubstr(file_ + " is damaged"));
}

TEST(Checkpoint, IsTheSameOnAnotherFileSystem) {
  std::string elsewhere = "/dev/shm/sibyl-checkpoint-XXXXXX";
  if (::mkdtemp(elsewhere.data()) == nullptr) GTEST_SKIP() << "there is no other file system";
  TemporaryDirectory directory;
  auto store = opened(directory.path());
  ASSERT_NE(store, nullptr);
  for (int i = 0; i < 30; ++i)  // more than one chunk
    ASSERT_TRUE(put(*store, std::to_string(i), base::Bytes(100'000, static_cast<char>('a' + i % 26))));
  const auto copied = store->checkpoint(elsewhere + "/copied");
  const auto linked = store->checkpoint(directory.path() + "/linked");
  ASSERT_TRUE(copied.has_value()) << copied.error().text();
  ASSERT_TRUE(linked.has_value()) << linked.error().text();
  const auto tables_of = [](const std::vector<CheckpointFile>& files) {
    std::map<std::string, std::pair<uint64_t, uint32_t>> tables;
    for (const CheckpointFile& file : files)
      if (file.path.ends_with(".sst")) tables[file.path] = {file.size, file.crc32c};
    return tables;
  };
  EXPECT_FALSE(tables_of(*copied).empty());
  EXPECT_EQ(tables_of(*copied), tables_of(*linked));
  std::filesystem::remove_all(elsewhere);
}

// --- A real file system that fills up

class SmallFileSystem : public testing::Test {
 protected:
  static constexpr uint64_t bytes = 48 << 20;
  void SetUp() override {
    if (::mount("none", directory_.path().c_str(), "tmpfs", 0, "size=48m") != 0)
      GTEST_SKIP() << "no small file system can be mounted: " << std::strerror(errno);
    mounted_ = true;
  }
  void TearDown() override {
    store_.reset();
    if (mounted_) ::umount(directory_.path().c_str());
  }
  void remount(bool read_only) {
    ASSERT_EQ(::mount("none", directory_.path().c_str(), "tmpfs",
                      read_only ? MS_REMOUNT | MS_RDONLY : MS_REMOUNT, "size=48m"),
              0)
        << std::strerror(errno);
  }
  // Uses up the remaining space.
  void fill() {
    const int file = ::open((directory_.path() + "/filler").c_str(), O_WRONLY | O_CREAT, 0644);
    for (const size_t size : {size_t{1} << 20, size_t{4096}, size_t{1}}) {
      const std::string piece(size, 'x');
      while (::write(file, piece.data(), piece.size()) == static_cast<ssize_t>(size)) {
      }
    }
    ::close(file);
  }
  std::string data() const { return directory_.path() + "/data"; }
  base::Status write(int number) {
    auto status = put(*store_, std::to_string(number), base::Bytes(10'000, 'v'));
    if (status)
      acknowledged_.push_back(number);
    else
      refused_.push_back(number);
    return status;
  }
  void check(const char* when) {
    Bytes value;
    for (const int number : acknowledged_) {
      const auto found = store_->get(std::to_string(number), value);
      ASSERT_TRUE(found.has_value() && *found) << when << ": lost " << number;
    }
    for (const int number : refused_) {
      const auto found = store_->get(std::to_string(number), value);
      ASSERT_TRUE(found.has_value() && !*found) << when << ": refused and there " << number;
    }
  }
  bool goes_on(int first) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (int number = first; std::chrono::steady_clock::now() < deadline; ++number) {
      if (write(number)) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Store> store_;
  std::vector<int> acknowledged_, refused_;
  bool mounted_ = false;
};

TEST_F(SmallFileSystem, WhenFullRefusesWritesAndResumesByItself) {
  Options options;
  options.write_buffer_bytes = 2 << 20;
  options.log_segment_bytes = 1 << 20;
  store_ = opened(data(), options);
  ASSERT_NE(store_, nullptr);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(write(i).has_value());
  fill();
  int number = 100;
  for (; number < 5000 && refused_.size() < 50; ++number) (void)write(number);
  ASSERT_EQ(refused_.size(), 50u) << "the file system is full, but writes are accepted";
  const auto refusal = write(number++);
  ASSERT_FALSE(refusal.has_value());
  EXPECT_EQ(refusal.error().code(), base::ErrorCode::write_failure);
  EXPECT_THAT(refusal.error().message(), HasSubstr("No space left on device"));
  EXPECT_THAT(refusal.error().hint(), HasSubstr("free some disk space"));
  check("while full");
  ASSERT_EQ(::unlink((directory_.path() + "/filler").c_str()), 0);
  EXPECT_TRUE(goes_on(number)) << refusal.error().text();
  for (int i = 20'000; i < 20'200; ++i) ASSERT_TRUE(write(i).has_value());
  check("with space again");
  store_.reset();
  store_ = opened(data(), options);
  ASSERT_NE(store_, nullptr);
  check("after a restart");
}

TEST_F(SmallFileSystem, ReadOnlyRefusesOpeningWithTheReason) {
  ASSERT_NE(opened(data()), nullptr);
  ASSERT_NO_FATAL_FAILURE(remount(true));
  const auto store = open_store(data());
  ASSERT_FALSE(store.has_value());
  EXPECT_THAT(store.error().message(), HasSubstr("Read-only file system"));
  ASSERT_NO_FATAL_FAILURE(remount(false));
  EXPECT_NE(opened(data()), nullptr);
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
