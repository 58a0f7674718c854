#include "storage/rocksdb/commit_log.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sys/stat.h>

#include <ctime>
#include <filesystem>
#include <fstream>

#include "base/source_path.h"
#include "storage/rocksdb/crc32c.h"
#include "storage/rocksdb/faulty_disk.h"
#include "storage/rocksdb/test_store.h"

namespace sibyl::storage::rocksdb {
namespace {

using base::Bytes;
using base::BytesView;

TEST(Crc32c, KnownValues) {
  EXPECT_EQ(crc32c(0, ""), 0u);
  EXPECT_EQ(crc32c(0, "123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(0, Bytes(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(crc32c(0, "12345"), "6789"), 0xe3069283u);
}

TEST(Crc32c, OfRuns) {
  EXPECT_TRUE(rc::check([] {
    const auto bytes = *rc::gen::container<Bytes>(rc::gen::arbitrary<char>());
    const auto begin = *rc::gen::inRange<size_t>(0, bytes.size() + 1);
    const auto size = *rc::gen::inRange<size_t>(0, bytes.size() - begin + 1);
    const auto crc = *rc::gen::arbitrary<uint32_t>();
    RC_ASSERT(Crc32cOfRuns(bytes).run(crc, begin, size) == crc32c(crc, BytesView(bytes).substr(begin, size)));
  }));
  // These lengths take more than one byte, and more than two bytes.
  const Bytes bytes(1'000'003, 'x');
  const Crc32cOfRuns runs(bytes);
  for (const size_t size : {255, 256, 257, 65'535, 65'536, 70'001, 1'000'000})
    EXPECT_EQ(runs.run(7, 3, size), crc32c(7, BytesView(bytes).substr(3, size))) << size;
}

void damage(const std::string& path, size_t at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(at));
  const char changed = static_cast<char>(file.get() ^ 0x55);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(changed);
}

class CommitLogTest : public testing::Test {
 protected:
  base::Result<std::unique_ptr<CommitLog>> open() {
    log_.reset();
    return open_log(directory_.path(), disk_, replayed_);
  }
  void reopen() {
    auto opened = open();
    ASSERT_TRUE(opened.has_value()) << opened.error().text();
    log_ = std::move(*opened);
  }
  // Simulates a crash: the log is not closed. Closing writes nothing, so this makes no difference.
  void SetUp() override { reopen(); }

  std::string last_segment() {
    std::string last;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path()))
      if (entry.path().extension() == ".log") last = std::max(last, entry.path().string());
    return last;
  }

  TemporaryDirectory directory_;
  FaultyDisk disk_;
  std::vector<Bytes> replayed_;
  std::unique_ptr<CommitLog> log_;
};

TEST_F(CommitLogTest, ReplaysWhatWasAppended) {
  EXPECT_TRUE(log_->append("one", true).has_value());
  EXPECT_TRUE(log_->append("two", false).has_value());
  reopen();
  EXPECT_EQ(replayed_, (std::vector<Bytes>{"one", "two"}));
  EXPECT_TRUE(log_->append("three", true).has_value());
  reopen();
  EXPECT_EQ(replayed_, (std::vector<Bytes>{"one", "two", "three"}));
}

// After a power loss, the third of the unsynced groups is on the device, but not the second. A group that is
// then written in place of the second must not make the third reappear after it.
TEST_F(CommitLogTest, GroupsAfterALostOneNeverReappear) {
  for (const char* group : {"one", "two", "six"}) ASSERT_TRUE(log_->append(group, false).has_value());
  constexpr size_t header = 48, group = 24, group_header = 16;
  damage(last_segment(), header + group + group_header);
  reopen();
  EXPECT_EQ(replayed_, (std::vector<Bytes>{"one"}));
  ASSERT_TRUE(log_->append("ten", true).has_value());
  reopen();
  EXPECT_EQ(replayed_, (std::vector<Bytes>{"one", "ten"}));
}

// A sync of a directory's data may omit its new entries.
TEST_F(CommitLogTest, NamesAreSyncedAsNames) {
  class Watching final : public Disk {
   public:
    int sync(int file) override {
      struct stat status{};
      ::fstat(file, &status);
      directories_as_files += S_ISDIR(status.st_mode) ? 1 : 0;
      return Disk::sync(file);
    }
    int sync_names(int directory) override {
      ++names;
      return Disk::sync_names(directory);
    }
    int directories_as_files = 0, names = 0;
  };
  Watching disk;
  const TemporaryDirectory outside;
  auto log = open_log(directory_.path(), disk, replayed_, outside.path() + "/mark");
  ASSERT_TRUE(log.has_value()) << log.error().text();
  ASSERT_TRUE((*log)->append("one", true).has_value());
  EXPECT_EQ(disk.directories_as_files, 0);
  EXPECT_EQ(disk.names, 2);  // one sync for the segment's name and one for the mark's
}

TEST_F(CommitLogTest, UnknownFilesAndPossibleSegmentsAreKept) {
  const TemporaryDirectory outside;
  const std::string mark = outside.path() + "/mark";
  auto log = open_log(directory_.path(), disk_, replayed_, mark);
  ASSERT_TRUE(log.has_value()) << log.error().text();
  ASSERT_TRUE((*log)->append("one", true).has_value());
  log->reset();
  const std::string segment = last_segment(), spare = directory_.path() + "/1.spare";
  std::filesystem::copy(segment, segment + ".old");
  std::filesystem::rename(segment, spare);
  log = open_log(directory_.path(), disk_, replayed_, mark);
  ASSERT_FALSE(log.has_value());
  ASSERT_TRUE(std::filesystem::exists(spare));
  std::filesystem::rename(spare, segment);
  log = open_log(directory_.path(), disk_, replayed_, mark);
  ASSERT_TRUE(log.has_value()) << log.error().text();
  EXPECT_EQ(replayed_, (std::vector<Bytes>{"one"}));
  EXPECT_TRUE(std::filesystem::exists(segment + ".old"));
}

TEST_F(CommitLogTest, OpeningAndReadingCreatesNoFile) {
  EXPECT_EQ(last_segment(), "");
  EXPECT_EQ(log_->bytes(), 0u);
}

TEST_F(CommitLogTest, LargeGroupsGetLargeSegments) {
  std::vector<Bytes> expected;
  for (size_t size : {1000, 2000, 1500, 100'000, 3000, 4000, 1}) {
    expected.emplace_back(size, static_cast<char>('a' + expected.size()));
    ASSERT_TRUE(log_->append(expected.back(), true).has_value());
  }
  EXPECT_GT(log_->segment(), 3u);
  reopen();
  EXPECT_EQ(replayed_, expected);
}

TEST_F(CommitLogTest, ReleasedSegmentsAreReusedAndNotReplayed) {
  for (int i = 0; i < 100; ++i) {
    const uint64_t before = log_->segment();
    ASSERT_TRUE(log_->append(Bytes(1500, static_cast<char>('a' + i % 26)), true).has_value());
    if (log_->segment() != before && before != 0) log_->release(before);
  }
  // The log has at most the current segment, the last released one, and the spares.
  EXPECT_LE(log_->bytes(), 5 * 4096u);
  reopen();
  EXPECT_LE(replayed_.size(), 6u);
  ASSERT_FALSE(replayed_.empty());
  EXPECT_EQ(replayed_.back(), Bytes(1500, static_cast<char>('a' + 99 % 26)));
}

// Counts the writes that are larger than the groups of a test.
class LargeWrites final : public Disk {
 public:
  static constexpr size_t large = 4096;
  int write(int file, BytesView first, BytesView second, uint64_t offset) override {
    count += first.size() + second.size() > large ? 1 : 0;
    return Disk::write(file, first, second, offset);
  }
  int count = 0;
};

TEST(WriteAhead, WritesManyNewBlocksAtOnce) {
  const TemporaryDirectory directory;
  LargeWrites disk;
  std::vector<Bytes> expected, replayed;
  const auto open = [&] {
    CommitLog::Replay replay;
    replay.group = [&](BytesView group) -> base::Status {
      replayed.emplace_back(group);
      return {};
    };
    replay.end_of_segment = [](uint64_t) {};
    CommitLog::Options options;
    options.directory = directory.path();
    options.segment_bytes = 1 << 20;
    options.disk = &disk;
    auto log = CommitLog::open(options, replay);
    EXPECT_TRUE(log.has_value());
    return std::move(*log);
  };
  const auto append = [&](CommitLog& log, int groups, bool durable) {
    for (int i = 0; i < groups; ++i)
      ASSERT_TRUE(
          log.append(expected.emplace_back(1000, static_cast<char>('a' + i % 26)), durable).has_value());
  };
  auto log = open();
  append(*log, 300, true);
  EXPECT_EQ(disk.count, 1);
  append(*log, 600, true);
  EXPECT_EQ(disk.count, 2);
  log.reset();
  log = open();
  EXPECT_EQ(replayed, expected);
  // A segment that was written before needs no zeros, and neither do writes that are not synced.
  disk.count = 0;
  append(*log, 100, true);
  ASSERT_TRUE(log->release_all().has_value());
  expected.clear();
  append(*log, 10, false);
  append(*log, 500, true);
  ASSERT_TRUE(log->release_all().has_value());
  disk.count = 0;
  expected.clear();
  append(*log, 900, true);
  EXPECT_EQ(disk.count, 0);
  log.reset();
  replayed.clear();
  log = open();
  EXPECT_EQ(replayed, expected);
}

TEST_F(CommitLogTest, ReleasingAllLeavesAnEmptyLog) {
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(log_->append(Bytes(1500, 'x'), true).has_value());
  ASSERT_TRUE(log_->release_all().has_value());
  reopen();
  EXPECT_TRUE(replayed_.empty());
}

TEST_F(CommitLogTest, AFailedWriteOrSyncIsUndone) {
  ASSERT_TRUE(log_->append("first", true).has_value());
  for (auto* fault : {&disk_.fail_write, &disk_.fail_sync}) {
    *fault = 0;
    const auto status = log_->append("failed and longer than the next", true);
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code(), base::ErrorCode::write_failure);
    reopen();
    EXPECT_EQ(std::count(replayed_.begin(), replayed_.end(), "failed and longer than the next"), 0);
    ASSERT_TRUE(log_->append("next", true).has_value());
  }
  reopen();
  EXPECT_EQ(replayed_, (std::vector<Bytes>{"first", "next", "next"}));
}

// The first method of undoing fails, so a new segment records the end of the old one.
TEST_F(CommitLogTest, AFailedUndoMovesToANewSegment) {
  ASSERT_TRUE(log_->append("first", true).has_value());
  disk_.fail_sync = 0;
  disk_.fail_write = 1;
  ASSERT_FALSE(log_->append("failed", true).has_value());
  EXPECT_EQ(log_->segment(), 2u);
  reopen();
  EXPECT_EQ(replayed_, (std::vector<Bytes>{"first"}));
  ASSERT_TRUE(log_->append("second", true).has_value());
  reopen();
  EXPECT_EQ(replayed_, (std::vector<Bytes>{"first", "second"}));
}

TEST_F(CommitLogTest, ResumesWhenTheDeviceWorksAgain) {
  ASSERT_TRUE(log_->append("first", true).has_value());
  disk_.fail_all = true;
  for (int i = 0; i < 3; ++i) ASSERT_FALSE(log_->append("failed", true).has_value());
  disk_.fail_all = false;
  ASSERT_TRUE(log_->append("second", true).has_value());
  reopen();
  EXPECT_EQ(replayed_, (std::vector<Bytes>{"first", "second"}));
}

TEST_F(CommitLogTest, ErrorsHaveHints) {
  ASSERT_TRUE(log_->append("first", true).has_value());
  for (const auto& [error, message, hint] :
       {std::tuple(EROFS, "Read-only file system", "mounted read-only"),
        std::tuple(ENOSPC, "No space left on device", "free some disk space"),
        std::tuple(EDQUOT, "Disk quota exceeded", "free some disk space"),
        std::tuple(EIO, "Input/output error", "device's health")}) {
    disk_.error = error;
    disk_.fail_all = true;
    const auto refused = log_->append("refused", true);
    disk_.fail_all = false;
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code(), base::ErrorCode::write_failure);
    EXPECT_NE(refused.error().message().find(message), std::string::npos) << refused.error().text();
    EXPECT_NE(refused.error().hint().find(hint), std::string::npos) << refused.error().text();
  }
  ASSERT_TRUE(log_->append("second", true).has_value());
  reopen();
  EXPECT_EQ(replayed_, (std::vector<Bytes>{"first", "second"}));
}

TEST_F(CommitLogTest, LackOfSpaceIsDetectedBeforeAnyWrite) {
  ASSERT_TRUE(log_->append(Bytes(3000, 'a'), true).has_value());
  disk_.error = ENOSPC;
  disk_.fail_allocate = 0;
  const auto status = log_->append(Bytes(3000, 'b'), true);
  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().text().find("free some disk space"), std::string::npos) << status.error().text();
  ASSERT_TRUE(log_->append(Bytes(3000, 'c'), true).has_value());
  reopen();
  EXPECT_EQ(replayed_, (std::vector<Bytes>{Bytes(3000, 'a'), Bytes(3000, 'c')}));
}

TEST_F(CommitLogTest, UndoRemovesTheLastGroup) {
  ASSERT_TRUE(log_->append("first", true).has_value());
  ASSERT_TRUE(log_->append("undone", true).has_value());
  ASSERT_TRUE(log_->undo().has_value());
  reopen();
  EXPECT_EQ(replayed_, (std::vector<Bytes>{"first"}));
}

TEST_F(CommitLogTest, ATornTailIsDropped) {
  ASSERT_TRUE(log_->append("first", true).has_value());
  ASSERT_TRUE(log_->append("torn", false).has_value());
  log_.reset();
  damage(last_segment(), 48 + 24 + 16 + 1);
  reopen();
  EXPECT_EQ(replayed_, (std::vector<Bytes>{"first"}));
}

TEST_F(CommitLogTest, DamageToAcknowledgedGroupsIsRefused) {
  ASSERT_TRUE(log_->append("first", true).has_value());
  ASSERT_TRUE(log_->append("second", true).has_value());
  log_.reset();
  damage(last_segment(), 48 + 16 + 1);
  const auto opened = open();
  ASSERT_FALSE(opened.has_value());
  EXPECT_NE(opened.error().message().find("was acknowledged and is broken"), std::string::npos)
      << opened.error().message();
}

TEST_F(CommitLogTest, AMissingOrShortenedSegmentIsRefused) {
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(log_->append(Bytes(3000, 'a'), true).has_value());
  log_.reset();
  const std::string second = directory_.path() + "/000000000002.log";
  damage(second, 48 + 100);
  EXPECT_FALSE(open().has_value());
  std::filesystem::remove(second);
  const auto opened = open();
  ASSERT_FALSE(opened.has_value());
  EXPECT_NE(opened.error().message().find("000000000002.log: it is missing"), std::string::npos)
      << opened.error().message();
}

class MarkedLogTest : public CommitLogTest {
 protected:
  base::Result<std::unique_ptr<CommitLog>> open_marked() {
    log_.reset();
    return open_log(directory_.path(), disk_, replayed_, mark_);
  }
  void SetUp() override { reopen_marked(); }
  void reopen_marked() {
    auto opened = open_marked();
    ASSERT_TRUE(opened.has_value()) << opened.error().text();
    log_ = std::move(*opened);
  }
  void append_segments() {
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(log_->append(Bytes(3000, 'a'), true).has_value());
    ASSERT_EQ(log_->segment(), 4u);
    log_.reset();
  }
  void remove_log() {
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path()))
      std::filesystem::remove(entry.path());
  }

  TemporaryDirectory outside_;
  const std::string mark_ = outside_.path() + "/SIBYL_LOG";
};

