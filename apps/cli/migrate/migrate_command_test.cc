// Runs `sibyl migrate` as a process between two servers.
#include <chrono>
#include <fstream>
#include <thread>

#include "cli/test_process.h"
#include "types/print.h"
#include "types/print_value.h"
#include "types/value.h"

namespace sibyl::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class MigrateCommandTest : public ServeTest {
 protected:
  void SetUp() override {
    ServeTest::SetUp();
    source_server_ = serve(path("source"));
    source_address_ = address();
    source_ = connect();
    target_server_ = serve(path("target"));
    target_ = connect();
  }

  std::vector<std::string> command() const {
    return {"migrate", "--from", source_address_, "--to", address(), "--journal", path("journal")};
  }
  Outcome migrate(const std::vector<std::string>& more = {}) { return sibyl(command(), more); }

  // The rows of a statement as lines of literals.
  static std::string rows(client::Connection& connection, const std::string& query) {
    auto result = connection.query(query);
    if (!result) return result.error().message();
    std::string text;
    for (client::Row row; result->next(row); text += "\n")
      for (size_t i = 0; i < row.size(); ++i)
        text += (row[i] ? types::to_literal(*result->columns[i].type, *row[i]) : "null") + " ";
    return text;
  }
  void expect_same(const std::string& query) {
    const std::string expected = rows(*source_, query);
    EXPECT_THAT(expected, Not(IsEmpty())) << query;
    EXPECT_EQ(rows(*target_, query), expected) << query;
  }

  std::unique_ptr<Process> source_server_, target_server_;
  std::unique_ptr<client::Connection> source_, target_;
  std::string source_address_;
};

constexpr const char* every_type =
    "CREATE TABLE ks.every (k int, c text, a ascii, b blob, bi bigint, bo boolean, d date, de decimal, du "
    "duration, "
    "dd double, f float, i inet, s smallint, st text static, sm map<text, int> static, t time, ti tinyint, "
    "ts "
    "timestamp, tu timeuuid, u uuid, v varint, l list<int>, se set<text>, m map<text, timestamp>, fl "
    "frozen<list<int>>, "
    "tp tuple<int, text>, ud frozen<address>, mu address, ve vector<float, 2>, \"Odd Name\" int, PRIMARY KEY "
    "(k, c)) "
    "WITH CLUSTERING ORDER BY (c DESC) AND comment = 'it''s' AND gc_grace_seconds = 777";

