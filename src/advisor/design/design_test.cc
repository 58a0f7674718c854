#include "advisor/design/design.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include <sibyl/sibyl.h>

#include "advisor/review/test_review.h"

namespace sibyl::advisor {
namespace {

Design design(const Workload& workload, const DesignOptions& options) {
  auto design = design_tables(workload, options);
  EXPECT_TRUE(design) << design.error().text();
  return design ? std::move(*design) : Design{};
}

// The engine must accept the definitions and prepare every statement.
void expect_runs(const Design& design) {
  auto database = Database::open(":memory:");
  ASSERT_TRUE(database) << database.error().text();
  ASSERT_TRUE(database->execute(
      "CREATE KEYSPACE d WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"));
  Session session = database->session("d");
  for (const DesignedTable& table : design.tables) {
    const auto made = session.execute(table.definition);
    EXPECT_TRUE(made) << table.definition << "\n" << made.error().text();
  }
  for (const PlannedStatement& statement : design.statements) {
    for (const PlannedStep& step : statement.steps) {
      if (step.kind == PlannedStep::Kind::client) continue;
      const auto prepared = session.prepare(step.cql);
      EXPECT_TRUE(prepared) << statement.name << ": " << step.cql << "\n" << prepared.error().text();
    }
  }
}

const PlannedStatement& find(const Design& design, const std::string& name) {
  for (const PlannedStatement& statement : design.statements) {
    if (statement.name == name) return statement;
  }
  ADD_FAILURE() << "no statement " << name;
  static const PlannedStatement none;
  return none;
}

TEST(ShopTest, FourTablesAndOnePartitionPerQuery) {
  const Design shop = design(read_example("shop.cql"), {});
  EXPECT_LE(shop.tables.size(), 4u) << render_text(shop);
  for (const PlannedStatement& statement : shop.statements) {
    if (!statement.query) continue;
    ASSERT_EQ(statement.steps.size(), 1u) << render_text(shop);
    EXPECT_EQ(statement.steps[0].partitions, 1);
  }
  EXPECT_TRUE(shop.proven);
  expect_runs(shop);
}

TEST(ShopTest, NewestFirstAndQueriesWithoutEquality) {
  const auto workload = parse_workload(R"(
-- @entity users count=1M (id uuid key, name text, joined timestamp)
-- @entity groups count=1k (id uuid key, name text)
-- @rel users.group -> groups.users
-- @query newest SELECT users.* FROM users WHERE users.group = :g ORDER BY joined DESC LIMIT 10
-- @query all_groups SELECT groups.* FROM groups
-- @write join INSERT INTO users (id, name, joined, group) VALUES (?, ?, ?, ?)
-- @write move UPDATE users SET group = :g WHERE id = :u
-- @write leave DELETE FROM users WHERE id = ?
)",
                                       "groups.cql");
  ASSERT_TRUE(workload) << workload.error().text();
  const Design groups = design(*workload, {});
  const PlannedStatement& newest = find(groups, "newest");
  ASSERT_EQ(newest.steps.size(), 1u) << render_text(groups);
  EXPECT_EQ(newest.steps[0].rows, 10);
  EXPECT_THAT(groups.tables[newest.steps[0].table].definition, testing::HasSubstr("joined DESC"));
  EXPECT_THAT(newest.steps[0].cql, testing::Not(testing::HasSubstr("ORDER BY")));
  // Moving a user looks up the group and date of the old row, deletes that row and writes the new one.
  const PlannedStatement& move = find(groups, "move");
  std::vector<PlannedStep::Kind> kinds;
  for (const PlannedStep& step : move.steps) kinds.push_back(step.kind);
  EXPECT_THAT(kinds, testing::Contains(PlannedStep::Kind::remove)) << render_text(groups);
  EXPECT_THAT(kinds, testing::Contains(PlannedStep::Kind::insert));
  EXPECT_THAT(kinds, testing::Contains(PlannedStep::Kind::read));
  expect_runs(groups);
}

TEST(ShopTest, PartitionsStayBelowTheirTarget) {
  auto workload = parse_workload(R"(
-- @entity users count=1M (id uuid key, name text size=84)
-- @entity groups count=1k (id uuid key)
-- @rel users.group -> groups.users skew=zipf(1)
-- @query members rate=10/s SELECT users.* FROM users WHERE users.group = :g
-- @write join rate=1/s INSERT INTO users (id, name, group) VALUES (?, ?, ?)
-- @target partition=1MB horizon=1h
)",
                                 "groups.cql");
  ASSERT_TRUE(workload) << workload.error().text();
  const Design groups = design(*workload, {});
  ASSERT_EQ(groups.tables.size(), 1u);
  // The largest group has 1M / H(1000) = 133,600 users of at least 116 bytes each.
  EXPECT_GE(groups.tables[0].layout.buckets, 20) << "as bytes are stored, with room for uneven buckets";
  EXPECT_LE(groups.tables[0].layout.buckets, 25);
  EXPECT_LE(groups.tables[0].largest_partition_bytes, 1e6);
  EXPECT_EQ(find(groups, "members").steps[0].partitions, groups.tables[0].layout.buckets);
  expect_runs(groups);

