#include "engine/maintenance/snapshots.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <thread>

#include "base/file.h"
#include "base/test_directory.h"
#include "engine/test_result.h"
#include "storage/rocksdb/crc32c.h"

namespace sibyl::engine {
namespace {

using execute::ResultSet;
using storage::rocksdb::crc32c;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

base::Result<ResultSet> run(Engine& engine, const std::string& text) {
  return run_text(engine, text, "k");
}

void must(Engine& engine, const std::string& text) {
  const auto result = run(engine, text);
  EXPECT_TRUE(result.has_value()) << text << ": " << (result ? "" : result.error().message());
}

// Returns every row as the texts of its columns.
std::vector<std::vector<std::string>> rows(Engine& engine, const std::string& text) {
  const auto result = run(engine, text);
  EXPECT_TRUE(result.has_value()) << text << ": " << (result ? "" : result.error().message());
  return result ? cells_of(*result) : std::vector<std::vector<std::string>>();
}

class SnapshotsTest : public testing::Test {
 protected:
  void SetUp() override {
    open();
    must(*engine_,
         "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    must(*engine_, "CREATE TABLE k.a (p text, n int, v text, PRIMARY KEY (p, n))");
    must(*engine_, "CREATE TABLE k.b (p text, n int, v text, PRIMARY KEY (p, n))");
  }
  void open() { engine_ = opened(data_); }
  static std::unique_ptr<Engine> opened(const std::string& data) {
    Options options;
    options.data = data;
    auto engine = Engine::open(options);
    EXPECT_TRUE(engine.has_value()) << engine.error().text();
    return engine ? std::move(*engine) : nullptr;
  }
  base::Result<SnapshotInfo> take(const std::string& name) {
    return take_snapshot(data_, name, engine_->store(), *engine_->schema(), ++now_);
  }

  const base::TemporaryDirectory directory_;
  const std::string root_ = directory_.path(), data_ = root_ + "/data";
  std::unique_ptr<Engine> engine_;
  int64_t now_ = 1'700'000'000'000;
};

TEST_F(SnapshotsTest, RestoresTheDatabase) {
  must(*engine_, "INSERT INTO k.a (p, n, v) VALUES ('x', 1, 'before')");
  const auto taken = take("first");
  ASSERT_TRUE(taken.has_value()) << taken.error().text();
  must(*engine_, "INSERT INTO k.a (p, n, v) VALUES ('x', 1, 'after')");
  must(*engine_, "DROP TABLE k.b");
  ASSERT_TRUE(engine_->compact().has_value());

  ASSERT_TRUE(verify_snapshot(*taken).has_value());
  const auto restored = restore_snapshot(*taken, root_ + "/new");
  ASSERT_TRUE(restored.has_value()) << restored.error().text();
  const auto other = opened(root_ + "/new");
  ASSERT_NE(other, nullptr);
  EXPECT_THAT(rows(*other, "SELECT v FROM k.a"), ElementsAre(ElementsAre("before")));
  EXPECT_THAT(rows(*other, "SELECT * FROM k.b"), IsEmpty());
  EXPECT_THAT(rows(*engine_, "SELECT v FROM k.a"), ElementsAre(ElementsAre("after")));
}

// Taking a snapshot reads no table files. The files are linked, and their checksums were computed when they
// were written.
TEST_F(SnapshotsTest, LinksFilesAndKnowsTheirChecksums) {
  must(*engine_, "INSERT INTO k.a (p, n, v) VALUES ('x', 1, 'v')");
  const auto taken = take("links");
  ASSERT_TRUE(taken.has_value());
  size_t tables = 0;
  for (const auto& file : taken->files) {
    if (!file.path.ends_with(".sst")) continue;
    struct stat kept{}, live{};
    ASSERT_EQ(::stat((taken->path + "/" + file.path).c_str(), &kept), 0);
    ASSERT_EQ(::stat((data_ + "/" + file.path).c_str(), &live), 0);
    EXPECT_EQ(kept.st_ino, live.st_ino);
    ++tables;
  }
  EXPECT_GE(tables, 1u);
  EXPECT_LT(taken->own_bytes, taken->bytes);
}

TEST_F(SnapshotsTest, AreListedAndCleared) {
  EXPECT_THAT(*list_snapshots(data_), IsEmpty());
  ASSERT_TRUE(take("b").has_value());
  ASSERT_TRUE(take("a").has_value());
  EXPECT_THAT(take("a").error().message(), HasSubstr("already"));
  EXPECT_FALSE(take("../evil").has_value());
  EXPECT_FALSE(take(".hidden").has_value());
  const auto listed = list_snapshots(data_);
  ASSERT_TRUE(listed.has_value());
  ASSERT_EQ(listed->size(), 2u);
  EXPECT_EQ((*listed)[0].name, "b");
  EXPECT_EQ((*listed)[1].name, "a");
  EXPECT_THAT(rows(*engine_,
                   "SELECT name, keyspace_name, table_name, created_at, ephemeral, expires_at FROM "
                   "system_views.snapshots WHERE name = 'b'"),
              ElementsAre(ElementsAre("b", "k", "a", "2023-11-14 22:13:20.001000+0000", "False", "null"),
                          ElementsAre("b", "k", "b", "2023-11-14 22:13:20.001000+0000", "False", "null")));
  ASSERT_TRUE(clear_snapshot(data_, "b").has_value());
  EXPECT_FALSE(clear_snapshot(data_, "b").has_value());
  EXPECT_EQ(list_snapshots(data_)->size(), 1u);
}

// A copy is a separate snapshot, named after its directory.
TEST_F(SnapshotsTest, AreNamedAfterTheirDirectories) {
  ASSERT_TRUE(take("original").has_value());
  fs::copy(snapshot_path(data_, "original"), snapshot_path(data_, "kept"), fs::copy_options::recursive);
  const auto listed = list_snapshots(data_);
  ASSERT_EQ(listed->size(), 2u);
  EXPECT_EQ((*listed)[0].name, "kept");
  EXPECT_EQ((*listed)[1].name, "original");
  EXPECT_EQ(read_snapshot(snapshot_path(data_, "kept") + "/")->name, "kept");
  for (const SnapshotInfo& snapshot : *listed)
    EXPECT_TRUE(clear_snapshot(data_, snapshot.name)) << snapshot.name;
  EXPECT_THAT(*list_snapshots(data_), IsEmpty());
}

TEST_F(SnapshotsTest, AreNotClearedWhileOneIsTaken) {
  ASSERT_TRUE(take("a").has_value());
  {
    const base::File taking(data_ + "/snapshots", O_RDONLY | O_DIRECTORY);
    ASSERT_EQ(::flock(taking.number(), LOCK_EX | LOCK_NB), 0);
    EXPECT_THAT(clear_snapshot(data_, "a").error().message(), HasSubstr("being taken"));
    EXPECT_EQ(list_snapshots(data_)->size(), 1u);
  }
  EXPECT_TRUE(clear_snapshot(data_, "a"));
}

TEST_F(SnapshotsTest, ErrorsNameTheDamagedFile) {
  must(*engine_, "INSERT INTO k.a (p, n, v) VALUES ('x', 1, 'v')");
  const auto taken = take("s");
  ASSERT_TRUE(taken.has_value());
  for (const auto& file : taken->files) {
    const std::string path = taken->path + "/" + file.path;
    std::string whole;
    {
      std::ifstream in(path, std::ios::binary);
      whole.assign(std::istreambuf_iterator<char>(in), {});
    }
    if (whole.empty()) continue;
    std::string changed = whole;
    changed[changed.size() / 2] ^= 1;
    for (const std::string& bad : {changed, whole.substr(1), whole + "x"}) {
      fs::remove(path);  // it may be a hard link, and the database's file must stay intact
      std::ofstream(path, std::ios::binary) << bad;
      const auto sound = verify_snapshot(*taken);
      ASSERT_FALSE(sound.has_value()) << path;
      EXPECT_THAT(sound.error().message(), HasSubstr(path));
      const auto restored = restore_snapshot(*taken, root_ + "/new");
      ASSERT_FALSE(restored.has_value());
      EXPECT_THAT(restored.error().message(), HasSubstr(path));
      EXPECT_FALSE(fs::exists(root_ + "/new")) << "half a database is in the way of a whole one";
    }
    fs::remove(path);
    EXPECT_THAT(verify_snapshot(*taken).error().message(), HasSubstr(path));
    std::ofstream(path, std::ios::binary) << whole;
  }
  EXPECT_TRUE(verify_snapshot(*taken).has_value());
  fs::create_directory(root_ + "/new");
  const std::string missing = taken->path + "/" + taken->files.back().path;
  fs::rename(missing, root_ + "/away");
  EXPECT_FALSE(restore_snapshot(*taken, root_ + "/new").has_value());
  EXPECT_TRUE(fs::is_empty(root_ + "/new"));
  fs::rename(root_ + "/away", missing);
  EXPECT_TRUE(restore_snapshot(*taken, root_ + "/new").has_value());
  std::ofstream(taken->path + "/SNAPSHOT", std::ios::app) << " ";
  EXPECT_THAT(read_snapshot(taken->path).error().message(), HasSubstr(taken->path + "/SNAPSHOT"));
  std::vector<std::string> damaged;
  EXPECT_THAT(*list_snapshots(data_, &damaged), IsEmpty());
  EXPECT_THAT(damaged, ElementsAre("s"));
}

TEST_F(SnapshotsTest, IsNotRestoredOverOtherData) {
  const auto taken = take("s");
  ASSERT_TRUE(taken.has_value());
  EXPECT_THAT(restore_snapshot(*taken, data_).error().message(), HasSubstr("is not empty"));
}

// Manipulated snapshots, which try to read and write outside of their directory and the target.
class HostileSnapshots : public SnapshotsTest {
 protected:
  void SetUp() override {
    SnapshotsTest::SetUp();
    must(*engine_, "INSERT INTO k.a (p, n, v) VALUES ('x', 1, 'v')");
    ASSERT_TRUE(take("good"));
    path_ = root_ + "/bad";
    fs::copy(snapshot_path(data_, "good"), path_, fs::copy_options::recursive);
    manifest_ = *base::read_file(path_ + "/SNAPSHOT");
    manifest_.erase(0, manifest_.find('\n') + 1);
  }
  // Adds a file to the manifest, with a matching checksum.
  void add_file(const std::string& path_in_json) {
    std::string text = manifest_;
    const size_t end = text.rfind("]}");
    ASSERT_NE(end, std::string::npos);
    text.insert(end, R"(,{"path":")" + path_in_json + R"(","size":6,"crc32c":")" +
                         fmt::format("{:08x}", crc32c(0, "secret")) + R"("})");
    std::ofstream(path_ + "/SNAPSHOT", std::ios::binary)
        << fmt::format("sibyl snapshot 1 {:08x}\n{}", crc32c(0, text), text);
  }
  static void write_secret(const std::string& path) { std::ofstream(path) << "secret"; }

