#include "plan/restrictions/restrictions.h"

#include <functional>

#include "plan/evaluation/clustering.h"
#include "plan/evaluation/filters.h"
#include "plan/evaluation/intervals.h"
#include "plan/evaluation/keys.h"
#include "plan/evaluation/partitions.h"
#include "plan/statements/select.h"
#include "plan/test_planning.h"
#include "types/value.h"

namespace sibyl::plan {
namespace {

constexpr const char* may_filter =
    "Cannot execute this query as it might involve data filtering and thus may have unpredictable "
    "performance. "
    "If you want to execute this query despite the performance unpredictability, use ALLOW FILTERING";

class RestrictionsTest : public PlanningTest {
 protected:
  void SetUp() override {
    PlanningTest::SetUp();
    define("CREATE TABLE t (k int PRIMARY KEY, v int, l list<int>, m map<text, int>)");
    define(
        "CREATE TABLE p (a int, b int, c int, d int, e int, v int, s int STATIC, PRIMARY KEY ((a, b), c, d, "
        "e))");
    define(
        "CREATE TABLE r (k int, a int, b int, c int, PRIMARY KEY (k, a, b, c)) WITH CLUSTERING ORDER BY (a "
        "ASC, "
        "b DESC, c ASC)");
  }

  RestrictionsPtr where(const std::string& text) {
    const auto planned = plan(text);
    EXPECT_TRUE(planned) << text << ": " << planned.error().message();
    return planned ? std::get<std::shared_ptr<const Select>>((*planned)->plan)->where : nullptr;
  }

  // The first error of planning or of evaluating the relations for a request.
  std::string refusal(const std::string& text) {
    const auto planned = plan(text);
    if (!planned) return planned.error().message();
    const auto& where = *std::get<std::shared_ptr<const Select>>((*planned)->plan)->where;
    if (where.partitions() == Restrictions::Partitions::keys) {
      if (const auto keys = partition_keys(where, bindings_, scratch_); !keys) return keys.error().message();
    } else if (const auto tokens = token_range(where, bindings_, scratch_); !tokens) {
      return tokens.error().message();
    }
    if (const auto intervals = clustering_intervals(where, bindings_, scratch_); !intervals)
      return intervals.error().message();
    const auto filters = row_filters(where, bindings_, scratch_);
    return filters ? "" : filters.error().message();
  }

  // The rows (a, b, c) of table r with values 0 to 2 that the intervals contain.
  std::vector<std::array<int, 3>> rows_in(const std::string& relations) {
    const RestrictionsPtr bound = where("SELECT * FROM r WHERE k = 1 AND " + relations);
    const auto intervals = clustering_intervals(*bound, bindings_, scratch_);
    EXPECT_TRUE(intervals) << relations;
    std::vector<std::array<int, 3>> found;
    for (int i = 0; intervals && i < 27; ++i) {
      const std::array<int, 3> row = {i / 9, i / 3 % 3, i % 3};
      if (contain(*intervals, row)) found.push_back(row);
    }
    return found;
  }
  bool contain(const std::vector<Interval>& intervals, const std::array<int, 3>& row) {
    const Bytes values[] = {types::encode_int32(row[0]), types::encode_int32(row[1]),
                            types::encode_int32(row[2])};
    const std::vector<BytesView> views(std::begin(values), std::end(values));
    const Bytes key = clustering_of(*schema_->find_table("e", "r"), views);
    size_t containing = 0;
    for (const Interval& one : intervals) containing += one.begin <= key && (!one.end || key < *one.end);
    EXPECT_LE(containing, 1u) << "the intervals overlap";
    return containing > 0;
  }

