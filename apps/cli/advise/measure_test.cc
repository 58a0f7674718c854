// Runs `sibyl advise --measure` as a process.
#include <boost/json.hpp>
#include <filesystem>
#include <map>

#include "cli/test_process.h"

namespace sibyl::cli {
namespace {

using testing::HasSubstr;

class AdviseMeasureTest : public ServeTest {};

constexpr const char* model = R"(
CREATE TABLE people (id uuid PRIMARY KEY, city text, age int);
-- @table people rows=200k
-- @column people.city distinct=200
-- @query by_city rate=10/s
SELECT * FROM people WHERE city = ? ALLOW FILTERING;
-- @write join rate=5/s
INSERT INTO people (id, city, age) VALUES (?, ?, ?);
)";

TEST_F(AdviseMeasureTest, RunsTheGivenAndTheSuggestedSchema) {
  const std::string kept = directory_ + "/kept";
  const Outcome first = advise({write("model.cql", model), "--measure", "--scale", "0.01",
                                "--measure-seconds", "0.3", "--directory", kept, "--fail-on", "never"});
  const std::string& output = first.output;
  EXPECT_EQ(first.status, 0) << first.errors;
  EXPECT_THAT(output, HasSubstr("FULL_SCAN"));
  EXPECT_THAT(output, HasSubstr("scale 0.01 (seed 1)"));
  EXPECT_THAT(output,
              HasSubstr("By the constants of this machine: the predicted order is the measured one."));
  EXPECT_TRUE(std::filesystem::exists(kept + "/given/SIBYL_FORMAT"));
  EXPECT_TRUE(std::filesystem::exists(kept + "/suggested/SIBYL_FORMAT"));
  const Outcome again = advise({path("model.cql"), "--measure", "--directory", kept, "--fail-on", "never"});
  EXPECT_THAT(again.errors, HasSubstr("already exists"));
  EXPECT_NE(again.status, 0);
}

// Data is consistent across tables, and tombstones survive the compaction after loading.
TEST_F(AdviseMeasureTest, RunsJoinedTablesAndQueues) {
  const Outcome outcome = advise({write("both.cql", R"(
CREATE TABLE users (id uuid PRIMARY KEY, username text);
CREATE TABLE groups (groupname text, user_id uuid, PRIMARY KEY (groupname, user_id));
-- @table users rows=500
-- @table groups rows=1000 partitions=20
-- @group members
-- @query ids rate=10/s
SELECT user_id FROM groups WHERE groupname = ?;
-- @query user times=50
SELECT * FROM users WHERE id = ?;
-- @end
CREATE TABLE jobs (queue text, at timeuuid, PRIMARY KEY (queue, at));
-- @table jobs rows=100 partitions=10
-- @query take rate=2/h
SELECT * FROM jobs WHERE queue = ? LIMIT 1;
-- @write done rate=20/h
DELETE FROM jobs WHERE queue = ? AND at = ?;
)"),
                                  "--measure", "--scale", "1", "--measure-seconds", "1", "--format", "json",
                                  "--fail-on", "never"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  std::map<std::string, double> cpu, requests;
  const boost::json::value report = boost::json::parse(outcome.output);
  for (const auto& trial : report.at("measurement").at("trials").as_array()) {
    for (const auto& one : trial.at("operations").as_array()) {
      const std::string name =
          std::string(trial.at("name").as_string()) + " " + one.at("name").as_string().c_str();
      cpu[name] = one.at("cpu_us").at("mean").to_number<double>();
      requests[name] = one.at("requests").to_number<double>();
    }
  }
  EXPECT_NEAR(requests["given members"], 51, 5);
  EXPECT_EQ(requests["suggested members"], 1);
  EXPECT_GT(cpu["given members"], 3 * cpu["suggested members"]);
  EXPECT_GT(cpu["given take"], 2 * cpu["suggested take"]) << "480 tombstones";
}

// There is more data than the database accepts while it waits for the disk.
TEST_F(AdviseMeasureTest, LargeValuesAreLoadedWithoutOverload) {
  const std::string file = write("files.cql",
                                 "CREATE TABLE files (name text PRIMARY KEY, content blob);\n"
                                 "-- @table files rows=60\n-- @column files.content size=2MB\n"
                                 "-- @query file rate=1/s\nSELECT * FROM files WHERE name = ?;\n");
  const Outcome outcome =
      advise({file, "--measure", "--scale", "1", "--measure-seconds", "0.1", "--fail-on", "never"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("file"));
}

TEST_F(AdviseMeasureTest, PrintsJson) {
  const Outcome outcome = advise({write("model.cql", model), "--measure", "--scale", "0.005",
                                  "--measure-seconds", "0.2", "--format", "json", "--fail-on", "never"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr(R"("trials":[{"name":"given","rows":1E3)"));
  EXPECT_THAT(outcome.output, HasSubstr(R"("name":"suggested","rows":2E3)"));
}

}  // namespace
}  // namespace sibyl::cli
