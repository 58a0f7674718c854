#include "engine/builds/builder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "engine/test_database.h"

namespace sibyl::engine {
namespace {

using execute::ResultSet;

class ViewDatabase : public TestDatabase {
 public:
  using TestDatabase::TestDatabase;

  void create(const std::string& table) {
    must(fmt::format("CREATE TABLE IF NOT EXISTS {} (k int, c int, v int, w text, PRIMARY KEY (k, c))",
                     table));
  }
  void create_view(const std::string& view, const std::string& table) {
    must(
        fmt::format("CREATE MATERIALIZED VIEW IF NOT EXISTS {} AS SELECT * FROM {} WHERE k IS NOT NULL AND c "
                    "IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k, c)",
                    view, table));
  }
  // Waits for builds. Only the test runner limits the time.
  void wait_until_built(size_t views) {
    while (count("SELECT * FROM system.built_views WHERE keyspace_name = 'e'") < views)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
};

TEST(Builder, FillsAViewFromSmallAndWidePartitions) {
  ViewDatabase database(":memory:");
  database.create("t");
  for (int k = 0; k < 900; ++k)
    database.must(fmt::format("INSERT INTO t (k, c, v) VALUES ({}, 1, {})", k, k % 7));
  for (int c = 0; c < 1500; ++c)
    database.must(fmt::format("INSERT INTO t (k, c, v) VALUES (-1, {}, {})", c, c % 5));
  database.must("DELETE FROM t WHERE k = -1 AND c >= 700 AND c < 800");
  database.must("DELETE FROM t WHERE k = 3");
  database.create_view("by_v", "t");
  database.wait_until_built(1);
  EXPECT_EQ(database.count("SELECT v, k, c FROM by_v"), 900u - 1 + 1500 - 100);
  EXPECT_EQ(database.faults(), std::vector<std::string>{});
  EXPECT_EQ(database.count("SELECT * FROM system.view_builds_in_progress"), 0u);
}

TEST(Builder, ConcurrentWritesAreNotLost) {
  ViewDatabase database(":memory:");
  database.create("t");
  std::atomic<bool> stop = false;
  std::vector<std::thread> writers;
  for (int id = 0; id < 3; ++id) {
    writers.emplace_back([&, id] {
      std::mt19937 random(static_cast<unsigned>(id));
      while (!stop) {
        const auto pick = [&](unsigned below) { return random() % below; };
        auto result = database.run(
            pick(8) == 0
                ? fmt::format("DELETE FROM t WHERE k = {} AND c > {}", pick(50), pick(5))
                : fmt::format("INSERT INTO t (k, c, v) VALUES ({}, {}, {})", pick(50), pick(5), pick(9)));
        ASSERT_TRUE(result) << result.error().text();
      }
    });
  }
  for (int i = 0; i < 5; ++i) database.create_view(fmt::format("view_{}", i), "t");
  database.wait_until_built(5);
  stop = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(database.faults(), std::vector<std::string>{});
}

TEST(Builder, ADroppedViewIsNotBuilt) {
  ViewDatabase database(":memory:");
  database.create("t");
  database.must("INSERT INTO t (k, c, v) VALUES (1, 1, 1)");
  for (int i = 0; i < 20; ++i) {
    database.create_view("by_v", "t");
    database.must("DROP MATERIALIZED VIEW by_v");
  }
  database.create_view("by_v", "t");
  database.wait_until_built(1);
  EXPECT_EQ(database.count("SELECT * FROM by_v"), 1u);
}

// Returns the warnings that are logged while `run` is executed.
std::string logged_by(const std::function<void()>& run) {
  std::ostringstream text;
  auto before = spdlog::default_logger();
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text)));
  run();
  spdlog::set_default_logger(std::move(before));
  return text.str();
}

