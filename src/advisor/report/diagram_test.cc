#include "advisor/report/diagram.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <fmt/format.h>
#include <rapidcheck/gtest.h>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <map>
#include <set>
#include <sstream>

#include "advisor/design/design.h"
#include "advisor/review/test_review.h"

namespace sibyl::advisor {
namespace {

using boost::property_tree::ptree;

ptree parse_xml(const std::string& text) {
  std::istringstream in(text);
  ptree tree;
  try {
    boost::property_tree::read_xml(in, tree);
  } catch (const boost::property_tree::xml_parser_error& error) {
    ADD_FAILURE() << error.what() << "\n" << text;
  }
  return tree;
}

struct Written {
  std::string text, css_class;
};

// Collects every <text> with its class, in document order.
void gather(const ptree& tree, std::vector<Written>& out) {
  for (const auto& [name, child] : tree) {
    if (name == "text")
      out.push_back({child.get_value<std::string>(), child.get<std::string>("<xmlattr>.class", "")});
    gather(child, out);
  }
}

std::vector<Written> texts_of(const std::string& svg) {
  std::vector<Written> out;
  gather(parse_xml(svg), out);
  return out;
}

bool has_text(const std::vector<Written>& texts, const std::string& text) {
  return std::any_of(texts.begin(), texts.end(), [&](const Written& one) { return one.text == text; });
}

bool has_text_with(const std::vector<Written>& texts, const std::string& part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const Written& one) { return one.text.find(part) != std::string::npos; });
}

constexpr const char* shop = R"(
CREATE TYPE address (street text, city text);
CREATE TABLE orders (customer text, day date, placed timeuuid, note text, "a<b & 'c'" int, tags set<text>,
  steps list<text>, prices map<text, decimal>, place tuple<int, int>, home frozen<address>, name text STATIC,
  PRIMARY KEY ((customer, day), placed, note)) WITH CLUSTERING ORDER BY (placed DESC, note ASC);
CREATE INDEX ON orders (tags);
CREATE TABLE views (page text PRIMARY KEY, hits counter);
CREATE TABLE customers (email text PRIMARY KEY, customer text);
-- @table orders rows=10M partitions=10k growth=50/s row=200
-- @table views rows=1M
-- @group of_email
-- @query by_email rate=10/s
SELECT customer FROM customers WHERE email = ?;
-- @query orders_of rate=10/s times=3
SELECT * FROM orders WHERE customer = ? AND day = ?;
-- @group pages
-- @query hits
SELECT hits FROM views WHERE page = ?;
-- @write place rate=50/s
INSERT INTO orders (customer, day, placed, note) VALUES (?, ?, now(), '<none>');
)";

