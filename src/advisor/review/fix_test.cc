// Fixes can be executed: an engine accepts every definition and prepares every statement.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <sibyl/sibyl.h>

#include "advisor/review/test_review.h"
#include "base/source_path.h"

namespace sibyl::advisor {
namespace {

bool is_read(const std::string& text) {
  return text.find("SELECT") != std::string::npos && text.find("CREATE") == std::string::npos;
}

// Executes definitions in an empty keyspace, and prepares a SELECT on the file's own tables.
void expect_pasteable(const std::string& file, const Finding& finding) {
  EXPECT_FALSE(finding.fix.empty()) << finding.id();
  EXPECT_FALSE(finding.cost.empty()) << finding.id();
  EXPECT_FALSE(finding.evidence.empty()) << finding.id();
  auto database = Database::open(":memory:");
  ASSERT_TRUE(database) << database.error().text();
  for (const char* keyspace : {"d", "city"})
    ASSERT_TRUE(
        database->execute(std::string("CREATE KEYSPACE ") + keyspace +
                          " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"));
  Session session = database->session("d");
  const bool reads = is_read(finding.cql);
  for (const CqlStatement& statement : workload_of(file).cql) {
    const bool type = statement.text.find("CREATE TYPE") != std::string::npos;
    if (!type && !(reads && statement.text.find("CREATE TABLE") != std::string::npos)) continue;
    EXPECT_TRUE(session.execute(statement.text)) << statement.text;
  }
  for (const CqlStatement& statement : workload_of(finding.cql).cql) {
    if (reads) {
      const auto prepared = session.prepare(statement.text);
      EXPECT_TRUE(prepared) << finding.id() << "\n" << statement.text << prepared.error().text();
    } else {
      const auto made = session.execute(statement.text);
      EXPECT_TRUE(made) << finding.id() << "\n" << statement.text << made.error().text();
    }
  }
}

// The ```cql blocks of docs/advisor.md, by section.
std::multimap<std::string, std::string> documented(const std::string& kind) {
  std::ifstream file(base::source_path("docs/advisor.md"));
  std::multimap<std::string, std::string> out;
  std::string line, section, block;
  bool inside = false;
  while (std::getline(file, line)) {
    if (line.starts_with("## ")) section = line.substr(3);
    if (line == kind) {
      inside = true;
      block.clear();
    } else if (line == "```" && inside) {
      out.emplace(section, block);
      inside = false;
    } else if (inside) {
      block += line + "\n";
    }
  }
  return out;
}

TEST(ReviewFix, FixesOfDocumentedFindingsCanBeExecuted) {
  std::set<std::string> sections;
  for (const auto& [section, block] : documented("```cql")) {
    sections.insert(section);
    const Review review = review_of(block);
    for (const Finding& finding : review.findings) expect_pasteable(block, finding);
    if (const auto verdict = verdict_by_name(section); verdict && *verdict != Verdict::ok) {
      ASSERT_NE(find(review, *verdict), nullptr) << section;
      const auto defined = [&](const Finding& finding) {
        return !finding.cql.empty() &&
               (finding.verdict == *verdict || finding.replaces == find(review, *verdict)->replaces);
      };
      // Only a finding about an unknown size has no definition: it asks for a declaration.
      const bool declares = *verdict == Verdict::unknown_size;
      EXPECT_NE(std::any_of(review.findings.begin(), review.findings.end(), defined), declares) << section;
    }
  }
  std::set<std::string> fixed;
  for (const auto& [section, block] : documented("```cql fixed")) fixed.insert(section);
  for (int i = 0; i <= static_cast<int>(Verdict::ok); ++i) {
    const std::string name = to_string(static_cast<Verdict>(i));
    EXPECT_TRUE(sections.contains(name)) << name;
    EXPECT_TRUE(fixed.contains(name) || name == "OK") << name;
  }
}

// Quoted names, keyspaces, user types, static columns, and columns with the names that a fix adds.
TEST(ReviewFix, UnusualTables) {
  for (const char* text : {
           R"(
CREATE TABLE "Big" ("order" text, "bucket" timeuuid, "Value" text, PRIMARY KEY ("order", "bucket"));
-- @table Big rows=100M partitions=10 row=100
SELECT * FROM "Big" WHERE "Value" = ? ALLOW FILTERING;
SELECT * FROM "Big";
SELECT * FROM "Big" WHERE "order" IN ('a', 'b', 'c', 'd', 'e') ORDER BY "bucket" DESC;
)",
           R"(
CREATE TYPE place (street text, town text);
CREATE TABLE homes (id uuid, at timestamp, home frozen<place>, owner text STATIC, tags map<text, frozen<list<int>>>,
  element int, value int, PRIMARY KEY (id, at));
-- @table homes rows=1M partitions=1M growth=100/s
-- @column homes.tags max=100k
)",
           R"(
CREATE KEYSPACE city WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};
USE city;
CREATE TABLE stops (line int, at timestamp, hash_prefix int, chunk blob, PRIMARY KEY (line, at));
-- @table stops rows=10M partitions=4 growth=9000/s row=2MB
-- @column stops.chunk size=2MB
-- @query one rate=90000/s
SELECT * FROM stops WHERE line = ? LIMIT 5;
CREATE TABLE hits (page text, about map<text, frozen<list<int>>>, n counter, PRIMARY KEY (page));
)"}) {
    const Review review = review_of(text);
    EXPECT_FALSE(review.findings.empty()) << text;
    for (const Finding& finding : review.findings) expect_pasteable(text, finding);
  }
}