  workload->target.partition_bytes = 50;
  const auto impossible = design_tables(*workload, {});
  ASSERT_FALSE(impossible);
  EXPECT_THAT(impossible.error().message(), testing::HasSubstr("'members'"));
}

constexpr const char* rides = R"(
-- @entity riders count=1000 (card text key size=10, name text size=24)
-- @entity trips count=100k {} (id timeuuid key, started timestamp, minutes int)
-- @rel trips.rider -> riders.trips
-- @query history rate=40/s
--   SELECT trips.* FROM trips WHERE trips.rider = :card ORDER BY started DESC LIMIT 10
-- @query since rate=1/d
--   SELECT trips.* FROM trips WHERE trips.rider = :card AND trips.started >= :since
-- @write ride {}
--   INSERT INTO trips (id, started, minutes, rider) VALUES (:trip, :at, :minutes, :card)
-- @target partition=100kB horizon=5y
)";

Workload rides_with(const char* entity, const char* write) {
  return workload_of(fmt::format(fmt::runtime(rides), entity, write));
}

// Each rider gets 0.1 rows per second: 16M rows in five years, 1,000 now.
TEST(ShopTest, PartitionsStayBelowTheirTargetUntilTheHorizon) {
  const Workload workload = rides_with("", "rate=100/s");
  const Design design_of_rides = design(workload, {});
  const std::string text = render_text(design_of_rides);
  EXPECT_EQ(design_of_rides.horizon, 5 * 365 * 86400.0);
  EXPECT_GT(design_of_rides.horizon_bytes, 1e12) << text;
  bool periods = false;
  for (const DesignedTable& table : design_of_rides.tables) {
    EXPECT_LE(table.largest_partition_bytes, 100e3) << text;
    periods = periods || table.layout.period;
    if (!table.layout.period) continue;
    EXPECT_NEAR(table.layout.period->rows, 0.1 * table.layout.period->seconds, 1) << text;
    EXPECT_NE(table.definition.find("PRIMARY KEY ((rider_card, period), started, id)"), std::string::npos)
        << text;
  }
  EXPECT_TRUE(periods) << text;
  const PlannedStatement& history = find(design_of_rides, "history");
  ASSERT_EQ(history.steps.size(), 2u) << text;
  EXPECT_LT(history.steps[0].partitions, 1.5);
  EXPECT_NE(history.steps[0].note.find("from the newest on until there are 10 rows"), std::string::npos);
  EXPECT_EQ(history.steps[1].keep, 10);
  expect_runs(design_of_rides);
}