TEST(SvgTest, TextIsEscapedAndValid) {
  EXPECT_EQ(escape_xml("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  EXPECT_EQ(escape_xml(std::string("a\0b\x01", 4)),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
  EXPECT_EQ(escape_xml("\xff\xc3(\xed\xa0\x80"),
            "\xEF\xBF\xBD\xEF\xBF\xBD(\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(escape_xml("Größe ↑ 漢字"), "Größe ↑ 漢字");
  EXPECT_EQ(shorten("Größe ↑", 7), "Größe ↑");
  EXPECT_EQ(shorten("Größe ↑ 漢", 6), "Größe…");
  EXPECT_EQ(text_width("漢字", 10), text_width("abcd", 10));
}

TEST(DiagramTest, TablesColumnsAndMarks) {
  const Review review = review_of(shop);
  for (const bool physical : {false, true}) {
    const std::vector<Written> texts = texts_of(draw_tables(review, physical));
    for (const char* text : {"orders", "views", "customers", "customer", "{tags}", "[steps]", "<prices>",
                             "(place)", "*home*", "a<b & 'c'", "placed", "Q1", "Q2×3", "Q3", "written by W1"})
      EXPECT_TRUE(has_text(texts, text)) << text;
    EXPECT_EQ(has_text(texts, "timeuuid"), physical);
    EXPECT_EQ(has_text(texts, "map<text, decimal>"), physical);
    EXPECT_TRUE(has_text_with(texts, "W1   place"));
    EXPECT_TRUE(has_text_with(texts, "'<none>'"));
  }
  // Every column has the marks of its kind.
  std::vector<std::pair<std::string, std::string>> marks;
  for (const ColumnReview& column : review.find_table("orders")->columns)
    marks.emplace_back(column.name, column.marks);
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"customer", "K"}, {"day", "K"},  {"placed", "C↓"}, {"note", "C↑"}, {"name", "S"},  {"a<b & 'c'", ""},
      {"home", ""},      {"place", ""}, {"prices", ""},   {"steps", ""},  {"tags", "IDX"}};
  EXPECT_EQ(marks, expected);
  EXPECT_EQ(review.find_table("views")->columns[1].marks, "++");
  std::vector<std::string> drawn;
  for (const Written& text : texts_of(draw_tables(review, false)))
    if (text.css_class.starts_with("mark mark-")) drawn.push_back(text.text);
  EXPECT_EQ(drawn, (std::vector<std::string>{"K", "K", "C↓", "C↑", "S", "IDX", "K", "++", "K"}));
}

TEST(DiagramTest, ReadsOfAGroupFollowEachOther) {
  const Review review = review_of(shop);
  const TableLayout layout = lay_out_tables(review, false);
  ASSERT_EQ(layout.boxes.size(), 3u);
  ASSERT_EQ(layout.arrows.size(), 3u);
  const Box &orders = layout.boxes[0].box, &customers = layout.boxes[2].box;
  EXPECT_GT(orders.x, customers.right());
  const Arrow& second = layout.arrows[1];
  EXPECT_EQ(second.label, "Q2×3");
  EXPECT_EQ(second.points.front().x, customers.right());
  EXPECT_EQ(second.points.back().x, orders.x);
  EXPECT_EQ(layout.arrows[0].points.size(), 2u) << "from outside";
}

TEST(DiagramTest, SpreadAndGrowth) {
  const Review review = review_of(std::string(shop) + R"(
CREATE TABLE trips (station int, started timeuuid, PRIMARY KEY (station, started));
-- @table trips rows=1M partitions=1000 growth=100/s row=200
)");
  const std::vector<Written> spread = texts_of(draw_spread(review));
  EXPECT_TRUE(has_text_with(spread, "3 nodes: fullest / mean"));
  EXPECT_TRUE(has_text_with(spread, "6 nodes: fullest / mean"));
  EXPECT_TRUE(has_text(spread, "customers")) << "listed as unknown";
  const std::string nodes = draw_spread(review);
  size_t bars = 0;
  for (size_t at = nodes.find("<g class=\"node\""); at != std::string::npos;
       at = nodes.find("<g class=\"node\"", at + 1))
    ++bars;
  EXPECT_EQ(bars, 3u * (3 + 6)) << "three tables, today and doubled";
  const std::vector<Written> growth = texts_of(draw_growth(review));
  EXPECT_TRUE(has_text(growth, "orders"));
  EXPECT_TRUE(has_text(growth, "target 100 MB"));
  ASSERT_TRUE(review.find_table("trips")->days_to_target.has_value());
  EXPECT_TRUE(has_text_with(growth, "in "));
  const std::vector<GrowthPoint>& points = review.find_table("trips")->growth;
  ASSERT_EQ(points.size(), 25u);
  EXPECT_EQ(points.front().sizes.max, review.find_table("trips")->now->max);
  EXPECT_EQ(points.back().sizes.max, review.find_table("trips")->horizon->max);
  const std::string page = write_model_page(review);
  for (const char* text : {"### orders", "| \\[steps] |", "| placed | timeuuid | C↓ |",
                           "| Q2 | orders\\_of |", "![growth](growth.svg)"})
    EXPECT_NE(page.find(text), std::string::npos) << text << "\n" << page;
}

// Checks that each <text> lies within the picture.
void expect_texts_fit(const ptree& tree, double width) {
  for (const auto& [name, child] : tree) {
    if (name == "text") {
      const std::string text = child.get_value<std::string>();
      const std::string css = child.get<std::string>("<xmlattr>.class", "");
      const double size = css.find("title") != std::string::npos   ? 17
                          : css.find("name") != std::string::npos  ? 13
                          : css.find("small") != std::string::npos ? 11
                                                                   : 12;
      const std::string anchor = child.get<std::string>("<xmlattr>.text-anchor", "start");
      const double share = anchor == "start" ? 1 : anchor == "end" ? 0 : 0.5;
      const double x = child.get<double>("<xmlattr>.x"), wide = text_width(text, size);
      EXPECT_LE(x + share * wide, width) << text;
      EXPECT_GE(x - (1 - share) * wide, 0) << text;
    }
    expect_texts_fit(child, width);
  }
}

void expect_texts_fit(const std::string& svg) {
  const ptree tree = parse_xml(svg);
  expect_texts_fit(tree, tree.get<double>("svg.<xmlattr>.width"));
}

// Includes the subtitle of a single table's growth and the headings of bars that represent several nodes.
TEST(DiagramTest, TextsFitIntoThePicture) {
  for (const char* nodes : {"3", "60", "120", "1000"}) {
    const Review review = review_of(fmt::format(R"(
CREATE TABLE trips (station int, started timeuuid, PRIMARY KEY (station, started));
-- @table trips rows=100M partitions=10000 growth=100/s row=200
-- @target nodes={} partition=123.4MB horizon=3.5y
)",
                                                nodes));
    for (const Diagram& diagram : draw_diagrams(review))
      if (diagram.file.ends_with(".svg")) expect_texts_fit(diagram.text);
    // Two charts side by side: the heading of the first must end before the second begins.
    std::map<std::string, double> ends;
    const ptree tree = parse_xml(draw_spread(review));
    for (const auto& [name, child] : tree.get_child("svg")) {
      if (name != "text") continue;
      const std::string text = child.get_value<std::string>();
      if (text.find("fullest / mean") == std::string::npos) continue;
      const double x = child.get<double>("<xmlattr>.x");
      const auto [end, first] = ends.try_emplace(child.get<std::string>("<xmlattr>.y"), 0);
      EXPECT_LT(end->second, x) << text;
      end->second = x + text_width(text, 11);
    }
    EXPECT_EQ(ends.size(), 1u);
  }
  const Review review = review_of(shop);
  for (const Diagram& diagram : draw_diagrams(review))
    if (diagram.file.ends_with(".svg")) expect_texts_fit(diagram.text);
}

