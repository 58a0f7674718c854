// Fixes whose data must be consistent across tables: joined tables, and queues with tombstones.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "advisor/review/test_review.h"
#include "advisor/trial/session_test.h"
#include "advisor/trial/trial.h"

namespace sibyl::advisor {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::vector<Trial> fix_trials_of(const std::string& text, double scale = 1) {
  auto trials = make_trials({workload_of(text)}, {scale, 1});
  EXPECT_TRUE(trials.has_value()) << trials.error().text();
  return trials ? std::move(*trials) : std::vector<Trial>();
}

const Operation& operation(const Trial& trial, const std::string& name) {
  for (const Operation& one : trial.operations)
    if (one.name == name) return one;
  throw std::runtime_error(trial.name + " has no " + name);
}

void run(const Trial& trial, const std::string& name, TestConnection& connection, size_t times) {
  Random random(5);
  connection.reset();
  for (size_t i = 0; i < times; ++i) {
    const base::Status ran = operation(trial, name).run(connection, random);
    ASSERT_TRUE(ran) << trial.name << " / " << name << ": " << ran.error().message();
  }
}

std::multiset<Cells> rows(TestConnection& connection, const std::string& query) {
  std::multiset<Cells> out;
  for (Cells& row : connection.query(query)) out.insert(std::move(row));
  return out;
}

// The groups example of the data modelling guide: "If a group has 1000 users, we need to read 1001
// partitions".
constexpr const char* groups = R"(
CREATE TABLE users (id uuid PRIMARY KEY, username text, age int);
CREATE TABLE groups (groupname text, user_id uuid, since int, PRIMARY KEY (groupname, user_id));
-- @table users rows=1M
-- @table groups rows=5M partitions=5000
-- @group members
-- @query ids rate=10/s
SELECT user_id FROM groups WHERE groupname = ?;
-- @query user times=1000
SELECT * FROM users WHERE id = ?;
-- @end
)";

TEST(JoinedTrialTest, JoinReadsOnePartitionInsteadOf1001) {
  const std::vector<Trial> trials = fix_trials_of(groups, 0.002);
  ASSERT_EQ(trials.size(), 2u) << trials[0].notes.front();
  const Review review = review_of(groups);
  const double predicted = *review.groups.at(0).partitions;
  EXPECT_EQ(predicted, 1001);
  constexpr size_t times = 5;
  TestConnection given(trials[0]), suggested(trials[1]);
  load(trials[0], given);
  load(trials[1], suggested);
  run(trials[0], "members", given, times);
  EXPECT_NEAR(static_cast<double>(given.partitions_read) / times, predicted, 0.05 * predicted);
  EXPECT_EQ(given.requests, given.partitions_read);
  EXPECT_EQ(given.rows, 2 * (given.requests - times)) << "each id found leads to a user";
  EXPECT_NEAR(*operation(trials[0], "members").requests, predicted, 1e-9);
  EXPECT_NEAR(operation(trials[0], "members").work->partitions, predicted, 0.01 * predicted);
  run(trials[1], "members", suggested, times);
  EXPECT_EQ(suggested.requests, times);
  EXPECT_EQ(suggested.partitions_read, times);
  EXPECT_NEAR(static_cast<double>(suggested.rows) / times, 1000, 50);
  const auto cost = [&](size_t trial) { return operation(trials[trial], "members").work->cost({}); };
  EXPECT_GT(cost(0), 10 * cost(1));
  EXPECT_EQ(operation(trials[0], "members").weight, 10);
  EXPECT_TRUE(suggested.query("SELECT * FROM groups").empty()) << "nothing else reads it: it can be dropped";
}

// Joins rows of members and users in the test itself.
std::multiset<Cells> members_of(TestConnection& connection) {
  std::map<std::optional<base::Bytes>, Cells> users;
  for (const Cells& user : connection.query("SELECT id, username, age FROM users"))
    users[user[0]] = {user[1], user[2]};
  std::multiset<Cells> out;
  for (Cells row : connection.query("SELECT groupname, user_id, since FROM groups")) {
    const auto user = users.find(row[1]);
    if (user == users.end()) continue;
    row.insert(row.end(), user->second.begin(), user->second.end());
    out.insert(row);
  }
  return out;
}

constexpr const char* joined_rows = "SELECT groupname, user_id, since, username, age FROM groups_with_users";