TEST_F(MarkedLogTest, ALogWithoutItsEndIsRefused) {
  append_segments();
  reopen_marked();
  EXPECT_EQ(replayed_.size(), 4u);
  log_.reset();
  std::filesystem::remove(last_segment());
  const auto shortened = open_marked();
  ASSERT_FALSE(shortened.has_value());
  EXPECT_EQ(shortened.error().message(),
            "The commit log is damaged: segment " + directory_.path() + "/000000000004.log: it is missing");
  EXPECT_NE(shortened.error().hint().find("remove " + mark_ + " to discard them"), std::string::npos)
      << shortened.error().hint();
  remove_log();
  EXPECT_FALSE(open_marked().has_value());
  // Discards the lost groups.
  std::filesystem::remove(mark_);
  reopen_marked();
  EXPECT_TRUE(replayed_.empty());
  ASSERT_TRUE(log_->append("new", true).has_value());
  reopen_marked();
  EXPECT_EQ(replayed_, std::vector<Bytes>{"new"});
}

TEST_F(MarkedLogTest, AnUnneededLogMayBeMissing) {
  append_segments();
  reopen_marked();
  ASSERT_TRUE(log_->release_all().has_value());
  log_.reset();
  remove_log();
  reopen_marked();
  // A segment that is written to again is needed again, even if it is the first.
  ASSERT_TRUE(log_->append("new", false).has_value());
  log_.reset();
  remove_log();
  EXPECT_FALSE(open_marked().has_value());
}

