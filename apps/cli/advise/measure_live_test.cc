// Runs `sibyl advise --live … --measure`, and measures designs.
#include <fmt/format.h>

#include "cli/test_json.h"

namespace sibyl::cli {
namespace {

using testing::HasSubstr;
namespace json = boost::json;

class AdviseMeasureLiveTest : public ServeTest {
 protected:
  // The settings avoid waiting for the disk.
  std::unique_ptr<Process> start() { return serve(data(), {"--set", "commitlog_sync=periodic"}); }

  static void make_tables(client::Connection& connection) {
    run(connection,
        "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    run(connection, "CREATE TABLE shop.people (id int PRIMARY KEY, city text, age int)");
  }
  // Users are looked up by city; there are ten cities.
  static void work(client::Connection& connection) {
    make_tables(connection);
    for (int i = 0; i < people; ++i)
      run(connection, fmt::format("INSERT INTO shop.people (id, city, age) VALUES ({}, 'city {}', {})", i,
                                  i % 10, i % 90));
    for (int i = 0; i < 20; ++i)
      run(connection,
          fmt::format("SELECT * FROM shop.people WHERE city = 'city {}' ALLOW FILTERING", i % 10));
  }

  static void expect_measured(const json::value& document) {
    EXPECT_EQ(document.at("internal_errors").as_array().size(), 0u);
    EXPECT_FALSE(document.at("findings").as_array().empty());
    const json::value& measurement = document.at("measurement");
    const json::array& trials = measurement.at("trials").as_array();
    ASSERT_EQ(trials.size(), 2u) << json::serialize(measurement);
    EXPECT_EQ(trials[0].at("name").as_string(), "given");
    EXPECT_EQ(trials[1].at("name").as_string(), "suggested");
    EXPECT_NEAR(trials[0].at("rows").to_number<double>(), people, people * 0.1);
    EXPECT_NEAR(trials[1].at("rows").to_number<double>(), 2 * people, people * 0.2);
    for (const json::value& trial : trials) {
      bool found = false;
      for (const json::value& operation : trial.at("operations").as_array()) {
        if (operation.at("name").as_string() != "shop.people/by_city") continue;
        found = true;
        EXPECT_NEAR(operation.at("rows").to_number<double>(), people / 10, people * 0.05);
        EXPECT_NEAR(operation.at("expected_rows").to_number<double>(), people / 10, people * 0.02);
        EXPECT_GT(operation.at("expected_cpu_us").to_number<double>(), 0);
        EXPECT_GT(operation.at("cpu_us").at("mean").to_number<double>(), 0);
        EXPECT_GT(operation.at("cpu_us").at("margin").to_number<double>(), 0);
      }
      EXPECT_TRUE(found) << json::serialize(trial);
    }
  }

  static constexpr int people = 1500;
  const std::vector<std::string> quickly = {"--measure", "--measure-seconds", "0.3", "--fail-on", "never"};
  Outcome measure(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), quickly.begin(), quickly.end());
    return advise(arguments);
  }
};

TEST_F(AdviseMeasureLiveTest, ServerAndDataDirectoryAgree) {
  auto server = start();
  work(*connect());
  const Outcome live = measure({"--live", address(), "--format", "json"});
  EXPECT_EQ(live.status, 0) << live.errors;
  expect_measured(json_of(live));
  const Outcome page = measure({"--live", address(), "--format", "markdown"});
  EXPECT_EQ(page.status, 0) << page.errors;
  EXPECT_THAT(page.output, HasSubstr("# Data model: "));
  EXPECT_THAT(page.output, HasSubstr("\n## Measured\n\nMeasured with synthetic data like that recorded in " +
                                     address() + " at scale 1 "));
  server->signal(SIGTERM);
  EXPECT_EQ(server->wait(), 0);
  const Outcome embedded = measure({"--live", data(), "--format", "json"});
  EXPECT_EQ(embedded.status, 0) << embedded.errors;
  expect_measured(json_of(embedded));
}

TEST_F(AdviseMeasureLiveTest, TooFewRecordedCalls) {
  auto server = start();
  make_tables(*connect());
  const Outcome nothing = measure({"--live", address()});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_THAT(nothing.errors, HasSubstr(address() + " has recorded 0 calls"));
  EXPECT_THAT(nothing.errors, HasSubstr("Let applications use it for a while"));
}

constexpr const char* entities = R"(
-- @entity users count=2000 (id uuid key, name text, city text)
-- @query by_city rate=1/s SELECT users.* FROM users WHERE users.city = :c
-- @write join rate=1/s INSERT INTO users (id, name, city) VALUES (?, ?, ?)
)";

TEST_F(AdviseMeasureLiveTest, DesignAndMeasurementAreOneDocument) {
  const std::string file = write("model.cql", entities);
  const auto design = [&](const char* format) {
    return advise({"design", file, "--format", format, "--measure", "--measure-seconds", "0.2"});
  };
  const Outcome text = design("text");
  EXPECT_EQ(text.status, 0) << text.errors;
  EXPECT_THAT(text.output, HasSubstr("CREATE TABLE"));
  EXPECT_THAT(text.output, HasSubstr("\n-- Measured with synthetic data at scale 1 "));
  const Outcome page = design("markdown");
  EXPECT_EQ(page.status, 0) << page.errors;
  EXPECT_THAT(page.output, testing::StartsWith("# Tables designed\n"));
  EXPECT_THAT(page.output, HasSubstr("\n## Measured\n"));
  const Outcome machine = design("json");
  EXPECT_EQ(machine.status, 0) << machine.errors;
  const json::value parsed = json_of(machine);
  EXPECT_FALSE(parsed.at("tables").as_array().empty());
  EXPECT_EQ(parsed.at("measurement").at("trials").at(0).at("name").as_string(), "design");
}

}  // namespace
}  // namespace sibyl::cli
