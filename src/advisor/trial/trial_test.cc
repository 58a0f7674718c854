// Loads and runs designs and suggestions: they work as described, and all copies stay consistent.
#include "advisor/trial/trial.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cmath>
#include <map>

#include "advisor/report/measurement_json.h"
#include "advisor/review/test_review.h"
#include "advisor/trial/measurement.h"
#include "advisor/trial/session_test.h"

namespace sibyl::advisor {
namespace {

template <typename T>
T must(base::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text());
  return std::move(*result);
}

// A design, and a database with its tables and rows.
struct LoadedDesign {
  explicit LoadedDesign(const Workload& workload, const DesignOptions& options = {})
      : design(must(design_tables(workload, options))),
        trial(must(make_trial(workload, design, {}, options.complete_schema))),
        connection(trial) {
    load(trial, connection);
  }

  Design design;
  Trial trial;
  TestConnection connection;
};

// All tables that hold an entity's key and another of its fields must agree on the value of that field.
void expect_copies_agree(const Workload& workload, const Design& design, TestConnection& connection) {
  struct Said {
    std::optional<base::Bytes> value;
    std::string table;
  };
  std::map<std::tuple<size_t, size_t, base::Bytes>, Said> known;
  size_t compared = 0;
  for (const DesignedTable& table : design.tables) {
    const Layout& layout = table.layout;
    std::vector<std::string> names;
    for (const auto& [field, name] : table.columns) names.push_back("\"" + name + "\"");
    for (const Cells& row :
         connection.query(fmt::format("SELECT {} FROM \"{}\"", fmt::join(names, ", "), layout.name))) {
      for (size_t key = 0; key < table.columns.size(); ++key) {
        const FieldReference of = table.columns[key].first;
        const size_t entity = layout.graph.nodes()[of.node].entity;
        if (of.field != workload.model.entities[entity].key || !row[key]) continue;
        for (size_t other = 0; other < table.columns.size(); ++other) {
          if (other == key || table.columns[other].first.node != of.node) continue;
          const auto [place, added] = known.try_emplace({entity, table.columns[other].first.field, *row[key]},
                                                        Said{row[other], layout.name});
          compared += added ? 0 : 1;
          ASSERT_EQ(place->second.value, row[other]) << layout.name << " and " << place->second.table
                                                     << " differ in " << table.columns[other].second;
        }
      }
    }
  }
  EXPECT_GT(compared, 100u);
}

TEST(TrialTest, MaintenanceKeepsRubisCopiesConsistent) {
  const Workload workload = scaled(read_example("rubis.cql"), 0.02);
  DesignOptions options;
  options.mix = "bidding";
  options.seconds = 60;
  for (const char* schema : {"", "normalised", "expert"}) {
    options.complete_schema = schema;
    LoadedDesign loaded(workload, options);
    auto& [design, trial, connection] = loaded;
    run_all(trial, connection, 20);
    expect_copies_agree(workload, design, connection);
    double predicted = 0;
    for (const Operation& operation : trial.operations)
      predicted += operation.weight * operation.work->cost({});
    EXPECT_NEAR(predicted, design.total(), 1e-9 * predicted) << schema;
  }
}

TEST(TrialTest, MaintenanceOfManyToManyRelationships) {
  const Workload workload = scaled(read_example("shop.cql"), 0.01);
  LoadedDesign loaded(workload);
  auto& [design, trial, connection] = loaded;
  run_all(trial, connection, 50);
  expect_copies_agree(workload, design, connection);
}

// Sellers and categories follow a Zipf distribution; stored partitions stay below the target.
TEST(TrialTest, SkewedPartitionsAreStoredBelowTheirTarget) {
  Workload workload = scaled(read_example("rubis.cql"), 0.1);
  for (Relationship& relationship : workload.model.relationships) {
    if (relationship.role == "seller" || relationship.role == "category") relationship.zipf = 1;
  }
  workload.target.partition_bytes = 20'000;
  DesignOptions options;
  options.mix = "bidding";
  options.seconds = 60;
  LoadedDesign loaded(workload, options);
  auto& [design, trial, connection] = loaded;
  bool split = false;
  std::string hot;
  for (const DesignedTable& table : design.tables) {
    EXPECT_LE(table.largest_partition_bytes, 20'000) << table.definition;
    EXPECT_LE(connection.largest_partition(table.layout.name), 20'000) << table.definition;
    split = split || table.layout.buckets > 1;
    if (!table.hot_column.empty()) hot += table.hot_column + " ";
  }
  EXPECT_TRUE(split);
  EXPECT_NE(hot.find("seller_id"), std::string::npos) << hot;
  EXPECT_NE(hot.find("category_id"), std::string::npos) << hot;
  run_all(trial, connection, 5);
  expect_copies_agree(workload, design, connection);
}

// The sizes that a design predicts match the sizes after loading.
TEST(TrialTest, DesignsPredictStoredSizes) {
  std::vector<double> errors;
  for (const char* example : {"rubis.cql", "shop.cql"}) {
    const Workload workload = scaled(read_example(example), 0.03);
    DesignOptions options;
    options.seconds = 60;
    LoadedDesign loaded(workload, options);
    auto& [design, trial, connection] = loaded;
    for (const DesignedTable& table : design.tables) {
      const double stored = connection.bytes(Trial::trial_keyspace, table.layout.name);
      errors.push_back(std::abs(table.bytes / stored - 1));
      EXPECT_LE(errors.back(), 0.3) << table.bytes << " of " << stored << ": " << table.definition;
    }
  }
  std::sort(errors.begin(), errors.end());
  EXPECT_LE(errors[errors.size() / 2], 0.15);
}

// If a key is spread over buckets, its newest rows may be in any of them. Each bucket is read up to the
// limit, and the client merges the results.
TEST(TrialTest, RowsOfBucketsAreMerged) {
  const Workload workload = workload_of(R"(
-- @entity users count=20 (id uuid key)
-- @entity posts count=20k (id uuid key, body text size=60, at timestamp)
-- @rel posts.author -> users.posts
-- @query wall SELECT posts.* FROM posts WHERE posts.author = :u ORDER BY at DESC LIMIT 20
-- @target partition=30kB
)");
  LoadedDesign loaded(workload);
  auto& [design, trial, connection] = loaded;
  const std::vector<PlannedStep>& steps = design.statements.at(0).steps;
  const double buckets = design.tables.at(0).layout.buckets;
  ASSERT_GT(buckets, 2);
  ASSERT_EQ(steps.size(), 2u) << render_text(design);
  EXPECT_EQ(steps[0].partitions, buckets);
  EXPECT_EQ(steps[0].rows, 20 * buckets);
  EXPECT_EQ(steps[1].kind, PlannedStep::Kind::client);
  EXPECT_EQ(steps[1].cql, "merge the rows of all buckets by at DESC and keep the first 20");
  EXPECT_EQ(steps[1].keep, 20);
  EXPECT_NEAR(design.statements[0].cost, CostModel().read(buckets, 20 * buckets), 1e-12);
  connection.requests = connection.rows = 0;
  run_all(trial, connection, 50);
  EXPECT_EQ(static_cast<double>(connection.requests), 50 * buckets);
  EXPECT_EQ(static_cast<double>(connection.rows), 50 * steps[0].rows) << "as many as predicted";
}

TEST(TrialTest, CountersAndLargeValuesOfADesignAreRun) {
  const Workload workload = workload_of(R"(
-- @entity posts count=40 (id uuid key, body text, likes counter, photo blob size=1MB)
-- @query page SELECT posts.* FROM posts WHERE posts.id = :post
-- @write like UPDATE posts SET likes = likes + 1 WHERE id = :post
-- @write post INSERT INTO posts (id, body, photo) VALUES (:id, :body, :photo)
)");
  LoadedDesign loaded(workload);
  auto& [design, trial, connection] = loaded;
  ASSERT_EQ(design.tables.size(), 3u) << render_text(design);
  EXPECT_EQ(connection.query("SELECT id FROM posts_counters").size(), 40u);
  EXPECT_EQ(connection.query("SELECT id FROM posts_photo").size(), 40u);
  run_all(trial, connection, 5);
  EXPECT_EQ(connection.query("SELECT id FROM posts_photo").size(), 45u);
}

// Periods are written and read as designed, and the number of reads is as predicted.
TEST(TrialTest, PeriodsOfADesignAreRead) {
  const Workload workload = scaled(workload_of(R"(
-- @entity riders count=1000 (card text key size=10)
-- @entity trips count=1M (id timeuuid key, started timestamp, minutes int)
-- @rel trips.rider -> riders.trips
-- @query history rate=40/s
--   SELECT trips.* FROM trips WHERE trips.rider = :card ORDER BY started DESC LIMIT 100
-- @write ride rate=100/s
--   INSERT INTO trips (id, started, minutes, rider) VALUES (:trip, :at, :minutes, :card)
-- @target partition=30kB horizon=5y
)"),
                                   0.02);
  LoadedDesign loaded(workload);
  auto& [design, trial, connection] = loaded;
  ASSERT_EQ(design.tables.size(), 1u) << render_text(design);
  ASSERT_TRUE(design.tables[0].layout.period.has_value()) << render_text(design);
  EXPECT_LE(connection.largest_partition(design.tables[0].layout.name), 30'000);
  Random random(7);
  const double predicted = design.statements[0].steps[0].partitions;
  EXPECT_GT(predicted, 1.2);
  connection.requests = 0;
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(trial.operations[0].run(connection, random));
  // A range, because a period may have just begun or be about to end.
  EXPECT_GE(static_cast<double>(connection.requests) / 200, std::floor(predicted));
  EXPECT_LE(static_cast<double>(connection.requests) / 200, std::ceil(predicted) + 0.2);
  run_all(trial, connection, 20);
}

std::vector<Trial> trials_of(const std::string& text, double scale) {
  const auto workload = parse_workload(text, "test.cql");
  EXPECT_TRUE(workload.has_value()) << workload.error().text();
  auto trials = make_trials({*workload}, {scale, 1});
  EXPECT_TRUE(trials.has_value()) << trials.error().text();
  return trials ? std::move(*trials) : std::vector<Trial>();
}

TEST(TrialTest, TableReplacesAScan) {
  const std::vector<Trial> trials = trials_of(R"(
CREATE TABLE people (id uuid PRIMARY KEY, city text, age int);
-- @table people rows=1M
-- @column people.city distinct=1000
-- @query by_city rate=10/s
SELECT * FROM people WHERE city = ? ALLOW FILTERING;
-- @write join rate=5/s
INSERT INTO people (id, city, age) VALUES (:id, :town, :age);
-- @write leave rate=1/s
DELETE FROM people WHERE id = ?;
)",
                                              0.002);
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[0].name, "given");
  EXPECT_EQ(trials[1].name, "suggested");
  std::vector<size_t> requests;
  for (const Trial& trial : trials) {
    TestConnection connection(trial);
    load(trial, connection);
    EXPECT_EQ(connection.query("SELECT * FROM people").size(), 2000u);
    if (&trial == &trials[1]) {
      EXPECT_EQ(connection.query("SELECT * FROM people_by_city").size(), 2000u);
    }
    connection.requests = 0;
    run_all(trial, connection, 10);
    requests.push_back(connection.requests);
  }
  // An insert adds one write; a delete adds a look-up and a delete.
  EXPECT_EQ(requests[0], 30u);
  EXPECT_EQ(requests[1], 60u);
  const auto cost = [&](size_t trial, size_t operation) {
    return trials[trial].operations[operation].work->cost({});
  };
  EXPECT_GT(cost(0, 0), 10 * cost(1, 0));
  // A scan looks up one partition and passes the others.
  EXPECT_EQ(trials[0].operations[0].work->partitions, 1);
  EXPECT_EQ(trials[0].operations[0].work->scanned, 1999);
  EXPECT_LT(cost(0, 1), cost(1, 1));
}

// With random arrival, reading the newest ten rows from four-day buckets takes 1.83 reads on average. Here
// rows arrive evenly, so a read takes 1 + 10 / 12.
TEST(TrialTest, TimeBucketsAreReadBackwards) {
  const std::vector<Trial> trials = trials_of(R"(
CREATE TABLE joins (groupname text, joined timeuuid, username text, PRIMARY KEY (groupname, joined))
  WITH CLUSTERING ORDER BY (joined DESC);
-- @table joins rows=1M partitions=1000 growth=3000/d row=100
-- @target partition=150kB horizon=3y
-- @query newest rate=100/s
SELECT * FROM joins WHERE groupname = ? LIMIT 10;
)",
                                              0.01);
  ASSERT_EQ(trials.size(), 2u);
  TestConnection connection(trials[1]);
  load(trials[1], connection);
  connection.requests = 0;
  run_all(trials[1], connection, 300);
  EXPECT_NEAR(static_cast<double>(connection.requests) / 300, 1.83, 0.3);
}

// Partitions are too large to load. Rows have the declared distance in time, so a read needs as many buckets
// as it would with all rows.
TEST(TrialTest, BucketsOfLargePartitionsAreReadAsPredicted) {
  const std::vector<Trial> trials = trials_of(R"(
CREATE TABLE logs (svc text, at timeuuid, line text, PRIMARY KEY (svc, at)) WITH CLUSTERING ORDER BY (at DESC);
-- @table logs rows=600M partitions=100 growth=1000/s row=200
-- @target partition=200kB
-- @query tail rate=50/s
SELECT * FROM logs WHERE svc = ? LIMIT 500;
)",
                                              0.00005);
  ASSERT_EQ(trials.size(), 2u);
  const Operation& tail = trials[1].operations.at(0);
  ASSERT_TRUE(tail.requests.has_value());
  TestConnection connection(trials[1]);
  load(trials[1], connection);
  EXPECT_EQ(connection.query("SELECT DISTINCT svc, bucket FROM logs").size() > 20, true);
  connection.requests = 0;
  run_all(trials[1], connection, 200);
  EXPECT_GT(*tail.requests, 1.2);
  EXPECT_NEAR(static_cast<double>(connection.requests) / 200, *tail.requests, 0.25 * *tail.requests);
}