  const Bindings bindings_;
  Scratch scratch_;
};

TEST_F(RestrictionsTest, RefusalsAreCassandras) {
  const struct {
    const char* where;
    const char* text;
  } cases[] = {
      {"a = 1", may_filter},
      {"a = 1 AND b > 1", may_filter},
      {"a = 1 AND c = 1", may_filter},
      {"c > 1", may_filter},
      {"a = 1 AND b = 1 AND v = 1", may_filter},
      {"s = 9", may_filter},
      {"v IN (1, 2)", may_filter},
      {"a = 1 AND b = 1 AND d = 1",
       "PRIMARY KEY column \"d\" cannot be restricted as preceding column \"c\" is not restricted"},
      {"a = 1 AND b = 1 AND c = 1 AND e = 1",
       "PRIMARY KEY column \"e\" cannot be restricted as preceding column \"d\" is not restricted"},
      {"a = 1 AND b = 1 AND c > 0 AND d = 1",
       "Clustering column \"d\" cannot be restricted (preceding column \"c\" is restricted by a non-EQ "
       "relation)"},
      {"a = 1 AND b = 1 AND c > 1 AND c > 2", "More than one restriction was found for the start bound on c"},
      {"a = 1 AND b = 1 AND c < 1 AND c <= 2", "More than one restriction was found for the end bound on c"},
      {"a = 1 AND b = 1 AND c = 1 AND c > 0",
       "c cannot be restricted by more than one relation if it includes an Equal"},
      {"a = 1 AND b = 1 AND c > 0 AND c = 1",
       "Column \"c\" cannot be restricted by both an equality and an inequality relation"},
      {"a = 1 AND b = 1 AND c IN (1, 2) AND c = 1",
       "c cannot be restricted by more than one relation if it includes a IN"},
      {"(a, b) = (1, 1)",
       "Multi-column relations can only be applied to clustering columns but was applied to: a"},
      {"a = 1 AND b = 1 AND (c, d) = (1, 1, 1)", "Expected 2 elements in value tuple, but got 3: (1, 1, 1)"},
      {"a = 1 AND b = 1 AND (c, d) > (1, 1) AND (c, d) > (2, 2)",
       "More than one restriction was found for the start bound on c ,d"},
      {"a = 1 AND b = 1 AND (d, c) = (1, 1)",
       "Clustering columns must appear in the PRIMARY KEY order in multi-column relations: (d, c) = (1, 1)"},
      {"a = 1 AND b = 1 AND (c, c) = (1, 1)", "Column \"c\" appeared twice in a relation: (c, c) = (1, 1)"},
      {"a = 1 AND b = 1 AND (c, v) = (1, 1)",
       "Multi-column relations can only be applied to clustering columns but was applied to: v"},
      {"a = 1 AND b = 1 AND (c, d) > (0, 0) AND d = 1",
       "Column \"d\" cannot be restricted by both an equality and an inequality relation"},
      {"a = 1 AND b = 1 AND (c, zz) = (1, 1)", "Undefined column name zz in table e.p"},
      {"a = 1 AND b = 1 AND (c, d) > (1, 'x')", "Invalid STRING constant (x) for \"d\" of type int"},
      {"a = 1 AND b = 1 AND c != 1", "Unsupported \"!=\" relation: c != 1"},
      {"a = 1 AND b = 1 AND c IS NOT NULL", "Unsupported restriction: c IS NOT NULL"},
      {"token(a) > 1",
       "The token() function must be applied to all partition key components or none of them"},
      {"v CONTAINS 1 ALLOW FILTERING", "Cannot use CONTAINS on non-collection column v"},
      {"v CONTAINS KEY 1 ALLOW FILTERING", "Cannot use CONTAINS KEY on non-map column v"},
      // These errors are found only when the values are known.
      {"a = null AND b = 1", "Invalid null value in condition for column a"},
      {"a IN (1, null) AND b = 1", "Invalid null value in condition for column a"},
      {"a = 1 AND b = 1 AND c = null", "Invalid null value in condition for column c"},
      {"a = 1 AND b = 1 AND c IN (1, null)", "Invalid null value in condition for column c"},
      {"a = 1 AND b = 1 AND (c, d) = (1, null)", "Invalid null value for column d"},
      {"a = 1 AND b = 1 AND (c, d) > (1, null)", "Invalid null value in condition for column d"},
      {"a = 1 AND b = 1 AND v = null ALLOW FILTERING", "Unsupported null value for column v"},
      {"a = 1 AND b = 1 AND v > null ALLOW FILTERING", "Unsupported null value for column v"},
  };
  for (const auto& one : cases)
    EXPECT_EQ(refusal(std::string("SELECT * FROM p WHERE ") + one.where), one.text) << one.where;
}

TEST_F(RestrictionsTest, WritesNameWholeKeys) {
  const struct {
    const char* statement;
    const char* text;
  } cases[] = {
      {"UPDATE p SET v = 1 WHERE a = 1", "Some partition key parts are missing: b"},
      {"UPDATE p SET v = 1 WHERE a = 1 AND b = 1", "Some clustering keys are missing: c, d, e"},
      {"UPDATE p SET v = 1 WHERE a = 1 AND b = 1 AND c = 1 AND d = 1 AND e > 1",
       "Slice restrictions are not supported on the clustering columns in UPDATE statements"},
      {"UPDATE p SET v = 1 WHERE a = 1 AND b > 1 AND c = 1 AND d = 1 AND e = 1",
       "Only EQ and IN relation are supported on the partition key (unless you use the token() function) for "
       "UPDATE statements"},
      {"UPDATE p SET s = 1 WHERE a = 1 AND b = 1 AND c = 1",
       "Invalid restrictions on clustering columns since the UPDATE statement modifies only static columns"},
      {"UPDATE t SET v = 1 WHERE token(k) = 1",
       "The token function cannot be used in WHERE clauses for UPDATE statements"},
      {"UPDATE t SET v = 1 WHERE k = 1 AND l CONTAINS 1", "Cannot use UPDATE with CONTAINS"},
      {"DELETE FROM p WHERE a = 1 AND b = 1 AND v = 1", "Non PRIMARY KEY columns found in where clause: v "},
      {"DELETE FROM p WHERE a = 1 AND b = 1 AND c > 1", ""},
      {"DELETE FROM t WHERE m['x'] = 1", "Some partition key parts are missing: k"},
  };
  for (const auto& one : cases) EXPECT_EQ(error(one.statement), one.text) << one.statement;
}

TEST_F(RestrictionsTest, SummaryOfRestrictedColumns) {
  const struct {
    const char* where;
    const char* summary;  // see the loop below
  } cases[] = {
      {"", "range"},
      {" WHERE token(a, b) > 5", "range partition"},
      {" WHERE a = 1 AND b = 2", "keys partition"},
      {" WHERE a IN (1, 2) AND b = 2", "keys partition in"},
      {" WHERE a = 1 AND b = 2 AND c > 3", "keys partition clustering"},
      {" WHERE a = 1 AND b = 2 AND c = 3 AND d = 4 AND e IN (5, 6)", "keys partition clustering row"},
      {" WHERE a = 1 AND b = 2 AND (c, d, e) = (3, 4, 5)", "keys partition clustering row"},
      {" WHERE a = 1 AND b = 2 AND d = 3 ALLOW FILTERING", "keys partition clustering filter:d"},
      {" WHERE a = 1 AND v > 1 ALLOW FILTERING", "range partition regular filter:a,v"},
      {" WHERE s = 1 ALLOW FILTERING", "range filter:s"},
  };
  for (const auto& one : cases) {
    const RestrictionsPtr found = where(std::string("SELECT * FROM p") + one.where);
    ASSERT_NE(found, nullptr);
    std::string summary = found->partitions() == Restrictions::Partitions::keys ? "keys" : "range";
    if (found->restricts_partition()) summary += " partition";
    if (found->has_partition_in()) summary += " in";
    if (found->restricts_clustering()) summary += " clustering";
    if (found->names_whole_row()) summary += " row";
    if (found->restricts_regular()) summary += " regular";
    std::string filtered;
    for (const schema::Column* column : found->filtered_columns())
      filtered += (filtered.empty() ? " filter:" : ",") + column->name;
    EXPECT_EQ(summary + filtered, one.summary) << one.where;
  }
}

TEST_F(RestrictionsTest, IntervalsContainExactlyTheMatchingRows) {
  using Row = std::array<int, 3>;
  const struct {
    const char* relations;
    std::function<bool(const Row&)> matches;
  } cases[] = {
      {"a = 1", [](const Row& r) { return r[0] == 1; }},
      {"a > 0", [](const Row& r) { return r[0] > 0; }},
      {"a >= 1 AND a < 2", [](const Row& r) { return r[0] == 1; }},
      {"a > 1 AND a < 1", [](const Row&) { return false; }},
      {"a IN (2, 0, 2)", [](const Row& r) { return r[0] != 1; }},
      {"a IN ()", [](const Row&) { return false; }},
      {"a = 1 AND b > 0", [](const Row& r) { return r[0] == 1 && r[1] > 0; }},
      {"a = 1 AND b <= 1", [](const Row& r) { return r[0] == 1 && r[1] <= 1; }},
      {"a IN (0, 2) AND b IN (1, 2) AND c >= 1",
       [](const Row& r) { return r[0] != 1 && r[1] != 0 && r[2] >= 1; }},
      {"(a, b, c) = (1, 2, 0)", [](const Row& r) { return r == Row{1, 2, 0}; }},
      {"(a, b) IN ((0, 1), (2, 2))",
       [](const Row& r) { return (r[0] == 0 && r[1] == 1) || (r[0] == 2 && r[1] == 2); }},
      {"(a, b, c) > (1, 1, 1)", [](const Row& r) { return r > Row{1, 1, 1}; }},
      {"(a, b, c) >= (1, 1, 1)", [](const Row& r) { return r >= Row{1, 1, 1}; }},
      {"(a, b, c) < (1, 1, 1)", [](const Row& r) { return r < Row{1, 1, 1}; }},
      {"(a, b) > (0, 1) AND (a, b, c) <= (2, 0, 1)",
       [](const Row& r) { return std::pair(r[0], r[1]) > std::pair(0, 1) && r <= Row{2, 0, 1}; }},
      {"a = 1 AND (b, c) >= (1, 2)",
       [](const Row& r) { return r[0] == 1 && std::pair(r[1], r[2]) >= std::pair(1, 2); }},
  };
  for (const auto& one : cases) {
    std::vector<Row> expected;
    for (int i = 0; i < 27; ++i)
      if (const Row row = {i / 9, i / 3 % 3, i % 3}; one.matches(row)) expected.push_back(row);
    EXPECT_EQ(rows_in(one.relations), expected) << one.relations;
  }
}

TEST_F(RestrictionsTest, PartitionKeysAreSortedByValueAndDistinct) {
  const auto keys_of = [&](const std::string& relations) {
    const auto keys = partition_keys(*where("SELECT * FROM t WHERE " + relations), bindings_, scratch_);
    EXPECT_TRUE(keys) << relations;
    std::string text;
    for (const Bytes& key : *keys)
      text += (text.empty() ? "" : " ") + std::to_string(types::decode_integer(types::Kind::int_, key));
    return text;
  };
  EXPECT_EQ(keys_of("k = 7"), "7");
  EXPECT_EQ(keys_of("k IN (3, -1, 3, 2)"), "-1 2 3");
  EXPECT_EQ(keys_of("k IN ()"), "");
  // The token of 1 is -4069959284402364209, and the token of 2 is -3248873570005575792.
  EXPECT_EQ(keys_of("k IN (1, 2) AND token(k) > -4069959284402364209"), "2");
  EXPECT_EQ(keys_of("k = 1 AND token(k) = 5"), "");
}

TEST_F(RestrictionsTest, TokenRanges) {
  const struct {
    const char* relations;
    int64_t first, last;
  } cases[] = {
      {"token(k) > 5", 6, INT64_MAX},
      {"token(k) >= 5 AND token(k) <= 9", 5, 9},
      {"token(k) < 5", INT64_MIN, 4},
      {"token(k) = 5", 5, 5},
      {"token(k) > 5 AND token(k) <= -9223372036854775808", 6, INT64_MAX},  // this is the end of the ring
      {"token(k) > 5 AND token(k) < 5", 1, 0},
      {"token(k) > 9 AND token(k) < 5", 1, 0},
  };
  for (const auto& one : cases) {
    const auto range =
        token_range(*where(std::string("SELECT * FROM t WHERE ") + one.relations), bindings_, scratch_);
    ASSERT_TRUE(range) << one.relations;
    EXPECT_EQ(std::pair(range->first, range->last), std::pair(one.first, one.last)) << one.relations;
  }
}

}  // namespace
}  // namespace sibyl::plan