TEST(JoinedTrialTest, JoinedRowsMatchTheReads) {
  const std::vector<Trial> trials = fix_trials_of(groups, 0.0005);
  ASSERT_EQ(trials.size(), 2u);
  TestConnection given(trials[0]), suggested(trials[1]);
  load(trials[0], given);
  load(trials[1], suggested);
  const std::multiset<Cells> wanted = members_of(given);
  EXPECT_GT(wanted.size(), 2000u);
  EXPECT_EQ(rows(suggested, joined_rows), wanted);
}

TEST(JoinedTrialTest, MaintenanceUpdatesEveryCopy) {
  const std::vector<Trial> trials = fix_trials_of(std::string(groups) + R"(
-- @query is_member rate=1/s
SELECT * FROM groups WHERE groupname = ? AND user_id = ?;
-- @write enter rate=1/s
INSERT INTO groups (groupname, user_id, since) VALUES (?, ?, ?);
-- @write leave rate=1/s
DELETE FROM groups WHERE groupname = ? AND user_id = ?;
-- @write rename rate=1/s
UPDATE users SET username = ? WHERE id = ?;
-- @write end rate=1/s
DELETE FROM users WHERE id = ?;
-- @write begin rate=1/s
INSERT INTO users (id, username, age) VALUES (?, ?, ?);
)",
                                                  0.001);
  ASSERT_EQ(trials.size(), 2u);
  TestConnection suggested(trials[1]);
  load(trials[1], suggested);
  const size_t before = suggested.query(joined_rows).size();
  run(trials[1], "enter", suggested, 30);
  EXPECT_EQ(suggested.requests, 90u) << "the member, the user, and both together";
  EXPECT_EQ(suggested.query(joined_rows).size(), before + 30);
  EXPECT_EQ(rows(suggested, joined_rows), members_of(suggested));
  run(trials[1], "rename", suggested, 30);
  EXPECT_NEAR(static_cast<double>(suggested.requests) / 30, 1 + 5, 1) << "5M members are 1M users";
  EXPECT_NEAR(operation(trials[1], "rename").work->inserts, 6, 0.1);
  run(trials[1], "begin", suggested, 5);
  EXPECT_EQ(suggested.requests, 5u) << "the new user has no group yet";
  EXPECT_EQ(rows(suggested, joined_rows), members_of(suggested));
  run(trials[1], "leave", suggested, 30);
  EXPECT_EQ(suggested.requests, 60u);
  EXPECT_EQ(rows(suggested, joined_rows), members_of(suggested));
  TestConnection other(trials[1]);
  load(trials[1], other);
  run(trials[1], "end", other, 5);
  EXPECT_EQ(rows(other, joined_rows), members_of(other));
  EXPECT_LT(other.query(joined_rows).size(), before);
  EXPECT_THAT(trials[1].notes, Contains(HasSubstr("rename: the application is assumed to know where the 5")));
}

// Several tables, one of which has several rows for each row that leads to it.
TEST(JoinedTrialTest, AChainOfThree) {
  const std::vector<Trial> trials = fix_trials_of(R"(
CREATE TABLE orders (order_id uuid PRIMARY KEY, customer uuid, status text);
CREATE TABLE customers (customer uuid PRIMARY KEY, name text, country int);
CREATE TABLE order_lines (order_id uuid, line int, sku text, PRIMARY KEY (order_id, line));
CREATE TABLE countries (country int PRIMARY KEY, name text);
-- @table orders rows=500
-- @table customers rows=100
-- @table order_lines rows=2500 partitions=500
-- @table countries rows=10
-- @group order_page
-- @query head rate=100/s
SELECT * FROM orders WHERE order_id = ?;
-- @query customer
SELECT * FROM customers WHERE customer = ?;
-- @query lines
SELECT * FROM order_lines WHERE order_id = ?;
-- @query country
SELECT * FROM countries WHERE country = ?;
)");
  ASSERT_EQ(trials.size(), 2u) << fmt::format("{}", fmt::join(trials[0].notes, "\n"));
  TestConnection given(trials[0]), suggested(trials[1]);
  load(trials[0], given);
  load(trials[1], suggested);
  run(trials[0], "order_page", given, 100);
  EXPECT_EQ(given.requests, 400u);
  const size_t lines = given.rows - 300;
  EXPECT_NEAR(static_cast<double>(lines), 500, 100);
  run(trials[1], "order_page", suggested, 100);
  EXPECT_EQ(suggested.requests, 100u);
  EXPECT_NEAR(static_cast<double>(suggested.rows), static_cast<double>(lines), 100);
  std::string name;
  for (const Trial::Text& text : trials[1].definitions)
    if (text.text.find("_with_") != std::string::npos) name = text.text.substr(13, text.text.find(" (") - 13);
  EXPECT_EQ(suggested.query("SELECT * FROM " + name).size(), 2500u);
}

