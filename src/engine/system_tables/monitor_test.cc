// Tables of system_views about the store, and guardrails on disk usage.
#include <gmock/gmock.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/spdlog.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "base/test_directory.h"
#include "engine/maintenance/compact.h"
#include "engine/maintenance/disk_usage.h"
#include "engine/statistics/recent_rate.h"
#include "engine/system_tables/monitor_rows.h"
#include "engine/test_result.h"
#include "storage/internals.h"
#include "types/value.h"

namespace sibyl::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class MonitorTest : public testing::Test {
 protected:
  void open(plan::Guardrails guardrails = {}) {
    engine_.reset();
    Options options;
    options.data = directory_.path() + "/data";
    options.guardrails = guardrails;
    options.settings = {{"log_format", "json"}};
    auto opened = Engine::open(options);
    ASSERT_TRUE(opened) << opened.error().text();
    engine_ = std::move(*opened);
  }
  base::Result<execute::ResultSet> run(const std::string& text) { return run_text(*engine_, text, ""); }
  // Returns the values of a result with one column.
  std::vector<std::string> column(const std::string& query) {
    const auto result = run(query);
    EXPECT_TRUE(result) << result.error().text();
    std::vector<std::string> values;
    for (const auto& row : values_of(*result)) values.emplace_back(row[0].value_or("null"));
    return values;
  }
  void make_table() {
    ASSERT_TRUE(
        run("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"));
    ASSERT_TRUE(run("CREATE TABLE k.t (a int PRIMARY KEY, b blob)"));
  }