// For example, because the volume of the log was not mounted, and then is again.
TEST_F(MarkedLogTest, AMissingLogIsReportedAndRefusedWhenItReturns) {
  append_segments();
  reopen_marked();
  EXPECT_EQ(log_->recovered().missing_directory, "");
  ASSERT_TRUE(log_->release_all().has_value());
  const uint64_t last = log_->segment();
  log_.reset();
  TemporaryDirectory old;
  std::filesystem::copy(directory_.path(), old.path(), std::filesystem::copy_options::recursive);
  remove_log();
  reopen_marked();
  EXPECT_EQ(log_->recovered().missing_directory, directory_.path());
  ASSERT_TRUE(log_->append("new", true).has_value());
  EXPECT_EQ(log_->segment(), last + 1);
  for (const bool is_closed_cleanly : {false, true}) {
    if (is_closed_cleanly) {
      ASSERT_TRUE(log_->release_all().has_value());
    }
    log_.reset();
    TemporaryDirectory current;
    std::filesystem::copy(directory_.path(), current.path(), std::filesystem::copy_options::recursive);
    remove_log();
    std::filesystem::copy(old.path(), directory_.path(), std::filesystem::copy_options::recursive);
    const auto refused = open_marked();
    ASSERT_FALSE(refused.has_value());
    EXPECT_NE(refused.error().message().find(": it is missing"), std::string::npos);
    remove_log();
    std::filesystem::copy(current.path(), directory_.path(), std::filesystem::copy_options::recursive);
    reopen_marked();
    EXPECT_EQ(replayed_, is_closed_cleanly ? std::vector<Bytes>{} : std::vector<Bytes>{"new"});
  }
}