// The data contain the literals of statements, and requests are about rows that match them.
TEST(TrialTest, LiteralsOfStatementsAreFound) {
  const std::vector<Trial> trials = trials_of(R"(
CREATE TABLE jobs (shard int, state text, due timestamp, id uuid, payload text, PRIMARY KEY ((shard, state), due, id));
-- @table jobs rows=5000
-- @column jobs.shard distinct=16
-- @query due rate=16/s
SELECT * FROM jobs WHERE shard = ? AND state = 'ready' AND due <= ? LIMIT 10;
-- @query one rate=1/s
SELECT * FROM jobs WHERE shard = ? AND state IN ('ready', 'running') AND due = ? AND id = ?;
)",
                                              1);
  TestConnection connection(trials[0]);
  load(trials[0], connection);
  EXPECT_GT(connection.query("SELECT * FROM jobs WHERE state = 'ready' ALLOW FILTERING").size(), 50u);
  connection.requests = connection.rows = 0;
  run_all(trials[0], connection, 50);
  EXPECT_GT(connection.rows, connection.requests);
}

// Runs fixes that change a column's type, add two columns, or use an existing table. For others, the reason
// why they are not run is reported.
TEST(TrialTest, FixesAreRunOrTheReasonIsReported) {
  const std::vector<Trial> collision = trials_of(R"(
CREATE TABLE user_events (name text, created_at timestamp, event_type text, PRIMARY KEY (name, created_at));
-- @table user_events rows=1M partitions=1000 growth=50/s retention=1d
-- @query events rate=1/s
SELECT * FROM user_events WHERE name = ? AND created_at >= ?;
-- @write add rate=50/s
INSERT INTO user_events (name, created_at, event_type) VALUES (?, ?, ?);
)",
                                                 0.002);
  ASSERT_EQ(collision.size(), 2u);
  TestConnection events(collision[1]);
  load(collision[1], events);
  run_all(collision[1], events, 20);
  EXPECT_FALSE(events.query("SELECT toTimestamp(created_at) FROM user_events LIMIT 1").empty());

  const std::vector<Trial> served = trials_of(R"(
CREATE TABLE people (id uuid PRIMARY KEY, city text);
CREATE TABLE people_by_city (city text, id uuid, PRIMARY KEY (city, id));
-- @table people rows=20k
-- @table people_by_city rows=20k partitions=100
-- @column people.city distinct=100
-- @query by_city rate=10/s
SELECT * FROM people WHERE city = ? ALLOW FILTERING;
-- @query there rate=1/s
SELECT * FROM people_by_city WHERE city = ?;
)",
                                              0.1);
  ASSERT_EQ(served.size(), 2u);
  EXPECT_EQ(served[1].definitions.size(), served[0].definitions.size());
  TestConnection cities(served[1]);
  load(served[1], cities);
  run_all(served[1], cities, 5);
  const auto statements = [](const Trial& trial) {
    std::string all;
    for (const Trial::Text& one : trial.statements) all += one.text + "\n";
    return all;
  };
  EXPECT_NE(statements(served[0]).find("ALLOW FILTERING"), std::string::npos);
  EXPECT_EQ(statements(served[1]).find("ALLOW FILTERING"), std::string::npos) << statements(served[1]);

  const std::vector<Trial> mixed = trials_of(R"(
CREATE TABLE pages (id uuid PRIMARY KEY, views counter, title text);
CREATE TABLE titles (id uuid PRIMARY KEY, title text);
-- @query title
SELECT * FROM titles WHERE id = ?;
)",
                                             0.1);
  EXPECT_EQ(mixed[0].notes.at(1), "COUNTER_MIX pages: its fix is not run: it needs several tables");
}

