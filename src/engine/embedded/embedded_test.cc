// Tests the embedded API as its users see it, with only the public headers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sibyl/sibyl.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <thread>
#include <tuple>

namespace {

using sibyl::Row;
using sibyl::Value;
using testing::ElementsAre;
using testing::HasSubstr;

template <typename T>
T check(sibyl::Result<T> result) {
  EXPECT_TRUE(result.has_value()) << result.error().text();
  return std::move(result).value();
}

class EmbeddedTest : public testing::Test {
 protected:
  EmbeddedTest() : database_(check(sibyl::Database::open(":memory:"))), session_(database_.session()) {
    EXPECT_TRUE(session_.execute_script(R"cql(
      CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
      USE ks; -- the session's keyspace from here on
      CREATE TYPE pt (x int, y int);
      CREATE TABLE t (k int, c int, v text, PRIMARY KEY (k, c));
    )cql"));
  }
  sibyl::Rows run(std::string_view text, std::initializer_list<Value> values = {}) {
    return check(session_.execute(text, values));
  }
  std::string refusal(std::string_view text, std::initializer_list<Value> values = {}) {
    auto result = session_.execute(text, values);
    return result ? "accepted" : result.error().message;
  }

  sibyl::Database database_;
  sibyl::Session session_;
};

TEST_F(EmbeddedTest, TheResultOfAFailedCallNamesItsError) {
  auto failed = session_.prepare("SELECT nothing FROM t");
  ASSERT_FALSE(failed);
  EXPECT_DEATH(failed->text(),
               "the result of a failed call was used: Undefined column name nothing in table ks.t");
  EXPECT_DEATH((void)*failed, "Undefined column name nothing");
  EXPECT_DEATH(*session_.use("no_such_keyspace"), "no_such_keyspace");
  try {
    failed.value();
    FAIL() << "value() did not throw";
  } catch (const sibyl::BadResult& bad) {
    EXPECT_THAT(bad.what(), HasSubstr("Undefined column name nothing"));
    EXPECT_EQ(bad.error().code, sibyl::ErrorCode::invalid);
  }
  EXPECT_THROW(session_.use("no_such_keyspace").value(), sibyl::BadResult);
}

TEST_F(EmbeddedTest, PrepareBindExecuteRead) {
  EXPECT_EQ(session_.keyspace(), "ks");
  sibyl::Statement insert = check(session_.prepare("INSERT INTO t (k, c, v) VALUES (?, ?, ?)"));
  ASSERT_EQ(insert.parameters().size(), 3u);
  EXPECT_EQ(insert.parameters()[2].name, "v");
  EXPECT_EQ(insert.parameters()[2].type, "text");
  EXPECT_TRUE(insert.columns().empty());
  check(session_.execute(insert.bind(1, 1, "one")));
  check(session_.execute(insert.bind().set("k", 1).set("c", 2).set("v", std::string("two"))));
  check(session_.execute(insert.bind(1).set(1, 3).set_null(2)));

  sibyl::Rows rows = run("SELECT c, v FROM t WHERE k = ?", {1});
  ASSERT_EQ(rows.columns().size(), 2u);
  EXPECT_EQ(rows.columns()[1].name, "v");
  EXPECT_EQ(rows.columns()[1].keyspace, "ks");
  std::vector<std::string> seen;
  for (const Row& row : rows)
    seen.push_back(std::to_string(check(row.get<int>("c"))) +
                   check(row.get<std::optional<std::string>>(1)).value_or("-"));
  EXPECT_TRUE(rows.status().has_value());
  EXPECT_THAT(seen, ElementsAre("1one", "2two", "3-"));
}

TEST_F(EmbeddedTest, EveryTypeRoundTrips) {
  run("CREATE TABLE types (k int PRIMARY KEY, a ascii, bi bigint, bl blob, bo boolean, d date, de decimal, "
      "do double, "
      "du duration, f float, i inet, si smallint, t time, ts timestamp, tu timeuuid, ti tinyint, u uuid, vi "
      "varint, "
      "l list<int>, s set<text>, m map<text, bigint>, tup tuple<int, text>, p pt, fp frozen<pt>, ve "
      "vector<float, 3>, "
      "n frozen<map<text, frozen<list<int>>>>)");
  sibyl::Uuid uuid = sibyl::Uuid::random(), time_uuid = sibyl::Uuid::time_based();
  std::map<std::string, std::vector<int>> nested = {{"a", {1, 2}}, {"b", {}}};
  sibyl::Statement insert = check(session_.prepare(
      "INSERT INTO types (k, a, bi, bl, bo, d, de, do, du, f, i, si, t, ts, tu, ti, u, vi, l, s, m, tup, p, "
      "fp, ve, n) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  check(session_.execute(
      insert.bind(1, "ascii", INT64_MIN, sibyl::Blob{std::string("\0\xff", 2)}, true, sibyl::Date{-1},
                  sibyl::Decimal{"-12.50"}, 0.1, sibyl::Duration{1, 2, 3}, 0.5f, sibyl::Inet{"::1"},
                  int16_t{-5}, sibyl::Time{1}, sibyl::Timestamp{-7}, time_uuid, int8_t{-128}, uuid,
                  sibyl::Varint{"170141183460469231731687303715884105728"}, std::vector<int>{3, 1, 3},
                  std::set<std::string>{"b", "a"}, std::map<std::string, int64_t>{{"x", 1}},
                  std::tuple(7, "seven"), std::map<std::string, int>{{"x", 1}, {"y", 2}},
                  std::tuple(5, sibyl::Null{}), std::vector<float>{1, 2, 3}, nested)));

  Row row = check(run("SELECT * FROM types WHERE k = 1").all()).at(0);
  EXPECT_EQ(check(row.get<std::string>("a")), "ascii");
  EXPECT_EQ(check(row.get<int64_t>("bi")), INT64_MIN);
  EXPECT_EQ(check(row.get<sibyl::Blob>("bl")).bytes, std::string("\0\xff", 2));
  EXPECT_TRUE(check(row.get<bool>("bo")));
  EXPECT_EQ(check(row.get<sibyl::Date>("d")), sibyl::Date{-1});
  EXPECT_EQ(check(row.get<sibyl::Decimal>("de")).text, "-12.50");
  EXPECT_EQ(check(row.get<double>("do")), 0.1);
  EXPECT_EQ(check(row.get<sibyl::Duration>("du")), (sibyl::Duration{1, 2, 3}));
  EXPECT_EQ(check(row.get<float>("f")), 0.5f);
  EXPECT_EQ(check(row.get<double>("f")), 0.5);
  EXPECT_EQ(check(row.get<int>("si")), -5);
  EXPECT_EQ(check(row.get<int8_t>("ti")), -128);
  EXPECT_EQ(check(row.get<sibyl::Time>("t")), sibyl::Time{1});
  EXPECT_EQ(check(row.get<sibyl::Timestamp>("ts")), sibyl::Timestamp{-7});
  EXPECT_EQ(check(row.get<sibyl::Uuid>("u")), uuid);
  EXPECT_EQ(check(row.get<sibyl::Uuid>("tu")), time_uuid);
  EXPECT_EQ(check(row.get<sibyl::Varint>("vi")).text, "170141183460469231731687303715884105728");
  EXPECT_THAT(check(row.get<std::vector<int>>("l")), ElementsAre(3, 1, 3));
  EXPECT_THAT(check(row.get<std::set<std::string>>("s")), ElementsAre("a", "b"));
  EXPECT_EQ((check(row.get<std::map<std::string, int64_t>>("m"))),
            (std::map<std::string, int64_t>{{"x", 1}}));
  EXPECT_EQ((check(row.get<std::tuple<int, std::string>>("tup"))), std::tuple(7, std::string("seven")));
  EXPECT_EQ((check(row.get<std::map<std::string, int>>("p"))),
            (std::map<std::string, int>{{"x", 1}, {"y", 2}}));
  EXPECT_EQ((check(row.get<std::map<std::string, std::optional<int>>>("fp")))["y"], std::nullopt);
  EXPECT_THAT(check(row.get<std::vector<float>>("ve")), ElementsAre(1, 2, 3));
  EXPECT_EQ((check(row.get<std::map<std::string, std::vector<int>>>("n"))), nested);
  EXPECT_EQ(row.text(*row.find("tup")), "(7, 'seven')");

  // Values that were read can be bound again, as values or as bytes.
  std::vector<Value> values, raws;
  for (const sibyl::Column& column : insert.parameters()) {
    size_t index = check(row.find(column.name));
    values.push_back(column.name == "k" ? Value(2) : check(row.value(index)));
    raws.push_back(column.name == "k" ? Value(3) : Value(Value::Raw{std::string(*row.raw(index))}));
  }
  check(session_.execute(insert.bind_all(values)));
  check(session_.execute(insert.bind_all(raws)));
  for (int k : {2, 3}) {
    Row copy = check(run("SELECT * FROM types WHERE k = ?", {k}).all()).at(0);
    for (size_t i = 1; i < row.size(); ++i) EXPECT_EQ(copy.raw(i), row.raw(i)) << i;
  }
}

TEST_F(EmbeddedTest, TypesAreChecked) {
  run("CREATE TABLE n (k int PRIMARY KEY, ti tinyint, b bigint, v text, l list<int>, ts timestamp, ve "
      "vector<float, 2>)");
  run("INSERT INTO n (k, b, v) VALUES (1, ?, 'text')", {int64_t{1} << 40});
  Row row = check(run("SELECT b, v, l FROM n").all()).at(0);
  EXPECT_EQ(row.get<int>("v").error().message, "Column 'v' (text): text is not an integer");
  EXPECT_EQ(row.get<std::string>("b").error().message, "Column 'b' (bigint): an integer is not text");
  EXPECT_EQ(row.get<int>("b").error().message,
            "Column 'b' (bigint): an integer is not in the range of the requested type");
  EXPECT_EQ(row.get<int>("nope").error().message, "There is no column 'nope' in the result");
  EXPECT_THAT(row.get<int>(9).error().message, HasSubstr("There is no column 9"));
  EXPECT_TRUE(row.is_null(2));
  EXPECT_TRUE(check(row.get<std::vector<int>>("l")).empty());
  EXPECT_FALSE((row.get<std::map<int, int>>("v").has_value()));

  EXPECT_EQ(refusal("INSERT INTO n (k, ti) VALUES (1, ?)", {300}),
            "Parameter 0 ('ti'): 300 does not fit into tinyint");
  EXPECT_EQ(refusal("INSERT INTO n (k, v) VALUES (1, ?)", {1}),
            "Parameter 0 ('v'): an integer is not a value of type text");
  EXPECT_EQ(refusal("INSERT INTO n (k, b) VALUES (1, ?)", {"1"}),
            "Parameter 0 ('b'): text is not a value of type bigint");
  EXPECT_EQ(refusal("INSERT INTO n (k, ts) VALUES (1, ?)", {1}),
            "Parameter 0 ('ts'): an integer is not a value of type timestamp");
  EXPECT_THAT(refusal("INSERT INTO n (k, l) VALUES (1, ?)", {std::vector<std::string>{"a"}}),
              HasSubstr("type int"));
  EXPECT_THAT(refusal("INSERT INTO n (k, l) VALUES (1, ?)", {Value::List{1, sibyl::Null{}}}),
              HasSubstr("null"));
  EXPECT_THAT(refusal("INSERT INTO n (k, ve) VALUES (1, ?)", {std::vector<float>{1}}),
              HasSubstr("vector<float, 2>"));
  EXPECT_THAT(refusal("INSERT INTO n (k, b) VALUES (1, ?)", {Value::Raw{"abc"}}),
              HasSubstr("Expected 8 or 0 byte long"));
  EXPECT_THAT(refusal("INSERT INTO n (k) VALUES (?)", {1, 2}), HasSubstr("2 values for 1 markers"));

  sibyl::Statement insert = check(session_.prepare("INSERT INTO n (k, v) VALUES (?, ?)"));
  EXPECT_EQ(session_.execute(insert.bind().set("nope", 1)).error().message, "There is no parameter 'nope'");
  EXPECT_THAT(session_.execute(insert.bind().set(2, 1)).error().message,
              HasSubstr("There is no parameter 2"));
}

TEST_F(EmbeddedTest, ErrorsCarryCodePositionAndHint) {
  auto syntax = session_.execute("SELEC * FROM t");
  ASSERT_FALSE(syntax.has_value());
  EXPECT_EQ(syntax.error().code, sibyl::ErrorCode::syntax);
  EXPECT_EQ(syntax.error().line, 1u);
  auto invalid = session_.execute("SELECT * FROM nowhere");
  ASSERT_FALSE(invalid.has_value());
  EXPECT_EQ(invalid.error().code, sibyl::ErrorCode::invalid);
  EXPECT_EQ(invalid.error().message, "table nowhere does not exist");
  EXPECT_EQ(session_.use("nowhere").error().message, "Keyspace 'nowhere' does not exist");
  EXPECT_EQ(session_.keyspace(), "ks");
  EXPECT_FALSE(session_.prepare("SELECT nope FROM t").has_value());
  EXPECT_FALSE(session_.execute_script("SELECT * FROM t; BROKEN; DROP TABLE t").has_value());
  EXPECT_TRUE(session_.execute("SELECT * FROM t").has_value());
}

// A program that embeds the database gets an error, not an exception.
TEST_F(EmbeddedTest, StatementsThatNeedTooMuchMemoryFail) {
  EXPECT_FALSE(session_.execute("SELECT mask_default((vector<float, 2147483647>)null) FROM system.local"));
  EXPECT_FALSE(session_.execute("SELECT mask_default((vector<double, 2147483647>)null) FROM system.local"));
  run("SELECT key FROM system.local");
}

TEST_F(EmbeddedTest, PagesAreFetchedAsNeeded) {
  sibyl::Statement insert = check(session_.prepare("INSERT INTO t (k, c, v) VALUES (1, ?, 'x')"));
  for (int c = 0; c < 95; ++c) check(session_.execute(insert.bind(c)));
  for (int page : {0, 1, 10, 94, 95, 96}) {
    sibyl::Rows rows = check(
        session_.execute("SELECT c FROM t WHERE k = 1", {}, {.page_size = page, .timestamp_micros = {}}));
    int next = 0;
    for (const Row& row : rows) EXPECT_EQ(check(row.get<int>(0)), next++);
    EXPECT_EQ(next, 95) << page;
    EXPECT_TRUE(rows.status().has_value());
    EXPECT_FALSE(rows.next().has_value());
  }
  // A row outlives its page and its Rows.
  std::optional<Row> kept;
  {
    sibyl::Rows rows = check(
        session_.execute("SELECT c, v FROM t WHERE k = 1", {}, {.page_size = 2, .timestamp_micros = {}}));
    kept = rows.next();
    check(rows.all());
  }
  EXPECT_EQ(check(kept->get<std::string>("v")), "x");
}

TEST_F(EmbeddedTest, BatchesAreAtomic) {
  sibyl::Statement insert = check(session_.prepare("INSERT INTO t (k, c, v) VALUES (?, ?, ?)"));
  sibyl::Batch batch;
  batch.add(insert.bind(1, 1, "a"))
      .add("INSERT INTO t (k, c, v) VALUES (2, 2, ?)", {"b"})
      .add("DELETE FROM t WHERE k = 9");
  EXPECT_EQ(batch.size(), 3u);
  check(session_.execute(batch));
  EXPECT_EQ(check(run("SELECT * FROM t").all()).size(), 2u);

  sibyl::Batch broken;
  broken.add(insert.bind(3, 3, "c")).add(insert.bind(4, "not an int", "d"));
  EXPECT_FALSE(session_.execute(broken).has_value());
  EXPECT_EQ(check(run("SELECT * FROM t").all()).size(), 2u);

  run("CREATE TABLE n (k int PRIMARY KEY, n counter)");
  sibyl::Batch counters(sibyl::Batch::Kind::counter);
  counters.add("UPDATE n SET n = n + 2 WHERE k = 1").add("UPDATE n SET n = n - 5 WHERE k = 1");
  check(session_.execute(counters));
  EXPECT_EQ(check(check(run("SELECT n FROM n WHERE k = 1").all()).at(0).get<int64_t>(0)), -3);
  sibyl::Batch mixed(sibyl::Batch::Kind::counter);
  mixed.add(insert.bind(1, 1, "a"));
  EXPECT_FALSE(session_.execute(mixed).has_value());
}

TEST_F(EmbeddedTest, StatementsSurviveChangesOfTheirTable) {
  sibyl::Statement select = check(session_.prepare("SELECT * FROM t WHERE k = ?"));
  run("INSERT INTO t (k, c, v) VALUES (1, 1, 'x')");
  run("ALTER TABLE t ADD w int");
  EXPECT_EQ(check(session_.execute(select.bind(1))).columns().size(), 4u);
  run("DROP TABLE t");
  EXPECT_EQ(session_.execute(select.bind(1)).error().message, "table t does not exist");
  run("CREATE TABLE t (k int PRIMARY KEY)");
  EXPECT_TRUE(check(check(session_.execute(select.bind(1))).all()).empty());
}

TEST_F(EmbeddedTest, ValuesAreEncodedForTheTableAsItIs) {
  run("CREATE TABLE n (k int PRIMARY KEY, v int)");
  sibyl::Statement insert = check(session_.prepare("INSERT INTO n (k, v) VALUES (?, ?)"));
  sibyl::Bound bound = insert.bind(1, 7);
  check(session_.execute(bound));
  run("DROP TABLE n");
  run("CREATE TABLE n (k int PRIMARY KEY, v smallint)");
  check(session_.execute(bound));
  sibyl::Batch batch;
  batch.add(insert.bind(2, 8));
  run("DROP TABLE n");
  run("CREATE TABLE n (k int PRIMARY KEY, v bigint)");
  check(session_.execute(batch));
  EXPECT_EQ(check(check(run("SELECT v FROM n").all()).at(0).get<int64_t>(0)), 8);
  run("DROP TABLE n");
  run("CREATE TABLE n (k int PRIMARY KEY, v boolean)");
  EXPECT_THAT(session_.execute(bound).error().message, HasSubstr("Parameter 1 ('v')"));
}

TEST_F(EmbeddedTest, NewFieldsOfUserTypesAreReadAndWritten) {
  run("CREATE TABLE p (k int PRIMARY KEY, v frozen<pt>)");
  sibyl::Statement insert = check(session_.prepare("INSERT INTO p (k, v) VALUES (?, ?)"));
  sibyl::Statement select = check(session_.prepare("SELECT v FROM p WHERE k = ?"));
  check(session_.execute(insert.bind(1, std::tuple(1, 2))));
  run("ALTER TYPE pt ADD z text");
  check(session_.execute(insert.bind(2, std::tuple(1, 2, std::string("new")))));
  run("ALTER TYPE pt RENAME x TO w");
  EXPECT_EQ(check(check(session_.execute(select.bind(2))).all()).at(0).text(0), "{w: 1, y: 2, z: 'new'}");
}

TEST_F(EmbeddedTest, PagingContinuesAfterTableChanges) {
  run("CREATE TABLE i (k int PRIMARY KEY, v int)");
  run("CREATE INDEX by_v ON i (v)");
  for (int k = 0; k < 10; ++k) run("INSERT INTO i (k, v) VALUES (?, 1)", {k});
  sibyl::Statement select = check(session_.prepare("SELECT * FROM i WHERE v = ? ALLOW FILTERING"));
  sibyl::Rows rows = check(session_.execute(select.bind(1), {.page_size = 4, .timestamp_micros = {}}));
  ASSERT_TRUE(rows.next());
  run("ALTER TABLE i ADD a int");
  size_t count = 1;
  while (const std::optional<Row> row = rows.next()) {
    ++count;
    EXPECT_EQ(check(row->get<int>("v")), 1);
  }
  EXPECT_TRUE(rows.status().has_value()) << rows.status().error().text();
  EXPECT_EQ(count, 10u);
}

TEST_F(EmbeddedTest, RequestsMayBringATimestamp) {
  sibyl::Request old{.page_size = 0, .timestamp_micros = 10}, older{.page_size = 0, .timestamp_micros = 5};
  check(session_.execute("INSERT INTO t (k, c, v) VALUES (1, 1, 'old')", {}, old));
  check(session_.execute("INSERT INTO t (k, c, v) VALUES (1, 1, 'older')", {}, older));
  Row row = check(run("SELECT v, writetime(v) FROM t").all()).at(0);
  EXPECT_EQ(check(row.get<std::string>(0)), "old");
  EXPECT_EQ(check(row.get<int64_t>(1)), 10);
}

TEST_F(EmbeddedTest, ThreadsShareEverything) {
  run("CREATE TABLE n (k int PRIMARY KEY, n counter)");
  sibyl::Statement insert = check(session_.prepare("INSERT INTO t (k, c, v) VALUES (?, ?, ?)"));
  sibyl::Statement select = check(session_.prepare("SELECT count(*) FROM t WHERE k = ?"));
  sibyl::Statement count = check(session_.prepare("UPDATE n SET n = n + 1 WHERE k = 1"));
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  constexpr int each = 200;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < each; ++i) {
        if (!session_.execute(insert.bind(t, i, "x"))) ++failures;
        if (!session_.execute(count.bind())) ++failures;
        auto rows = session_.execute(select.bind(t));
        if (!rows || check(rows->all()).at(0).get<int64_t>(0).value_or(-1) != i + 1) ++failures;
        if (t == 0 && i % 50 == 0 && !session_.execute("ALTER TABLE t ADD w" + std::to_string(i) + " int"))
          ++failures;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(check(check(run("SELECT n FROM n").all()).at(0).get<int>(0)), 4 * each);
}

TEST(Embedded, DataInADirectorySurvivesClosing) {
  std::string pattern = (std::filesystem::temp_directory_path() / "sibyl_embedded_XXXXXX").string();
  std::string path = mkdtemp(pattern.data());
  std::optional<sibyl::Session> session;
  for (int round = 0; round < 3; ++round) {
    auto database = check(sibyl::Database::open(path + "/data"));
    session = database.session();
    EXPECT_TRUE(
        session->execute_script("CREATE KEYSPACE IF NOT EXISTS ks WITH replication = {'class': "
                                "'SimpleStrategy', 'replication_factor': 1};"
                                "USE ks; CREATE TABLE IF NOT EXISTS t (k int PRIMARY KEY)"));
    check(session->execute("INSERT INTO t (k) VALUES (?)", {round}));
    EXPECT_EQ(check(check(session->execute("SELECT * FROM t")).all()).size(), static_cast<size_t>(round) + 1);
    EXPECT_TRUE(database.flush().has_value());
    EXPECT_TRUE(database.compact().has_value());
    // The database stays open as long as a session exists.
    EXPECT_FALSE(sibyl::Database::open(path + "/data").has_value());
    session.reset();
  }
  EXPECT_FALSE(sibyl::Database::open("/proc/nowhere").has_value());
  std::filesystem::remove_all(path);
}

TEST(Embedded, Uuids) {
  EXPECT_EQ(sibyl::Uuid::parse("5a1c395e-b41f-11e5-9f22-ba0be0483c18")->to_string(),
            "5a1c395e-b41f-11e5-9f22-ba0be0483c18");
  EXPECT_FALSE(sibyl::Uuid::parse("5a1c395e").has_value());
  EXPECT_NE(sibyl::Uuid::random(), sibyl::Uuid::random());
  EXPECT_NE(sibyl::Uuid::time_based(), sibyl::Uuid::time_based());
}

}  // namespace
