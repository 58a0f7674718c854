#include <gtest/gtest.h>

#include "cql/keyword.h"
#include "cql/script.h"

namespace sibyl::cql {
namespace {

std::vector<std::string> texts(std::string_view script) {
  std::vector<std::string> result;
  for (const ScriptPiece& piece : split_script(script))
    result.push_back(piece.text + (piece.complete ? ";" : ""));
  return result;
}

using Texts = std::vector<std::string>;

TEST(Script, SplitsAtSemicolons) {
  EXPECT_EQ(texts("USE a; SELECT * FROM t ;\n"), (Texts{"USE a;", "SELECT * FROM t ;"}));
  EXPECT_EQ(texts(""), Texts{});
  EXPECT_EQ(texts(" ; ;; \n"), Texts{});
  EXPECT_EQ(texts("-- only a comment"), Texts{});
}

TEST(Script, DetectsIncompleteStatements) {
  EXPECT_EQ(texts("USE a; SELECT *\n"), (Texts{"USE a;", "SELECT *"}));
  EXPECT_EQ(texts("SELECT 'a;"), Texts{"SELECT 'a;"});
  EXPECT_EQ(texts("SELECT /* ;"), Texts{"SELECT /* ;"});
  EXPECT_EQ(texts("BEGIN BATCH INSERT INTO t (a) VALUES (1);"),
            Texts{"BEGIN BATCH INSERT INTO t (a) VALUES (1);"});
}

TEST(Script, DoesNotSplitStringsCommentsAndBodies) {
  EXPECT_EQ(texts("SELECT ';', \";\" FROM t -- ;\n WHERE a = 1; USE b;"),
            (Texts{"SELECT ';', \";\" FROM t -- ;\n WHERE a = 1;", "USE b;"}));
  EXPECT_EQ(
      texts("CREATE FUNCTION f() CALLED ON NULL INPUT RETURNS int LANGUAGE java AS $$return 1;$$; USE b;")
          .size(),
      2u);
  EXPECT_EQ(texts("/* a; b */ // c;\nUSE d;"), Texts{"USE d;"});
}

TEST(Script, KeepsABatchTogether) {
  const std::string batch =
      "BEGIN BATCH INSERT INTO t (a) VALUES (1); DELETE FROM t WHERE a = 1; APPLY BATCH";
  EXPECT_EQ(texts(batch + "; USE b;"), (Texts{batch + ";", "USE b;"}));
  EXPECT_EQ(texts("explain " + batch + ";"), (Texts{"explain " + batch + ";"}));
  EXPECT_EQ(texts("begin counter batch update t set a = a + 1 where k = 1 apply batch; use b"),
            (Texts{"begin counter batch update t set a = a + 1 where k = 1 apply batch;", "use b"}));
}

TEST(Script, ReturnsOffsets) {
  const std::vector<ScriptPiece> pieces = split_script("USE a;\n\n  USE b;");
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].offset, 0u);
  EXPECT_EQ(pieces[1].offset, 10u);
  EXPECT_EQ(pieces[1].text, "USE b");
}

TEST(Keywords, AreSortedAndKnowTheReserved) {
  const auto& words = keywords();
  EXPECT_TRUE(std::is_sorted(words.begin(), words.end()));
  EXPECT_NE(std::find(words.begin(), words.end(), "TABLE"), words.end());
  EXPECT_TRUE(is_reserved("select"));
  EXPECT_TRUE(is_reserved("table"));
  EXPECT_TRUE(is_reserved("true"));
  EXPECT_FALSE(is_reserved("key"));
  EXPECT_FALSE(is_reserved("text"));
  EXPECT_FALSE(is_reserved("users"));
}

}  // namespace
}  // namespace sibyl::cql
