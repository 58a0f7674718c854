// Runs `sibyl advise --live` on a server with a deliberately bad model and some load, and checks the review.
#include <fmt/format.h>

#include "cli/test_json.h"

namespace sibyl::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace json = boost::json;

class AdviseLiveTest : public ServeTest {
 protected:
  static void make_pairs(client::Connection& connection) {
    run(connection,
        "CREATE KEYSPACE quiet WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    run(connection, "CREATE TABLE quiet.pairs (k int PRIMARY KEY, v int)");
  }
  // One group takes most joins, users are looked up by city, and a second keyspace has no problems.
  static void work(client::Connection& connection) {
    run(connection,
        "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    make_pairs(connection);
    run(connection, "CREATE TABLE shop.people (id int PRIMARY KEY, city text, age int)");
    run(connection,
        "CREATE TABLE shop.joins (groupname text, joined timeuuid, username text, "
        "PRIMARY KEY (groupname, joined))");
    for (int i = 0; i < people; ++i)
      run(connection, fmt::format("INSERT INTO shop.people (id, city, age) VALUES ({}, 'city {}', {})", i,
                                  i % 10, i % 90));
    for (int i = 0; i < joins; ++i)
      run(connection,
          fmt::format("INSERT INTO shop.joins (groupname, joined, username) VALUES ('{}', now(), 'u{}')",
                      i % 5 < 4 ? "acme" : fmt::format("group {}", i), i));
    for (int i = 0; i < scans; ++i)
      run(connection,
          fmt::format("SELECT * FROM shop.people WHERE city = 'city {}' ALLOW FILTERING", i % 10));
    for (int i = 0; i < 20; ++i) {
      run(connection, fmt::format("SELECT * FROM shop.joins WHERE groupname = 'acme' LIMIT {}", i + 1));
      run(connection, fmt::format("SELECT * FROM quiet.pairs WHERE k = {}", i));
      run(connection, fmt::format("SELECT * FROM shop.people WHERE id IN ({}, {})", i, i + 1));
    }
  }

  static const json::value* find(const json::value& review, const std::string& id) {
    for (const json::value& finding : review.at("findings").as_array())
      if (finding.at("id").as_string() == id) return &finding;
    return nullptr;
  }
  static const json::value* find_named(const json::value& review, const char* list, const std::string& name) {
    for (const json::value& one : review.at(list).as_array())
      if (one.at("name").as_string() == name) return &one;
    return nullptr;
  }
  static std::string measured(const json::value& finding) {
    std::string out;
    for (const json::value& evidence : finding.at("evidence").as_array())
      if (evidence.at("origin").as_string() == "measured")
        out += std::string(evidence.at("text").as_string()) + "\n";
    return out;
  }

  // The review is the same for a server and for its data directory.
  void expect_bad_model(const json::value& review) const {
    EXPECT_EQ(review.at("internal_errors").as_array().size(), 0u) << json::serialize(review);
    const json::value* scan = find(review, "FULL_SCAN shop.people/by_city");
    ASSERT_NE(scan, nullptr) << json::serialize(review.at("findings"));
    EXPECT_THAT(measured(*scan), HasSubstr("SELECT * FROM shop.people WHERE city = ? ALLOW FILTERING"));
    EXPECT_THAT(measured(*scan), HasSubstr("rows read for"));
    EXPECT_THAT(measured(*scan), HasSubstr("runs "));
    const json::value* growth = find(review, "PARTITION_GROWTH shop.joins");
    ASSERT_NE(growth, nullptr) << json::serialize(review.at("findings"));
    EXPECT_EQ(growth->at("severity").as_string(), "error");
    EXPECT_THAT(measured(*growth), HasSubstr("largest"));
    EXPECT_THAT(measured(*growth), Not(HasSubstr("observed for")))
        << "a load of seconds is no rate of growth";
    const json::value* hot = find(review, "HOT_PARTITION shop.joins");
    ASSERT_NE(hot, nullptr) << json::serialize(review.at("findings"));
    EXPECT_THAT(measured(*hot), HasSubstr("acme"));
    const json::value* table = find_named(review, "tables", "shop.people");
    ASSERT_NE(table, nullptr);
    EXPECT_EQ(table->at("origin").as_string(), "measured");
    EXPECT_NEAR(table->at("rows").to_number<double>(), people, people * 0.1);
    const json::value* list = find_named(review, "queries", "by_id");
    ASSERT_NE(list, nullptr);
    EXPECT_EQ(list->at("calls").to_number<double>(), 20);
    EXPECT_EQ(list->at("partitions_max").to_number<double>(), 2);
  }

  static constexpr int people = 2000, joins = 1000, scans = 10;
  // These settings avoid waiting for the disk.
  const std::vector<std::string> quick = {"--set", "commitlog_sync=periodic"};
  // The targets are small, so that the little data of a test is large and hot.
  static constexpr const char* targets = "-- @target partition=20kB partition_rate=1/h horizon=1h\n";
};

TEST_F(AdviseLiveTest, ServerAndDataDirectoryAgree) {
  auto server = serve(data(), quick);
  {
    auto connection = connect();
    work(*connection);
  }
  const std::string file = write("targets.cql", targets);
  const Outcome live = advise({"--live", address(), "--format", "json", file});
  EXPECT_EQ(live.status, 3) << live.errors;
  EXPECT_EQ(live.errors, "");
  const json::value review = json_of(live);
  EXPECT_EQ(review.at("source").as_string(), address());
  expect_bad_model(review);
  EXPECT_NE(find_named(review, "tables", "quiet.pairs"), nullptr);

  const Outcome quiet = advise({"--live", address(), "-k", "quiet"});
  EXPECT_EQ(quiet.status, 0) << quiet.errors;
  EXPECT_THAT(quiet.output, testing::StartsWith("OK"));
  EXPECT_THAT(quiet.output, testing::Not(HasSubstr("shop")));
  const Outcome unknown = advise({"--live", address(), "-k", "nothing"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("there is no keyspace 'nothing'; existing keyspaces: quiet, shop"));

  server->signal(SIGTERM);
  EXPECT_EQ(server->wait(), 0);
  const Outcome embedded = advise({"--live", data(), "--format", "json", file});
  EXPECT_EQ(embedded.status, 3) << embedded.errors;
  expect_bad_model(json_of(embedded));
}

// Statements on dropped tables are reported, and cause no failure.
TEST_F(AdviseLiveTest, StatementsOfAChangedSchema) {
  auto server = serve(data(), quick);
  auto connection = connect();
  work(*connection);
  run(*connection, "SELECT age FROM shop.people WHERE id = 1");
  run(*connection, "ALTER TABLE shop.people DROP age");
  run(*connection, "DROP TABLE shop.joins");
  const Outcome live = advise({"--live", address(), "--format", "json", "-k", "shop"});
  const json::value review = json_of(live);
  EXPECT_EQ(find_named(review, "tables", "shop.joins"), nullptr);
  bool reported = false;
  for (const json::value& finding : review.at("findings").as_array()) {
    if (finding.at("code").as_string() != "UNSUPPORTED_QUERY") continue;
    EXPECT_EQ(finding.at("severity").as_string(), "note");
    reported = true;
  }
  EXPECT_TRUE(reported) << live.output;
}

TEST_F(AdviseLiveTest, LoggingIn) {
  auto server = serve(data(), {"--set", "authenticator=PasswordAuthenticator"});
  client::Options options;
  options.port = port_;
  options.user = options.password = "cassandra";
  auto connection = client::Connection::connect(options);
  ASSERT_TRUE(connection) << connection.error().message();
  make_table(**connection);
  const Outcome anonymous = advise({"--live", address()});
  EXPECT_EQ(anonymous.status, 2);
  EXPECT_THAT(anonymous.errors, HasSubstr("Name a user with -u"));
  const Outcome authenticated = advise({"--live", address(), "-u", "cassandra", "-p", "cassandra"});
  EXPECT_EQ(authenticated.status, 0) << authenticated.errors;
  EXPECT_THAT(authenticated.output, HasSubstr("1 table"));
}

TEST_F(AdviseLiveTest, TruncatedStatement) {
  auto server = serve(data(), quick);
  auto connection = connect();
  make_pairs(*connection);
  std::string text = "SELECT k";
  for (int i = 0; i < 500; ++i) text += fmt::format(", v AS column_{}", i);
  run(*connection, text + " FROM quiet.pairs WHERE k = 1");
  const Outcome live = advise({"--live", address(), "--format", "json"});
  EXPECT_EQ(live.status, 0) << live.output;
  EXPECT_THAT(live.errors, HasSubstr("1 statement is too long to review"));
  EXPECT_EQ(json_of(live).at("internal_errors").as_array().size(), 0u);
}

TEST_F(AdviseLiveTest, ExportsDoNotCount) {
  auto server = serve(data(), quick);
  auto connection = connect();
  make_pairs(*connection);
  run(*connection, "INSERT INTO quiet.pairs (k, v) VALUES (1, 2)");
  run(*connection, "SELECT v FROM quiet.pairs WHERE token(k) > 5");
  const Outcome exported = sibyl({"export", "quiet.pairs", path("pairs.csv"), "--host", address()});
  EXPECT_EQ(exported.status, 0) << exported.errors;
  const json::value review = json_of(advise({"--live", address(), "--format", "json"}));
  std::string texts;
  for (const json::value& query : review.at("queries").as_array())
    texts += std::string(query.at("text").as_string()) + "\n";
  EXPECT_THAT(texts, HasSubstr("token(k) > ?"));
  EXPECT_THAT(texts, testing::Not(HasSubstr("token(k) >= ?")));
}

TEST_F(AdviseLiveTest, UnreachableDatabases) {
  const Outcome unreachable = advise({"--live", "127.0.0.1:1"});
  EXPECT_EQ(unreachable.status, 2);
  EXPECT_THAT(unreachable.errors, HasSubstr("cannot connect"));
  EXPECT_THAT(unreachable.errors, HasSubstr("HOST:PORT"));
  EXPECT_EQ(advise({"--live", directory_ + "/none"}).status, 2);
  EXPECT_EQ(advise({"--live", directory_}).status, 2) << "empty directories are rejected and not changed";
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
  auto server = serve(data());
  EXPECT_EQ(advise({"--live", address()}).status, 2) << "no keyspace";
  const Outcome used = advise({"--live", data()});
  EXPECT_EQ(used.status, 2);
  EXPECT_THAT(used.errors, HasSubstr("another process has it open"));
}

}  // namespace
}  // namespace sibyl::cli