  std::string path_, manifest_;
};

TEST_F(HostileSnapshots, NameOnlyPlainFilesInRecords) {
  write_secret(root_ + "/outside");
  write_secret(path_ + "/beside");
  const std::vector<std::string> paths = {"../outside",
                                          "../bad/beside",
                                          "records/../../outside",
                                          "records/../beside",
                                          "/etc/passwd",
                                          root_,
                                          "",
                                          "records",
                                          "records/",
                                          "records/.",
                                          "records/..",
                                          "records//CURRENT",
                                          "records/./CURRENT",
                                          "beside",
                                          "records/CURRENT/x",
                                          "records\\u0000/x",
                                          "records/a\\u0000b",
                                          "records/CURRENT"};
  for (const std::string& path : paths) {
    add_file(path);
    const auto read = read_snapshot(path_);
    ASSERT_FALSE(read) << path;
    EXPECT_THAT(read.error().message(), HasSubstr("SNAPSHOT names ")) << path;
  }
  add_file("records/more");
  write_secret(path_ + "/records/more");
  ASSERT_TRUE(read_snapshot(path_));
  EXPECT_TRUE(verify_snapshot(*read_snapshot(path_)));
}

TEST_F(HostileSnapshots, FollowNoLinks) {
  write_secret(root_ + "/outside");
  add_file("records/more");
  const std::string more = path_ + "/records/more";
  const auto read = read_snapshot(path_);
  ASSERT_TRUE(read) << read.error().message();
  const auto refuse = [&](const std::string& why) {
    for (const base::Status& status : {verify_snapshot(*read), restore_snapshot(*read, root_ + "/new")}) {
      ASSERT_FALSE(status) << why;
      EXPECT_THAT(status.error().message(), HasSubstr(why));
    }
    EXPECT_FALSE(fs::exists(root_ + "/new"));
    fs::remove_all(more);
  };
  fs::create_symlink(root_ + "/outside", more);
  refuse("is a link");
  fs::create_directory(more);
  refuse("is not a regular file");
  ASSERT_EQ(::mkfifo(more.c_str(), 0600), 0);
  refuse("is not a regular file");
  write_secret(more);
  EXPECT_TRUE(restore_snapshot(*read, root_ + "/new"));

  fs::rename(path_ + "/records", root_ + "/elsewhere");
  fs::create_directory_symlink(root_ + "/elsewhere", path_ + "/records");
  EXPECT_FALSE(verify_snapshot(*read));
  fs::rename(path_ + "/SNAPSHOT", root_ + "/MANIFEST");
  fs::create_symlink(root_ + "/MANIFEST", path_ + "/SNAPSHOT");
  EXPECT_THAT(read_snapshot(path_).error().message(), HasSubstr("is a link"));
}

TEST_F(HostileSnapshots, AreNotRestoredThroughALinkInTheTarget) {
  const auto good = read_snapshot(snapshot_path(data_, "good"));
  fs::create_directory(root_ + "/outside");
  // The directory is empty when it is checked, and contains the link when it is written to.
  fs::create_directory(root_ + "/new");
  fs::create_directory_symlink(root_ + "/outside", root_ + "/new/records");
  EXPECT_FALSE(restore_snapshot(*good, root_ + "/new"));
  EXPECT_TRUE(fs::is_empty(root_ + "/outside"));
}

TEST(Snapshots, NeedADirectory) {
  auto engine = Engine::open({});
  ASSERT_TRUE(engine.has_value());
  EXPECT_FALSE((*engine)->store().checkpoint("/tmp/never-made").has_value());
}

// Tests the guarantee of snapshots. While several writers write logged batches to several partitions of two
// tables, a snapshot contains every batch that was acknowledged before it began, and no partial batch.
class SnapshotsUnderLoad : public SnapshotsTest {
 protected:
  static constexpr int writers = 4, partitions = 3, moments = 4;

