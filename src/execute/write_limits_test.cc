#include <gtest/gtest.h>

#include "execute/write/modify_fixture_test.h"
#include "types/value.h"

namespace sibyl::execute {
namespace {

using types::ValueView;

TEST(Modify, LargeBatchesWarnThenFail) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, w text)");
  const auto batch_of = [&](size_t size) {
    return database.run("BEGIN BATCH INSERT INTO t (k, w) VALUES (1, '" + std::string(size, 'x') +
                        "'); INSERT INTO t (k, w) VALUES (2, 'b'); APPLY BATCH");
  };
  auto small = batch_of(100);
  ASSERT_TRUE(small);
  EXPECT_TRUE(small->warnings.empty());
  auto large = batch_of(6000);
  ASSERT_TRUE(large);
  ASSERT_EQ(large->warnings.size(), 1u);
  EXPECT_TRUE(large->warnings[0].starts_with("Batch for [e.t] is of size 6")) << large->warnings[0];
  auto huge = batch_of(60'000);
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().message(), "Batch too large");
  EXPECT_TRUE(database.run("BEGIN BATCH INSERT INTO t (k, w) VALUES (1, '" + std::string(60'000, 'x') +
                           "'); INSERT INTO t (k, w) VALUES (1, 'b'); APPLY BATCH"))
      << "one partition may be any size";
}

std::string list_of(size_t count) {
  std::string list = "(0";
  for (size_t i = 1; i < count; ++i) list += "," + std::to_string(i);
  return list + ")";
}

TEST(Modify, CombinationsOfInAreLimited) {
  WriteFixture database;
  database.must("CREATE TABLE t (a int, c int, d int, v int, PRIMARY KEY (a, c, d))");
  database.must("CREATE TABLE n (a int, c int, n counter, PRIMARY KEY (a, c))");
  // These are 317 * 317 combinations, more than 100,000.
  const std::string many = list_of(317), tens = list_of(10);
  const std::string refusal = "The IN restrictions name more than 100000 combinations of values";
  EXPECT_EQ(database.error_of("UPDATE t SET v = 1 WHERE a IN " + many + " AND c IN " + many + " AND d = 1"),
            refusal);
  EXPECT_EQ(database.error_of("DELETE FROM t WHERE a IN " + many + " AND c IN " + many), refusal);
  EXPECT_EQ(database.error_of("DELETE FROM t WHERE a IN " + many + " AND c IN " + many + " AND d > 1"),
            refusal);
  EXPECT_EQ(database.error_of("UPDATE n SET n += 1 WHERE a IN " + many + " AND c IN " + many), refusal);
  // All statements of a batch count together.
  std::string batch = "BEGIN UNLOGGED BATCH ";
  for (int i = 0; i < 11; ++i) batch += "DELETE FROM t WHERE a = 1 AND c IN " + list_of(10'000) + ";";
  EXPECT_EQ(database.error_of(batch + " APPLY BATCH"), refusal);
  EXPECT_TRUE(database.records("t").empty());
  EXPECT_TRUE(database.records("n").empty());
  database.must("UPDATE t SET v = 1 WHERE a IN " + tens + " AND c IN " + tens + " AND d IN " + tens);
  EXPECT_EQ(database.records("t").size(), 1000u);
}

TEST(Modify, TheSizeOfAWriteIsLimited) {
  WriteFixture database;
  database.must("CREATE TABLE t (a int, b text, c int, v blob, PRIMARY KEY ((a, b), c))");
  const Bytes value(1u << 20, 'x');
  const auto of_value = types::ValueView::of(value);
  const auto update = [](size_t rows) {
    return "UPDATE t SET v = ? WHERE a = 1 AND b = 'it''s' AND c IN " + list_of(rows);
  };
  EXPECT_EQ(database.error_of(update(63), {of_value}), "");
  const std::string refusal = database.error_of(update(65), {of_value});
  EXPECT_TRUE(refusal.starts_with("Rejected an oversized mutation (")) << refusal;
  EXPECT_TRUE(refusal.ends_with("/67108864) for keyspace: e. Top keys are: t.1:'it''s'")) << refusal;
  EXPECT_EQ(database.records("t").size(), 63u);
}

TEST(Modify, OnlyReadsBeforeWritesAndManyRowsMayBlock) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int, l list<int>)");
  database.must("CREATE TABLE n (k int PRIMARY KEY, n counter)");
  const auto blocks = [&](const std::string& text) {
    auto prepared = database.prepare(text);
    EXPECT_TRUE(prepared) << text;
    return prepared && (**prepared).profile.may_block;
  };
  EXPECT_FALSE(blocks("INSERT INTO t (k, v) VALUES (?, ?)"));
  EXPECT_FALSE(blocks("UPDATE t SET l = l + ? WHERE k = ?"));
  EXPECT_TRUE(blocks("UPDATE t SET l = l - ? WHERE k = ?"));
  EXPECT_TRUE(blocks("UPDATE t SET l[?] = ? WHERE k = ?"));
  EXPECT_TRUE(blocks("UPDATE n SET n += ? WHERE k = ?"));
  EXPECT_TRUE(blocks("DELETE FROM n WHERE k = ?"));
  EXPECT_TRUE(blocks("BEGIN COUNTER BATCH UPDATE n SET n += 1 WHERE k = 1; APPLY BATCH"));
  EXPECT_TRUE(blocks("UPDATE t SET v = ? WHERE k IN ?"));
  EXPECT_TRUE(blocks("DELETE FROM t WHERE k IN (?, ?)"));
  EXPECT_TRUE(
      blocks("BEGIN BATCH INSERT INTO t (k, v) VALUES (1, 1); DELETE FROM t WHERE k IN ? APPLY BATCH"));
  const auto batch_of = [](size_t statements) {
    std::string text = "BEGIN BATCH ";
    for (size_t i = 0; i < statements; ++i) text += "INSERT INTO t (k, v) VALUES (1, 1); ";
    return text + "APPLY BATCH";
  };
  EXPECT_FALSE(blocks(batch_of(plan::max_quick_batch_statements)));
  EXPECT_TRUE(blocks(batch_of(plan::max_quick_batch_statements + 1)));
}

}  // namespace
}  // namespace sibyl::execute