TEST(TrialTest, AllHashPrefixesAreRead) {
  const std::vector<Trial> trials = trials_of(R"(
CREATE TABLE members (groupname text, username text, email text, PRIMARY KEY (groupname, username));
-- @table members rows=2M partitions=2
-- @target partition=20MB horizon=1d
-- @query all rate=1/s
SELECT * FROM members WHERE groupname = ?;
-- @write join rate=10/d
INSERT INTO members (groupname, username, email) VALUES (?, ?, ?);
)",
                                              0.001);
  ASSERT_EQ(trials.size(), 2u);
  TestConnection connection(trials[1]);
  load(trials[1], connection);
  const size_t rows = connection.query("SELECT * FROM members").size();
  EXPECT_EQ(rows, 2000u);
  run_all(trials[1], connection, 10);
  EXPECT_EQ(connection.query("SELECT * FROM members").size(), 2010u);
  EXPECT_GT(connection.query("SELECT DISTINCT groupname, hash_prefix FROM members").size(), 2u);
}

// A LIMIT applies to every prefix, and the prediction accounts for it.
TEST(TrialTest, LimitsApplyToEveryPrefix) {
  const std::vector<Trial> trials = trials_of(R"(
CREATE TABLE ticks (symbol text, at timeuuid, price double, PRIMARY KEY (symbol, at))
  WITH CLUSTERING ORDER BY (at DESC);
-- @table ticks rows=100M partitions=100 growth=50000/s row=60 skew=zipf(1.0)
-- @query last rate=500/s
SELECT * FROM ticks WHERE symbol = ? LIMIT 100;
)",
                                              0.003);
  ASSERT_EQ(trials.size(), 2u);
  TestConnection connection(trials[1]);
  load(trials[1], connection);
  const Operation& last = trials[1].operations.at(0);
  EXPECT_NEAR(last.work->partitions, 10, 0.5);
  EXPECT_EQ(last.work->rows, 1000);
  connection.requests = connection.rows = 0;
  Random random(1);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(last.run(connection, random));
  EXPECT_EQ(static_cast<double>(connection.rows), 20 * *last.rows);
}