TEST(DiagramTest, FindingsAreShownAtTheirTable) {
  const Review review = review_of(R"(
CREATE TABLE events (day date, at timestamp, kind text, PRIMARY KEY (day, at));
-- @table events growth=5000/s row=100
-- @column events.day growth=1/d
-- @query of_kind
SELECT * FROM events WHERE kind = ? ALLOW FILTERING;
)");
  const std::vector<Written> texts = texts_of(draw_tables(review, true));
  EXPECT_TRUE(has_text(texts, "HOT_PARTITION"));
  EXPECT_TRUE(has_text(texts, "FULL_SCAN"));
  for (const Written& text : texts) {
    if (text.text != "Q1") continue;
    EXPECT_EQ(text.css_class, "chip-text error");
  }
}

TEST(DiagramTest, StatementsAreWholeAndCodesOccurOnce) {
  const Review review = review_of(R"(
CREATE TABLE subscriptions (reader uuid, author uuid, PRIMARY KEY (reader, author));
CREATE TABLE articles (author uuid, at timeuuid, title text, PRIMARY KEY (author, at));
-- @table subscriptions rows=30M partitions=600k
-- @table articles rows=2M partitions=40k
-- @group page
-- @query authors rate=15/s
SELECT author FROM subscriptions WHERE reader = ?;
-- @query of_authors
SELECT author, at, title AS a_name_that_is_so_long_that_the_statement_takes_more_than_one_line_in_the_picture,
  title AS another_such_name_at_the_very_end FROM articles WHERE author IN ?;
)");
  const std::vector<Written> texts = texts_of(draw_tables(review, true));
  EXPECT_TRUE(has_text_with(texts, "another_such_name_at_the_very_end"));
  EXPECT_FALSE(has_text_with(texts, "…"));
  const auto codes = std::count_if(texts.begin(), texts.end(),
                                   [](const Written& one) { return one.text == "MULTI_PARTITION"; });
  size_t findings = 0;
  for (const Finding& finding : review.findings)
    findings += finding.verdict == Verdict::multi_partition ? 1 : 0;
  EXPECT_EQ(findings, 2u) << ids(review);
  EXPECT_EQ(codes, 2) << "once for each statement of the group";
}

