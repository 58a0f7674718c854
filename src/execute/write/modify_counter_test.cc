#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "execute/read/select.h"
#include "execute/write/modify.h"
#include "execute/write/modify_fixture_test.h"
#include "types/value.h"

namespace sibyl::execute {
namespace {

using types::ValueView;

TEST(Modify, CountersAddUp) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int, c int, n counter, m counter, s counter static, PRIMARY KEY (k, c))");
  database.must("UPDATE t SET n = n + 5, m -= 2, s += 1 WHERE k = 1 AND c = 1");
  database.must("UPDATE t SET n = n - 1, s += 1 WHERE k = 1 AND c = 1");
  using Counters = std::map<std::string, int64_t>;
  EXPECT_EQ(database.counters("t"), (Counters{{"n", 4}, {"m", -2}, {"s", 2}}));
  database.must("DELETE n FROM t WHERE k = 1 AND c = 1");
  EXPECT_EQ(database.counters("t"), (Counters{{"m", -2}, {"s", 2}}));
  database.must("UPDATE t SET n += 3 WHERE k = 1 AND c = 1");
  EXPECT_EQ(database.counters("t"), (Counters{{"n", 3}, {"m", -2}, {"s", 2}}));
  database.must("DELETE FROM t WHERE k = 1");
  database.must("UPDATE t SET n += 1 WHERE k = 1 AND c = 1");
  EXPECT_EQ(database.error_of("UPDATE t SET n = n + ? WHERE k = 1 AND c = 1", {ValueView::null()}),
            "Invalid null value for counter increment");
  database.must("UPDATE t SET n = n + ? WHERE k = 1 AND c = 1", {ValueView::unset()});
}

// The server was restarted, and its clock was set back meanwhile.
TEST(Modify, ADeletedCounterRestartsEvenIfTheClockWentBack) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int, c int, n counter, s counter STATIC, PRIMARY KEY (k, c))");
  base::ManualClock earlier(WriteFixture::start_micros - 3'600'000'000);
  TimestampSource timestamps(earlier);
  Environment environment{*database.store, *database.store, earlier, timestamps, database.locks};
  int key = 0;
  for (const std::string deletion :
       {"DELETE n, s FROM t WHERE k = {} AND c = 1", "DELETE FROM t WHERE k = {} AND c = 1",
        "DELETE FROM t WHERE k = {} AND c > 0", "DELETE FROM t WHERE k = {}"}) {
    ++key;
    database.must(fmt::format("UPDATE t SET n += 5 WHERE k = {} AND c = 1", key));
    database.must(fmt::format(fmt::runtime(deletion), key));
    const auto increment = database.prepare(fmt::format("UPDATE t SET n += 1 WHERE k = {} AND c = 1", key));
    const auto read = database.prepare(fmt::format("SELECT n FROM t WHERE k = {} AND c = 1", key));
    ASSERT_TRUE(increment && read);
    for (int64_t expected : {1, 2}) {
      modify(**increment, {}, environment, [](base::Result<ResultSet> result) { ASSERT_TRUE(result); });
      const auto result = select(**read, {}, environment);
      ASSERT_TRUE(result) << result.error().text();
      ASSERT_EQ(result->rows.count(), 1u) << deletion;
      EXPECT_EQ(BytesView(result->rows.bytes()).substr(4), types::encode_int64(expected)) << deletion;
    }
  }
}

TEST(Modify, ConcurrentIncrementsAreExact) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, n counter)");
  auto prepared = database.prepare("UPDATE t SET n = n + 1 WHERE k = 1");
  ASSERT_TRUE(prepared);
  constexpr int threads = 4, rounds = 500;
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back([&] {
      Environment environment = database.environment();
      for (int round = 0; round < rounds; ++round)
        modify(**prepared, {}, environment, [](base::Result<ResultSet> result) { ASSERT_TRUE(result); });
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(database.counters("t")["n"], threads * rounds);
}

TEST(Modify, AFailedCommitReleasesTheLock) {
  storage::memory::Options options;
  options.fail_commit = [](uint64_t number) { return number == 1; };
  WriteFixture database(std::move(options));
  database.must("CREATE TABLE t (k int PRIMARY KEY, n counter)");
  EXPECT_FALSE(database.run("UPDATE t SET n += 1 WHERE k = 1"));
  database.must("UPDATE t SET n += 1 WHERE k = 1");
  EXPECT_EQ(database.counters("t")["n"], 1);
}

TEST(Modify, CountersOfOneBatchAddUp) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, n counter)");
  database.must(
      "BEGIN COUNTER BATCH UPDATE t SET n += 1 WHERE k = 1 UPDATE t SET n += 2 WHERE k = 1 UPDATE t SET n -= "
      "5 WHERE k = 2 APPLY BATCH");
  database.must(
      "BEGIN COUNTER BATCH UPDATE t SET n += 1 WHERE k = 1 UPDATE t SET n += 2 WHERE k = 1 APPLY BATCH");
  EXPECT_EQ(database.counters("t")["n"], 6 - 5);
}

// Another statement has read and will write back. The data must not be deleted in between.
TEST(Modify, TruncateAndCounterDeletionsWaitForReadersThatWrite) {
  WriteFixture database;
  database.must("CREATE TABLE n (k int, c int, s counter STATIC, n counter, PRIMARY KEY (k, c))");
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int)");
  const Bytes key = types::encode_int32(1);
  for (const std::string text :
       {"TRUNCATE n", "TRUNCATE t", "DELETE FROM n WHERE k = 1", "DELETE FROM n WHERE k = 1 AND c > 0",
        "DELETE FROM n WHERE k IN (1, 2) AND c = 0", "DELETE s FROM n WHERE k = 1",
        "BEGIN COUNTER BATCH DELETE n FROM n WHERE k = 1 AND c = 0 APPLY BATCH"}) {
    const std::string table = text == "TRUNCATE t" ? "t" : "n";
    const Bytes prefix = row::partition_prefix(database.schema->find_table("e", table)->storage_id, key);
    PartitionLocks::Held reader = database.locks.acquire(std::span(&prefix, 1));
    auto done = std::async(std::launch::async, [&] { return database.run(text).has_value(); });
    // In this time, a statement that wrongly does not wait would finish.
    EXPECT_EQ(done.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout) << text;
    reader.release();
    EXPECT_TRUE(done.get()) << text;
  }
}

}  // namespace
}  // namespace sibyl::execute