// After a clean shutdown the existing segment is written to again.
TEST_F(MarkedLogTest, AReleasedAndReusedSegmentIsNeeded) {
  append_segments();
  reopen_marked();
  ASSERT_TRUE(log_->release_all().has_value());
  const uint64_t last = log_->segment();
  reopen_marked();
  ASSERT_TRUE(log_->append("new", true).has_value());
  ASSERT_EQ(log_->segment(), last);
  log_.reset();
  remove_log();
  EXPECT_FALSE(open_marked().has_value());
}

TEST_F(MarkedLogTest, NothingIsAcknowledgedWithoutTheMark) {
  disk_.fail_all = true;
  EXPECT_FALSE(log_->append("one", true).has_value());
  disk_.fail_all = false;
  // The first two syncs are of the segment and of its directory, the third is of the mark's directory.
  disk_.fail_sync = 2;
  const auto refused = log_->append("two", true);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message().find("failed to write its mark"), std::string::npos)
      << refused.error().message();
  EXPECT_TRUE(log_->append("three", true).has_value());
  reopen_marked();
  EXPECT_EQ(replayed_, std::vector<Bytes>{"three"});
}

TEST(LogMark, ATornLineLeavesThePreviousOne) {
  TemporaryDirectory directory;
  const std::string path = directory.path() + "/SIBYL_LOG";
  const auto read = [&path] {
    LogMark mark(path, Disk::real());
    EXPECT_TRUE(mark.read().has_value());
    return mark.segment();
  };
  EXPECT_EQ(read(), 0u);
  LogMark mark(path, Disk::real());
  for (uint64_t segment : {7, 8, 9}) {
    ASSERT_EQ(mark.set(segment), 0);
    EXPECT_EQ(read(), segment);
  }
  EXPECT_EQ(std::filesystem::file_size(path), 1024u);
  damage(path, 512 + 20);  // the third line was written in place of the first
  EXPECT_EQ(read(), 8u);
  LogMark again(path, Disk::real());
  ASSERT_TRUE(again.read().has_value());
  ASSERT_EQ(again.set(10), 0);
  EXPECT_EQ(read(), 10u);
  std::ofstream(path, std::ios::trunc) << "sib";
  EXPECT_EQ(read(), 0u);
}

