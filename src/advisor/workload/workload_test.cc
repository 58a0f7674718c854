#include "advisor/workload/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "advisor/review/test_review.h"

namespace sibyl::advisor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* shop_definitions = R"(
-- @entity products count=10k (id uuid key, name text size=20, price decimal)
-- @entity categories count=100 (id uuid key, name text)
-- @rel products.categories -> categories.products many-many links=30000
)";

base::Result<Workload> parse(const std::string& more) {
  return parse_workload(shop_definitions + more, "shop.cql");
}

std::string error_of(const std::string& more) {
  const auto result = parse(more);
  return result ? "no error" : result.error().text();
}

TEST(WorkloadTest, EntitiesAndRelationships) {
  const auto workload = parse("");
  ASSERT_TRUE(workload) << workload.error().text();
  ASSERT_EQ(workload->model.entities.size(), 2u);
  EXPECT_EQ(workload->model.entities[0].count, 10000);
  EXPECT_EQ(workload->model.entities[0].fields[1].bytes, 20);
  EXPECT_EQ(workload->model.entities[0].fields[0].bytes, 16);
  ASSERT_EQ(workload->model.relationships.size(), 1u);
  EXPECT_EQ(workload->model.relationships[0].multiplicity, Multiplicity::many_many);
  EXPECT_EQ(workload->model.relationships[0].links, 30000);
}

TEST(WorkloadTest, StatementsFollowPaths) {
  const auto workload = parse(R"(
-- @group shop_definitions write peak=2.5 night=1
-- @query names rate=3/s
--   SELECT products.id, products.categories.* FROM products WHERE products.categories.id = :c AND price >= ?
--   ORDER BY price DESC LIMIT 10
-- @write add INSERT INTO products (id, name, categories) VALUES (?, 'it''s', ?)
-- @write tag UPDATE products SET categories = categories + {:c} WHERE id = :p
-- @write drop DELETE FROM products WHERE id = ?
)");
  ASSERT_TRUE(workload) << workload.error().text();
  ASSERT_EQ(workload->statements.size(), 4u);
  const Statement& names = workload->statements[0];
  EXPECT_EQ(names.select.size(), 3u);
  EXPECT_EQ(names.where.size(), 2u);
  EXPECT_TRUE(names.order[0].descending);
  EXPECT_EQ(names.limit, 10);
  EXPECT_EQ(workload->weight(names, "peak"), 3) << "its own rate";
  EXPECT_EQ(workload->weight(workload->statements[1], "peak"), 2.5);
  EXPECT_EQ(workload->statements[2].connections[0].value.text, ":c");
  EXPECT_THAT(workload->mix_names(), ElementsAre("peak", "night"));
}

TEST(WorkloadTest, PlainCqlTakesTheAnnotationBeforeIt) {
  const auto workload = parse(R"(
CREATE TABLE ks.t (a int PRIMARY KEY, b int);
-- @table ks.t rows=1e6 growth=10/s
-- @column ks.t.a distinct=1e6 skew=zipf(1.1)
-- @query by_a rate=160/s slo_p99=10ms
SELECT b FROM ks.t WHERE a = ?;
)");
  ASSERT_TRUE(workload) << workload.error().text();
  ASSERT_EQ(workload->cql.size(), 2u);
  EXPECT_EQ(workload->cql[0].line, 6u);
  EXPECT_EQ(workload->cql[1].name, "by_a");
  EXPECT_EQ(find_option(workload->cql[1].options, "rate")->value, "160/s");
  ASSERT_EQ(workload->statistics.size(), 2u);
  EXPECT_EQ(workload->statistics[1].column, "a");
  EXPECT_EQ(workload->statistics[1].table, "ks.t");
}