// Writes to tables that have several rows per source row.
TEST(JoinedTrialTest, MaintenanceOfSeveralRows) {
  const std::vector<Trial> trials = fix_trials_of(R"(
CREATE TABLE subs (user text, channel uuid, since timestamp, PRIMARY KEY (user, channel));
CREATE TABLE messages (channel uuid, sent timeuuid, body text, PRIMARY KEY (channel, sent));
-- @table subs rows=200 partitions=20
-- @table messages rows=500 partitions=100
-- @group feed
-- @query channels rate=10/s
SELECT * FROM subs WHERE user = ?;
-- @query posts times=10
SELECT * FROM messages WHERE channel = ?;
-- @end
-- @query one rate=1/s
SELECT * FROM subs WHERE user = ? AND channel = ?;
-- @write sub rate=1/s
INSERT INTO subs (user, channel, since) VALUES (?, ?, ?);
-- @write post rate=1/s
INSERT INTO messages (channel, sent, body) VALUES (?, ?, ?);
-- @write edit rate=1/s
UPDATE messages SET body = ? WHERE channel = ? AND sent = ?;
-- @write close rate=1/s
DELETE FROM messages WHERE channel = ?;
)");
  ASSERT_EQ(trials.size(), 2u) << fmt::format("{}", fmt::join(trials[0].notes, "\n"));
  TestConnection connection(trials[1]);
  load(trials[1], connection);
  const auto check = [&](const char* name, size_t times, double more) {
    run(trials[1], name, connection, times);
    const Work& work = *operation(trials[1], name).work;
    EXPECT_NEAR(work.requests + work.inserts + work.removes, 1 + more, 0.1) << name;
    EXPECT_NEAR(static_cast<double>(connection.requests) / static_cast<double>(times), 1 + more, 0.4 * more)
        << name;
  };
  check("sub", 10, 1 + 5);  // each execution looks up the messages of its channel
  check("edit", 30, 2);     // updates the copies in the feeds of two users
  const size_t before = connection.query("SELECT * FROM subs_with_messages").size();
  check("post", 20, 2);
  EXPECT_NEAR(static_cast<double>(connection.query("SELECT * FROM subs_with_messages").size() - before), 40,
              15);
  check("close", 60, 2 * 5);
}

// There are two look-ups. In the first, each row leads to a different row. The second reads all rows at once
// with IN.
TEST(JoinedTrialTest, LookUpsAndLists) {
  const std::vector<Trial> three = fix_trials_of(std::string(users_in_three_tables) + R"(
-- @table users rows=300
-- @table users_by_username rows=300
-- @table users_by_email rows=300
-- @group by_email
-- @query email
SELECT id FROM users_by_email WHERE email = ?;
-- @query user_of_email
SELECT * FROM users WHERE id = ?;
)");
  ASSERT_EQ(three.size(), 2u);
  for (const char* group : {"by_name", "by_email"}) {
    std::vector<size_t> requests;
    for (const Trial& trial : three) {
      TestConnection connection(trial);
      load(trial, connection);
      run(trial, group, connection, 10);
      requests.push_back(connection.requests);
    }
    EXPECT_EQ(requests, (std::vector<size_t>{20, 10})) << group;
  }
  const std::vector<Trial> lists = fix_trials_of(R"(
CREATE TABLE members (groupname text, user_id uuid, PRIMARY KEY (groupname, user_id));
CREATE TABLE users (id uuid PRIMARY KEY, username text);
-- @table members rows=1000 partitions=50
-- @table users rows=300
-- @group all
-- @query ids
SELECT user_id FROM members WHERE groupname = ?;
-- @query users partitions=20
SELECT * FROM users WHERE id IN ?;
)");
  ASSERT_EQ(lists.size(), 2u) << fmt::format("{}", fmt::join(lists[0].notes, "\n"));
  TestConnection given(lists[0]);
  load(lists[0], given);
  run(lists[0], "all", given, 20);
  EXPECT_EQ(given.requests, 40u);
  EXPECT_EQ(given.partitions_read, 20 + given.rows / 2) << "every listed id is the id of a user";
}