// A broken group is damage if it was recorded as synced. Otherwise it may be an incomplete write.
TEST_F(MarkedLogTest, DamageToTheLastGroupIsRefusedOnceRecordedAsSynced) {
  for (const bool noted : {false, true}) {
    {
      auto log = open_log(directory_.path(), disk_, replayed_, mark_);
      ASSERT_TRUE(log.has_value()) << log.error().text();
      ASSERT_TRUE((*log)->append("first", true).has_value());
      ASSERT_TRUE((*log)->append("last", true).has_value());
      if (noted) (*log)->note_synced();
    }
    std::string newest;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path()))
      if (entry.path().extension() == ".log") newest = std::max(newest, entry.path().string());
    const size_t at = base::read_file(newest)->rfind("last");
    damage(newest, at);
    const auto log = open_log(directory_.path(), disk_, replayed_, mark_);
    ASSERT_EQ(log.has_value(), !noted);
    if (noted) {
      EXPECT_NE(log.error().message().find("was acknowledged and is broken"), std::string::npos);
    } else {
      ASSERT_TRUE((*log)->recovered().incomplete.has_value());
      EXPECT_EQ((*log)->recovered().incomplete->offset, at - 16);
      EXPECT_EQ((*log)->recovered().incomplete->size, 4u);
      EXPECT_EQ((*log)->recovered().groups, 1u);
      EXPECT_EQ((*log)->recovered().bytes, 5u);
    }
  }
}