// The fit recovers the constants that generated the measurements.
TEST(MeasurementTest, ConstantsAreFitted) {
  CostModel truth;
  truth.lookup = truth.sort = 0;
  truth.partition = 7;
  truth.row = 0.5;
  truth.insert = 9;
  truth.remove = 4;
  truth.scanned = 0.25;
  truth.tombstone = 0.125;
  const Trial calibration = make_calibration(1);
  MeasuredTrial measured;
  for (const Operation& operation : calibration.operations) {
    MeasuredOperation one;
    one.name = operation.name;
    one.work = operation.work;
    one.cpu.value = operation.work->cost(truth);
    measured.operations.push_back(one);
  }
  const CostModel fitted = fit_constants(measured);
  EXPECT_NEAR(fitted.partition, 7, 1e-9);
  EXPECT_NEAR(fitted.row, 0.5, 1e-9);
  EXPECT_NEAR(fitted.insert, 9, 1e-9);
  EXPECT_NEAR(fitted.remove, 4, 1e-9);
  EXPECT_NEAR(fitted.scanned, 0.25, 1e-9);
  EXPECT_NEAR(fitted.tombstone, 0.125, 1e-9);
  TestConnection connection(calibration);
  load(calibration, connection);
  connection.reset();
  run_all(calibration, connection, 3);
  double predicted = 0;
  for (const Operation& operation : calibration.operations) predicted += 3 * operation.work->tombstones;
  EXPECT_EQ(static_cast<double>(connection.tombstones_read), predicted);
}

