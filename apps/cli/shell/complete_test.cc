#include "cli/shell/complete.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sibyl::cli::shell {
namespace {

using schema::ColumnKind;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

SchemaNames film_names() {
  SchemaNames names;
  KeyspaceNames& films = names.keyspaces["films"];
  films.tables["movies"].columns = {{"title", ColumnKind::partition_key},
                                    {"time", ColumnKind::clustering},
                                    {"rating", ColumnKind::regular}};
  films.tables["people"].columns = {{"company", ColumnKind::partition_key}, {"Name", ColumnKind::regular}};
  films.types = {"address"};
  names.keyspaces["system"].tables["local"].columns = {{"key", ColumnKind::partition_key}};
  return names;
}

// `|` marks the cursor.
Completions at(std::string text) {
  static const SchemaNames names = film_names();
  const size_t cursor = text.find('|');
  text.erase(cursor, 1);
  return complete(text, cursor, names, "films");
}
std::vector<std::string> offered(std::string text) {
  std::vector<std::string> texts;
  for (const Candidate& candidate : at(std::move(text)).candidates) texts.push_back(candidate.text);
  return texts;
}

TEST(ShellComplete, StatementsAndCommandsAtTheStart) {
  EXPECT_THAT(offered("SEL|"), ElementsAre("SELECT"));
  EXPECT_THAT(offered("SELECT 1; des|"), ElementsAre("describe"));
  EXPECT_THAT(offered("|"), IsSupersetOf({"CREATE", "HELP", "INSERT INTO", "USE"}));
}

TEST(ShellComplete, KeywordsFollowTheCaseOfTheWord) {
  EXPECT_THAT(offered("sel|"), ElementsAre("select"));
  EXPECT_THAT(offered("Sel|"), ElementsAre("SELECT"));
}

TEST(ShellComplete, ColumnsOfIndexes) {
  EXPECT_THAT(offered("CREATE INDEX ON movies (|"), IsSupersetOf({"rating", "time", "title", "values"}));
  EXPECT_THAT(offered("CREATE INDEX by_rating ON films.movies (ra|"), ElementsAre("rating"));
  EXPECT_THAT(offered("CREATE CUSTOM INDEX i ON movies (values(|"),
              AllOf(Contains("rating"), Not(Contains("values"))));
  EXPECT_THAT(offered("CREATE INDEX ON movies (rating) |"), ElementsAre("USING", "WITH OPTIONS ="));
  EXPECT_THAT(offered("CREATE INDEX ON movies (rating) USING |"), Contains("'sai'"));
}

TEST(ShellComplete, Copy) {
  EXPECT_THAT(offered("COPY mo|"), ElementsAre("movies"));
  EXPECT_THAT(offered("COPY films.mo|"), ElementsAre("movies"));
  EXPECT_THAT(offered("COPY movies |"), ElementsAre("FROM", "TO"));
  EXPECT_THAT(offered("COPY movies (ti|"), ElementsAre("time", "title"));
  EXPECT_THAT(offered("COPY movies FROM |"), ElementsAre("STDIN"));
  EXPECT_THAT(offered("COPY movies TO 'f' |"), ElementsAre("WITH"));
  EXPECT_THAT(offered("COPY movies TO 'f' WITH HE|"), ElementsAre("HEADER"));
  EXPECT_THAT(offered("COPY movies TO 'f' WITH HEADER = |"), ElementsAre("FALSE", "TRUE"));
}

TEST(ShellComplete, TablesWhereTablesStand) {
  for (const char* text :
       {"SELECT * FROM |", "INSERT INTO |", "UPDATE |", "DROP TABLE |", "DROP TABLE IF EXISTS |",
        "ALTER TABLE |", "TRUNCATE |", "DESCRIBE TABLE |", "DELETE FROM |"})
    EXPECT_THAT(offered(text), AllOf(IsSupersetOf({"movies", "people"}), Contains("system"))) << text;
  EXPECT_THAT(offered("SELECT * FROM mo|"), ElementsAre("movies"));
  EXPECT_THAT(offered("CREATE TABLE |"), Not(Contains("movies")));
}

TEST(ShellComplete, AKeyspaceIsFollowedByADot) {
  const Completions completions = at("SELECT * FROM sys|");
  EXPECT_THAT(completions.candidates, ElementsAre(Candidate{"system", '.'}));
  EXPECT_THAT(offered("SELECT * FROM system.|"), ElementsAre("local"));
  EXPECT_THAT(offered("SELECT * FROM system.lo|"), ElementsAre("local"));
  EXPECT_THAT(offered("SELECT * FROM nothing.|"), IsEmpty());
}

TEST(ShellComplete, Keyspaces) {
  EXPECT_THAT(offered("USE |"), ElementsAre("films", "system"));
  EXPECT_THAT(offered("DROP KEYSPACE f|"), ElementsAre("films"));
  EXPECT_THAT(offered("DESC KEYSPACE f|"), ElementsAre("films"));
}

TEST(ShellComplete, ColumnsOfTheStatementsTable) {
  EXPECT_THAT(offered("SELECT * FROM movies WHERE |"), IsSupersetOf({"title", "time", "rating", "token"}));
  EXPECT_THAT(offered("SELECT * FROM movies WHERE |"), Not(Contains("company")));
  EXPECT_THAT(offered("SELECT * FROM movies WHERE title = 'x' AND ti|"), ElementsAre("time", "title"));
  EXPECT_THAT(offered("SELECT * FROM movies WHERE title = 'x' ORDER BY |"), IsSupersetOf({"time"}));
  EXPECT_THAT(offered("UPDATE films.movies SET |"), ElementsAre("rating", "time", "title"));
  EXPECT_THAT(offered("UPDATE movies SET rating = 1 WHERE ti|"), ElementsAre("time", "title"));
  EXPECT_THAT(offered("INSERT INTO movies (title, r|"), ElementsAre("rating"));
  EXPECT_THAT(offered("DELETE ra| FROM movies"), ElementsAre("rating"));
  EXPECT_THAT(offered("ALTER TABLE movies DROP |"), ElementsAre("rating", "time", "title"));
}

TEST(ShellComplete, TheTableMayStandBehindTheCursor) {
  EXPECT_THAT(offered("SELECT ra| FROM movies"), ElementsAre("rating"));
  EXPECT_THAT(offered("SELECT co| FROM movies"), ElementsAre("count"));
}

TEST(ShellComplete, NamesThatNeedQuotesGetThem) {
  EXPECT_THAT(offered("SELECT * FROM people WHERE |"), Contains("\"Name\""));
  EXPECT_THAT(offered("SELECT * FROM people WHERE \"N|"), ElementsAre("\"Name\""));
}

TEST(ShellComplete, ClausesFollow) {
  EXPECT_THAT(offered("SELECT * FROM movies |"), IsSupersetOf({"WHERE", "ORDER BY", "LIMIT"}));
  EXPECT_THAT(offered("SELECT title |"), ElementsAre("AS", "FROM"));
  EXPECT_THAT(offered("INSERT INTO movies (title) |"), ElementsAre("VALUES"));
  EXPECT_THAT(offered("UPDATE movies |"), Contains("SET"));
  EXPECT_THAT(offered("CREATE |"), IsSupersetOf({"KEYSPACE", "TABLE", "TYPE"}));
  EXPECT_THAT(offered("CREATE TABLE t (a int) |"), ElementsAre("WITH"));
  EXPECT_THAT(offered("CREATE TABLE t (a int PRIMARY KEY) WITH memt|"),
              ElementsAre("memtable", "memtable_flush_period_in_ms"));
  EXPECT_THAT(offered("CREATE TABLE t (a int PRIMARY KEY) WITH comp|"),
              ElementsAre("compaction", "compression"));
}

TEST(ShellComplete, TypesOfColumns) {
  EXPECT_THAT(offered("CREATE TABLE t (a |"), IsSupersetOf({"int", "text", "address"}));
  EXPECT_THAT(offered("CREATE TABLE t (a int, b map<te|"), ElementsAre("text"));
  EXPECT_THAT(offered("ALTER TABLE movies ADD year sm|"), ElementsAre("smallint"));
}

TEST(ShellComplete, InsideABatch) {
  EXPECT_THAT(offered("BEGIN BATCH INSERT INTO mo|"), ElementsAre("movies"));
  EXPECT_THAT(offered("BEGIN BATCH UPDATE movies SET rating = 1 WHERE title = 'x'\nUPDATE movies SET ra|"),
              ElementsAre("rating"));
  EXPECT_THAT(offered("BEGIN BATCH INSERT INTO movies (title) VALUES ('x'); AP|"),
              ElementsAre("APPLY BATCH"));
}

TEST(ShellComplete, CommandsTakeTheirWords) {
  EXPECT_THAT(offered("CONSISTENCY LOCAL_Q|"), ElementsAre("LOCAL_QUORUM"));
  EXPECT_THAT(offered("expand |"), ElementsAre("OFF", "ON"));
  EXPECT_THAT(offered("SERIAL CONSISTENCY |"), ElementsAre("LOCAL_SERIAL", "SERIAL"));
}

TEST(ShellComplete, NothingInStringsAndComments) {
  EXPECT_THAT(offered("SELECT * FROM movies WHERE title = 'ti|"), IsEmpty());
  EXPECT_THAT(offered("/* SEL|"), IsEmpty());
  EXPECT_THAT(offered("-- SEL|"), IsEmpty());
}

TEST(ShellComplete, StartAndCommonPrefix) {
  const Completions completions = at("SELECT * FROM movies WHERE ti|");
  EXPECT_EQ(completions.start, 27u);
  EXPECT_EQ(completions.common_prefix(), "ti");
  EXPECT_EQ(at("SELECT * FROM mo|").common_prefix(), "movies");
}

TEST(ShellComplete, EveryPrefixOfAScriptIsFine) {
  const std::string script =
      "CREATE TABLE films.t (a int, b map<text, frozen<list<int>>>, PRIMARY KEY ((a), b)) WITH comment = "
      "'x';\n"
      "BEGIN BATCH UPDATE movies USING TTL 5 SET rating = 1, \"T\" = $$x$$ WHERE title IN ('a') IF EXISTS; "
      "APPLY "
      "BATCH; /* c */ DELETE a[1] FROM x.y WHERE (a, b) > (1, 2); DESC full schema\n -- e";
  for (size_t cursor = 0; cursor <= script.size(); ++cursor) {
    const SchemaNames names = film_names();
    EXPECT_LE(complete(script, cursor, names, "films").start, cursor);
    EXPECT_LE(complete(script.substr(0, cursor), cursor, names, "").start, cursor);
  }
}

}  // namespace
}  // namespace sibyl::cli::shell