TEST(JoinedTrialTest, ReportsFixesThatAreNotRun) {
  const auto notes = [](const std::string& text) {
    const std::vector<Trial> trials = fix_trials_of(text, 0.1);
    EXPECT_EQ(trials.size(), 1u);
    return trials[0].notes;
  };
  EXPECT_THAT(notes(R"(
CREATE TABLE orders (id uuid PRIMARY KEY, status text);
CREATE TABLE order_lines (order_id uuid, line int, sku text, PRIMARY KEY (order_id, line));
-- @table orders rows=1000
-- @table order_lines rows=5000 partitions=1000
-- @group page
-- @query head
SELECT * FROM orders WHERE id = ?;
-- @query lines
SELECT * FROM order_lines WHERE order_id = ?;
)"),
              Contains(HasSubstr("MULTI_PARTITION orders/page: its fix is not run: the column that leads to "
                                 "order_lines is unknown")));
  EXPECT_THAT(notes(R"(
CREATE TABLE subscriptions (user text, channel uuid, PRIMARY KEY (user, channel));
CREATE TABLE messages (channel uuid, sent timeuuid, body text, PRIMARY KEY (channel, sent));
-- @table subscriptions rows=2000 partitions=100
-- @table messages rows=20k partitions=2000
-- @group unread
-- @query channels
SELECT channel FROM subscriptions WHERE user = ?;
-- @query head times=20
SELECT * FROM messages WHERE channel = ? LIMIT 1;
)"),
              Contains(HasSubstr("it stores only the first row of each partition of messages")));
  EXPECT_THAT(notes(R"(
CREATE TABLE subscriptions (user text, channel uuid, PRIMARY KEY (user, channel));
CREATE TABLE messages (channel uuid, sent timeuuid, body text, PRIMARY KEY (channel, sent));
-- @table subscriptions rows=100k partitions=10k
-- @table messages rows=5M partitions=5000
-- @target partition=10GB
-- @group unread
-- @query channels
SELECT channel FROM subscriptions WHERE user = ?;
-- @query messages times=10
SELECT * FROM messages WHERE channel = ?;
)"),
              Contains(HasSubstr("it would have 10M rows at this scale; use a smaller --scale")));
  EXPECT_THAT(
      notes(R"(
CREATE TABLE hits (page text PRIMARY KEY, last timestamp);
-- @table hits rows=100 skew=zipf(1.2)
-- @write hit rate=50000/s
UPDATE hits SET last = ? WHERE page = ?;
)"),
      Contains("HOT_PARTITION hits: its fix is not run: it is advice for the application and has no CQL"));
  EXPECT_THAT(notes(R"(
CREATE TABLE people (id uuid PRIMARY KEY, city text);
-- @table people rows=10k
-- @query all rate=1/s
SELECT * FROM people;
)"),
              Contains("FULL_SCAN people/all: its fix is not run: it changes the statement, not the tables"));
}

constexpr const char* jobs = R"(
CREATE TABLE jobs (queue text, at {}, job text, PRIMARY KEY (queue, at)) WITH gc_grace_seconds = 250;
-- @table jobs rows=1000 partitions=10
-- @query take rate=20/s
SELECT queue, at, job FROM jobs WHERE queue = ? LIMIT 1;
-- @write put rate=20/s
INSERT INTO jobs (queue, at, job) VALUES (?, ?, ?);
-- @write done rate=20/s
DELETE FROM jobs WHERE queue = ? AND at = ?;
)";

TEST(QueueTrialTest, TombstonesAreSkippedByARememberedPosition) {
  for (const char* type : {"timeuuid", "bigint"}) {
    const std::string text = fmt::format(fmt::runtime(jobs), type);
    const Review review = review_of(text);
    const Finding* finding = find(review, Verdict::tombstone_scan);
    ASSERT_NE(finding, nullptr);
    EXPECT_THAT(finding->evidence.back().text, HasSubstr("500 tombstones per read: 20/s deletes, kept"));
    const std::vector<Trial> trials = fix_trials_of(text);
    ASSERT_EQ(trials.size(), 2u) << fmt::format("{}", fmt::join(trials[0].notes, "\n"));
    std::vector<std::set<Cells>> taken;
    constexpr size_t times = 80;
    for (const Trial& trial : trials) {
      TestConnection connection(trial);
      load(trial, connection);
      EXPECT_EQ(connection.query("SELECT * FROM jobs").size(), 1000u);
      const bool given = &trial == &trials[0];
      for (int round = 0; round < 2; ++round) {  // the writes in between must not change the result
        run(trial, "take", connection, times);
        EXPECT_EQ(connection.rows, times) << trial.name;
        const double met = static_cast<double>(connection.tombstones_read) / times;
        if (given) {
          EXPECT_NEAR(met, 500, 50) << "as the report predicts";
          EXPECT_NEAR(met, operation(trial, "take").work->tombstones, 50);
          EXPECT_EQ(connection.requests, times);
        } else {
          EXPECT_EQ(met, 0);
          EXPECT_LE(connection.partitions_read, 1.2 * times) << "two only after the hour changes";
          EXPECT_NEAR(operation(trial, "take").work->partitions, 1, 0.2);
        }
        taken.emplace_back(connection.answers.begin(), connection.answers.end());
        run(trial, "done", connection, 100);
        run(trial, "put", connection, 100);
      }
    }
    EXPECT_EQ(taken[0].size(), 10u) << "the first of each queue";
    for (const std::set<Cells>& other : taken) EXPECT_EQ(other, taken[0]);
    const auto cost = [&](size_t trial) { return operation(trials[trial], "take").work->cost({}); };
    EXPECT_GT(cost(0), 1.1 * cost(1));
  }
}

