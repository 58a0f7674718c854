// Runs `sibyl advise FILE…` as a process and checks its output and exit status.

#include "cli/test_json.h"

namespace sibyl::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
namespace json = boost::json;

constexpr const char* good_model = R"(
CREATE TABLE users_by_email (email text PRIMARY KEY, username text, age int);
-- @table users_by_email rows=1M
-- @query by_email rate=100/s
SELECT * FROM users_by_email WHERE email = ?;
)";

// For this model, a scan is an error, and reading rows in reverse order is a warning.
constexpr const char* bad_model = R"(
CREATE TABLE people (id uuid PRIMARY KEY, city text);
CREATE TABLE joins (groupname text, joined timeuuid, PRIMARY KEY (groupname, joined));
-- @table people rows=5M
-- @query by_city
SELECT * FROM people WHERE city = ? ALLOW FILTERING;
-- @query newest
SELECT * FROM joins WHERE groupname = ? ORDER BY joined DESC LIMIT 10;
)";

class AdviseTest : public ServeTest {};

TEST_F(AdviseTest, GoodModelHasAShortReport) {
  const Outcome outcome = advise({write("good.cql", good_model)});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, StartsWith("OK"));
  EXPECT_EQ(outcome.errors, "");
  EXPECT_THAT(outcome.output, Not(HasSubstr("\x1b"))) << "no colours in a pipe";
  // The review has verdicts, the table of statements, sizes with their inputs, and the spread.
  EXPECT_LE(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 15);
}

TEST_F(AdviseTest, UnreadableInputExitsWithStatus2) {
  EXPECT_EQ(advise({directory_ + "/none.cql"}).status, 2);
  const Outcome broken = advise({write("broken.cql", "CREATE TABLE t (p int PRIMARY KEY;\n")});
  EXPECT_EQ(broken.status, 2);
  EXPECT_THAT(broken.errors, HasSubstr("broken.cql:1: "));
  const Outcome unknown = advise({write("unknown.cql", "\n-- @table people rows=3\n")});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("unknown.cql:2: no table 'people'"));
  const Outcome empty = advise({write("empty.cql", "-- nothing yet\n")});
  EXPECT_EQ(empty.status, 2);
  EXPECT_THAT(empty.errors, HasSubstr("there is nothing to review"));
  const std::string good = write("good.cql", good_model);
  EXPECT_EQ(advise({good, "--fail-on", "sometimes"}).status, 2);
  EXPECT_EQ(advise({good, "--baseline", directory_ + "/none.txt"}).status, 2);
  EXPECT_EQ(advise({good, "--baseline", write("baseline.txt", "FULL_SCAN people/by_city\n")}).status, 2)
      << "a reason is required";
}

TEST_F(AdviseTest, FindingsExitWithStatus3) {
  const std::string bad = write("bad.cql", bad_model);
  const Outcome outcome = advise({bad});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.output, HasSubstr("error FULL_SCAN people/by_city  " + bad + ":6"));
  EXPECT_THAT(outcome.output, HasSubstr("CREATE TABLE people_by_city"));
  EXPECT_EQ(advise({bad, "--fail-on", "never"}).status, 0);
  const std::string walked = write("walked.cql", R"(
CREATE TABLE joins (groupname text, joined timeuuid, PRIMARY KEY (groupname, joined));
SELECT * FROM joins WHERE groupname = ? ORDER BY joined DESC LIMIT 10;
)");
  EXPECT_EQ(advise({walked}).status, 0) << "warnings do not fail by default";
  EXPECT_EQ(advise({walked, "--fail-on", "warning"}).status, 3);
  EXPECT_EQ(advise({walked, "--fail-on", "note"}).status, 3);
}

TEST_F(AdviseTest, BaselineAcceptsFindingsAndReportsStaleLines) {
  const std::string bad = write("bad.cql", bad_model);
  const std::string baseline = write("baseline.txt",
                                     "# known\n"
                                     "FULL_SCAN people/by_city: runs once a night\n"
                                     "ORDER_MISMATCH joins/newest: ten rows\n"
                                     "HOT_PARTITION events: was fixed\n");
  const Outcome outcome = advise({bad, "--baseline", baseline, "--fail-on", "note"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("FULL_SCAN people/by_city: runs once a night"));
  EXPECT_THAT(outcome.output, HasSubstr("in the baseline, but no longer found\nHOT_PARTITION events\n"));
  const std::string half = write("half.txt", "ORDER_MISMATCH joins/newest: ten rows\n");
  EXPECT_EQ(advise({bad, "--baseline", half}).status, 3);
}

TEST_F(AdviseTest, FormatsAgree) {
  const std::string bad = write("bad.cql", bad_model);
  const std::string baseline = write("baseline.txt", "ORDER_MISMATCH joins/newest: ten rows\nOK x: gone\n");
  const Outcome outcome = advise({"--format", "json", bad, "--baseline", baseline});
  EXPECT_EQ(outcome.status, 3);
  const json::value review = json_of(outcome);
  EXPECT_EQ(review.at("verdict").as_string(), "error");
  EXPECT_EQ(review.at("queries").as_array().size(), 2u);
  EXPECT_EQ(review.at("unused_baseline").at(0).as_string(), "OK x");
  ASSERT_EQ(review.at("findings").as_array().size(), 2u);
  const json::value& scan = review.at("findings").at(0);
  EXPECT_EQ(scan.at("id").as_string(), "FULL_SCAN people/by_city");
  EXPECT_EQ(scan.at("line").to_number<int>(), 6);
  EXPECT_TRUE(scan.at("accepted").is_null());
  EXPECT_FALSE(scan.at("cql").as_string().empty());
  EXPECT_EQ(scan.at("evidence").at(0).at("origin").as_string(), "declared");
  EXPECT_EQ(review.at("findings").at(1).at("accepted").as_string(), "ten rows");

  const Outcome markdown = advise({"--format", "markdown", bad});
  EXPECT_EQ(markdown.status, 3);
  EXPECT_THAT(markdown.output, StartsWith("# Data model: error\n"));
  EXPECT_THAT(markdown.output, HasSubstr("### error `FULL_SCAN people/by_city`"));
  EXPECT_THAT(markdown.output, HasSubstr("```sql\nCREATE TABLE people_by_city"));
}

}  // namespace
}  // namespace sibyl::cli