TEST_F(MarkedLogTest, AFileThatEndsInsideTheLastGroupIsReported) {
  {
    auto log = open_log(directory_.path(), disk_, replayed_, mark_);
    ASSERT_TRUE(log.has_value()) << log.error().text();
    ASSERT_TRUE((*log)->append("first", true).has_value());
    ASSERT_TRUE((*log)->append("last", true).has_value());
  }
  std::string newest;
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path()))
    if (entry.path().extension() == ".log") newest = std::max(newest, entry.path().string());
  const size_t at = base::read_file(newest)->rfind("last");
  std::filesystem::resize_file(newest, at + 2);
  const auto log = open_log(directory_.path(), disk_, replayed_, mark_);
  ASSERT_TRUE(log.has_value()) << log.error().text();
  ASSERT_TRUE((*log)->recovered().incomplete.has_value());
  EXPECT_EQ((*log)->recovered().incomplete->offset, at - 16);
  EXPECT_EQ((*log)->recovered().incomplete->size, 4u);
}

TEST_F(MarkedLogTest, AnIntactLogHasNoIncompleteGroup) {
  for (int i = 0; i < 3; ++i) {
    auto log = open_log(directory_.path(), disk_, replayed_, mark_);
    ASSERT_TRUE(log.has_value());
    EXPECT_FALSE((*log)->recovered().incomplete.has_value());
    for (int j = 0; j < 300; ++j) {  // segments are reused
      const uint64_t before = (*log)->segment();
      ASSERT_TRUE((*log)->append(Bytes(40 + static_cast<size_t>(i), 'a'), true).has_value());
      if ((*log)->segment() != before) (*log)->release(before);
    }
  }
}