TEST(DiagramTest, ADesignIsDrawn) {
  const Workload workload = read_example("shop.cql");
  const auto design = design_tables(workload, {});
  ASSERT_TRUE(design.has_value());
  const Review review = review_of(print_design(workload, *design));
  ASSERT_EQ(review.tables.size(), design->tables.size());
  for (size_t i = 0; i < review.tables.size(); ++i) {
    EXPECT_EQ(review.tables[i].name, design->tables[i].layout.name);
    EXPECT_EQ(review.tables[i].rows, design->tables[i].rows);
    ASSERT_TRUE(review.tables[i].spread.has_value());
  }
  for (const QueryReview& query : review.queries) EXPECT_TRUE(query.supported) << query.text;
  for (const Diagram& diagram : draw_diagrams(review)) {
    EXPECT_FALSE(diagram.text.empty()) << diagram.file;
    if (diagram.file.ends_with(".svg")) parse_xml(diagram.text);
  }
}

TEST(DiagramTest, ViewsAreMarked) {
  const Review review = review_of(R"(
CREATE TABLE bicycles (id uuid PRIMARY KEY, frame text);
CREATE MATERIALIZED VIEW by_frame AS SELECT * FROM bicycles WHERE frame IS NOT NULL AND id IS NOT NULL
  PRIMARY KEY (frame, id);
-- @table bicycles rows=4M
-- @column bicycles.frame distinct=2M
SELECT * FROM by_frame WHERE frame = ?;
)");
  ASSERT_NE(review.find_table("by_frame"), nullptr);
  EXPECT_EQ(review.find_table("by_frame")->view_of, "bicycles");
  EXPECT_EQ(review.find_table("by_frame")->rows, 4e6) << "the rows of its base table";
  EXPECT_EQ(review.find_table("by_frame")->partitions, 2e6);
  const std::string picture = draw_tables(review, true);
  EXPECT_NE(picture.find("class=\"box view\""), std::string::npos);
  EXPECT_NE(picture.find("materialized view of bicycles"), std::string::npos);
}

TEST(DiagramTest, NothingToDraw) {
  for (const Diagram& diagram : draw_diagrams(Review{}))
    if (diagram.file.ends_with(".svg")) parse_xml(diagram.text);
}

// --- Properties

std::string any_name() {
  const std::vector<std::string> letters = {"a", "_", "Z", "9", "<", "&", "\"", "漢", "\xff", " ", "é"};
  std::string name;
  const int length = *rc::gen::inRange(1, 70);
  for (int i = 0; i < length; ++i) name += *rc::gen::elementOf(letters);
  return name;
}

Review any_review() {
  Review review;
  const int tables = *rc::gen::inRange(0, 9);
  for (int i = 0; i < tables; ++i) {
    TableReview table;
    table.name = fmt::format("t{}{}", i, any_name());
    const int columns = *rc::gen::inRange(1, 9);
    for (int j = 0; j < columns; ++j) {
      const std::string name = any_name();
      table.columns.push_back({name, *rc::gen::elementOf(std::vector<std::string>{"int", "map<text, text>"}),
                               name, *rc::gen::elementOf(std::vector<std::string>{"", "K", "C↑ IDX", "++"})});
    }
    review.tables.push_back(std::move(table));
  }
  const int queries = tables == 0 ? 0 : *rc::gen::inRange(0, 25);
  for (int i = 0; i < queries; ++i) {
    QueryReview query;
    query.name = fmt::format("query {}", i);
    query.group = *rc::gen::elementOf(std::vector<std::string>{"", "g", "h", "i"});
    query.table = review.tables[static_cast<size_t>(*rc::gen::inRange(0, tables))].name;
    query.tables = {query.table};
    query.write = *rc::gen::inRange(0, 4) == 0;
    query.times = *rc::gen::elementOf(std::vector<double>{1, 1, 1000});
    query.bound = "1";
    review.queries.push_back(std::move(query));
  }
  return review;
}