// Only declared growth counts. Weights of a mix are not rates, entities with a retention of a day do not
// accumulate, and growth can be declared as 0.
TEST(ShopTest, OnlyDeclaredGrowthCounts) {
  for (const auto& [entity, write] : {std::pair("", ""), std::pair("growth=0/s", "rate=100/s")}) {
    const Design unchanged = design(rides_with(entity, write), {});
    EXPECT_EQ(unchanged.horizon, 0);
    EXPECT_EQ(unchanged.bytes, unchanged.horizon_bytes);
    for (const DesignedTable& table : unchanged.tables) {
      EXPECT_FALSE(table.layout.period.has_value());
      EXPECT_LE(table.layout.buckets, 2);
    }
  }
  const Design kept = design(rides_with("growth=1/s retention=1d", ""), {});
  for (const DesignedTable& table : kept.tables) {
    EXPECT_LE(table.horizon_rows, 86400 + 1);
    EXPECT_FALSE(table.layout.period.has_value());
  }
}

TEST(ShopTest, HotKeysAreSpreadByTheirWrites) {
  const auto workload = parse_workload(R"(
-- @entity events count=1M (id timeuuid key, data text size=50)
-- @entity devices count=10 (id uuid key)
-- @rel events.device -> devices.events
-- @query of_device rate=1/s SELECT events.* FROM events WHERE events.device = :d
-- @write add rate=40000/s INSERT INTO events (id, data, device) VALUES (?, ?, ?)
-- @target partition_rate=1000/s
)",
                                       "events.cql");
  ASSERT_TRUE(workload) << workload.error().text();
  const Design events = design(*workload, {});
  ASSERT_EQ(events.tables.size(), 1u);
  EXPECT_EQ(events.tables[0].layout.buckets, 4) << "4,000 writes a second to each device";
}

TEST(ShopTest, SpaceLimitIsMet) {
  const Workload workload = read_example("shop.cql");
  const Design free = design(workload, {});
  DesignOptions tight;
  tight.space_bytes = free.horizon_bytes * 0.7;
  const Design small = design(workload, tight);
  EXPECT_LE(small.horizon_bytes, *tight.space_bytes);
  EXPECT_GT(small.total(), free.total());
  tight.space_bytes = 1000;
  EXPECT_FALSE(design_tables(workload, tight));
}

TEST(ShopTest, EveryStatementOfRubisRuns) {
  DesignOptions options;
  options.mix = "bidding";
  options.seconds = 3;
  expect_runs(design(read_example("rubis.cql"), options));
}

TEST(ShopTest, RendersTextAndMarkdown) {
  const Design shop = design(read_example("shop.cql"), {});
  EXPECT_THAT(render_text(shop), testing::HasSubstr("CREATE TABLE"));
  const boost::json::value parsed = boost::json::parse(render_json(shop));
  EXPECT_EQ(parsed.at("tables").as_array().size(), shop.tables.size());
  EXPECT_EQ(parsed.at("statements").as_array().size(), 8u);
  EXPECT_THAT(design_tables(read_example("shop.cql"), {.mix = "x"}).error().message(),
              testing::HasSubstr("unknown mix 'x'"));
}

// --- Designs are valid

// All definitions and statements of a design.
std::string all_text(const Design& design) {
  std::string text;
  for (const DesignedTable& table : design.tables) text += table.definition + "\n";
  for (const PlannedStatement& statement : design.statements)
    for (const PlannedStep& step : statement.steps) text += statement.name + ": " + step.cql + "\n";
  return text;
}