TEST_F(MarkedLogTest, ANewSegmentInAReusedFileHasNoIncompleteGroup) {
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(log_->append(Bytes(3000, 'a'), true).has_value());
    log_->release(log_->segment());
    ASSERT_TRUE(
        log_->release_all().has_value());  // starts a segment, from the third on in a file that held groups
  }
  reopen_marked();
  EXPECT_TRUE(replayed_.empty());
  EXPECT_FALSE(log_->recovered().incomplete.has_value());
}

// tests/data has a sample of every version.
TEST(LogMark, ReadsSamples) {
  LogMark mark(base::source_path("tests/data/sibyl_log_v1.txt"), Disk::real());
  ASSERT_TRUE(mark.read().has_value());
  EXPECT_EQ(mark.segment(), 0u);
  EXPECT_EQ(mark.last_segment(), 0u);
  LogMark with_last(base::source_path("tests/data/sibyl_log_v1_last.txt"), Disk::real());
  ASSERT_TRUE(with_last.read().has_value());
  EXPECT_EQ(with_last.segment(), 0u);
  EXPECT_EQ(with_last.last_segment(), 2u);
}

// A new group of a reused segment may end anywhere. The old groups after it must not count.
TEST(CommitLogReuse, OldGroupsOfAReusedSegmentDoNotCount) {
  for (int appended = 1; appended < 40; ++appended) {
    TemporaryDirectory directory;
    size_t replayed = 0;
    const CommitLog::Options options{directory.path(), 512, 2, &Disk::real()};
    const CommitLog::Replay replay{[&](BytesView) {
                                     ++replayed;
                                     return base::Status();
                                   },
                                   [](uint64_t) {}};
    {
      const auto log = CommitLog::open(options, replay);
      ASSERT_TRUE(log.has_value());
      for (int i = 0; i < appended; ++i) {
        const uint64_t before = (*log)->segment();
        ASSERT_TRUE((*log)->append(Bytes(40, 'a'), true).has_value());
        if ((*log)->segment() > 1 && (*log)->segment() != before) (*log)->release(before);
      }
    }
    ASSERT_TRUE(CommitLog::open(options, replay).has_value());
    // Eight groups fill a segment. The segment before the current one may not be released yet.
    const size_t in_current = static_cast<size_t>(appended - 1) % 8 + 1;
    EXPECT_EQ(replayed, appended <= 8 ? in_current : in_current + 8) << appended;
  }
}

