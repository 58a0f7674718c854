// Statements against what Cassandra 5.0 answered to the same ones in the same order.
#include <gtest/gtest.h>

#include <fstream>

#include "execute/select_fixture_test.h"

namespace sibyl::execute {
namespace {

// Runs the statements of a file of tests/data and says how many there were.
size_t compare_answers(const std::string& name) {
  std::ifstream file(SIBYL_SOURCE_DIR "/tests/data/" + name);
  EXPECT_TRUE(file) << name << " not found";
  ReadFixture database;
  size_t statements = 0;
  std::string line, statement, expected;
  while (std::getline(file, line)) {
    if (line.starts_with("> ")) {
      statement = line.substr(2);
    } else if (line.starts_with("OK ")) {
      expected = "OK\n";
    } else if (!line.empty()) {
      expected += line + "\n";
    } else if (!statement.empty()) {
      EXPECT_EQ(database.answer(statement), expected) << statement;
      ++statements;
      statement.clear();
      expected.clear();
    }
  }
  return statements;
}

TEST(Recorded, SelectsAnswerAsCassandraDid) {
  EXPECT_GT(compare_answers("selects.txt"), 500u);
}
TEST(Recorded, ValuesAreReadAsCassandraReadsThem) {
  EXPECT_GT(compare_answers("values.txt"), 300u);
}

}  // namespace
}  // namespace sibyl::execute