TEST(ReviewFix, ClusteringIsReorderedIfNothingNeedsTheOldOrder) {
  const std::string table =
      "CREATE TABLE repairs (bicycle uuid, part text, at timeuuid, note text, PRIMARY KEY (bicycle, part, "
      "at));\n-- @table repairs rows=3M partitions=60k\n";
  const std::string since = "-- @query since\nSELECT * FROM repairs WHERE bicycle = ? AND at > ?;\n";
  const Review alone = review_of(table + since);
  const Finding* finding = find(alone, Verdict::unsupported_query);
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->cql.find("CREATE TABLE repairs_by_bicycle_and_at ("), std::string::npos) << finding->cql;
  EXPECT_EQ(finding->replaces, "repairs");
  EXPECT_NE(finding->cql.find("PRIMARY KEY (bicycle, at, part)"), std::string::npos) << finding->cql;
  EXPECT_NE(finding->cost.find("copied once"), std::string::npos);
  expect_pasteable(table, *finding);
  // The changed table answers the query.
  std::string moved = since;
  moved.replace(moved.find("repairs"), 7, "repairs_by_bicycle_and_at");
  EXPECT_EQ(find(review_of(finding->cql + moved), Verdict::unsupported_query), nullptr);
  // If another statement needs the old order, a second table is proposed.
  for (const char* other : {"SELECT * FROM repairs WHERE bicycle = ? AND part = ?;",
                            "SELECT * FROM repairs WHERE bicycle = ? AND part > ? ORDER BY part DESC;",
                            "SELECT * FROM repairs WHERE bicycle = ? LIMIT 3;",
                            "DELETE FROM repairs WHERE bicycle = ? AND part = ?;"}) {
    const Review both = review_of(table + since + other);
    ASSERT_NE(find(both, Verdict::unsupported_query), nullptr);
    EXPECT_EQ(find(both, Verdict::unsupported_query)->replaces, "") << other;
  }
  // Statements on whole rows or whole partitions do not depend on the order.
  const Review indifferent = review_of(table + since +
                                       "SELECT * FROM repairs WHERE bicycle = ?;\nDELETE FROM repairs WHERE "
                                       "bicycle = ? AND part = ? AND at = ?;");
  EXPECT_EQ(find(indifferent, Verdict::unsupported_query)->replaces, "repairs");
  const Review sorted =
      review_of(table + "SELECT * FROM repairs WHERE bicycle = ? ORDER BY at DESC LIMIT 5;");
  ASSERT_NE(find(sorted, Verdict::unsupported_query), nullptr);
  EXPECT_NE(find(sorted, Verdict::unsupported_query)->cql.find("(at DESC, part ASC)"), std::string::npos)
      << find(sorted, Verdict::unsupported_query)->cql;
}

TEST(ReviewFix, JoinedTablesLoseNoRows) {
  const std::string text = R"(
CREATE TABLE customers (email text PRIMARY KEY, customer text);
CREATE TABLE orders (customer text, placed timeuuid, total decimal, PRIMARY KEY (customer, placed))
  WITH CLUSTERING ORDER BY (placed DESC);
-- @group of_email
-- @query customer
SELECT customer FROM customers WHERE email = ?;
-- @query orders
SELECT * FROM orders WHERE customer = ?;
)";
  const Review review = review_of(text);
  const Finding* finding = find(review, Verdict::multi_partition);
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->cql.find("PRIMARY KEY (email, placed)\n) WITH CLUSTERING ORDER BY (placed DESC)"),
            std::string::npos)
      << finding->cql;
  expect_pasteable(text, *finding);
}