TEST(WorkloadTest, ErrorsNameThePositionAndSuggestNames) {
  EXPECT_THAT(error_of("-- @entiti x (id int key)"),
              testing::AllOf(HasSubstr("shop.cql:5:5: unknown directive 'entiti'"),
                             HasSubstr("did you mean 'entity'?")));
  EXPECT_THAT(error_of("-- @query q SELECT product.id FROM products"),
              HasSubstr("shop.cql:5:20: unknown field or role of 'products' 'product'"));
  EXPECT_THAT(error_of("-- @query q SELECT id FROM product"), HasSubstr("did you mean 'products'?"));
  EXPECT_THAT(error_of("-- @query q rat=3/s SELECT id FROM products"), HasSubstr("did you mean 'rate'?"));
  EXPECT_THAT(error_of("-- @query q rate=fast SELECT id FROM products"), HasSubstr("a rate such as 160/s"));
  EXPECT_THAT(error_of("-- @query q SELECT id FROM products WHERE id"),
              HasSubstr("expected =, <, <=, > or >="));
  EXPECT_THAT(error_of("-- @query q rate=1"), HasSubstr("no statement follows @query q"));
  EXPECT_THAT(error_of("-- @entity x (a int)"), HasSubstr("'x' has no key"));
  EXPECT_THAT(error_of("-- @write w SELECT id FROM products"), HasSubstr("@write expects INSERT"));
  EXPECT_THAT(error_of("-- @write w INSERT INTO products (name) VALUES (?)"),
              HasSubstr("must set the key 'id'"));
  EXPECT_THAT(error_of("-- @query q SELECT categories.products.id FROM products"),
              HasSubstr("leads back along the path"));
  EXPECT_THAT(error_of("SELEKT 1;"), HasSubstr("shop.cql:5: "));
  EXPECT_THAT(error_of("-- @query a SELECT id FROM products\n-- @query a SELECT id FROM products"),
              HasSubstr("statement 'a' is already defined in line 5"));
}

TEST(WorkloadTest, ValuesHaveUnits) {
  EXPECT_EQ(read_number("20k"), 20000);
  EXPECT_EQ(read_bytes("100MB"), 1e8);
  EXPECT_EQ(read_bytes("4KiB"), 4096);
  EXPECT_EQ(read_seconds("10ms"), 0.01);
  EXPECT_EQ(read_rate("160/s"), 160);
  EXPECT_NEAR(*read_rate("3/d"), 3.0 / 86400, 1e-12);
  EXPECT_NEAR(*read_rate("1/7d"), 1.0 / (7 * 86400), 1e-15);
  EXPECT_NEAR(*read_rate("10/5s"), 2, 1e-12);
  EXPECT_NEAR(*read_rate("1/0.5h"), 1 / 1800.0, 1e-12);
  EXPECT_FALSE(read_rate("1/0s"));
  EXPECT_FALSE(read_rate("1/"));
  EXPECT_EQ(read_zipf("zipf(0.9)"), 0.9);
  EXPECT_FALSE(read_number("-1"));
  EXPECT_FALSE(read_number("nan"));
  EXPECT_FALSE(read_bytes("10 potatoes"));
}

TEST(WorkloadTest, RelationshipsHaveAFanOut) {
  const std::string entities =
      "-- @entity u count=1000 (id uuid key)\n-- @entity i count=100k (id uuid key)\n";
  const auto relation = [&](const std::string& options) {
    const auto workload = parse_workload(entities + "-- @rel i.seller -> u.items " + options, "rel.cql");
    EXPECT_TRUE(workload) << workload.error().text();
    return workload->model.relationships[0];
  };
  EXPECT_EQ(relation("fanout=8").links, 8000);
  EXPECT_NEAR(relation("p50=8 p99=400").zipf, 1, 1e-9) << "50 times as many at a fiftieth of the rank";
  EXPECT_NEAR(zipf_top_share(1000, relation("max=20k").zipf), 0.2, 0.01);
  EXPECT_GT(relation("p99=500").zipf, 0.3);
  const auto error = [&](const std::string& options) {
    return parse_workload(entities + "-- @rel i.seller -> u.items " + options, "rel.cql").error().text();
  };
  EXPECT_THAT(error("fanout=8 links=5"), HasSubstr("rel.cql:3:29: links and fanout both give"));
  EXPECT_THAT(error("fanout=800"), HasSubstr("exceeds the total of 100000"));
  EXPECT_THAT(error("p99=800 skew=zipf(1)"), HasSubstr("use only one of them"));
}

TEST(WorkloadTest, ShellCommandsAreIgnored) {
  const auto workload = parse_workload(
      "SOURCE 'x.cql'\nCREATE TABLE t (p int PRIMARY KEY, source int);\nconsistency QUORUM;\n"
      "COPY t FROM 'y.csv'\n  WITH HEADER = true;\nSHOW VERSION\nSELECT * FROM t\n WHERE p = ?;\nexit\n",
      "shell.cql");
  ASSERT_TRUE(workload) << workload.error().text();
  ASSERT_EQ(workload->cql.size(), 2u);
  EXPECT_EQ(workload->cql[1].line, 7u);
}

