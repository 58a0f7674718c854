// Checks that docs/advisor-json.md lists every member that is printed, with its types, and no others.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "advisor/design/design.h"
#include "advisor/review/review.h"
#include "advisor/review/test_review.h"
#include "advisor/trial/measurement.h"

namespace sibyl::advisor {
namespace {

namespace json = boost::json;

struct Member {
  std::set<std::string> types;
  bool optional = false;
};

// The rows `| path | types | meaning |` of a section, by path.
std::map<std::string, Member> documented(const std::string& heading) {
  std::map<std::string, Member> out;
  const std::string page = read_file("docs/advisor-json.md");
  const size_t begin = page.find("## `" + heading);
  EXPECT_NE(begin, std::string::npos) << heading;
  std::istringstream lines(page.substr(begin, page.find("\n## ", begin + 1) - begin));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const size_t end = line.find('`', 3), bar = line.find(" | ", end + 4);
    Member member;
    std::istringstream types(line.substr(end + 4, bar - end - 4));
    for (std::string type; types >> type;) {
      if (type.ends_with(',')) type.pop_back();
      member.types.insert(type);
    }
    member.optional = line.find("may be left out") != std::string::npos;
    out[line.substr(3, end - 3)] = std::move(member);
  }
  return out;
}

// Like documented(), plus the members that a measurement adds to both documents.
std::map<std::string, Member> documented_with_measurement(const std::string& heading) {
  std::map<std::string, Member> out = documented(heading);
  for (auto& [path, member] : documented("measurement")) out["measurement." + path] = std::move(member);
  return out;
}

Measurement measured_example() {
  MeasuredOperation operation;
  operation.name = "by|city";
  operation.work = Work{1, 1, 10, 0, 0, 0};
  operation.expected_rows = 10;
  Measurement out;
  out.fitted = CostModel();
  out.trials = {{"given", 10, 1, {operation}, {"assumed"}}, {"suggested", 20, 1, {operation}, {}}};
  return out;
}

// Values without a prediction or a fit are null.
Measurement unpredicted_example() {
  Measurement out = measured_example();
  out.fitted.reset();
  for (MeasuredTrial& trial : out.trials) {
    trial.operations[0].work.reset();
    trial.operations[0].expected_rows.reset();
  }
  return out;
}

std::string type_of(const json::value& value) {
  if (value.is_null()) return "null";
  if (value.is_bool()) return "boolean";
  if (value.is_string()) return "string";
  if (value.is_number()) return "number";
  return value.is_array() ? "array" : "object";
}

class Checker {
 public:
  explicit Checker(std::map<std::string, Member> members) : members_(std::move(members)) {}

  void check(const json::value& value, const std::string& path = {}) {
    if (const auto* array = value.if_array()) {
      for (const json::value& element : *array) check(element, path + "[]");
      return;
    }
    const auto member = members_.find(path);
    if (const auto* object = value.if_object()) {
      if (member != members_.end()) seen_.insert(path);
      for (const auto& [name, inner] : *object)
        check(inner, path.empty() ? std::string(name) : path + "." + std::string(name));
      expect_all(*object, path);
      return;
    }
    ASSERT_NE(member, members_.end()) << path << " is printed but not documented";
    EXPECT_TRUE(member->second.types.contains(type_of(value))) << path << " is a " << type_of(value);
    seen_.insert(path);
  }

  void expect_complete() const {
    for (const auto& [path, member] : members_)
      EXPECT_TRUE(seen_.contains(path)) << path << " is documented but no example printed it";
  }

 private:
  // Checks that the object has all members that are required directly below `path`.
  void expect_all(const json::object& object, const std::string& path) const {
    const std::string prefix = path.empty() ? "" : path + ".";
    for (const auto& [name, member] : members_) {
      if (!name.starts_with(prefix) || member.optional) continue;
      const std::string rest = name.substr(prefix.size());
      const std::string own = rest.substr(0, rest.find_first_of(".["));
      EXPECT_TRUE(object.contains(own)) << prefix << own << " is missing";
    }
  }

  std::map<std::string, Member> members_;
  std::set<std::string> seen_;
};

// Every row of a Markdown table must have as many cells as its header.
void expect_even_tables(const std::string& markdown) {
  std::istringstream lines(markdown);
  std::optional<std::ptrdiff_t> cells;
  size_t tables = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("|")) {
      cells.reset();
      continue;
    }
    const auto bars = std::count(line.begin(), line.end(), '|');
    if (!cells) ++tables;
    if (!cells) cells = bars;
    EXPECT_EQ(bars, *cells) << line;
  }
  EXPECT_GE(tables, 4u) << markdown;
}

