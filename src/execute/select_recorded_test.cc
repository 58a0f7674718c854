// SELECTs against what Cassandra 5.0 answered to the same statements in the same order.
#include <gtest/gtest.h>

#include <fstream>

#include "execute/select_fixture_test.h"

namespace sibyl::execute {
namespace {

TEST(RecordedSelects, AnswersAsCassandraDid) {
  std::ifstream file(SIBYL_SOURCE_DIR "/tests/data/selects.txt");
  ASSERT_TRUE(file) << "tests/data/selects.txt not found";
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
  EXPECT_GT(statements, 500u);
}

}  // namespace
}  // namespace sibyl::execute
