#include "plan/statements/selection.h"

#include "plan/statements/select.h"
#include "plan/test_planning.h"

namespace sibyl::plan {
namespace {

class SelectionTest : public PlanningTest {
 protected:
  void SetUp() override {
    PlanningTest::SetUp();
    define("CREATE TYPE point (x int, y int)");
    define("CREATE TYPE named (name text, at frozen<point>)");
    define(
        "CREATE TABLE c (k int PRIMARY KEY, l list<int>, s set<int>, m map<text, int>, fm frozen<map<int, "
        "text>>, "
        "u point, fu frozen<named>, t tuple<int, text>, v vector<float, 2>, mm map<int, frozen<map<text, "
        "int>>>)");
    define("CREATE TABLE r (k int, c int, d int, v int, s int STATIC, PRIMARY KEY (k, c, d))");
  }

  // "name type | name type", or the error.
  std::string columns(const std::string& select) {
    const auto planned = plan(select);
    if (!planned) return planned.error().message();
    std::string text;
    for (const ColumnSpec& column : (*planned)->result->columns)
      text += (text.empty() ? "" : " | ") + column.name + " " + column.type->cql_name();
    return text;
  }
};

TEST_F(SelectionTest, NamesAndTypesOfResultColumns) {
  const struct {
    const char* selectors;
    const char* columns;
  } cases[] = {
      {"m['a'], m['b']", "m['a'] int | m['b'] int"},
      {"s[1], fm[1]", "s[1] int | fm[1] text"},
      {"m['a'..'b'], m['b'..], m[..'b']",
       "m['a'..'b'] map<text, int> | m['b'..] map<text, int> | m[..'b'] map<text, int>"},
      {"mm[1]['p'], mm[1]['p'..'q']", "mm[1]['p'] int | mm[1]['p'..'q'] frozen<map<text, int>>"},
      {"m['a'] AS first", "first int"},
      {"u.x, fu.name, fu.at.x", "u.x int | fu.name text | fu.at.x int"},
      {"writetime(m['a']), ttl(m['a'])", "writetime(m['a']) bigint | ttl(m['a']) int"},
      {"writetime(u), writetime(fm), ttl(l)",
       "writetime(u) list<bigint> | writetime(fm) bigint | ttl(l) list<int>"},
      {"maxwritetime(m)", "maxwritetime(m) bigint"},
      {"abs(1)", "system.abs(1) int"},
      {"count(*)", "count bigint"},
      {"int_as_blob(k), CAST(k AS bigint)", "system.int_as_blob(k) blob | cast(k as bigint) bigint"},
  };
  for (const auto& one : cases)
    EXPECT_EQ(columns(std::string("SELECT ") + one.selectors + " FROM c"), one.columns) << one.selectors;
}

TEST_F(SelectionTest, RefusalsAreCassandras) {
  const struct {
    const char* selectors;
    const char* text;
  } cases[] = {
      {"l[0]", "Element selection is only allowed on sets and maps, but l is a list"},
      {"l[0..1]", "Slice selection is only allowed on sets and maps, but l is a list"},
      {"m[1]", "Invalid INTEGER constant (1) for \"key(m)\" of type text"},
      {"k[0]", "Invalid element selection: k is of type int is not a collection"},
      {"k[0..1]", "Invalid slice selection: k of type int is not a collection"},
      {"u['x']", "Invalid element selection: u is of type point is not a collection"},
      {"t[0]", "Invalid element selection: t is of type frozen<tuple<int, text>> is not a collection"},
      {"v[0]", "Invalid element selection: v is of type vector<float, 2> is not a collection"},
      {"u.z", "u of type point has no field z"},
      {"k.x", "Invalid field selection: k of type int is not a user type"},
      {"fu.at.z", "fu.at of type frozen<point> has no field z"},
      {"nosuch.x", "Undefined column name nosuch in table e.c"},
      {"ttl(k)", "Cannot use selection function ttl on PRIMARY KEY part k"},
      {"maxwritetime(k)", "Cannot use selection function maxwritetime on PRIMARY KEY part k"},
      {"writetime(l[0])", "Element selection is only allowed on sets and maps, but l is a list"},
      {"nofun(k)", "Unknown function 'nofun'"},
  };
  for (const auto& one : cases)
    EXPECT_EQ(columns(std::string("SELECT ") + one.selectors + " FROM c"), one.text) << one.selectors;
}

TEST_F(SelectionTest, OrdersGroupsAndLimits) {
  const struct {
    const char* select;
    const char* text;
  } cases[] = {
      {"SELECT * FROM r ORDER BY c",
       "ORDER BY is only supported when the partition key is restricted by an EQ or an IN."},
      {"SELECT * FROM r WHERE k = 1 ORDER BY v",
       "Order by is currently only supported on the clustered columns of the PRIMARY KEY, got v"},
      {"SELECT * FROM r WHERE k = 1 ORDER BY d",
       "Order by currently only supports the ordering of columns following their declared order in the "
       "PRIMARY KEY"},
      {"SELECT * FROM r WHERE k = 1 ORDER BY c ASC, d DESC", "Unsupported order by relation"},
      {"SELECT v FROM r GROUP BY v",
       "Group by is currently only supported on the columns of the PRIMARY KEY, got v"},
      {"SELECT v FROM r GROUP BY c",
       "Group by currently only support groups of columns following their declared order in the PRIMARY KEY"},
      {"SELECT DISTINCT c FROM r",
       "SELECT DISTINCT queries must only request partition key columns and/or static columns (not c)"},
      {"SELECT DISTINCT s FROM r",
       "SELECT DISTINCT queries must request all the partition key columns (missing k)"},
      {"SELECT DISTINCT k FROM r PER PARTITION LIMIT 1",
       "PER PARTITION LIMIT is not allowed with SELECT DISTINCT queries"},
      {"SELECT count(*) FROM r PER PARTITION LIMIT 1",
       "PER PARTITION LIMIT is not allowed with aggregate queries."},
      {"SELECT * FROM r WHERE k = 1 ORDER BY c DESC, d DESC LIMIT 5", ""},
      {"SELECT k, c, max(v) FROM r GROUP BY k, c", ""},
  };
  for (const auto& one : cases) EXPECT_EQ(error(one.select), one.text) << one.select;
}

TEST_F(SelectionTest, ReadsEachInputOnce) {
  const auto planned = plan("SELECT v, v, c, max(v), writetime(v), CAST(v AS bigint) FROM r WHERE k = 1");
  ASSERT_TRUE(planned);
  const auto& select = *std::get<std::shared_ptr<const Select>>((*planned)->plan);
  EXPECT_EQ(select.selection.outputs.size(), 6u);
  EXPECT_EQ(select.selection.inputs.size(), 3u);  // v, c, and the write time of v
  EXPECT_EQ(select.selection.aggregates.size(), 1u);
}

}  // namespace
}  // namespace sibyl::plan