// The CPU time of this thread, which does not depend on the load of the machine.
double seconds_used() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// Beyond its groups, a reused segment holds anything that clients have written, including bytes that look
// like headers of long, synced groups.
TEST(CommitLogReuse, OldBytesThatLookLikeGroupsCostNoTime) {
  TemporaryDirectory directory;
  const CommitLog::Options options{directory.path(), 8 << 20, 2, &Disk::real()};
  size_t replayed = 0;
  const CommitLog::Replay replay{[&](BytesView) {
                                   ++replayed;
                                   return base::Status();
                                 },
                                 [](uint64_t) {}};
  Bytes group;
  for (uint32_t i = 0; group.size() < (8 << 20) - 300; ++i) {
    const uint32_t rest = (8 << 20) - 200 - static_cast<uint32_t>(group.size());
    const uint32_t header[] = {i, rest / 2, 128, 0};  // crc, size, synced
    group.append(reinterpret_cast<const char*>(header), sizeof header);
  }
  {
    const auto log = CommitLog::open(options, replay);
    ASSERT_TRUE(log.has_value());
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE((*log)->append(group, true).has_value());
      ASSERT_TRUE((*log)->release_all().has_value());
    }
    ASSERT_TRUE((*log)->append("first", true).has_value());
    ASSERT_EQ((*log)->bytes(), 2u * (8 << 20)) << "no segment was reused";
  }
  {
    const double before = seconds_used();
    const auto log = CommitLog::open(options, replay);
    EXPECT_LT(seconds_used() - before, 10);
    ASSERT_TRUE(log.has_value());
    EXPECT_EQ(replayed, 1u);
    // A real group that attests a sync must be found among the old bytes.
    ASSERT_TRUE((*log)->append(Bytes(300'001, 'x'), true).has_value());
  }
  damage(directory.path() + "/000000000003.log", 48 + 16 + 1);
  const auto opened = CommitLog::open(options, replay);
  ASSERT_FALSE(opened.has_value());
  EXPECT_NE(opened.error().message().find("was acknowledged and is broken"), std::string::npos)
      << opened.error().message();
}

// A segment is released while the next one waits for its name to reach the device. The next segment's header
// still declares it as needed, so it must not be removed.
TEST_F(CommitLogTest, ASegmentReleasedBeforeTheNextIsPublishedIsKept) {
  while (log_->segment() < 2) ASSERT_TRUE(log_->append(Bytes(1000, 'a'), true).has_value());
  disk_.fail_sync = 2;  // the syncs are of the old segment, of the new header, and then of the directory
  while (log_->append(Bytes(1000, 'b'), false).has_value()) continue;
  ASSERT_EQ(log_->segment(), 2u);
  log_->release(1);
  ASSERT_TRUE(log_->append("c", true).has_value());
  ASSERT_EQ(log_->segment(), 3u);
  log_.reset();
  const auto opened = open();
  EXPECT_TRUE(opened.has_value()) << opened.error().message();
}

// Appends, faults, releases and crashes happen in random order. Every acknowledged group is replayed, in
// order, and no failed group is.
TEST(CommitLogProperty, OnlyAcknowledgedGroupsAreReplayed) {
  EXPECT_TRUE(rc::check([] {
    TemporaryDirectory directory, outside;
    FaultyDisk disk;
    std::vector<std::pair<uint64_t, Bytes>> acknowledged;  // with their segments
    uint64_t released = 0;
    std::vector<Bytes> replayed;
    std::unique_ptr<CommitLog> log;
    const auto reopen = [&] {
      log.reset();
      replayed.clear();
      CommitLog::Options options{directory.path(), 512, 2, &disk, outside.path() + "/SIBYL_LOG"};
      CommitLog::Replay replay{[&](BytesView group) {
                                 replayed.emplace_back(group);
                                 return base::Status();
                               },
                               [](uint64_t) {}};
      auto opened = CommitLog::open(options, replay);
      RC_ASSERT(opened.has_value());
      log = std::move(*opened);
      // Released groups may or may not be replayed, but only complete and contiguous from some segment on.
      std::vector<Bytes> expected;
      for (const auto& [segment, group] : acknowledged) expected.push_back(group);
      RC_ASSERT(replayed.size() <= expected.size());
      RC_ASSERT(std::equal(replayed.rbegin(), replayed.rend(), expected.rbegin()));
      const auto needed = std::count_if(acknowledged.begin(), acknowledged.end(),
                                        [&](const auto& each) { return each.first > released; });
      RC_ASSERT(std::ssize(replayed) >= needed);
    };
    reopen();
    for (int step = *rc::gen::inRange(0, 60); step > 0; --step) {
      switch (*rc::gen::inRange(0, 10)) {
        case 0:
          disk.fail_write = *rc::gen::inRange(0, 4);
          break;
        case 1:
          disk.fail_sync = *rc::gen::inRange(0, 4);
          break;
        case 2:
          disk.fail_allocate = *rc::gen::inRange(0, 2);
          break;
        case 3:
          disk.fail_write = disk.fail_sync = disk.fail_allocate = -1;
          reopen();
          break;
        case 4:
          if (log->segment() > 1) log->release(released = log->segment() - 1);
          break;
        default: {
          const Bytes group(*rc::gen::inRange<size_t>(1, 300), static_cast<char>('a' + step % 26));
          if (log->append(group, *rc::gen::arbitrary<bool>()))
            acknowledged.emplace_back(log->segment(), group);
        }
      }
    }
    disk.fail_write = disk.fail_sync = disk.fail_allocate = -1;
    reopen();
  }));
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
