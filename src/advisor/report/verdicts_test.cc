#include "advisor/report/verdicts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "advisor/report/review_html.h"
#include "advisor/review/test_review.h"

namespace sibyl::advisor {
namespace {

using testing::HasSubstr;

constexpr const char* mixed = R"(
CREATE TABLE people (id uuid PRIMARY KEY, city text);
CREATE TABLE notes (owner uuid, id timeuuid, PRIMARY KEY (owner, id));
CREATE TABLE small (k int, c int, PRIMARY KEY (k, c));
-- @table people rows=5M
-- @table small rows=100 partitions=10
-- @query by_id rate=5/s
SELECT * FROM people WHERE id = ?;
-- @query by_city
SELECT * FROM people WHERE city = ? ALLOW FILTERING;
)";

TEST(Verdicts, OneLineEachTheWorstFirst) {
  const std::vector<VerdictLine> lines = verdict_lines(review_of(mixed));
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0].name, "by_city");
  EXPECT_EQ(lines[0].code, "FULL_SCAN");
  EXPECT_EQ(lines[0].severity, Severity::error);
  EXPECT_EQ(lines[1].name, "notes");
  EXPECT_EQ(lines[1].state, VerdictLine::State::unknown);
  EXPECT_THAT(lines[1].text, HasSubstr("sizes unknown: declare -- @table notes"));
  EXPECT_EQ(lines[4].text, "reads 1 row of 1 partition, 5/s");
}

TEST(Verdicts, WithoutSizesTheReportIsNotOk) {
  const std::string unknown = "CREATE TABLE notes (owner uuid, id timeuuid, PRIMARY KEY (owner, id));\n";
  EXPECT_TRUE(render_text(review_of(unknown), {}).starts_with("incomplete"));
  EXPECT_THAT(render_json(review_of(unknown)), HasSubstr("\"verdict\":\"incomplete\""));
  const std::string known = unknown + "-- @table notes rows=1M partitions=1000\n";
  EXPECT_TRUE(render_text(review_of(known), {}).starts_with("OK"));
}

TEST(Verdicts, RatiosAreAtLeastOne) {
  QueryReview query;
  query.rows_read = 0.2;
  query.rows_returned = 0.9;
  EXPECT_EQ(query.rows_per_row(), 1);
  query.rows_read = 500;
  query.rows_returned = 5;
  EXPECT_EQ(query.rows_per_row(), 100);
  query.write = true;
  EXPECT_FALSE(query.rows_per_row().has_value());
}

TEST(HtmlReport, IsOneSelfContainedPage) {
  const std::string page = render_html(review_of(mixed));
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  for (const char* part : {"prefers-color-scheme:dark", "Growth of partitions", "Spread over the nodes",
                           "<details open>", "FULL_SCAN", "CREATE TABLE people_by_city"})
    EXPECT_THAT(page, HasSubstr(part));
  for (const char* part : {"<script", "src=", "http://", "https://", "@import"}) {
    // The XML namespace of SVG is the only URL.
    std::string rest = page;
    for (const std::string space = "http://www.w3.org/2000/svg"; rest.find(space) != std::string::npos;)
      rest.erase(rest.find(space), space.size());
    EXPECT_EQ(rest.find(part), std::string::npos) << part;
  }
}

TEST(HtmlReport, EscapesNames) {
  const std::string page = render_html(review_of("CREATE TABLE t (k int PRIMARY KEY, \"a<b>&\" int);\n"));
  EXPECT_THAT(page, HasSubstr("a&lt;b&gt;&amp;"));
  EXPECT_EQ(page.find("a<b>"), std::string::npos);
}

constexpr const char* too_large = R"(
CREATE TABLE readings (sensor int, at timeuuid, value double, PRIMARY KEY (sensor, at)) WITH CLUSTERING ORDER BY (at DESC);
-- @table readings growth=3000/s row=200
-- @column readings.sensor distinct=40
-- @query latest rate=150/s
SELECT * FROM readings WHERE sensor = ? LIMIT 100;
)";

TEST(Figures, OfChoicesAreReadable) {
  const Review review = review_of(too_large);
  const std::string text = render_text(review, {}), page = render_html(review);
  EXPECT_THAT(text, HasSubstr(", cost 41."));
  EXPECT_THAT(text, testing::Not(testing::ContainsRegex("[0-9]e[+][0-9]"))) << "8.4e+03 instead of 8,400";
  EXPECT_THAT(page, HasSubstr("cost per second</th>"));
}

TEST(Figures, DeclaredInputsAreMarkedAsSuch) {
  const Review review = review_of(too_large);
  ASSERT_FALSE(review.tables.at(0).inputs.empty());
  EXPECT_EQ(review.tables.at(0).inputs[0].text, "200 B per row");
  EXPECT_EQ(review.tables.at(0).inputs[0].origin, Origin::declared);
  const Review guessed = review_of("CREATE TABLE t (k int PRIMARY KEY, v int);\n-- @table t rows=100\n");
  ASSERT_EQ(guessed.tables.at(0).inputs.size(), 2u);
  EXPECT_EQ(guessed.tables.at(0).inputs[1].origin, Origin::estimated);
}

TEST(Verdicts, AStatementOfAnInvalidTableIsNotOk) {
  const Review review = review_of(R"(
CREATE TABLE links (code text PRIMARY KEY, url text, clicks counter);
-- @query open rate=3000/s
SELECT url FROM links WHERE code = ?;
)");
  const std::vector<VerdictLine> lines = verdict_lines(review);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1].state, VerdictLine::State::unknown);
  EXPECT_EQ(lines[1].text, "not reviewed: the database rejects it");
  EXPECT_THAT(render_text(review, {}), testing::Not(HasSubstr("✓  open")));
}

TEST(Figures, OneNodeIsNamedInTheSingular) {
  const std::string model =
      "CREATE TABLE t (k int PRIMARY KEY, v int);\n-- @table t rows=100k\n-- @target nodes=1 rf=1\n";
  EXPECT_THAT(render_text(review_of(model), {}), HasSubstr("on 1 node and on 2"));
}

}  // namespace
}  // namespace sibyl::advisor