TEST(ValidDesigns, CountersHaveATableOfTheirOwn) {
  const Workload workload = workload_of(R"(
-- @entity posts count=30k (id uuid key, body text size=200, likes counter, shares counter, created timestamp)
-- @entity users count=400 (id uuid key)
-- @rel posts.author -> users.posts
-- @query page rate=500/s SELECT posts.body, posts.likes FROM posts WHERE posts.id = :post
-- @query of_author rate=20/s
--   SELECT posts.body, posts.likes FROM posts WHERE posts.author = :user ORDER BY posts.created DESC LIMIT 20
-- @write post rate=20/s INSERT INTO posts (id, body, created, author) VALUES (:id, :body, :created, :user)
-- @write like rate=90/s UPDATE posts SET likes = likes + 1 WHERE id = :post
-- @write unshare rate=1/s UPDATE posts SET shares = shares - :n WHERE id = :post
-- @write drop rate=1/s DELETE FROM posts WHERE id = :post
)");
  const Design posts = design(workload, {});
  const std::string text = all_text(posts);
  EXPECT_THAT(text,
              testing::HasSubstr("CREATE TABLE posts_counters (\n  id uuid,\n  likes counter,\n  shares "
                                 "counter,\n  PRIMARY KEY ((id))\n)"));
  EXPECT_THAT(text,
              testing::HasSubstr("like: UPDATE posts_counters SET likes = likes + 1 WHERE id = :post;\n"));
  EXPECT_THAT(text, testing::HasSubstr("unshare: UPDATE posts_counters SET shares = shares - :n WHERE"));
  EXPECT_THAT(text, testing::HasSubstr("drop: DELETE FROM posts_counters WHERE id = :post;"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("INSERT INTO posts_counters")));
  expect_runs(posts);
  // The result does not mix counters with other columns, so it has no finding about that.
  EXPECT_THAT(ids(review_of(print_design(workload, posts))), testing::Not(testing::HasSubstr("COUNTER_MIX")));
  EXPECT_EQ(parse_workload(print_workload(workload), "again")->statements.size(), workload.statements.size());
  EXPECT_THAT(print_workload(workload), testing::HasSubstr("SET shares = shares - :n"));
}

TEST(ValidDesigns, CountersAreNotSet) {
  const auto message = [](const char* statement) {
    const auto workload = parse_workload(
        fmt::format("-- @entity posts count=3 (id uuid key, likes counter)\n-- @write w\n--   {}\n",
                    statement),
        "f.cql");
    return workload ? std::string() : std::string(workload.error().message());
  };
  EXPECT_THAT(message("UPDATE posts SET likes = 1 WHERE id = ?"), testing::HasSubstr("SET likes = likes + "));
  EXPECT_THAT(message("INSERT INTO posts (id, likes) VALUES (?, ?)"), testing::HasSubstr("starts at 0"));
  EXPECT_EQ(message("UPDATE posts SET likes = likes + ? WHERE id = ?"), "");
}

TEST(ValidDesigns, LargeValuesAreStoredInChunks) {
  const Workload workload = workload_of(R"(
-- @entity products count=3k (sku text key, title text, photo blob size=4MB)
-- @query product rate=20/s SELECT products.* FROM products WHERE products.sku = :sku
-- @query title rate=900/s SELECT products.title FROM products WHERE products.sku = :sku
-- @write add rate=1/s INSERT INTO products (sku, title, photo) VALUES (:sku, :title, :photo)
-- @write drop rate=1/d DELETE FROM products WHERE sku = :sku
)");
  const Design products = design(workload, {});
  const std::string text = all_text(products);
  EXPECT_THAT(text,
              testing::HasSubstr("CREATE TABLE products_photo (\n  sku text,\n  photo blob,\n  chunk int,\n"
                                 "  PRIMARY KEY ((sku), chunk)\n)"));
  EXPECT_THAT(text, testing::HasSubstr("product: SELECT sku, photo FROM products_photo WHERE sku = :sku;"));
  EXPECT_THAT(text,
              testing::HasSubstr("add: INSERT INTO products_photo (sku, photo, chunk) VALUES (:sku, :photo, "
                                 ":chunk);"));
  EXPECT_THAT(text, testing::HasSubstr("drop: DELETE FROM products_photo WHERE sku = :sku;"));
  expect_runs(products);
  EXPECT_THAT(ids(review_of(print_design(workload, products))),
              testing::Not(testing::HasSubstr("LARGE_CELL")));
}

