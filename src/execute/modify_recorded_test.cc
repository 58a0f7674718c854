// Modifications and batches against what Cassandra 5.0 answered to the same statements in the same order.
#include <gtest/gtest.h>

#include <fstream>

#include "execute/modify_fixture_test.h"
#include "fmt/format.h"

namespace sibyl::execute {
namespace {

std::string print(const base::Result<ResultSet>& result) {
  if (!result) {
    const bool is_syntax = result.error().code() == base::ErrorCode::syntax;
    return fmt::format("ERROR 0x{:04x} {}: {}\n", static_cast<int>(result.error().code()),
                       is_syntax ? "SyntaxError" : "InvalidRequest", result.error().message());
  }
  std::string text = "OK\n";
  for (const std::string& warning : result->warnings) text += "  WARNING: " + warning + "\n";
  return text;
}

TEST(RecordedModifications, AnswersAsCassandraDid) {
  std::ifstream file(SIBYL_SOURCE_DIR "/tests/data/modifications.txt");
  ASSERT_TRUE(file) << "tests/data/modifications.txt not found";
  auto database = std::make_unique<WriteFixture>();
  size_t statements = 0;
  std::string line, statement, expected;
  while (std::getline(file, line)) {
    if (line == "# fresh") database = std::make_unique<WriteFixture>();
    if (line.starts_with("> ")) {
      statement = line.substr(2);
    } else if (line.starts_with("OK ")) {
      expected = "OK\n";
    } else if (!line.empty()) {
      expected += line + "\n";
    } else if (!statement.empty()) {
      EXPECT_EQ(print(database->run(statement)), expected) << statement;
      ++statements;
      statement.clear();
      expected.clear();
    }
  }
  EXPECT_GT(statements, 300u);
}

}  // namespace
}  // namespace sibyl::execute
