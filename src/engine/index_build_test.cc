// Indexes on existing data: filled in the background, whatever is written meanwhile, and through restarts.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <random>
#include <thread>

#include "engine/test_database.h"

namespace sibyl::engine {
namespace {

using execute::ResultSet;

class Database : public TestDatabase {
 public:
  explicit Database(const std::string& data) : TestDatabase(data) {
    must("CREATE TABLE IF NOT EXISTS t (k int, c int, v int, l list<int>, s int STATIC, PRIMARY KEY (k, c))");
  }

  // Waits for builds: there is no bound but the test's own.
  void wait_until_built(size_t indexes) {
    while (count("SELECT * FROM system.\"IndexInfo\" WHERE table_name = 'e'") < indexes)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  void fill() {
    for (int k = 0; k < 300; ++k)
      must(fmt::format("INSERT INTO t (k, c, v, l, s) VALUES ({}, 1, {}, [1, {}], {})", k, k % 7, k % 5,
                       k % 3));
    for (int c = 0; c < 600; ++c) must(fmt::format("INSERT INTO t (k, c, v) VALUES (-1, {}, {})", c, c % 7));
    must("DELETE FROM t WHERE k = -1 AND c >= 100 AND c < 200");
    must("DELETE FROM t WHERE k = 7");
  }
  void create_indexes() {
    must("CREATE INDEX IF NOT EXISTS by_v ON t (v)");
    must("CREATE INDEX IF NOT EXISTS by_range ON t (v) USING 'sai'");
    must("CREATE INDEX IF NOT EXISTS by_l ON t (l)");
    must("CREATE INDEX IF NOT EXISTS by_s ON t (s) USING 'sai'");
    must("CREATE INDEX IF NOT EXISTS by_c ON t (c) USING 'sai'");
  }
};

TEST(IndexBuild, ExistingRowsAreFound) {
  Database database(":memory:");
  database.fill();
  const size_t expected = database.count("SELECT k FROM t WHERE v = 0 ALLOW FILTERING");
  database.create_indexes();
  // Whether it is built by now or not.
  EXPECT_EQ(database.count("SELECT k FROM t WHERE v = 0"), expected);
  database.wait_until_built(5);
  EXPECT_EQ(database.count("SELECT k FROM t WHERE v = 0"), expected);
  EXPECT_EQ(database.count("SELECT k FROM t WHERE l CONTAINS 1"), 299u);
  EXPECT_EQ(database.count("SELECT k FROM t WHERE s = 0"), 100u);
  EXPECT_EQ(database.faults(), std::vector<std::string>{});
  EXPECT_EQ(database.count("SELECT * FROM system_views.sai_column_indexes WHERE keyspace_name = 'e'"), 3u);
}

TEST(IndexBuild, WritesMeanwhileAreNotLost) {
  Database database(":memory:");
  std::atomic<bool> stop = false;
  std::vector<std::thread> writers;
  for (unsigned id = 0; id < 3; ++id)
    writers.emplace_back([&, id] {
      std::mt19937 random(id);
      const auto pick = [&](unsigned below) { return random() % below; };
      while (!stop)
        database.must(pick(6) == 0
                          ? fmt::format("DELETE FROM t WHERE k = {} AND c > {}", pick(40), pick(5))
                          : fmt::format("INSERT INTO t (k, c, v, l, s) VALUES ({}, {}, {}, [{}, {}], {})",
                                        pick(40), pick(5), pick(9), pick(4), pick(4), pick(3)));
    });
  for (int round = 0; round < 3; ++round) {
    database.create_indexes();
    if (round < 2)
      for (const char* name : {"by_v", "by_range", "by_l", "by_s", "by_c"})
        database.must(fmt::format("DROP INDEX {}", name));
  }
  database.wait_until_built(5);
  stop = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(database.faults(), std::vector<std::string>{});
}

TEST(IndexBuild, GoesOnAfterARestart) {
  const std::string folder =
      (std::filesystem::temp_directory_path() / fmt::format("sibyl_index_{}", ::getpid())).string();
  std::filesystem::remove_all(folder);
  size_t expected = 0;
  {
    Database database(folder);
    database.fill();
    expected = database.count("SELECT k FROM t WHERE v = 3 ALLOW FILTERING");
    database.create_indexes();
  }
  {
    Database database(folder);
    EXPECT_EQ(database.count("SELECT k FROM t WHERE v = 3"), expected);
    database.wait_until_built(5);
    EXPECT_EQ(database.count("SELECT k FROM t WHERE v = 3"), expected);
    EXPECT_EQ(database.faults(), std::vector<std::string>{});
    database.must("DROP INDEX by_v");
    database.must("TRUNCATE t");
    EXPECT_EQ(database.count("SELECT k FROM t WHERE v > 0"), 0u);
    EXPECT_EQ(database.faults(), std::vector<std::string>{});
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace sibyl::engine