  // Writes one batch after another. All rows of a batch hold its number.
  void write(int writer) {
    const std::string filler(200, 'f');
    for (int n = 0; !stop_; ++n) {
      std::string text = "BEGIN BATCH ";
      for (int i = 0; i < partitions; ++i)
        for (const char* table : {"a", "b"})
          text += "INSERT INTO k." + std::string(table) + " (p, n, v) VALUES ('" + std::to_string(writer) +
                  "-" + std::to_string(i) + "', " + std::to_string(n) + ", '" + filler + "'); ";
      if (!run(*engine_, text + "APPLY BATCH")) ++failed_;
      acknowledged_[writer] = n + 1;
    }
  }
  // Counts the rows of each batch, by writer.
  std::map<std::pair<int, int>, int> count(Engine& engine) {
    std::map<std::pair<int, int>, int> found;
    for (const char* table : {"a", "b"})
      for (const auto& row : rows(engine, std::string("SELECT p, n FROM k.") + table))
        ++found[{row[0][0] - '0', std::stoi(row[1])}];
    return found;
  }

  std::atomic<bool> stop_ = false;
  std::atomic<int> failed_ = 0;
  std::atomic<int> acknowledged_[writers] = {};
};

TEST_F(SnapshotsUnderLoad, ContainsAllAcknowledgedWritesAndNoPartialBatch) {
  std::vector<std::thread> threads;
  for (int writer = 0; writer < writers; ++writer) threads.emplace_back([this, writer] { write(writer); });
  std::vector<std::vector<int>> before;
  std::vector<SnapshotInfo> taken;
  for (int moment = 0; moment < moments; ++moment) {
    for (int writer = 0; writer < writers; ++writer)  // each writer has progressed since the last snapshot
      while (acknowledged_[writer] < 30 * (moment + 1)) std::this_thread::yield();
    auto& known = before.emplace_back();
    for (const auto& count : acknowledged_) known.push_back(count);
    auto snapshot = take("moment-" + std::to_string(moment));
    ASSERT_TRUE(snapshot.has_value()) << snapshot.error().text();
    taken.push_back(std::move(*snapshot));
  }
  stop_ = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed_, 0);
  for (int moment = 0; moment < moments; ++moment) {
    const std::string to = root_ + "/restored-" + std::to_string(moment);
    ASSERT_TRUE(restore_snapshot(taken[moment], to).has_value());
    const auto engine = opened(to);
    ASSERT_NE(engine, nullptr);
    const auto found = count(*engine);
    for (int writer = 0; writer < writers; ++writer)
      for (int n = 0; n < before[moment][writer]; ++n)
        ASSERT_TRUE(found.contains({writer, n})) << "lost batch " << n << " of writer " << writer;
    for (const auto& [batch, count] : found)
      ASSERT_EQ(count, 2 * partitions) << "half of batch " << batch.second << " of writer " << batch.first;
  }
}

}  // namespace
}  // namespace sibyl::engine
