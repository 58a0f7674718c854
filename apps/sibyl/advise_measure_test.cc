// `sibyl advise --measure` as its users run it.
#include <filesystem>

#include "sibyl/test_process.h"

namespace sibyl {
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
  EXPECT_THAT(again.errors, HasSubstr("is there already"));
  EXPECT_NE(again.status, 0);
}

// More than the database lets wait for the device.
TEST_F(AdviseMeasureTest, LargeValuesAreLoadedAsTheDatabaseTakesThem) {
  const std::string file = write("files.cql",
                                 "CREATE TABLE files (name text PRIMARY KEY, content blob);\n"
                                 "-- @table files rows=60\n-- @column files.content size=2MB\n"
                                 "-- @query file rate=1/s\nSELECT * FROM files WHERE name = ?;\n");
  const Outcome outcome =
      advise({file, "--measure", "--scale", "1", "--measure-seconds", "0.1", "--fail-on", "never"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("file"));
}

TEST_F(AdviseMeasureTest, TellsProgramsToo) {
  const Outcome outcome = advise({write("model.cql", model), "--measure", "--scale", "0.005",
                                  "--measure-seconds", "0.2", "--format", "json", "--fail-on", "never"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr(R"("trials":[{"name":"given","rows":1E3)"));
  EXPECT_THAT(outcome.output, HasSubstr(R"("name":"suggested","rows":2E3)"));
}

}  // namespace
}  // namespace sibyl