TEST(MeasurementTest, MeansAndOrders) {
  const Mean mean = mean_of({9, 10, 11});
  EXPECT_DOUBLE_EQ(mean.value, 10);
  EXPECT_NEAR(mean.margin, 4.303 / std::sqrt(3), 1e-9);
  EXPECT_EQ(mean_of({5}).margin, 0);
  Measurement measurement;
  const auto add = [&](const char* name, double predicted, double cpu) {
    MeasuredOperation operation;
    operation.name = "q";
    operation.weight = 2;
    operation.work = Work{predicted / CostModel().lookup, 0, 0, 0, 0, 0};
    operation.cpu = {cpu, 1};
    measurement.trials.push_back({name, 10, 1, {operation}, {}});
  };
  add("a", 1, 100);
  EXPECT_EQ(measurement.order_agrees({}), std::nullopt);
  add("b", 3, 300);
  EXPECT_EQ(measurement.order_agrees({}), true);
  EXPECT_DOUBLE_EQ(measurement.trials[1].cpu().value, 600);
  EXPECT_NE(render_text(measurement, {}).find("3.00x"), std::string::npos);
  add("c", 2, 400);
  EXPECT_EQ(measurement.order_agrees({}), false);
  EXPECT_NE(render_markdown(measurement).find("NOT"), std::string::npos);
  EXPECT_EQ(boost::json::value_to<bool>(measurement_json(&measurement).at("order_agrees")), false);
}

}  // namespace
}  // namespace sibyl::advisor