// Returns true if a horizontal or vertical segment crosses the inside of a box.
bool crosses(const Point& from, const Point& to, const Box& box) {
  const Box segment = {std::min(from.x, to.x), std::min(from.y, to.y), std::abs(to.x - from.x),
                       std::abs(to.y - from.y)};
  return segment.x < box.right() && segment.right() > box.x && segment.y < box.bottom() &&
         segment.bottom() > box.y;
}

RC_GTEST_PROP(DiagramProperty, NothingOverlaps, ()) {
  const Review review = any_review();
  const TableLayout layout = lay_out_tables(review, *rc::gen::arbitrary<bool>());
  const auto inside = [&](const Box& box) {
    return box.x >= 0 && box.y >= 0 && box.right() <= layout.width && box.bottom() <= layout.height;
  };
  std::vector<Box> taken;
  for (const TableBox& box : layout.boxes) taken.push_back(box.box);
  for (const Arrow& arrow : layout.arrows) taken.push_back(arrow.label_box);
  for (size_t i = 0; i < taken.size(); ++i) {
    RC_ASSERT(inside(taken[i]));
    for (size_t j = 0; j < i; ++j) RC_ASSERT(!taken[i].overlaps(taken[j]));
  }
  for (const Arrow& arrow : layout.arrows) {
    for (size_t i = 0; i + 1 < arrow.points.size(); ++i) {
      const Point &from = arrow.points[i], &to = arrow.points[i + 1];
      RC_ASSERT(from.x == to.x || from.y == to.y);
      RC_ASSERT(inside({to.x, to.y, 0, 0}));
      for (const TableBox& box : layout.boxes) RC_ASSERT(!crosses(from, to, box.box));
      for (const Arrow& other : layout.arrows)
        if (&other != &arrow) RC_ASSERT(!crosses(from, to, other.label_box));
    }
  }
}

// No two arrows overlap: parallel segments on the same line are apart.
RC_GTEST_PROP(DiagramProperty, ArrowsNeverOverlap, ()) {
  const Review review = any_review();
  const TableLayout layout = lay_out_tables(review, false);
  struct Segment {
    Point from, to;
    size_t arrow;
  };
  std::vector<Segment> segments;
  for (size_t a = 0; a < layout.arrows.size(); ++a)
    for (size_t i = 0; i + 1 < layout.arrows[a].points.size(); ++i)
      segments.push_back({layout.arrows[a].points[i], layout.arrows[a].points[i + 1], a});
  for (const Segment& one : segments) {
    for (const Segment& other : segments) {
      if (one.arrow == other.arrow) continue;
      const bool level = one.from.y == one.to.y && other.from.y == other.to.y && one.from.y == other.from.y;
      const bool upright = one.from.x == one.to.x && other.from.x == other.to.x && one.from.x == other.from.x;
      if (level)
        RC_ASSERT(std::max(one.from.x, one.to.x) <= std::min(other.from.x, other.to.x) ||
                  std::max(other.from.x, other.to.x) <= std::min(one.from.x, one.to.x));
      if (upright)
        RC_ASSERT(std::max(one.from.y, one.to.y) <= std::min(other.from.y, other.to.y) ||
                  std::max(other.from.y, other.to.y) <= std::min(one.from.y, one.to.y));
    }
  }
}

RC_GTEST_PROP(DiagramProperty, EveryQueryHasAnArrowAndTheOutputIsXml, ()) {
  const Review review = any_review();
  const TableLayout layout = lay_out_tables(review, false);
  std::multiset<size_t> drawn;
  for (const Arrow& arrow : layout.arrows) drawn.insert(arrow.queries.begin(), arrow.queries.end());
  for (size_t i = 0; i < review.queries.size(); ++i)
    RC_ASSERT(drawn.count(i) == (review.queries[i].write ? 0u : 1u));
  const std::string picture = draw_tables(review, true);
  std::istringstream in(picture);
  ptree tree;
  boost::property_tree::read_xml(in, tree);
  RC_ASSERT(picture == draw_tables(review, true));
}

}  // namespace
}  // namespace sibyl::advisor