TEST_F(MigrateCommandTest, CopiesEveryTypeWithTimesAndSchema) {
  make_table(*source_);
  run(*source_, "CREATE TYPE ks.address (street text, number int)");
  run(*source_, "CREATE TYPE ks.person (name text, home frozen<address>)");
  run(*source_, every_type);
  run(*source_, "CREATE INDEX by_s ON ks.every (s)");
  run(*source_,
      "CREATE MATERIALIZED VIEW ks.by_bi AS SELECT k, c, bi FROM ks.every WHERE bi IS NOT NULL AND k IS NOT "
      "NULL AND c IS NOT NULL PRIMARY KEY (bi, k, c)");
  run(*source_,
      "CREATE FUNCTION ks.twice (x int) CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS 'return x * 2'");
  run(*source_,
      "INSERT INTO ks.every (k, c, a, b, bi, bo, d, de, du, dd, f, i, s, st, t, ti, ts, tu, u, v, l, se, m, "
      "fl, tp, ud, "
      "ve, \"Odd Name\") VALUES (1, 'it''s', 'x', 0x00ff, 9223372036854775807, true, '2011-02-03', 1.50, "
      "1mo2d3s, 0.1, "
      "3.4028235E38, '::1', -5, 'static', '04:05:06.789', 7, '2011-02-03T04:05:06.789Z', "
      "50554d6e-29bb-11e5-b345-feff819cdc9f, 50554d6e-29bb-41e5-b345-feff819cdc9f, "
      "123456789012345678901234567890, "
      "[3, 1, 2], {'a', 'b, c'}, {'x': '2011-02-03T04:05:06.789Z'}, [1, 1], (1, null), {street: 'Main', "
      "number: 7}, "
      "[1.5, -2], 5) USING TIMESTAMP 1000");
  // The cells of this row have different times.
  run(*source_,
      "UPDATE ks.every USING TIMESTAMP 2000 SET a = 'later', mu = {street: 'Side', number: 1} WHERE k = 1 "
      "AND c = 'it''s'");
  run(*source_,
      "UPDATE ks.every USING TIMESTAMP 3000 SET mu.number = 2, se = se + {'c'}, l = l + [9], m['y'] = "
      "'2012-02-03T04:05:06.789Z' WHERE k = 1 AND c = 'it''s'");
  run(*source_,
      "UPDATE ks.every USING TIMESTAMP 4000 AND TTL 100000 SET b = 0x01, l = l + [10], m['z'] = "
      "'2013-02-03T04:05:06.789Z' WHERE k = 1 AND c = 'it''s'");
  run(*source_, "UPDATE ks.every USING TIMESTAMP 5000 AND TTL 200000 SET sm['one'] = 1 WHERE k = 1");
  run(*source_, "INSERT INTO ks.every (k, c) VALUES (2, 'only the key')");
  run(*source_, "INSERT INTO ks.every (k, st) VALUES (3, 'only static')");
  run(*source_, "INSERT INTO ks.every (k, c, a, b) VALUES (4, '', '', 0x)");

  run(*source_, "CREATE TABLE ks.tags (k int, c int, tags set<text> static, PRIMARY KEY (k, c))");
  run(*source_, "INSERT INTO ks.tags (k, tags) VALUES (1, {'a', 'b'})");

  const auto migrated = migrate({"-k", "ks"});
  ASSERT_EQ(migrated.status, 0) << migrated.errors << migrated.output;
  EXPECT_THAT(migrated.output, HasSubstr("1 rows have only their key"));
  expect_same("SELECT * FROM ks.every");
  for (const char* column :
       {"a", "b", "bi", "de", "l", "se", "m", "fl", "ud", "mu", "ve", "st", "sm", "\"Odd Name\""})
    expect_same(std::string("SELECT k, c, WRITETIME(") + column + ") FROM ks.every");
  expect_same("SELECT * FROM ks.every WHERE s = -5");
  expect_same("SELECT * FROM ks.by_bi");
  expect_same("SELECT * FROM ks.tags");
  expect_same("SELECT ks.twice(k) FROM ks.every");
  for (const char* text : {"DESCRIBE TABLE ks.every", "DESCRIBE TYPE ks.person", "DESCRIBE FUNCTION ks.twice",
                           "DESCRIBE MATERIALIZED VIEW ks.by_bi", "DESCRIBE INDEX ks.by_s"})
    expect_same(text);
  // The times to live of these rows end while the rows are copied.
  for (const char* ttl : {"b", "l", "m", "sm"}) {
    const std::string query = std::string("SELECT TTL(") + ttl + ") FROM ks.every WHERE k = 1";
    EXPECT_EQ(rows(*target_, query).size(), rows(*source_, query).size()) << rows(*target_, query);
    EXPECT_THAT(rows(*target_, query), testing::ContainsRegex("(99[0-9]{3}|100000|199[0-9]{3}|200000)"));
  }

  const auto verified = migrate({"-k", "ks", "--verify"});
  EXPECT_EQ(verified.status, 0) << verified.errors << verified.output;
  EXPECT_THAT(verified.output, HasSubstr("No differences"));
}

TEST_F(MigrateCommandTest, CountersAreCopiedOnceHoweverOften) {
  make_table(*source_);
  run(*source_,
      "CREATE TABLE ks.n (k int, c int, x counter, y counter, s counter static, PRIMARY KEY (k, c))");
  for (int i = 0; i < 20; ++i)
    run(*source_, "UPDATE ks.n SET x = x + " + std::to_string(i) +
                      ", y = y - 1, s = s + 2 WHERE k = 1 AND c = " + std::to_string(i % 5));
  run(*source_, "UPDATE ks.n SET x = x + 0 WHERE k = 2 AND c = 1");
  for (const char* restart : {"--quiet", "--restart", "--restart"}) {
    const auto migrated = migrate({restart});
    ASSERT_EQ(migrated.status, 0) << migrated.errors;
    expect_same("SELECT * FROM ks.n");
  }
  EXPECT_EQ(migrate({"--verify"}).status, 0);
}