TEST(WorkloadTest, GroupsMayEnd) {
  const auto workload = parse(R"(
CREATE TABLE t (a int PRIMARY KEY);
-- @group together
-- @query one
SELECT * FROM t WHERE a = ?;
-- @end
-- @query other
SELECT * FROM t WHERE a = ?;
)");
  ASSERT_TRUE(workload) << workload.error().text();
  EXPECT_EQ(workload->cql[1].group, "together");
  EXPECT_EQ(workload->cql[2].group, "");
}

TEST(WorkloadTest, PrintedWorkloadsParseToTheSame) {
  const auto workload = parse_workload(read_file("docs/examples/rubis.cql"), "rubis.cql");
  ASSERT_TRUE(workload) << workload.error().text();
  const std::string printed = print_workload(*workload);
  const auto again = parse_workload(printed, "printed");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(print_workload(*again), printed);
  EXPECT_EQ(again->statements.size(), 36u);
  EXPECT_EQ(again->layouts.size(), workload->layouts.size());
  EXPECT_EQ(again->plans.size(), workload->plans.size());
}

// The ```cql blocks of docs/advisor-format.md.
std::vector<std::string> documented_blocks() {
  const std::string text = read_file("docs/advisor-format.md");
  std::vector<std::string> blocks;
  constexpr std::string_view fence = "```cql\n";
  for (size_t at = text.find(fence); at != std::string::npos; at = text.find(fence, at + 1)) {
    const size_t begin = at + fence.size();
    blocks.push_back(text.substr(begin, text.find("```", begin) - begin));
  }
  return blocks;
}

// The words that an error lists.
std::vector<std::string> expected_words(const std::string& error) {
  constexpr std::string_view lead = "expected one of ";
  const size_t at = error.find(lead);
  EXPECT_NE(at, std::string::npos) << error;
  std::istringstream list(
      at == std::string::npos ? "" : error.substr(at + lead.size(), error.find(']', at) - at - lead.size()));
  std::vector<std::string> words;
  for (std::string word; std::getline(list, word, ',');)
    words.push_back(word.substr(word.find_first_not_of(' ')));
  return words;
}

TEST(WorkloadTest, EveryDirectiveAndOptionIsDocumentedWithAnExample) {
  std::string blocks;
  for (const std::string& block : documented_blocks()) {
    const auto workload = parse_workload(block, "docs.cql");
    ASSERT_TRUE(workload) << block << workload.error().text();
    if (!workload->cql.empty()) {
      const auto review = review_workloads({*workload}, {});
      EXPECT_TRUE(review) << block << (review ? "" : review.error().text());
    }
    blocks += block;
  }
  for (const std::string& name : expected_words(error_of("-- @zzz\n"))) {
    // Only the benchmark in docs/examples uses these two.
    if (name == "layout" || name == "plan") continue;
    EXPECT_THAT(blocks, HasSubstr("-- @" + name)) << "@" << name;
  }
  for (const char* directive :
       {"@table t zzz=1", "@column t.c zzz=1", "@query q zzz=1", "@target zzz=1", "@mix m zzz=1",
        "@entity e zzz=1 (id int key)", "@entity e count=1 (id int key, n text zzz=1)",
        "@rel products.other -> categories.others zzz=1"}) {
    const std::vector<std::string> names = expected_words(error_of(std::string("-- ") + directive + "\n"));
    EXPECT_FALSE(names.empty()) << directive;
    for (const std::string& name : names) {
      const std::string kind(std::string_view(directive).substr(0, std::string_view(directive).find(' ')));
      bool shown = false;
      std::istringstream lines(blocks);
      std::string directive_of_line;
      for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("-- @")) directive_of_line = line.substr(3, line.find(' ', 3) - 3);
        shown = shown || (directive_of_line == kind && line.find(" " + name + "=") != std::string::npos);
      }
      EXPECT_TRUE(shown) << kind << " " << name;
    }
  }
}

}  // namespace
}  // namespace sibyl::advisor