TEST(QueueTrialTest, NoMoreTombstonesThanCanBeLoaded) {
  const std::vector<Trial> trials = fix_trials_of(R"(
CREATE TABLE repair_jobs (workshop text, at timeuuid, bicycle uuid, PRIMARY KEY (workshop, at));
-- @table repair_jobs rows=500 partitions=10
-- @query next rate=2/s
SELECT * FROM repair_jobs WHERE workshop = ? LIMIT 1;
-- @write done rate=2/s
DELETE FROM repair_jobs WHERE workshop = ? AND at = ?;
)");
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_THAT(trials[0].notes,
              Contains(HasSubstr("repair_jobs: 10,000 tombstones per partition instead of 173k")));
  EXPECT_NEAR(operation(trials[0], "next").work->tombstones, 10'000, 1'000);
  EXPECT_NEAR(static_cast<double>(trials[0].tombstones), 100'000, 10);
}

// The queue gets as many tombstones as reads scanned in the observed database.
TEST(QueueTrialTest, TombstonesAsRecorded) {
  Observation observation;
  observation.source = "127.0.0.1:9042";
  observation.definitions = {
      "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}",
      "CREATE TABLE shop.jobs (queue text, at timeuuid, job text, PRIMARY KEY (queue, at))"};
  ObservedTable table{"shop", "jobs", 5, 500, 500 * 100.0, {100, 110, 110, 105}, {}, {300, 5000, 20'000}};
  table.seconds = 1000;
  observation.tables = {table};
  ObservedShape take{"1", "SELECT * FROM shop.jobs WHERE queue = ? LIMIT ?", "shop", "jobs", 1000};
  take.partitions_read = take.rows_read = take.rows_returned = 1000;
  take.tombstones_read = 400 * take.calls;
  ObservedShape done{"2", "DELETE FROM shop.jobs WHERE queue = ? AND at = ?", "shop", "jobs", 1000};
  observation.shapes = {take, done};
  const auto trials = make_trials({}, {1, 1, &observation});
  ASSERT_TRUE(trials.has_value()) << trials.error().text();
  ASSERT_EQ(trials->size(), 2u) << fmt::format("{}", fmt::join((*trials)[0].notes, "\n"));
  for (const Trial& trial : *trials) {
    TestConnection connection(trial);
    load(trial, connection);
    run(trial, "shop.jobs/by_queue", connection, 50);
    EXPECT_EQ(connection.rows, 50u);
    EXPECT_NEAR(static_cast<double>(connection.tombstones_read) / 50, trial.name == "given" ? 400 : 0, 40);
  }
}

TEST(QueueTrialTest, ReportsFixesThatAreNotRun) {
  const auto notes = [](const char* key, const char* order) {
    const std::vector<Trial> trials = fix_trials_of(fmt::format(R"(
CREATE TABLE jobs (queue text, state int, at timestamp, id uuid, PRIMARY KEY (queue, {}));
-- @table jobs rows=1000 partitions=10
-- @query take rate=20/s
SELECT * FROM jobs WHERE queue = ?{} LIMIT 1;
-- @write done rate=20/s
DELETE FROM jobs WHERE queue = ? AND state = ? AND at = ? AND id = ?;
)",
                                                                key, order));
    EXPECT_EQ(trials.size(), 1u);
    return trials[0].notes;
  };
  EXPECT_THAT(notes("state, at, id", " AND state = ?"),
              Contains(HasSubstr("rows are taken in the order of at, but state precedes it in the key")));
  EXPECT_THAT(notes("at, state, id", " ORDER BY at DESC"), Contains(HasSubstr("the newest are taken first")));
  EXPECT_THAT(notes("id, state, at", ""),
              Contains(HasSubstr("synthetic values of id do not grow with time")));
}

}  // namespace
}  // namespace sibyl::advisor