TEST(ValidDesigns, PartitionsMeetTheDefaultTarget) {
  const Design tickets = design(workload_of(R"(
-- @entity tenants count=3000 (id uuid key)
-- @entity tickets count=30M growth=3/s (id timeuuid key, status text distinct=5 size=8, opened timestamp)
-- @rel tickets.tenant -> tenants.tickets skew=zipf(0.8)
-- @query open rate=40/s
--   SELECT tickets.* FROM tickets WHERE tickets.tenant = :tenant AND tickets.status = :status
--   ORDER BY tickets.opened DESC LIMIT 50
)"),
                                {});
  ASSERT_EQ(tickets.tables.size(), 1u);
  EXPECT_LE(tickets.tables[0].largest_partition_bytes, 100e6);
  EXPECT_EQ(tickets.tables[0].layout.partition.size(), 2u) << "five statuses would be five partitions";
  expect_runs(tickets);
}

TEST(ValidDesigns, PreferManyPartitions) {
  const Design hotels = design(workload_of(R"(
-- @entity hotels count=40k (id int key)
-- @entity stays count=200M (id uuid key, arrival date distinct=3000, nights int)
-- @rel stays.hotel -> hotels.stays
-- @query arrivals rate=20/s
--   SELECT stays.* FROM stays WHERE stays.hotel = :hotel AND stays.arrival = :day
)"),
                               {});
  ASSERT_EQ(hotels.tables.size(), 1u);
  EXPECT_LT(hotels.tables[0].largest_partition_bytes, 2e6)
      << "a partition for each arrival would hold the stays of all hotels";
}

TEST(AssumedDesigns, AComparedLiteralIsOneOfFewValues) {
  const auto with = [](const char* distinct) {
    return design(workload_of(fmt::format(R"(
-- @entity orders count=40M (id uuid key, status text{}, total decimal)
-- @query open rate=1/s
--   SELECT orders.* FROM orders WHERE orders.status = 'open'
-- @write close rate=5/s
--   UPDATE orders SET status = 'done' WHERE id = :order
)",
                                          distinct)),
                  {});
  };
  const Design unknown = with("");
  ASSERT_FALSE(unknown.tables.empty());
  EXPECT_THAT(render_text(unknown),
              testing::HasSubstr("-- assumed: distinct= of orders.status is not declared"));
  // The field has two values with 20M orders each, so a partition per value would hold gigabytes.
  EXPECT_THAT(render_text(unknown), testing::HasSubstr("spread over"));
  for (const DesignedTable& table : unknown.tables) EXPECT_LE(table.largest_partition_bytes, 100e6);
  expect_runs(unknown);
  EXPECT_THAT(render_text(with(" distinct=2")), testing::Not(testing::HasSubstr("assumed")));
}

TEST(AssumedDesigns, WhatStartsEmptyIsPricedAtTheHorizon) {
  const Design samples = design(workload_of(R"(
-- @entity machines count=6000 (serial text key)
-- @entity samples count=0 growth=3000/s retention=90d (id timeuuid key, celsius double)
-- @rel samples.machine -> machines.samples
-- @query newest rate=60/s
--   SELECT samples.* FROM samples WHERE samples.machine = :m ORDER BY samples.id DESC LIMIT 200
)"),
                                {});
  ASSERT_EQ(samples.tables.size(), 1u);
  EXPECT_NEAR(samples.tables[0].rows, 3000 * 90 * 86'400.0, 1e6);
  EXPECT_NEAR(samples.tables[0].horizon_rows, samples.tables[0].rows, 1e6) << "counted once";
  EXPECT_GE(samples.statements.at(0).steps.at(0).rows, 200) << "a read of an empty table costs nothing";
  EXPECT_THAT(render_text(samples), testing::HasSubstr("-- assumed: samples starts empty"));
}

}  // namespace
}  // namespace sibyl::advisor
