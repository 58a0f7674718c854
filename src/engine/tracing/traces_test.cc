#include "engine/tracing/traces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "engine/test_result.h"
#include "types/print.h"

namespace sibyl::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class TracesTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = Engine::open({});
    ASSERT_TRUE(opened.has_value());
    engine_ = std::move(*opened);
  }

  base::Result<execute::ResultSet> run(const std::string& text, RequestTrace* trace = nullptr) {
    auto plan = engine_->planner().plan_query(text, "", trace);
    if (!plan) return base::fail(plan.error());
    execute::Request request;
    request.trace = trace;
    return run_plan(*engine_, *plan, request);
  }
  // Returns the values of a result as literals separated by spaces, one text per row.
  std::vector<std::string> rows(const std::string& text) {
    auto result = run(text);
    EXPECT_TRUE(result.has_value()) << text;
    return result ? lines_of(*result, " ", as_literal) : std::vector<std::string>();
  }
  std::vector<std::string> activities(const RequestTrace& trace) {
    std::vector<std::string> list;
    for (const RequestTrace::Step& step : trace.steps()) list.push_back(step.activity);
    return list;
  }
  RequestTrace begin(const std::string& query = "q") {
    return RequestTrace({"Execute CQL3 query", "10.0.0.7", {{"query", query}}}, engine_->clock());
  }
  void make_table() {
    ASSERT_TRUE(
        run("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"));
    ASSERT_TRUE(run("CREATE TABLE ks.t (k int, c int, v text, PRIMARY KEY (k, c))"));
  }

  std::unique_ptr<Engine> engine_;
};

TEST_F(TracesTest, StepsOfReadsAndWrites) {
  make_table();
  RequestTrace write = begin();
  ASSERT_TRUE(run("INSERT INTO ks.t (k, c, v) VALUES (1, 2, 'x')", &write));
  EXPECT_THAT(activities(write), ElementsAre("Parsing INSERT INTO ks.t (k, c, v) VALUES (1, 2, 'x')",
                                             "Preparing statement", "Executing a write on t",
                                             StartsWith("Committing 1 records of"), "Committed in memory"));
  RequestTrace read = begin();
  ASSERT_TRUE(run("SELECT * FROM ks.t WHERE k = 1", &read));
  EXPECT_THAT(activities(read),
              ElementsAre("Parsing SELECT * FROM ks.t WHERE k = 1", "Preparing statement",
                          "Executing single-partition query on t", "Read 1 rows of 1 partitions of t",
                          StartsWith("Returning 1 rows of")));
  RequestTrace failed = begin();
  ASSERT_FALSE(run("SELECT nothing FROM ks.t", &failed));
  EXPECT_THAT(activities(failed), ElementsAre(StartsWith("Parsing"), "Preparing statement"));
}

TEST_F(TracesTest, ShownInSystemTraces) {
  make_table();
  RequestTrace trace = begin("SELECT 1");
  trace.step("one");
  trace.step("two");
  trace.stop();
  engine_->traces().publish(trace);
  const std::string where = " WHERE session_id = " + types::format_uuid(trace.id());
  EXPECT_THAT(
      rows("SELECT client, command, coordinator, coordinator_port, request, parameters, duration FROM "
           "system_traces.sessions" +
           where),
      ElementsAre("'10.0.0.7' 'QUERY' '127.0.0.1' 7000 'Execute CQL3 query' {'query': 'SELECT 1'} " +
                  std::to_string(trace.duration_micros())));
  EXPECT_THAT(rows("SELECT activity, source, source_port FROM system_traces.events" + where),
              ElementsAre("'one' '127.0.0.1' 7000", "'two' '127.0.0.1' 7000"));
}

TEST_F(TracesTest, OldTracesAreEvicted) {
  std::string first, last;
  for (size_t i = 0; i < Traces::max_sessions + 5; ++i) {
    RequestTrace trace = begin();
    trace.step("one");
    engine_->traces().publish(trace);
    if (i == 0) first = types::format_uuid(trace.id());
    last = types::format_uuid(trace.id());
  }
  EXPECT_THAT(rows("SELECT count(*) FROM system_traces.sessions"),
              ElementsAre(std::to_string(Traces::max_sessions)));
  EXPECT_THAT(rows("SELECT count(*) FROM system_traces.events"),
              ElementsAre(std::to_string(Traces::max_sessions)));
  EXPECT_TRUE(rows("SELECT * FROM system_traces.events WHERE session_id = " + first).empty());
  EXPECT_EQ(rows("SELECT * FROM system_traces.events WHERE session_id = " + last).size(), 1u);
}

TEST_F(TracesTest, LongTracesAreTruncated) {
  RequestTrace trace = begin(std::string(1u << 20, 'x'));
  EXPECT_EQ(trace.start().parameters.at("query").size(), RequestTrace::max_text + 3);
  for (size_t i = 0; i < 2 * RequestTrace::max_steps; ++i) trace.step(std::string(100'000, 'y'));
  ASSERT_EQ(trace.steps().size(), RequestTrace::max_steps);
  EXPECT_EQ(trace.steps()[0].activity.size(), RequestTrace::max_text + 3);
  EXPECT_EQ(trace.steps().back().activity, "Further steps are omitted");
}

}  // namespace
}  // namespace sibyl::engine
