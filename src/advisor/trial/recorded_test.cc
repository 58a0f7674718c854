// Tests of trials that follow the statistics of an observed database.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "advisor/trial/session_test.h"

namespace sibyl::advisor {
namespace {

// Two tables: rows are looked up by city, and one group is large and hot.
Observation recorded() {
  Observation out;
  out.source = "127.0.0.1:9042";
  out.definitions = {
      "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}",
      "CREATE TABLE shop.people (id uuid PRIMARY KEY, city text, age int, about text)",
      "CREATE TABLE shop.joins (groupname text, joined timeuuid, username text, PRIMARY KEY (groupname, "
      "joined))",
      "CREATE TABLE shop.never_asked (k int PRIMARY KEY)"};
  ObservedTable people{"shop", "people", 2000, 2000, 2000 * 200.0, {1, 1, 1, 1}, {180, 400, 900, 260}, {}};
  ObservedTable joins{"shop", "joins", 200, 6000, 6000 * 100.0, {15, 300, 1200, 60}, {}, {}};
  people.seconds = joins.seconds = 1000;
  joins.reads = joins.writes = 6000;
  joins.hottest_read = joins.hottest_write = ObservedTable::HotPartition{"'acme'", 0.2};
  out.tables = {people, joins};
  const auto add = [&](const char* text, const char* table, double calls, double partitions, double read,
                       double returned) {
    ObservedShape shape{fmt::format("{:016}", out.shapes.size()), text, "shop", table, calls};
    shape.partitions_read = calls * partitions;
    shape.rows_read = calls * read;
    shape.rows_returned = calls * returned;
    out.shapes.push_back(shape);
  };
  add("SELECT * FROM shop.people WHERE city = ? ALLOW FILTERING", "people", 100, 2000, 2000, 40);
  add("INSERT INTO shop.people (id, city, age) VALUES (?, ?, ?)", "people", 2000, 0, 0, 0);
  add("SELECT * FROM shop.joins WHERE groupname = ?", "joins", 1000, 1, 270, 270);
  add("SELECT * FROM shop.joins WHERE groupname = ? AND joined > ? AND joined < ?", "joins", 500, 1, 20, 20);
  return out;
}

double rows_of(const Trial& trial, const std::string& name, TestConnection& connection) {
  constexpr int times = 30;
  Random random(3);
  for (const Operation& operation : trial.operations) {
    if (operation.name != name) continue;
    connection.rows = 0;
    for (int i = 0; i < times; ++i) {
      const base::Status ran = operation.run(connection, random);
      EXPECT_TRUE(ran) << ran.error().message();
    }
    return static_cast<double>(connection.rows) / times;
  }
  ADD_FAILURE() << trial.name << " has no " << name;
  return 0;
}

TEST(RecordedTrialTest, DataAndRequestsMatchTheRecording) {
  const Observation observation = recorded();
  const auto trials = make_trials({}, {1, 1, &observation});
  ASSERT_TRUE(trials.has_value()) << trials.error().text();
  ASSERT_EQ(trials->size(), 2u);
  const Trial& given = (*trials)[0];
  ASSERT_EQ(given.operations.size(), 4u);
  EXPECT_EQ(given.operations[0].name, "shop.people/by_city");
  EXPECT_DOUBLE_EQ(given.operations[0].weight, 0.1) << "calls over the time that they were counted for";
  TestConnection connection(given);
  load(given, connection);
  std::map<std::optional<base::Bytes>, size_t> cities, groups;
  for (const Cells& row : connection.query("SELECT city FROM shop.people")) ++cities[row[0]];
  EXPECT_EQ(cities.size(), 50u) << "2,000 rows, of which a city's query returns 40";
  for (const Cells& row : connection.query("SELECT groupname FROM shop.joins")) ++groups[row[0]];
  EXPECT_EQ(groups.size(), 200u);
  std::vector<size_t> sizes;
  size_t rows = 0;
  for (const auto& [group, count] : groups) {
    sizes.push_back(count);
    rows += count;
  }
  std::sort(sizes.begin(), sizes.end());
  EXPECT_EQ(sizes.back(), 1200u);
  EXPECT_NEAR(static_cast<double>(sizes[100]), 15, 2);
  EXPECT_NEAR(static_cast<double>(sizes[180]), 60, 8);
  EXPECT_NEAR(static_cast<double>(rows), 6000, 200);
  EXPECT_TRUE(connection.query("SELECT * FROM shop.never_asked").empty());
  EXPECT_NEAR(connection.bytes("shop", "people") / 2000, 200, 20);
  EXPECT_NEAR(connection.bytes("shop", "joins") / 6000, 100, 10);
  EXPECT_NEAR(rows_of(given, "shop.people/by_city", connection), 40, 6);
  EXPECT_NEAR(rows_of(given, "shop.joins/by_groupname", connection), 270, 130);
  EXPECT_NEAR(rows_of(given, "shop.joins/by_groupname_joined", connection), 20, 3);
  const Trial& suggested = (*trials)[1];
  TestConnection better(suggested);
  load(suggested, better);
  EXPECT_NEAR(rows_of(suggested, "shop.people/by_city", better), 40, 6);
  EXPECT_EQ(given.operations[0].work->rows, 2000);
  EXPECT_EQ(suggested.operations[0].work->rows, 40);
}

TEST(RecordedTrialTest, FewerRowsAreScannedAtASmallerScale) {
  const Observation observation = recorded();
  const auto trials = make_trials({}, {0.1, 1, &observation});
  ASSERT_TRUE(trials.has_value()) << trials.error().text();
  const Trial& given = (*trials)[0];
  EXPECT_DOUBLE_EQ(given.operations[0].work->rows, 200);
  EXPECT_DOUBLE_EQ(*given.operations[0].rows, 4);
  EXPECT_DOUBLE_EQ(given.operations[2].work->rows, 270) << "rows per partition do not scale";
  EXPECT_NEAR(given.rows, 800, 150);
}

TEST(RecordedTrialTest, TooFewRecordedCallsAreRejectedWithAHint) {
  Observation observation = recorded();
  observation.shapes.clear();
  auto trials = make_trials({}, {1, 1, &observation});
  ASSERT_FALSE(trials.has_value());
  EXPECT_EQ(trials.error().message(),
            "127.0.0.1:9042 has recorded 0 calls of statements on these tables, which is too few for a "
            "measurement");
  EXPECT_NE(trials.error().hint().find("declare statements in a file"), std::string::npos);
  const auto workload = parse_workload("SELECT * FROM shop.people WHERE id = ?;", "declared.cql");
  ASSERT_TRUE(workload.has_value());
  EXPECT_TRUE(make_trials({*workload}, {1, 1, &observation}));
  observation = recorded();
  for (ObservedTable& table : observation.tables) table.rows = table.partitions = 10;
  trials = make_trials({}, {1, 1, &observation});
  ASSERT_FALSE(trials.has_value());
  EXPECT_NE(trials.error().message().find("hold 20 rows"), std::string::npos) << trials.error().message();
  EXPECT_NE(trials.error().hint().find("@table"), std::string::npos);
}

// Views are filled through their base tables, and read with the values of the base table.
TEST(RecordedTrialTest, ViewsAndStatementsThatCannotRun) {
  Observation observation = recorded();
  observation.definitions.push_back(
      "CREATE MATERIALIZED VIEW shop.by_age AS SELECT * FROM shop.people WHERE age IS NOT NULL AND id IS NOT "
      "NULL PRIMARY KEY (age, id)");
  ObservedShape view{"v", "SELECT * FROM shop.by_age WHERE age = ?", "shop", "by_age", 50};
  view.partitions_read = view.rows_read = view.rows_returned = 50;
  observation.shapes.push_back(view);
  ObservedShape document{"j", "INSERT INTO shop.people JSON ?", "shop", "people", 50};
  observation.shapes.push_back(document);
  const auto trials = make_trials({}, {0.1, 1, &observation});
  ASSERT_TRUE(trials.has_value()) << trials.error().text();
  const Trial& given = (*trials)[0];
  TestConnection connection(given);
  load(given, connection);
  EXPECT_GE(rows_of(given, "shop.by_age/by_age", connection), 1);
  EXPECT_NE(std::find(given.notes.begin(), given.notes.end(), "shop.people/insert_j takes JSON: not run"),
            given.notes.end())
      << fmt::format("{}", fmt::join(given.notes, "\n"));
}

}  // namespace
}  // namespace sibyl::advisor