  const base::TemporaryDirectory directory_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(MonitorTest, shows_caches_files_and_settings) {
  open();
  make_table();
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(run("INSERT INTO k.t (a, b) VALUES (" + std::to_string(i) + ", 0xcafe)"));
  ASSERT_TRUE(engine_->flush());
  ASSERT_TRUE(compact(*engine_, "k.t"));
  EXPECT_TRUE(compact(*engine_, "k"));
  EXPECT_THAT(compact(*engine_, "k.none").error().message(), HasSubstr("does not exist"));
  EXPECT_THAT(compact(*engine_, "none").error().message(), HasSubstr("does not exist"));
  ASSERT_TRUE(run("SELECT * FROM k.t WHERE a = 5"));
  const storage::StoreStatistics found = engine_->store().statistics();
  EXPECT_GE(found.flushes, 1u);
  EXPECT_GE(found.compactions, 1u);
  EXPECT_GE(found.files, 1u);
  EXPECT_GE(found.cache_hits + found.cache_misses, 1u);
  EXPECT_EQ(found.group_commits.sum, found.commits);
  EXPECT_EQ(found.sync_micros.count, found.commit_groups);
  EXPECT_THAT(column("SELECT name FROM system_views.caches"), UnorderedElementsAre("chunks", "rows"));
  const uint64_t entries = dynamic_cast<const storage::Internals&>(engine_->store()).cache_entries();
  EXPECT_GE(entries, 1u);
  EXPECT_LE(entries, found.cache_misses + 1);  // RocksDB also caches some blocks of its own
  EXPECT_THAT(column("SELECT entry_count FROM system_views.caches WHERE name = 'chunks'"),
              ElementsAre(types::encode_int32(static_cast<int32_t>(entries))));
  EXPECT_EQ(column("SELECT mebibytes FROM system_views.max_sstable_size").size(), 1u);
  EXPECT_THAT(column("SELECT value FROM system_views.settings WHERE name = 'log_format'"),
              ElementsAre("json"));
  EXPECT_THAT(column("SELECT rack FROM system_views.gossip_info"), ElementsAre("rack1"));
  EXPECT_TRUE(column("SELECT address FROM system_views.internode_inbound").empty());
}

TEST(CacheRow, fills_all_columns) {
  const SystemRow row =
      cache_row({.entries = 7, .hits = 30, .misses = 10, .hits_per_second = 2.9, .requests_per_second = 4.1});
  const std::map<std::string, Bytes> values(row.begin(), row.end());
  EXPECT_EQ(values.size(), 9u);  // all columns
  EXPECT_EQ(values.at("entry_count"), types::encode_int32(7));
  EXPECT_EQ(values.at("hit_ratio"), types::encode_double(0.75));
  EXPECT_EQ(values.at("recent_hit_rate_per_second"), types::encode_int64(2));
  EXPECT_EQ(values.at("recent_request_rate_per_second"), types::encode_int64(4));
}

TEST(RecentRate, old_events_fade) {
  using std::chrono::seconds;
  const RecentRate::Time start;
  RecentRate rate(start);
  EXPECT_EQ(rate.per_second(), 0);
  rate.update(600, start + seconds(60));
  EXPECT_DOUBLE_EQ(rate.per_second(), 10);
  rate.update(600, start + seconds(60));  // the time has not advanced
  EXPECT_DOUBLE_EQ(rate.per_second(), 10);
  // Nothing more happens. However often the counter is sampled, 1/e of the rate is left after fifteen
  // minutes.
  RecentRate often = rate;
  rate.update(600, start + seconds(60 + 900));
  for (int i = 1; i <= 15; ++i) often.update(600, start + seconds(60 + 60 * i));
  EXPECT_NEAR(rate.per_second(), 10 / std::exp(1), 1e-9);
  EXPECT_NEAR(often.per_second(), rate.per_second(), 1e-9);
}

TEST_F(MonitorTest, writes_get_warnings_and_errors_when_the_disk_is_full) {
  plan::Guardrails guardrails;
  guardrails.data_disk_usage_percentage = {.warn = 1, .fail = -1};
  guardrails.data_disk_usage_max_disk_size = 1 << 20;
  open(guardrails);
  make_table();
  ASSERT_TRUE(run("INSERT INTO k.t (a, b) VALUES (1, 0x00)"));
  std::string blob(200'000, '0');
  ASSERT_TRUE(run("INSERT INTO k.t (a, b) VALUES (2, 0x" + blob + ")"));
  open(guardrails);
  const auto warned = run("INSERT INTO k.t (a, b) VALUES (3, 0x00)");
  ASSERT_TRUE(warned) << warned.error().text();
  EXPECT_THAT(
      warned->warnings,
      ElementsAre("Guardrail replica_disk_usage violated: Replica disk usage exceeds warning threshold"));
  guardrails.data_disk_usage_percentage = {.warn = 1, .fail = 2};
  open(guardrails);
  EXPECT_EQ(run("DELETE FROM k.t WHERE a = 1").error().message(),
            "Guardrail replica_disk_usage violated: Write request failed because disk usage exceeds failure "
            "threshold");
  EXPECT_TRUE(run("SELECT * FROM k.t WHERE a = 1"));
  EXPECT_TRUE(run("TRUNCATE k.t"));
}

TEST_F(MonitorTest, large_partitions_are_listed_and_logged) {
  plan::Guardrails guardrails;
  guardrails.partition_size = {.warn = 100'000, .fail = -1};
  const auto log = std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(16);
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", log));
  open(guardrails);
  make_table();
  const std::string blob(1 << 20, '0');
  ASSERT_TRUE(run("INSERT INTO k.t (a, b) VALUES (2, 0x" + blob + ")"));
  ASSERT_TRUE(run("INSERT INTO k.t (a, b) VALUES (3, 0x00)"));
  ASSERT_TRUE(engine_->flush());
  spdlog::set_default_logger(before);
  const std::vector<std::string> lines = log->last_formatted();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("Guardrail partition_size violated: Partition k.t token "));
  EXPECT_THAT(lines[0], HasSubstr("key 2 has size 5243"));
  EXPECT_THAT(lines[0], HasSubstr("this exceeds the warning threshold of 100000."));
  open();
  EXPECT_THAT(column("SELECT mebibytes FROM system_views.max_partition_size WHERE keyspace_name = 'k' AND "
                     "table_name = 't'"),
              ElementsAre(types::encode_int64(1)));
}

TEST_F(MonitorTest, functions_and_views_may_be_switched_off) {
  plan::Guardrails guardrails;
  guardrails.user_defined_functions_enabled = guardrails.materialized_views_enabled = false;
  open(guardrails);
  make_table();
  EXPECT_EQ(
      run("CREATE FUNCTION k.f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS 'return 1'")
          .error()
          .message(),
      "User-defined functions are disabled in cassandra.yaml - set user_defined_functions_enabled=true to "
      "enable");
  EXPECT_EQ(
      run("CREATE MATERIALIZED VIEW k.v AS SELECT * FROM k.t WHERE a IS NOT NULL AND b IS NOT NULL PRIMARY "
          "KEY (b, a)")
          .error()
          .message(),
      "Materialized views are disabled. Enable in cassandra.yaml to use.");
}

}  // namespace
}  // namespace sibyl::engine
