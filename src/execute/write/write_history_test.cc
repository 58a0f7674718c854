// Compares random histories of writes with what Cassandra 5.0 read back after them.
#include <gtest/gtest.h>

#include <fstream>

#include "base/source_path.h"
#include "execute/read/select.h"
#include "execute/write/modify_fixture_test.h"
#include "fmt/format.h"

namespace sibyl::execute {
namespace {

// Formats a result with one text column, one line per row.
std::string rows_of(ResultSet& result) {
  std::string text;
  base::Reader reader(result.rows.bytes());
  for (size_t i = 0; i < result.rows.count(); ++i) {
    uint32_t size = 0;
    BytesView value;
    EXPECT_TRUE(reader.big_endian(size) && reader.take(size, value));
    text += fmt::format("  row: '{}'\n", value);
  }
  return text;
}

std::string answer_of(WriteFixture& database, const std::string& statement) {
  auto prepared = database.prepare(statement);
  if (!prepared) return "ERROR " + prepared.error().message() + "\n";
  if (!std::holds_alternative<std::shared_ptr<const plan::Select>>((*prepared)->plan)) {
    auto result = database.run(**prepared);
    return result ? "OK\n" : "ERROR " + result.error().message() + "\n";
  }
  Environment environment = database.environment();
  auto result = select(**prepared, {}, environment);
  return result ? rows_of(*result) : "ERROR " + result.error().message() + "\n";
}

class Histories : public testing::TestWithParam<int> {};

TEST_P(Histories, ReadsMatchCassandra) {
  std::ifstream file(base::source_path(fmt::format("tests/data/write_history_{}.txt", GetParam())));
  ASSERT_TRUE(file);
  WriteFixture database;
  std::string line, statement, expected;
  size_t reads = 0, position = 0, mistakes = 0;
  while (std::getline(file, line)) {
    ++position;
    if (line.starts_with("> ")) {
      statement = line.substr(2);
    } else if (!line.empty()) {
      expected += line + "\n";
    } else if (!statement.empty() && mistakes < 5) {
      const std::string answer = answer_of(database, statement);
      EXPECT_EQ(answer, expected) << "line " << position << ": " << statement;
      if (answer != expected) ++mistakes;
      reads += statement.starts_with("SELECT");
      statement.clear();
      expected.clear();
    }
  }
  EXPECT_GT(reads, 50u);
}

TEST(WriteHistory, CellsOfADroppedColumnAreHidden) {
  WriteFixture database;
  database.must("CREATE TABLE t (k int, c int, v int, w int, PRIMARY KEY (k, c))");
  database.must("UPDATE t SET v = 1 WHERE k = 1 AND c = 1");
  database.must("INSERT INTO t (k, c, v) VALUES (1, 2, 2)");
  database.must("UPDATE t SET w = 1 WHERE k = 1 AND c = 3");
  database.must("ALTER TABLE t DROP v");
  EXPECT_EQ(answer_of(database, "SELECT JSON * FROM t"),
            "  row: '{\"k\": 1, \"c\": 2, \"w\": null}'\n  row: '{\"k\": 1, \"c\": 3, \"w\": 1}'\n");
  database.must("ALTER TABLE t ADD v int");
  EXPECT_EQ(answer_of(database, "SELECT JSON * FROM t"),
            "  row: '{\"k\": 1, \"c\": 2, \"v\": null, \"w\": null}'\n"
            "  row: '{\"k\": 1, \"c\": 3, \"v\": null, \"w\": 1}'\n");
}

INSTANTIATE_TEST_SUITE_P(Recorded, Histories, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace sibyl::execute
