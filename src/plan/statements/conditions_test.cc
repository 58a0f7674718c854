// IF, USING and BATCH: what is bound, and refusals in Cassandra's words.
#include "plan/statements/conditions.h"

#include <limits>
#include <string>

#include "plan/statements/attributes.h"
#include "plan/statements/modify.h"
#include "plan/test_planning.h"
#include "types/value.h"

namespace sibyl::plan {
namespace {

class ConditionsTest : public PlanningTest {
 protected:
  void SetUp() override {
    PlanningTest::SetUp();
    define("CREATE TYPE ty (a int, b text)");
    define(
        "CREATE TABLE t (k int, c int, v int, s int STATIC, l list<int>, st set<int>, m map<text, int>, u "
        "ty, "
        "d duration, PRIMARY KEY (k, c))");
    define("CREATE TABLE cn (k int PRIMARY KEY, n counter)");
    define("CREATE TABLE other (k int PRIMARY KEY, v int)");
  }

  std::shared_ptr<const Modification> modification(const std::string& text) {
    const auto planned = plan(text);
    EXPECT_TRUE(planned) << text << ": " << planned.error().message();
    return planned ? std::get<std::shared_ptr<const Modification>>((*planned)->plan) : nullptr;
  }

  // The names of the columns that a refused write returns.
  std::string shown(const std::string& text) {
    std::string names;
    for (const ColumnSpec& column : modification(text)->conditional->refused->columns)
      names += (names.empty() ? "" : " ") + column.name;
    return names;
  }
};

TEST_F(ConditionsTest, RefusalsAreCassandras) {
  const struct {
    const char* condition;
    const char* text;
  } cases[] = {
      {"v = 1", ""},
      {"v != 1 AND s >= 2", ""},
      {"l[0] = 1 AND m['a'] > 2 AND u.a = 3", ""},
      {"v IN (1, 2) AND v IN ?", ""},
      {"zz = 1", "Undefined column name zz in table e.t"},
      {"k = 1", "PRIMARY KEY column 'k' cannot have IF conditions"},
      {"c = 1", "PRIMARY KEY column 'c' cannot have IF conditions"},
      {"v = 'x'", "Invalid STRING constant (x) for \"v\" of type int"},
      {"v[0] = 1", "Invalid element access syntax for non-collection column v"},
      {"st[0] = 1", "Invalid element access syntax for set column st"},
      {"l['a'] = 1", "Invalid STRING constant (a) for \"idx(l)\" of type int"},
      {"m[1] = 1", "Invalid INTEGER constant (1) for \"key(m)\" of type text"},
      {"v.a = 1", "Invalid field access syntax for non-UDT column v"},
      {"u.zz = 1", "Unknown field zz for column u"},
      {"u.a = 'x'", "Invalid STRING constant (x) for \"u.a\" of type int"},
      {"d > 1d", "Slice conditions ( > ) are not supported on durations"},
      {"d = 1d", ""},
      {"v CONTAINS 1", "Cannot use CONTAINS on non-collection column v"},
      {"st CONTAINS KEY 1", "Cannot use CONTAINS KEY on non-map column st"},
      {"m CONTAINS KEY 'a' AND st CONTAINS 1", ""},
  };
  for (const auto& one : cases)
    EXPECT_EQ(error(std::string("UPDATE t SET v = 1 WHERE k = 1 AND c = 1 IF ") + one.condition), one.text)
        << one.condition;
  EXPECT_EQ(error("UPDATE cn SET n = n + 1 WHERE k = 1 IF n = 1"),
            "Conditions on counters are not supported");
}

TEST_F(ConditionsTest, PartsAndKinds) {
  const auto update = modification(
      "UPDATE t SET v = 1 WHERE k = 1 AND c = 1 IF s = 1 AND m['a'] IN (1, 2) AND u.b = 'x' AND st CONTAINS "
      "5 AND "
      "l[0] != 3");
  ASSERT_NE(update, nullptr);
  const Conditions& conditions = *update->conditions;
  EXPECT_EQ(conditions.kind, Conditions::Kind::columns);
  EXPECT_FALSE(conditions.is_about_existence());
  ASSERT_EQ(conditions.statics.size(), 1u);
  EXPECT_EQ(conditions.statics[0].column->name, "s");
  ASSERT_EQ(conditions.regular.size(), 4u);
  const Condition &element = conditions.regular[0], &field = conditions.regular[1],
                  &contains = conditions.regular[2], &index = conditions.regular[3];
  EXPECT_EQ(element.part, Condition::Part::element);
  EXPECT_EQ(element.op, cql::Operator::in);
  EXPECT_EQ(element.values.size(), 2u);
  EXPECT_EQ(element.type->cql_name(), "int");
  EXPECT_EQ(field.part, Condition::Part::field);
  EXPECT_EQ(field.field, 1);
  EXPECT_EQ(field.type->cql_name(), "text");
  EXPECT_EQ(contains.part, Condition::Part::whole);
  EXPECT_EQ(contains.type->cql_name(), "int") << "the type of an element";
  EXPECT_EQ(index.part, Condition::Part::element);
  EXPECT_NE(index.element, nullptr);

  EXPECT_EQ(modification("INSERT INTO t (k, c) VALUES (1, 1) IF NOT EXISTS")->conditions->kind,
            Conditions::Kind::not_exists);
  EXPECT_EQ(modification("DELETE FROM t WHERE k = 1 AND c = 1 IF EXISTS")->conditions->kind,
            Conditions::Kind::exists);
  EXPECT_EQ(modification("DELETE FROM t WHERE k = 1 AND c = 1")->conditions, nullptr);
}

TEST_F(ConditionsTest, ResultsShowTheComparedColumns) {
  EXPECT_EQ(shown("UPDATE t SET v = 1 WHERE k = 1 AND c = 1 IF s = 1 AND v = 2 AND v > 0"), "[applied] v s");
  EXPECT_EQ(shown("UPDATE other SET v = 1 WHERE k = 1 IF EXISTS"), "[applied] k v");
  EXPECT_EQ(shown("INSERT INTO other (k) VALUES (1) IF NOT EXISTS"), "[applied] k v");
  const auto applied = modification("UPDATE other SET v = 1 WHERE k = 1 IF v = 1")->conditional->applied;
  ASSERT_EQ(applied->columns.size(), 1u);
  EXPECT_EQ(applied->columns[0].name, "[applied]");
}

TEST_F(ConditionsTest, Batches) {
  const struct {
    const char* batch;
    const char* text;
  } cases[] = {
      {"BEGIN BATCH INSERT INTO t (k, c) VALUES (1, 1); DELETE FROM other WHERE k = 1; APPLY BATCH", ""},
      {"BEGIN BATCH UPDATE t SET v = 1 WHERE k = 1 AND c = 1 IF v = 1; INSERT INTO t (k, c) VALUES (1, 2); "
       "APPLY "
       "BATCH",
       ""},
      {"BEGIN COUNTER BATCH UPDATE cn SET n = n + 1 WHERE k = 1; APPLY BATCH", ""},
      {"BEGIN COUNTER BATCH INSERT INTO other (k) VALUES (1); APPLY BATCH",
       "Cannot include non-counter statement in a counter batch"},
      {"BEGIN BATCH UPDATE cn SET n = n + 1 WHERE k = 1; INSERT INTO other (k) VALUES (1); APPLY BATCH",
       "Counter and non-counter mutations cannot exist in the same batch"},
      {"BEGIN BATCH UPDATE t SET v = 1 WHERE k = 1 AND c = 1 IF v = 1; INSERT INTO other (k) VALUES (1); "
       "APPLY BATCH",
       "Batch with conditions cannot span multiple tables"},
      {"BEGIN BATCH USING TIMESTAMP 5 INSERT INTO other (k) VALUES (1) USING TIMESTAMP 6; APPLY BATCH",
       "Timestamp must be set either on BATCH or individual statements"},
      {"BEGIN BATCH USING TIMESTAMP 5 INSERT INTO other (k) VALUES (1) IF NOT EXISTS; APPLY BATCH",
       "Cannot provide custom timestamp for conditional BATCH"},
      {"BEGIN BATCH INSERT INTO other (zz) VALUES (1); APPLY BATCH",
       "Undefined column name zz in table e.other"},
  };
  for (const auto& one : cases) EXPECT_EQ(error(one.batch), one.text) << one.batch;
}

TEST_F(ConditionsTest, TimestampsAndTimesToLiveAreCheckedWhenTheyAreKnown) {
  const auto insert = modification("INSERT INTO other (k) VALUES (1) USING TIMESTAMP ? AND TTL ?");
  ASSERT_NE(insert, nullptr);
  Scratch scratch;
  const auto timestamp = [&](ValueView value) -> std::string {
    const ValueView values[] = {value, ValueView::unset()};
    const auto found = timestamp_of(insert->attributes.timestamp, {values, 0, {}, {}}, scratch);
    if (!found) return found.error().message();
    return *found ? std::to_string(**found) : "none";
  };
  const auto seconds = [&](ValueView value) -> std::string {
    const ValueView values[] = {ValueView::unset(), value};
    schema::Table table = *insert->table;
    table.options.default_time_to_live = 60;
    const auto found = time_to_live_of(insert->attributes.time_to_live, table, {values, 0, {}, {}}, scratch);
    return found ? std::to_string(*found) : found.error().message();
  };
  const auto of_int64 = [&](int64_t value) {
    return ValueView::of(scratch.keep(types::encode_int64(value)));
  };
  const auto of_int32 = [&](int32_t value) {
    return ValueView::of(scratch.keep(types::encode_int32(value)));
  };

  EXPECT_EQ(timestamp(of_int64(-5)), "-5");
  EXPECT_EQ(timestamp(ValueView::unset()), "none");
  EXPECT_EQ(timestamp(ValueView::null()), "Invalid null value of timestamp");
  EXPECT_EQ(timestamp(of_int64(std::numeric_limits<int64_t>::min())),
            "Out of bound timestamp, must be in [-9223372036854775807, 9223372036854775807]");
  EXPECT_EQ(seconds(of_int32(0)), "0") << "no expiry";
  EXPECT_EQ(seconds(of_int32(max_time_to_live)), "630720000");
  EXPECT_EQ(seconds(ValueView::unset()), "60") << "the table's default";
  EXPECT_EQ(seconds(ValueView::null()), "0");
  EXPECT_EQ(seconds(of_int32(-1)), "A TTL must be greater or equal to 0, but was -1");
  EXPECT_EQ(seconds(of_int32(max_time_to_live + 1)),
            "ttl is too large. requested (630720001) maximum (630720000)");
}

}  // namespace
}  // namespace sibyl::plan
