#include "plan/statements/modify.h"

#include "plan/test_planning.h"

namespace sibyl::plan {
namespace {

class ModifyTest : public PlanningTest {
 protected:
  void SetUp() override {
    PlanningTest::SetUp();
    define("CREATE TYPE ty (a int, b text)");
    define("CREATE TABLE t (k int PRIMARY KEY, v int, txt text)");
    define("CREATE TABLE p (a int, b int, c int, d int, v int, s int STATIC, PRIMARY KEY ((a, b), c, d))");
    define("CREATE TABLE cn (k int PRIMARY KEY, n counter)");
    define(
        "CREATE TABLE co (k int PRIMARY KEY, l list<int>, st set<int>, m map<text, int>, fl "
        "frozen<list<int>>, u ty, "
        "fu frozen<ty>, tp tuple<int, text>)");
  }

  // The operations of a statement, as "column:kind", those on static columns first; or the error.
  std::string operations(const std::string& text) {
    static constexpr const char* kinds[] = {
        "set",           "append",          "prepend",          "add_elements",
        "remove_values", "remove_elements", "set_index",        "set_element",
        "set_field",     "remove",          "remove_index",     "remove_element",
        "remove_field",  "add_to_counter",  "subtract_counter", "add_value"};
    const auto planned = plan(text);
    if (!planned) return planned.error().message();
    const auto& write = *std::get<std::shared_ptr<const Modification>>((*planned)->plan);
    std::string out;
    for (const auto* list : {&write.static_operations, &write.row_operations})
      for (const Operation& one : *list)
        out += (out.empty() ? "" : " ") + one.column->name + ":" + kinds[static_cast<size_t>(one.kind)];
    return out + (write.reads_first ? " reads" : "") + (write.names_rows ? "" : " no-rows");
  }
};

TEST_F(ModifyTest, OperationsOfAssignments) {
  const struct {
    const char* statement;
    const char* operations;
  } cases[] = {
      {"INSERT INTO t (k, v, txt) VALUES (1, 2, 'x')", "txt:set v:set"},
      {"INSERT INTO p (a, b, s) VALUES (1, 2, 3)", "s:set no-rows"},
      {"UPDATE p SET s = 1, v = 2 WHERE a = 1 AND b = 1 AND c = 1 AND d = 1", "s:set v:set"},
      {"UPDATE co SET l = l + [1] WHERE k = 1", "l:append"},
      {"UPDATE co SET l = [1] + l WHERE k = 1", "l:prepend"},
      {"UPDATE co SET l = l - [1] WHERE k = 1", "l:remove_values reads"},
      {"UPDATE co SET l[0] = 1 WHERE k = 1", "l:set_index reads"},
      {"UPDATE co SET st = st + {1}, m = m + {'a': 1} WHERE k = 1", "m:add_elements st:add_elements"},
      {"UPDATE co SET st -= {1}, m -= {'a'} WHERE k = 1", "m:remove_elements st:remove_elements"},
      {"UPDATE co SET m['a'] = 1, u.a = 2 WHERE k = 1", "m:set_element u:set_field"},
      {"UPDATE cn SET n = n + 1 WHERE k = 1", "n:add_to_counter reads"},
      {"UPDATE cn SET n = n - 1 WHERE k = 1", "n:subtract_counter reads"},
      {"DELETE v FROM t WHERE k = 1", "v:remove"},
      {"DELETE l[0], m['a'], u.a FROM co WHERE k = 1",
       "l:remove_index m:remove_element u:remove_field reads"},
      {"DELETE FROM t WHERE k = 1", ""},
      {"DELETE FROM p WHERE a = 1 AND b = 1", " no-rows"},
      {"DELETE FROM p WHERE a = 1 AND b = 1 AND c > 1", " no-rows"},
  };
  for (const auto& one : cases) EXPECT_EQ(operations(one.statement), one.operations) << one.statement;
}

TEST_F(ModifyTest, RefusalsOfInsertAreCassandras) {
  const struct {
    const char* statement;
    const char* text;
  } cases[] = {
      {"INSERT INTO t (v) VALUES (1)", "Some partition key parts are missing: k"},
      {"INSERT INTO t (k, v) VALUES (1)", "Unmatched column names/values"},
      {"INSERT INTO t (k, k) VALUES (1, 2)", "The column names contains duplicates"},
      {"INSERT INTO t (k, zz) VALUES (1, 2)", "Undefined column name zz in table e.t"},
      {"INSERT INTO nope (k) VALUES (1)", "table nope does not exist"},
      {"INSERT INTO nope.t (k) VALUES (1)", "keyspace nope does not exist"},
      {"INSERT INTO p (v) VALUES (1)", "Some partition key parts are missing: a, b"},
      {"INSERT INTO p (a, b, v) VALUES (1, 1, 1)", "Some clustering keys are missing: c, d"},
      {"INSERT INTO p (a, b, s, v) VALUES (7, 7, 7, 7)", "Some clustering keys are missing: c, d"},
      {"INSERT INTO t (k, v) VALUES ('a', 1)", "Invalid STRING constant (a) for \"k\" of type int"},
      {"INSERT INTO t (k, v) VALUES (1, 1.5)", "Invalid FLOAT constant (1.5) for \"v\" of type int"},
      {"INSERT INTO t (k, v) VALUES (1, 2147483648)", "Unable to make int from '2147483648'"},
      {"INSERT INTO t (k, v) VALUES (1, true)", "Invalid BOOLEAN constant (true) for \"v\" of type int"},
      {"INSERT INTO t (k, txt) VALUES (1, 5)", "Invalid INTEGER constant (5) for \"txt\" of type text"},
      {"INSERT INTO t (k, v) VALUES (1, now())",
       "Type error: cannot assign result of function system.now (type timeuuid) to v (type int)"},
      {"INSERT INTO t (k, v) VALUES (1, max(1))",
       "Aggregation function are not supported in the where clause"},
      {"INSERT INTO t (k, v) VALUES (1, (bigint) 5)", "Cannot assign value (bigint)5 to v of type int"},
      {"INSERT INTO co (k, l) VALUES (1, {1, 2})", "Invalid set literal for l of type list<int>"},
      {"INSERT INTO co (k, l) VALUES (1, [1, 'a'])",
       "Invalid list literal for l: value 'a' is not of type int"},
      {"INSERT INTO co (k, st) VALUES (1, [1])",
       "Unexpected receiver type 'set<int>'; only list and vector are expected"},
      {"INSERT INTO co (k, st) VALUES (1, {'a': 1})", "Invalid map literal for st of type set<int>"},
      {"INSERT INTO co (k, m) VALUES (1, {1: 1})", "Invalid map literal for m: key 1 is not of type text"},
      {"INSERT INTO co (k, m) VALUES (1, {'a': 'b'})",
       "Invalid map literal for m: value 'b' is not of type int"},
      {"INSERT INTO co (k, u) VALUES (1, {a: 'x'})",
       "Invalid user type literal for u: field a is not of type int"},
      {"INSERT INTO co (k, u) VALUES (1, {zz: 1})", "Unknown field 'zz' in value of user defined type ty"},
      {"INSERT INTO co (k, tp) VALUES (1, (1, 'x', 3))",
       "Invalid tuple literal for tp: too many elements. Type frozen<tuple<int, text>> expects 2 but got 3"},
      {"INSERT INTO co (k, tp) VALUES (1, ('x', 1))",
       "Invalid tuple literal for tp: component 0 is not of type int"},
  };
  for (const auto& one : cases) EXPECT_EQ(error(one.statement), one.text) << one.statement;
}

TEST_F(ModifyTest, RefusalsOfUpdateAreCassandras) {
  const struct {
    const char* statement;
    const char* text;
  } cases[] = {
      {"UPDATE t SET v = 1 WHERE k = 1 AND v = 1", "Non PRIMARY KEY columns found in where clause: v "},
      {"UPDATE t SET zz = 1 WHERE k = 1", "Undefined column name zz in table e.t"},
      {"UPDATE t SET k = 1 WHERE k = 1", "PRIMARY KEY part k found in SET part"},
      {"UPDATE t SET v = 1, v = 2 WHERE k = 1", "Multiple incompatible setting of column v"},
      {"UPDATE t SET v = 'x' WHERE k = 1", "Invalid STRING constant (x) for \"v\" of type int"},
      {"UPDATE t SET v = v + 1 WHERE k = 1", "Invalid operation (v = v + 1) for non counter column v"},
      {"UPDATE t SET txt = txt + 'a' WHERE k = 1",
       "Invalid operation (txt = txt + 'a') for non counter column txt"},
      {"UPDATE t SET v[0] = 1 WHERE k = 1", "Invalid operation (v[0] = 1) for non collection column v"},
      {"UPDATE t SET v.a = 1 WHERE k = 1", "Invalid operation (v.a = 1) for non-UDT column v"},
      {"UPDATE nope SET v = 1 WHERE k = 1", "table nope does not exist"},
      {"UPDATE co SET l = l + 1 WHERE k = 1", "Invalid INTEGER constant (1) for \"l\" of type list<int>"},
      {"UPDATE co SET l = l + {1} WHERE k = 1", "Invalid set literal for l of type list<int>"},
      {"UPDATE co SET l = l + ['a'] WHERE k = 1", "Invalid list literal for l: value 'a' is not of type int"},
      {"UPDATE co SET l = st + [1] WHERE k = 1",
       "Only expressions of the form X = X +<value> are supported."},
      {"UPDATE co SET l['a'] = 5 WHERE k = 1", "Invalid STRING constant (a) for \"idx(l)\" of type int"},
  };
  for (const auto& one : cases) EXPECT_EQ(error(one.statement), one.text) << one.statement;
}

}  // namespace
}  // namespace sibyl::plan