TEST(JsonPage, OfAReview) {
  Checker checker(documented_with_measurement("sibyl advise --format json"));
  for (const char* text : {"CREATE TABLE people (id uuid PRIMARY KEY, city text);\n-- @query by_city\nSELECT "
                           "* FROM people WHERE "
                           "city = ? ALLOW FILTERING;\nSELECT nonsense FROM people;",
                           R"(
CREATE TABLE joins (groupname text, joined timeuuid, username text, PRIMARY KEY (groupname, joined));
CREATE TABLE users (username text PRIMARY KEY, email text);
-- @table joins rows=1M partitions=1000 growth=3000/d row=100
-- @target partition=150kB horizon=3y
-- @group members
-- @query newest rate=100/s
SELECT * FROM joins WHERE groupname = ? LIMIT 10;
-- @query each times=10
SELECT * FROM users WHERE username = ?;
)"}) {
    const auto workload = parse_workload(text, "test.cql");
    ASSERT_TRUE(workload.has_value());
    auto review = review_workloads({*workload}, {});
    ASSERT_TRUE(review.has_value());
    ASSERT_TRUE(apply_baseline("FULL_SCAN people/by_city: known\nOK gone: once\n", "b", *review));
    review->internal_errors.emplace_back("none");
    expect_even_tables(render_markdown(*review));
    checker.check(json::parse(render_json(*review)));
    for (const Measurement& measurement : {measured_example(), unpredicted_example()})
      checker.check(json::parse(render_json(*review, &measurement)));
  }
  checker.expect_complete();
}

TEST(TerminalReport, NamesDoNotSteerTheTerminal) {
  const auto workload = parse_workload(
      "CREATE TABLE t (k int PRIMARY KEY, \"c\x1b[2J\" int);\n"
      "SELECT * FROM t WHERE \"c\x1b[2J\" = 1 ALLOW FILTERING;",
      "test\x1b.cql");
  ASSERT_TRUE(workload.has_value());
  auto review = review_workloads({*workload}, {});
  ASSERT_TRUE(review.has_value()) << review.error().message();
  ASSERT_FALSE(review->findings.empty());
  EXPECT_NE(review->findings[0].cql.find('\x1b'), std::string::npos) << "CQL is not sanitised";
  review->findings[0].evidence.push_back({"key '\x1b[31m'\nnext", Origin::measured});
  const std::string text = render_text(*review, {});
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  EXPECT_NE(text.find("next (measured)"), std::string::npos) << text;
}

TEST(JsonPage, OfADesign) {
  Checker checker(documented_with_measurement("sibyl advise design --format json"));
  for (const char* text : {R"(
-- @entity users count=1M (id uuid key, name text size=84, joined timestamp)
-- @entity groups count=1k (id uuid key)
-- @rel users.group -> groups.users skew=zipf(1)
-- @group g
-- @query members rate=10/s SELECT users.* FROM users WHERE users.group = :g
-- @query newest rate=9/s SELECT users.* FROM users WHERE users.group = :g ORDER BY joined DESC LIMIT 10
-- @write join rate=1/s INSERT INTO users (id, name, joined, group) VALUES (?, ?, ?, ?)
-- @write move rate=1/s UPDATE users SET group = :g WHERE id = :u
-- @write rename rate=1/s UPDATE users SET name = :n WHERE id = :u
-- @target partition=1MB
)",
                           R"(
-- @entity items count=100k (id uuid key, price int, name text)
-- @entity shops count=10 (id uuid key)
-- @rel items.shop -> shops.items
-- @query cheap rate=0.001/s SELECT items.* FROM items WHERE items.shop = :s AND items.price >= :p ORDER BY name
-- @write price rate=1000/s UPDATE items SET price = :p WHERE id = :i
-- @write add rate=1000/s INSERT INTO items (id, price, name, shop) VALUES (?, ?, ?, ?)
)",
                           R"(
-- @entity tasks count=10k (id uuid key, state text)
-- @query open SELECT tasks.* FROM tasks WHERE tasks.state = 'open'
)"}) {
    const auto workload = parse_workload(text, "test.cql");
    ASSERT_TRUE(workload.has_value()) << workload.error().message();
    DesignOptions options;
    options.share = true;
    const auto design = design_tables(*workload, options);
    ASSERT_TRUE(design.has_value()) << design.error().message();
    checker.check(json::parse(render_json(*design)));
    for (const Measurement& measurement : {measured_example(), unpredicted_example()})
      checker.check(json::parse(render_json(*design, &measurement)));
  }
  checker.expect_complete();
}

TEST(MeasuredDesign, IsOneDocument) {
  const auto workload = parse_workload(
      "-- @entity users count=1k (id uuid key, name text)\n"
      "-- @query by_name rate=1/s SELECT users.* FROM users WHERE users.name = :n\n",
      "test.cql");
  ASSERT_TRUE(workload.has_value()) << workload.error().message();
  const auto design = design_tables(*workload, {});
  ASSERT_TRUE(design.has_value()) << design.error().message();
  const Measurement measurement = measured_example();
  // The text can be run as CQL, so measurements are in comments.
  const std::string text = render_text(*design, &measurement);
  EXPECT_NE(text.find("CREATE TABLE"), std::string::npos);
  EXPECT_NE(text.find("\n-- Measured with synthetic data"), std::string::npos) << text;
  const auto again = parse_workload(text, "design.cql");
  ASSERT_TRUE(again.has_value()) << again.error().message();
  EXPECT_EQ(again->cql.size(), design->tables.size());
  const std::string page = render_markdown(*design, &measurement);
  EXPECT_NE(page.find("```sql\n-- "), std::string::npos) << page;
  EXPECT_NE(page.find("\n## Measured\n"), std::string::npos);
  EXPECT_NE(page.find("by\\|city"), std::string::npos) << "a bar in a name does not end the cell";
}

}  // namespace
}  // namespace sibyl::advisor