// Lists have no key for their elements, so writing one twice would double it.
TEST_F(MigrateCommandTest, ListsAreNotDoubledByASecondRun) {
  make_table(*source_);
  run(*source_, "CREATE TABLE ks.l (k int PRIMARY KEY, l list<text>, sl list<frozen<list<int>>>)");
  run(*source_, "INSERT INTO ks.l (k, l, sl) VALUES (1, ['a', 'b', 'a'], [[1], []])");
  run(*source_, "UPDATE ks.l SET l = ['z'] + l WHERE k = 1");
  for (const char* restart : {"--quiet", "--restart"}) {
    ASSERT_EQ(migrate({restart}).status, 0);
    expect_same("SELECT * FROM ks.l");
  }
  // If a client changes a list on the source meanwhile, the changed list replaces the list on the target.
  run(*source_, "UPDATE ks.l SET l = l - ['a'] WHERE k = 1");
  const auto again = migrate({"--restart"});
  ASSERT_EQ(again.status, 0) << again.errors;
  EXPECT_THAT(again.output, HasSubstr("1 lists differed"));
  expect_same("SELECT * FROM ks.l");
}

TEST_F(MigrateCommandTest, VerifyFindsPlantedDifferences) {
  make_table(*source_);
  for (int i = 0; i < 100; ++i)
    run(*source_,
        "INSERT INTO ks.t (k, c, v) VALUES (" + std::to_string(i) + ", 1, 'v') USING TIMESTAMP 1000");
  ASSERT_EQ(migrate().status, 0);
  ASSERT_EQ(migrate({"--verify"}).status, 0);
  run(*target_, "INSERT INTO ks.t (k, c, v) VALUES (7, 1, 'other') USING TIMESTAMP 2000");
  run(*target_, "INSERT INTO ks.t (k, c, v) VALUES (8, 1, 'v') USING TIMESTAMP 2000");
  run(*target_, "DELETE FROM ks.t WHERE k = 9");
  run(*target_, "INSERT INTO ks.t (k, c, v) VALUES (1000, 1, 'v')");
  const auto verified = migrate({"--verify"});
  EXPECT_EQ(verified.status, 1);
  EXPECT_THAT(verified.output, HasSubstr("4 rows differ"));
  EXPECT_THAT(verified.output, HasSubstr("ks.t k = 7 AND c = 1: different values of v"));
  EXPECT_THAT(verified.output, HasSubstr("ks.t k = 8 AND c = 1: different write times or expiry of v"));
  EXPECT_THAT(verified.output, HasSubstr("ks.t k = 9 AND c = 1: missing on the target"));
  EXPECT_THAT(verified.output, HasSubstr("ks.t k = 1000 AND c = 1: only on the target"));
}

TEST_F(MigrateCommandTest, AnInterruptedRunResumesWhereItStopped) {
  make_table(*source_);
  constexpr int row_count = 30'000;
  auto insert = source_->prepare("INSERT INTO ks.t (k, c, v) VALUES (?, ?, 'value')");
  ASSERT_TRUE(insert);
  std::vector<client::Connection::Ticket> tickets;
  for (int i = 0; i < row_count; ++i) {
    const auto k = types::encode_int32(i % 1000), c = types::encode_int32(i);
    const types::ValueView values[] = {types::ValueView::of(k), types::ValueView::of(c)};
    const auto ticket = source_->start_execute(*insert, values);
    ASSERT_TRUE(ticket);
    tickets.push_back(*ticket);
    if (tickets.size() < 500) continue;
    for (const auto& one : tickets) ASSERT_TRUE(source_->finish(one));
    tickets.clear();
  }
  ASSERT_THAT(tickets, IsEmpty());
  const std::vector<std::string> slowly = {"--jobs", "1", "--window", "1", "--page-size", "50", "--quiet"};
  {
    std::vector<std::string> arguments = command();
    arguments.insert(arguments.end(), slowly.begin(), slowly.end());
    Process process(arguments);
    // Waits until the journal lists copied rows.
    while (contents(path("journal")).find("rows-ks.t ") == std::string::npos ||
           contents(path("journal")).find("rows-ks.t 0\n") != std::string::npos)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    process.signal(SIGKILL);
    EXPECT_EQ(process.wait(), -SIGKILL);
  }
  const std::string journal = contents(path("journal"));
  const size_t at = journal.find("rows-ks.t ");
  ASSERT_NE(at, std::string::npos);
  const int before = std::stoi(journal.substr(at + 10));
  EXPECT_GT(before, 0);
  EXPECT_LT(before, row_count);
  const auto resumed = migrate({"--page-size", "50"});
  ASSERT_EQ(resumed.status, 0) << resumed.errors;
  EXPECT_THAT(resumed.errors, HasSubstr("copied " + std::to_string(row_count - before) + " rows"));
  EXPECT_EQ(count(*target_, "ks.t"), row_count);
  EXPECT_EQ(migrate({"--verify"}).status, 0);
  // Nothing is left to copy.
  EXPECT_THAT(migrate().errors, HasSubstr("copied 0 rows"));
}

