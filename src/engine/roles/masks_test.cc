#include <stdlib.h>

#include <filesystem>

#include "engine/roles/test_roles.h"

namespace sibyl::engine {
namespace {

using testing::ElementsAre;

// The values of masked columns that roles see, depending on their permissions.
class MasksTest : public RolesTest {
 protected:
  MasksTest() {
    options_.dynamic_data_masking = true;
    open();
    make_family();
    must(
        "CREATE TABLE ks.p (k int, c text MASKED WITH mask_inner(1, 1), s text STATIC MASKED WITH DEFAULT, "
        "v int MASKED WITH mask_replace(42), m map<text, int> MASKED WITH DEFAULT, PRIMARY KEY (k, c))");
    must("INSERT INTO ks.p (k, c, s, v, m) VALUES (1, 'first', 'static', 7, {'a': 1})");
    must("INSERT INTO ks.p (k, c, v) VALUES (1, 'second', 9)");
    must("GRANT SELECT ON ks.p TO bob");
  }
};

TEST_F(MasksTest, HideStoredValues) {
  EXPECT_THAT(ask("bob", "SELECT * FROM p"), ElementsAre("1|f***t|****|{}|42", "1|s****d|****|{}|42"));
  EXPECT_THAT(ask("cassandra", "SELECT * FROM p"),
              ElementsAre("1|first|static|{'a': 1}|7", "1|second|static|null|9"));
  must("GRANT UNMASK ON ks.p TO bob");
  EXPECT_THAT(ask("bob", "SELECT c, v FROM p"), ElementsAre("first|7", "second|9"));
  must("REVOKE UNMASK ON ks.p FROM bob");
  EXPECT_THAT(ask("bob", "SELECT c, v FROM p"), ElementsAre("f***t|42", "s****d|42"));
}

TEST_F(MasksTest, ApplyBeforeFunctionsAggregatesElementsAndJson) {
  EXPECT_THAT(ask("bob", "SELECT max(v), min(c), sum(v) FROM p"), ElementsAre("42|f***t|84"));
  EXPECT_THAT(ask("cassandra", "SELECT max(v), sum(v) FROM p"), ElementsAre("9|16"));
  EXPECT_THAT(ask("bob", "SELECT m['a'], v + 1 FROM p LIMIT 1"), ElementsAre("null|43"));
  EXPECT_THAT(ask("bob", "SELECT JSON c FROM p LIMIT 1"), ElementsAre("{\"c\": \"f***t\"}"));
  EXPECT_THAT(ask("bob", "SELECT writetime(v) - writetime(v) FROM p LIMIT 1"), ElementsAre("0"));
}

TEST_F(MasksTest, OrderFollowsStoredValues) {
  must("INSERT INTO ks.p (k, c, v) VALUES (1, 'ab', 1)");
  EXPECT_THAT(ask("bob", "SELECT c FROM p WHERE k = 1 ORDER BY c DESC"),
              ElementsAre("s****d", "f***t", "ab"));
}

TEST_F(MasksTest, RelationsOnMaskedColumnsNeedAPermission) {
  const std::string refusal =
      "User bob has no UNMASK nor SELECT_MASKED permission on table ks.p, cannot query masked columns ";
  EXPECT_THAT(ask("bob", "SELECT k FROM p WHERE k = 1 AND c = 'first'"), ElementsAre(refusal + "[c]"));
  EXPECT_THAT(ask("bob", "SELECT k FROM p WHERE v = 7 AND c = 'first' ALLOW FILTERING"),
              ElementsAre(refusal + "[c, v]"));
  EXPECT_THAT(ask("bob", "SELECT k FROM p WHERE k = 1 AND (c) > ('a')"), ElementsAre(refusal + "[c]"));
  EXPECT_THAT(ask("bob", "SELECT c FROM p WHERE k = 1"), ElementsAre("f***t", "s****d"));
  must("GRANT SELECT_MASKED ON ks.p TO bob");
  EXPECT_THAT(ask("bob", "SELECT c FROM p WHERE k = 1 AND c = 'first'"), ElementsAre("f***t"));
  must("REVOKE SELECT_MASKED ON ks.p FROM bob");
  must("GRANT UNMASK ON KEYSPACE ks TO bob");
  EXPECT_THAT(ask("bob", "SELECT c FROM p WHERE k = 1 AND c = 'first'"), ElementsAre("first"));
}

TEST_F(MasksTest, ApplyToRowsReturnedByConditionalWrites) {
  must("GRANT MODIFY ON ks.p TO bob");
  must("GRANT SELECT_MASKED ON ks.p TO bob");
  const std::string update = "UPDATE p SET v = 1 WHERE k = 1 AND c = 'first' IF v = 8";
  const std::string insert = "INSERT INTO p (k, c) VALUES (1, 'first') IF NOT EXISTS";
  EXPECT_THAT(ask("bob", update), ElementsAre("False|42"));
  EXPECT_THAT(ask("bob", insert), ElementsAre("False|1|f***t|****|{}|42"));
  EXPECT_THAT(ask("bob", "BEGIN BATCH " + update + "; APPLY BATCH"), ElementsAre("False|1|f***t|42"));
  EXPECT_THAT(ask("cassandra", update), ElementsAre("False|7"));
  must("GRANT UNMASK ON ks.p TO bob");
  EXPECT_THAT(ask("bob", update), ElementsAre("False|7"));
}

// The outcome of a conditional write reveals the compared values and the existing keys.
TEST_F(MasksTest, ConditionsOnMaskedColumnsNeedAPermission) {
  must(
      "CREATE TABLE ks.m (k int PRIMARY KEY, ssn text MASKED WITH DEFAULT, l list<int> MASKED WITH DEFAULT, "
      "n int MASKED WITH DEFAULT, plain int, pl list<int>)");
  must("INSERT INTO ks.m (k, ssn, l, n, plain, pl) VALUES (1, '078-05-1120', [1, 2], 5, 0, [1])");
  must("GRANT SELECT ON ks.m TO bob");
  must("GRANT MODIFY ON ks.m TO bob");
  const auto refusal = [](const std::string& columns) {
    return "User bob has no UNMASK nor SELECT_MASKED permission on table ks.m, cannot query masked columns "
           "[" +
           columns + "]";
  };
  const std::string update = "UPDATE m SET plain = 0 WHERE k = 1 IF ";
  EXPECT_THAT(ask("bob", update + "ssn >= '0'"), ElementsAre(refusal("ssn")));
  EXPECT_THAT(ask("bob", update + "ssn IN ('0', '1') AND plain = 0"), ElementsAre(refusal("ssn")));
  EXPECT_THAT(ask("bob", update + "l[0] = 1 AND ssn = 'x'"), ElementsAre(refusal("l, ssn")));
  EXPECT_THAT(ask("bob", update + "l CONTAINS 1"), ElementsAre(refusal("l")));
  EXPECT_THAT(ask("bob", "DELETE FROM m WHERE k = 1 IF ssn = 'x'"), ElementsAre(refusal("ssn")));
  EXPECT_THAT(ask("bob", "BEGIN BATCH " + update + "ssn = 'x'; APPLY BATCH"), ElementsAre(refusal("ssn")));
  EXPECT_THAT(ask("bob", "EXPLAIN " + update + "ssn = 'x'"), ElementsAre(refusal("ssn")));
  // These errors reveal the length of a list, or that a sum is too large.
  EXPECT_THAT(ask("bob", "UPDATE m SET l[9] = 1 WHERE k = 1"), ElementsAre(refusal("l")));
  EXPECT_THAT(ask("bob", "DELETE l[9] FROM m WHERE k = 1"), ElementsAre(refusal("l")));
  EXPECT_THAT(ask("bob", "UPDATE m SET n = n + 1 WHERE k = 1 IF plain = 0"), ElementsAre(refusal("n")));
  // These errors reveal nothing about masked columns.
  EXPECT_THAT(ask("bob", update + "plain = 0"), ElementsAre("True"));
  EXPECT_THAT(ask("bob", update + "EXISTS"), ElementsAre("True"));
  EXPECT_THAT(ask("bob", "UPDATE m SET ssn = 'x', l = l + [3] WHERE k = 2"), ElementsAre("OK"));
  EXPECT_THAT(ask("bob", "UPDATE m SET pl[0] = 1 WHERE k = 1"), ElementsAre("OK"));
  must("GRANT SELECT_MASKED ON ks.m TO bob");
  EXPECT_THAT(ask("bob", update + "ssn >= '1'"), ElementsAre("False|****"));
  EXPECT_THAT(ask("bob", update + "ssn >= '0'"), ElementsAre("True"));
  must("REVOKE SELECT_MASKED ON ks.m FROM bob");
  EXPECT_THAT(ask("bob", update + "ssn >= '0'"), ElementsAre(refusal("ssn")));
}

TEST_F(MasksTest, ConditionalWritesToMaskedKeysNeedAPermission) {
  must(
      "CREATE TABLE ks.q (k text MASKED WITH DEFAULT, c text MASKED WITH DEFAULT, s int STATIC, v int, "
      "l list<int>, PRIMARY KEY (k, c))");
  must("GRANT SELECT ON ks.q TO bob");
  must("GRANT MODIFY ON ks.q TO bob");
  const std::string refusal =
      "User bob has no UNMASK nor SELECT_MASKED permission on table ks.q, cannot query masked columns ";
  for (const char* text : {"INSERT INTO q (k, c) VALUES ('a', 'b') IF NOT EXISTS",
                           "UPDATE q SET v = 1 WHERE k = 'a' AND c = 'b' IF EXISTS",
                           "UPDATE q SET v = 1 WHERE k = 'a' AND c = 'b' IF v = 1",
                           "DELETE FROM q WHERE k = 'a' AND c = 'b' IF EXISTS",
                           "INSERT INTO q JSON '{\"k\": \"a\", \"c\": \"b\"}' IF NOT EXISTS",
                           "UPDATE q SET l[0] = 1 WHERE k = 'a' AND c = 'b'"})
    EXPECT_THAT(ask("bob", text), ElementsAre(refusal + "[k, c]")) << text;
  EXPECT_THAT(ask("bob", "UPDATE q SET s = 1 WHERE k = 'a' IF s = null"), ElementsAre(refusal + "[k]"));
  EXPECT_THAT(ask("bob", "INSERT INTO q (k, c) VALUES ('a', 'b')"), ElementsAre("OK"));
}

// The write time of an element reveals that the element exists.
TEST_F(MasksTest, WriteTimesOfElementsNeedAPermission) {
  const std::string refusal =
      "User bob has no UNMASK nor SELECT_MASKED permission on table ks.p, cannot query masked columns [m]";
  EXPECT_THAT(ask("bob", "SELECT writetime(m['a']) FROM p"), ElementsAre(refusal));
  EXPECT_THAT(ask("bob", "SELECT ttl(m['a'..'b']) FROM p"), ElementsAre(refusal));
  EXPECT_THAT(ask("bob", "SELECT ttl(v) FROM p LIMIT 1"), ElementsAre("null"));
}

// If 'x' is already in the set, `s + {'x'}` does not change the number of its write times.
TEST_F(MasksTest, WriteTimesOfCollectionsNeedAPermission) {
  must(
      "CREATE TABLE ks.tags (k int PRIMARY KEY, s set<text> MASKED WITH DEFAULT, "
      "f frozen<set<text>> MASKED WITH DEFAULT, plain set<text>)");
  must("INSERT INTO ks.tags (k, s, f, plain) VALUES (1, {'x'}, {'x'}, {'x'}) USING TIMESTAMP 5");
  must("GRANT SELECT ON ks.tags TO bob");
  must("GRANT MODIFY ON ks.tags TO bob");
  const std::string refusal =
      "User bob has no UNMASK nor SELECT_MASKED permission on table ks.tags, cannot query masked columns [s]";
  EXPECT_THAT(ask("bob", "UPDATE tags USING TIMESTAMP 1 SET s = s + {'x'} WHERE k = 1"), ElementsAre("OK"));
  for (const std::string function : {"writetime", "maxwritetime", "ttl"})
    EXPECT_THAT(ask("bob", "SELECT " + function + "(s) FROM tags"), ElementsAre(refusal)) << function;
  EXPECT_THAT(ask("bob", "SELECT max(maxwritetime(s)) FROM tags"), ElementsAre(refusal));
  EXPECT_THAT(ask("bob", "SELECT writetime(f), writetime(plain) FROM tags"), ElementsAre("5|[5]"));
  must("GRANT SELECT_MASKED ON ks.tags TO bob");
  EXPECT_THAT(ask("bob", "SELECT writetime(s) FROM tags"), ElementsAre("[5]"));
}

TEST_F(MasksTest, HideKeysInStatisticsAndMessages) {
  must("CREATE TABLE ks.q (k text MASKED WITH DEFAULT, c int, v int, PRIMARY KEY ((k, c)))");
  must("INSERT INTO ks.q (k, c) VALUES ('alice', 1)");
  EXPECT_THAT(ask("cassandra", "SELECT k FROM q WHERE k = 'alice' AND c = 1"), ElementsAre("alice"));
  EXPECT_THAT(ask("cassandra",
                  "SELECT kind, partition_key FROM system_views.hot_partitions WHERE keyspace_name = "
                  "'ks' AND table_name = 'q'"),
              ElementsAre("read|****:1", "write|****:1"));
}

// A token can confirm a guessed key.
TEST_F(MasksTest, HideTokensInWarnings) {
  options_.guardrails.tombstone_warn_threshold = 1;
  open();
  make_family();
  must("CREATE TABLE ks.q (k text MASKED WITH DEFAULT, c int, v int, PRIMARY KEY (k, c))");
  for (int c = 0; c < 5; ++c) must("DELETE FROM ks.q WHERE k = 'alice' AND c = " + std::to_string(c));
  must("GRANT SELECT ON ks.q TO bob");
  const auto plan = engine_->planner().plan_query("SELECT * FROM q", "ks");
  ASSERT_TRUE(plan);
  const auto shown = run(*plan, "cassandra"), hidden = run(*plan, "bob");
  ASSERT_TRUE(shown && hidden);
  EXPECT_THAT(shown->warnings, ElementsAre(testing::HasSubstr("token 5699955792253506986")));
  EXPECT_THAT(hidden->warnings, ElementsAre(testing::HasSubstr("token ****")));
}

TEST_F(MasksTest, UsersFunctionsMaskWithoutExecute) {
  must(
      "CREATE FUNCTION ks.stars (t text, n int) CALLED ON NULL INPUT RETURNS text LANGUAGE lua AS "
      "$$ return string.rep('*', n) $$");
  must("ALTER TABLE ks.p ALTER c MASKED WITH stars(3)");
  const std::string text = "SELECT c FROM p LIMIT 1";
  EXPECT_THAT(ask("bob", text), ElementsAre("***"));
  EXPECT_THAT(ask("cassandra", "DROP FUNCTION ks.stars"),
              ElementsAre("Function 'ks.stars' is still referenced by column masks in tables p"));
  // Existing plans use the new function.
  must(
      "CREATE OR REPLACE FUNCTION ks.stars (t text, n int) CALLED ON NULL INPUT RETURNS text LANGUAGE lua AS "
      "$$ return string.rep('+', n) $$");
  EXPECT_THAT(ask("bob", text), ElementsAre("+++"));
  must("ALTER TABLE ks.p ALTER c DROP MASKED");
  EXPECT_THAT(ask("bob", text), ElementsAre("first"));
  must("DROP FUNCTION ks.stars");
}

TEST_F(MasksTest, HoldAfterARestartAndOnlyWhileTheyAreEnabled) {
  std::string pattern = (std::filesystem::temp_directory_path() / "sibyl_masks_XXXXXX").string();
  options_.data = mkdtemp(pattern.data());
  open();
  make_family();
  must("CREATE TABLE ks.q (k int PRIMARY KEY, v text MASKED WITH mask_outer(1, null, '#'))");
  must("INSERT INTO ks.q (k, v) VALUES (1, 'abc')");
  must("GRANT SELECT ON ks.q TO bob");
  open();
  EXPECT_THAT(ask("bob", "SELECT v FROM q"), ElementsAre("#bc"));
  options_.dynamic_data_masking = false;
  open();
  EXPECT_THAT(ask("bob", "SELECT v FROM q"), ElementsAre("abc"));
  EXPECT_THAT(
      ask("cassandra", "ALTER TABLE q ALTER v MASKED WITH DEFAULT"),
      ElementsAre("Cannot mask columns because dynamic data masking is not enabled. You can enable it "
                  "with the dynamic_data_masking_enabled property on cassandra.yaml"));
  must("ALTER TABLE ks.q ALTER v DROP MASKED");
  engine_.reset();
  std::filesystem::remove_all(options_.data);
}

}  // namespace
}  // namespace sibyl::engine