TEST(Builder, RowsWhoseKeysWouldBeTooLongAreOmitted) {
  ViewDatabase database(":memory:");
  database.create("t");
  const std::string too_long(65'536, 'x');
  database.must(fmt::format("INSERT INTO t (k, c, v, w) VALUES (1, 1, 1, '{}')", too_long));
  database.must("INSERT INTO t (k, c, v, w) VALUES (1, 2, 2, 'short')");
  const std::string log = logged_by([&] {
    for (const std::string key : {"w, k, c", "(w, k), c"})
      database.must(
          fmt::format("CREATE MATERIALIZED VIEW by_{} AS SELECT * FROM t WHERE k IS NOT NULL AND c "
                      "IS NOT NULL AND w IS NOT NULL PRIMARY KEY ({})",
                      key.front() == '(' ? "both" : "w", key));
    database.wait_until_built(2);
  });
  EXPECT_NE(log.find("building e.by_w: a row of e.t omitted, the first at token -4069959284402364209"),
            std::string::npos)
      << log;
  EXPECT_EQ(database.count("SELECT * FROM by_w"), 1u);
  EXPECT_EQ(database.count("SELECT * FROM by_both"), 1u);
  EXPECT_EQ(database.faults(), std::vector<std::string>{});

  // Rows that were omitted can be written, shortened and deleted.
  database.must("UPDATE t SET v = 3 WHERE k = 1 AND c = 1");
  EXPECT_EQ(database.count("SELECT * FROM by_w"), 1u);
  database.must("UPDATE t SET w = 'shorter' WHERE k = 1 AND c = 1");
  EXPECT_EQ(database.count("SELECT * FROM by_w"), 2u);
  EXPECT_EQ(database.count("SELECT * FROM by_both"), 2u);
  EXPECT_EQ(database.faults(), std::vector<std::string>{});
}

TEST(Builder, AWriteWithATooLongKeyIsRejected) {
  ViewDatabase database(":memory:");
  database.create("t");
  database.must(
      "CREATE MATERIALIZED VIEW by_w AS SELECT * FROM t WHERE k IS NOT NULL AND c IS NOT NULL AND w IS NOT "
      "NULL PRIMARY KEY (w, k, c)");
  const std::string longest(65'535, 'x'), too_long = longest + 'x';
  database.must(fmt::format("INSERT INTO t (k, c, v, w) VALUES (1, 1, 1, '{}')", longest));
  for (const std::string& text :
       {fmt::format("UPDATE t SET w = '{}' WHERE k = 1 AND c = 1", too_long),
        fmt::format("INSERT INTO t (k, c, w) VALUES (2, 1, '{}') IF NOT EXISTS", too_long),
        fmt::format(
            "BEGIN BATCH INSERT INTO t (k, c, w) VALUES (1, 9, 'x'); UPDATE t SET w = '{}' WHERE k = 1 "
            "AND c = 1; APPLY BATCH",
            too_long)}) {
    const auto result = database.run(text);
    ASSERT_FALSE(result) << text.substr(0, 60);
    EXPECT_EQ(result.error().code(), base::ErrorCode::invalid);
    EXPECT_EQ(result.error().text(),
              "Key length of 65536 is longer than maximum of 65535 [hint: it is the row's key in the "
              "materialized view e.by_w]");
  }
  EXPECT_EQ(database.count("SELECT * FROM t"), 1u);
  EXPECT_EQ(database.count(fmt::format("SELECT * FROM by_w WHERE w = '{}'", longest)), 1u);
  database.must("DELETE FROM t WHERE k = 1");
  EXPECT_EQ(database.count("SELECT * FROM by_w"), 0u);
  EXPECT_EQ(database.faults(), std::vector<std::string>{});
}

// --- kill -9: a child process writes until it is killed, repeatedly. The parent checks the data each time.

constexpr const char* directory_variable = "SIBYL_BUILDER_TEST_DIRECTORY";

void write_forever(ViewDatabase& database, unsigned seed, int signal_pipe) {
  std::mt19937 random(seed);
  const auto pick = [&](unsigned below) { return random() % below; };
  const auto write = [&] {
    const std::string row = fmt::format("k = {} AND c = {}", pick(30), pick(6));
    switch (pick(8)) {
      case 0:
        return fmt::format("DELETE FROM t USING TIMESTAMP {} WHERE {}", pick(10000), row);
      case 1:
        return fmt::format("DELETE FROM t WHERE k = {}", pick(30));
      case 2:
        return fmt::format("DELETE FROM t USING TIMESTAMP {} WHERE k = {} AND c > {}", pick(10000), pick(30),
                           pick(6));
      case 3:
        return fmt::format("UPDATE t USING TTL {} SET v = {} WHERE {}", 1 + pick(4), pick(5), row);
      case 4:
        return fmt::format("UPDATE t SET w = 'w{}' WHERE {}", pick(100), row);
      default:
        return fmt::format("INSERT INTO t (k, c, v, w) VALUES ({}, {}, {}, 'x') USING TIMESTAMP {}", pick(30),
                           pick(6), pick(5), pick(10000));
    }
  };
  for (unsigned i = 0;; ++i) {
    std::string text = write();
    if (pick(4) == 0) text = "BEGIN BATCH " + text + "; " + write() + "; " + write() + "; APPLY BATCH";
    auto result = database.run(text);
    if (!result) _exit(3);
    if (i % 64 == 0 && ::write(signal_pipe, "w", 1) != 1) _exit(4);
  }
}

// Run by the test below in a separate process; ended by SIGKILL.
TEST(BuilderCrash, DISABLED_WritesUntilKilled) {
  const char* directory = getenv(directory_variable);
  ASSERT_NE(directory, nullptr);
  ViewDatabase database(directory);
  database.create("t");
  database.create_view("first", "t");
  const unsigned seed = static_cast<unsigned>(std::random_device()());
  std::vector<std::thread> writers;
  for (unsigned id = 0; id < 3; ++id)
    writers.emplace_back([&, id] { write_forever(database, seed + id, STDOUT_FILENO); });
  for (int i = 0;; ++i) database.create_view(fmt::format("later_{}", i % 3), "t");
}

pid_t spawn_writer(const std::string& directory, int& signals) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    setenv(directory_variable, directory.c_str(), 1);
    execl("/proc/self/exe", "engine_test", "--gtest_also_run_disabled_tests",
          "--gtest_filter=BuilderCrash.DISABLED_WritesUntilKilled", "--gtest_brief=1", nullptr);
    _exit(5);
  }
  close(ends[1]);
  signals = ends[0];
  return child;
}

TEST(BuilderCrash, ViewsStayConsistentWhenTheProcessIsKilled) {
  std::string pattern = (std::filesystem::temp_directory_path() / "sibyl_builder_XXXXXX").string();
  const std::string directory = mkdtemp(pattern.data());
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < 5; ++round) {
    int signals = -1;
    const pid_t child = spawn_writer(directory, signals);
    char buffer[1];
    size_t written = 0;
    const size_t enough = 5 + random() % 20;
    for (; written < enough && read(signals, buffer, 1) == 1; ++written);
    EXPECT_EQ(written, enough);
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    close(signals);
    ViewDatabase database(directory);
    database.wait_until_built(database.engine->schema()->find_keyspace("e")->views.size());
    EXPECT_EQ(database.faults(), std::vector<std::string>{}) << "round " << round;
    EXPECT_GT(database.count("SELECT * FROM t"), 0u);
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace sibyl::engine