TEST(ReviewFix, UniqueValuesAreTheWholeKey) {
  const std::string text = R"(
CREATE TABLE users (id uuid PRIMARY KEY, email text, city text);
-- @table users rows=1M
-- @column users.email distinct=1M
-- @column users.city distinct=1000
SELECT * FROM users WHERE email = ? ALLOW FILTERING;
SELECT * FROM users WHERE city = ? ALLOW FILTERING;
)";
  const Review review = review_of(text);
  ASSERT_EQ(review.findings.size(), 2u);
  EXPECT_NE(review.findings[0].cql.find("PRIMARY KEY (email)"), std::string::npos) << review.findings[0].cql;
  EXPECT_NE(review.findings[1].cql.find("PRIMARY KEY (city, id)"), std::string::npos);
  for (const Finding& finding : review.findings) expect_pasteable(text, finding);
}

TEST(ReviewFix, HotReadsGetCopies) {
  const std::string text = R"(
CREATE TABLE prices (product text PRIMARY KEY, price decimal);
-- @table prices rows=1000 skew=zipf(1.2) writes=10/s
-- @query price rate=10000/s
SELECT * FROM prices WHERE product = ?;
)";
  const Review review = review_of(text);
  const Finding* finding = find(review, Verdict::hot_partition);
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->cql.find("PRIMARY KEY ((product, copy))"), std::string::npos) << finding->cql;
  EXPECT_NE(finding->cost.find("instead of 10/s"), std::string::npos) << finding->cost;
  expect_pasteable(text, *finding);
}

TEST(ReviewFix, SecondTableForReadsHasADefinition) {
  const std::string text = R"(
CREATE TABLE scores (game text, points int, player text, PRIMARY KEY (game, points, player))
  WITH CLUSTERING ORDER BY (points DESC, player ASC);
-- @table scores rows=100M partitions=10 row=100 writes=100/s
-- @target partition=100MB
-- @query best rate=5000/s
SELECT * FROM scores WHERE game = ? LIMIT 10;
)";
  const Review review = review_of(text);
  const Finding* finding = find(review, Verdict::partition_growth);
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->cql.find("CREATE TABLE scores_to_read"), std::string::npos) << finding->cql;
  EXPECT_NE(finding->cql.find("hash_prefix"), std::string::npos) << finding->cql;
  expect_pasteable(text, *finding);
}

TEST(ReviewFix, ReplacementTablesKeepOptions) {
  const std::string text = R"(
CREATE TABLE readings (sensor uuid, at timeuuid, value double, kind text, PRIMARY KEY (sensor, at))
  WITH CLUSTERING ORDER BY (at DESC) AND default_time_to_live = 604800 AND gc_grace_seconds = 3600
  AND compaction = {'class': 'TimeWindowCompactionStrategy', 'compaction_window_size': '1'};
CREATE INDEX readings_by_kind ON readings (kind);
CREATE MATERIALIZED VIEW latest AS SELECT * FROM readings
  WHERE kind IS NOT NULL AND sensor IS NOT NULL AND at IS NOT NULL PRIMARY KEY (kind, sensor, at);
-- @table readings rows=1G partitions=100 row=100 writes=100/s
-- @query newest rate=1000/s
SELECT * FROM readings WHERE sensor = ? LIMIT 10;
)";
  const Review review = review_of(text);
  const Finding* finding = find(review, Verdict::partition_growth);
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->cql.find("AND default_time_to_live = 604800\n  AND gc_grace_seconds = 3600"),
            std::string::npos)
      << finding->cql;
  EXPECT_NE(finding->cql.find("TimeWindowCompactionStrategy"), std::string::npos) << finding->cql;
  const std::string table = "readings_by_sensor_and_hash_prefix";
  EXPECT_NE(finding->cql.find("CREATE INDEX ON " + table + " (kind);"), std::string::npos) << finding->cql;
  EXPECT_NE(finding->cql.find("CREATE MATERIALIZED VIEW latest_new AS SELECT * FROM " + table + " WHERE"),
            std::string::npos)
      << finding->cql;
  EXPECT_NE(finding->cql.find("hash_prefix IS NOT NULL"), std::string::npos) << finding->cql;
  EXPECT_NE(finding->fix.find("The CQL also recreates readings_by_kind."), std::string::npos) << finding->fix;
  EXPECT_NE(finding->fix.find("latest is recreated as well: drop the old view first."), std::string::npos)
      << finding->fix;
  expect_pasteable(text, *finding);
}

// An additional table is named after its own key only, even if the original is named after its key.
TEST(ReviewFix, TablesAreNamedAfterOneKey) {
  const Review review = review_of(R"(
CREATE TABLE products_by_category (category text, id int, colour text, PRIMARY KEY (category, id));
-- @table products_by_category rows=1M partitions=50
SELECT * FROM products_by_category WHERE category = ? AND colour = ? ALLOW FILTERING;
)");
  const Finding* finding = find(review, Verdict::allow_filtering);
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->cql.find("CREATE TABLE products_by_category_and_colour ("), std::string::npos)
      << finding->cql;
}

}  // namespace
}  // namespace sibyl::advisor