// After Ctrl-C, rows in flight are completed and recorded, so that no row is written twice.
TEST_F(MigrateCommandTest, AnInterruptedRunWritesNoRowTwice) {
  make_table(*source_);
  constexpr int row_count = 20'000;
  for (int i = 0; i < row_count; i += 100) {
    std::string batch = "BEGIN UNLOGGED BATCH ";
    for (int j = i; j < i + 100; ++j)
      batch += "INSERT INTO ks.t (k, c, v) VALUES (" + std::to_string(j % 50) + ", " + std::to_string(j) +
               ", 'v'); ";
    run(*source_, batch + "APPLY BATCH");
  }
  std::vector<std::string> arguments = command();
  for (const char* argument : {"--jobs", "4", "--page-size", "20", "--window", "8", "--quiet"})
    arguments.emplace_back(argument);
  Process process(arguments);
  while (!target_->query("SELECT k FROM ks.t LIMIT 1") || count(*target_, "ks.t") < 1)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  target_server_->signal(SIGSTOP);  // this ensures that not all rows are copied before the signal arrives
  process.signal(SIGINT);
  target_server_->signal(SIGCONT);
  EXPECT_EQ(process.wait(), 3);
  const auto before = count(*target_, "ks.t");
  EXPECT_LT(before, row_count);
  const auto resumed = migrate();
  EXPECT_EQ(resumed.status, 0) << resumed.errors;
  EXPECT_THAT(resumed.errors, HasSubstr("copied " + std::to_string(row_count - before) + " rows"));
  EXPECT_EQ(count(*target_, "ks.t"), row_count);
}

TEST_F(MigrateCommandTest, TargetsThatRestartAreWaitedFor) {
  make_table(*source_);
  for (int i = 0; i < 300; ++i)
    run(*source_, "INSERT INTO ks.t (k, c, v) VALUES (" + std::to_string(i) + ", 1, 'v')");
  std::vector<std::string> arguments = command();
  for (const char* more : {"--window", "1", "--jobs", "1", "--quiet"}) arguments.push_back(more);
  Process process(arguments);
  while (count(*target_, "ks.t") < 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  target_server_->signal(SIGKILL);
  target_server_->wait();
  target_server_ = std::make_unique<Process>(
      std::vector<std::string>{"serve", "--data", path("target"), "--listen", address()});
  target_server_->read_line();
  EXPECT_EQ(process.wait(), 0) << process.rest_of_errors();
  target_ = connect();
  EXPECT_EQ(count(*target_, "ks.t"), 300);
}

TEST_F(MigrateCommandTest, RefusesWhatCannotWork) {
  make_table(*source_);
  EXPECT_EQ(migrate({"-k", "nowhere"}).status, 2);
  EXPECT_THAT(migrate({"-k", "nowhere"}).errors, HasSubstr("The source has no keyspace 'nowhere'"));
  EXPECT_EQ(migrate({"-t", "ks.nothing"}).status, 2);
  EXPECT_EQ(migrate({"--consistency", "MOST"}).status, 2);
  EXPECT_THAT(sibyl({"migrate", "--from", address(), "--to", address()}).errors,
              HasSubstr("the same server"));
  run(*target_, "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  run(*target_, "CREATE TABLE ks.t (k int, c int, v int, PRIMARY KEY (k, c))");
  const auto refused = migrate();
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.errors, HasSubstr("The target has a table ks.t with other columns (v)"));
}

TEST_F(MigrateCommandTest, ReportsRowsThatTheTargetRefuses) {
  make_table(*source_);
  run(*source_, "INSERT INTO ks.t (k, c, v) VALUES (1, 1, 'small')");
  run(*source_, "INSERT INTO ks.t (k, c, v) VALUES (2, 1, '" + std::string(2'000'000, 'x') + "')");
  target_server_->signal(SIGTERM);
  target_server_->wait();
  target_server_ = serve(path("target"), {"--set", "column_value_size_fail_threshold=1MiB"});
  target_ = connect();
  const auto migrated = migrate();
  EXPECT_EQ(migrated.status, 1) << migrated.errors;
  EXPECT_THAT(migrated.output, HasSubstr("row ks.t k = 2 AND c = 1"));
  EXPECT_THAT(migrated.errors, HasSubstr("copied 2 rows"));
  EXPECT_EQ(rows(*target_, "SELECT * FROM ks.t"), "1 1 'small' \n");
}

}  // namespace
}  // namespace sibyl::cli
